"""How rounds become a result: verdicts, exit codes, controls, the command that repeats it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from paraply.adapters.live.target import MODE_GONE, LiveRequest, LiveRound, LiveTarget, target_named
from paraply.adapters.live.targets import TARGETS
from paraply.cli import main
from paraply.commands.live import keep_history
from paraply.judging.recorded_files import histories_in
from paraply.models.recorded import following
from paraply.observing import model_traces
from paraply.observing.judging import command_of, new_result, take_round
from paraply.observing.pages import LivePages
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import registered_properties, subject_named
from paraply.reporting.live_text import result_json, result_text
from paraply.version import VERSION
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import final, told, update

LOST, ORDER = "no_event_is_lost", "replica_logs_domains_in_order"
LOG = [update(1, 1), update(2, 2), update(3, 1)]
TARGET = LiveTarget(
    name="toy",
    summary="nothing",
    module="nowhere",
    modes=("plain",),
    faults={"break": "control: breaks"},
    documented={"plain/break": (LOST,)},
    properties=(LOST, ORDER),
)


def result(*rounds, fault="none"):
    judged = new_result(TARGET, LiveRequest(mode="plain", fault=fault))
    for one in rounds:
        take_round(judged, one)
    return judged


def healthy(number=1, **fields):
    history = told(LOG, LOG, final=final(3, {1: 3, 2: 2}))
    return LiveRound(number=number, seed=number, history=history,
                     evidence={"transactions": 3, "server": "S"}, **fields)  # fmt: skip


def broken():
    history = told(LOG, LOG[:2], final=final(3, {1: 1, 2: 2}, missing={3}))
    return LiveRound(number=1, seed=1, history=history, evidence={"transactions": 3})


def nothing(**fields):
    return LiveRound(number=1, seed=1, history=told([], []), **fields)


def test_rounds_that_hold_make_a_result_that_holds():
    judged = result(healthy(1), healthy(2))
    assert judged.verdict() is Verdict.HOLDS
    assert (judged.rounds, judged.transactions, judged.evidence["server"]) == (2, 6, "S")


def test_one_broken_round_breaks_the_result():
    judged = result(healthy(), broken(), healthy())
    assert judged.verdict() is Verdict.VIOLATED
    assert "lacks T3" in " ".join(result_text(judged).split())


def test_no_round_is_unknown():
    assert result().verdict() is Verdict.UNKNOWN


def test_situation_that_never_occurs_is_unknown_with_the_reason():
    judged = result(nothing())
    assert judged.verdict() is Verdict.UNKNOWN
    assert "its situation did not occur" in result_text(judged)


def test_what_cannot_be_seen_does_not_decide_but_is_shown():
    why = {LOST: "nobody looked"}
    judged = result(healthy(), nothing(unknown=why))
    assert judged.verdict() is Verdict.HOLDS
    alone = result(nothing(unknown=why | {ORDER: "no log"}))
    assert alone.verdict() is Verdict.UNKNOWN
    assert "nobody looked" in result_text(alone)


def test_breach_is_reported_also_where_unknown_was_expected():
    judged = result(
        LiveRound(number=1, seed=1, history=broken().history, unknown={LOST: "nobody looked"})
    )
    assert judged.verdict() is Verdict.VIOLATED


def test_documented_breach_is_a_breach_unless_allowed():
    judged = result(broken(), fault="break")
    assert judged.verdict() is Verdict.VIOLATED
    assert judged.verdict(allow_documented=True) is Verdict.HOLDS
    assert "as documented" in result_text(judged)


def test_control_that_does_not_come_out_is_named():
    judged = result(healthy(), fault="break")
    assert judged.silent_controls == [LOST]
    assert "the control did not come out" in result_text(judged)


def test_result_is_json_with_the_command_that_repeats_it():
    judged = result(broken(), fault="break")
    values = json.loads(json.dumps(result_json(judged)))
    assert values["command"] == "paraply live toy --mode plain --fault break" == command_of(judged)
    assert [one["verdict"] for one in values["properties"]] == ["violated", "holds"]


def test_command_has_duration_and_server():
    request = LiveRequest(mode="plain", duration_s=3, basedir=Path("tree"))
    assert command_of(new_result(TARGET, request)).endswith("plain --duration 3 --basedir tree")


def test_result_and_command_leave_the_password_out():
    servers = ("mysql://me:s3cret@db1:3306", "mysql://me:s3cret@db2:3306")
    judged = new_result(TARGET, LiveRequest(mode="plain", servers=servers))
    assert "s3cret" not in json.dumps(result_json(judged)) + result_text(judged)
    assert command_of(judged).endswith("--dsn mysql://me@db1:3306 mysql://me@db2:3306")


def test_finding_is_kept_as_a_history_that_can_be_shown(tmp_path, capsys):
    file = keep_history(tmp_path, "toy", broken().history)
    assert histories_in(file) == [broken().history]
    page = tmp_path / "toy.html"
    assert main(["show", str(file), "--property", LOST, "--out", str(page)]) == 0
    assert "lacks T3" in page.read_text()
    capsys.readouterr()


def test_pages_have_the_answers_and_link_the_rounds(tmp_path):
    pages = LivePages(tmp_path / "pages")
    pages.add("one", broken().history, [LOST])
    pages.add("two", healthy().history, [LOST])
    pages.write_index([result(broken())])
    index = (tmp_path / "pages" / "index.html").read_text()
    assert "1 of the 2 shown break something" in index
    assert 'href="one.html"' in index
    assert '<header class="violated">' in index
    assert f">{LOST}<" in index
    assert f">{ORDER}<" in index
    assert "Not so:" in (tmp_path / "pages" / "one.html").read_text()


def test_page_has_one_command_on_each_line(tmp_path):
    pages = LivePages(tmp_path)
    pages.write_index([result(healthy()), result(broken(), fault="break")])
    (commands,) = re.findall(r'<pre class="copy"[^>]*><code>(.*?)</code>', text_of(tmp_path), re.S)
    first, second = commands.split("\n")
    assert first == "paraply live toy --mode plain"
    assert second.startswith("paraply live toy --mode plain --fault break")


def text_of(folder):
    return (folder / "index.html").read_text()


def test_round_in_which_nothing_could_be_decided_is_not_said_to_hold(tmp_path):
    pages = LivePages(tmp_path)
    pages.add("one", healthy().history, ["visible_only_after_acknowledgement"])
    assert '<header class="unknown">' in (tmp_path / "one.html").read_text()
    pages.write_index([])
    assert '<header class="unknown">' in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["live"], "name a TARGET"),
        (["live", "oracle"], "no target 'oracle'"),
        (["live", "mariadb", "--mode", "wild"], "no mode 'wild'"),
        (["live", "mariadb", "--fault", "meteor"], "no fault 'meteor'"),
        (["live", "mariadb", "--workload", "tpcc"], "no workload 'tpcc'"),
        (["live", "mariadb", "--rounds", "0"], "must be 1 or more"),
        (["live", "mariadb", "--duration", "nan"], "must be a number of seconds above 0"),
        (["live", "mariadb", "--duration", "-1"], "must be a number of seconds above 0"),
        (["live", "mysql-gr", "--duration", "5"], "mysql-gr has no option '--duration'"),
        (["live", "galera", "--replicas", "2"], "it has --workers, --clients, --duration"),
        (["live", "mariadb", "--out", "/dev/null"], "P302"),
        (["live", "mariadb", "--html", "/dev/null/x"], "P302"),
        (["live", "mariadb", "--dsn", "mysql://me@db1"], "goes with no TARGET 'mariadb'"),
        (["live", "existing"], "at least one replica"),
        (["live", "--dsn", "db1", "db2"], "P613"),
    ],
)
def test_wrong_request_is_refused_with_what_there_is(arguments, message, capsys):
    assert main(arguments) == 3
    assert message in capsys.readouterr().err


def test_missing_server_names_how_to_get_one(tmp_path, capsys):
    assert main(["live", "mariadb", "--basedir", str(tmp_path)]) == 3
    shown = capsys.readouterr().err
    assert "P601" in shown
    assert "ci/servers" in shown


def test_list_has_every_target_with_its_controls(capsys):
    assert main(["live", "--list"]) == 0
    shown = capsys.readouterr().out
    for target in TARGETS:
        assert f"{target.name}: " in shown
    assert "forged-idempotent" in shown
    assert "control" in shown
    assert "not in mode multi-primary: ddl (" in shown


def test_targets_name_properties_modes_and_faults_that_exist():
    names = {prop.name for prop in registered_properties()}
    for target in TARGETS:
        assert target.properties
        assert set(target.properties) <= names
        for key, broken_names in target.documented.items():
            mode, fault = key.split("/")
            assert mode in target.modes
            assert fault in target.faults
            assert set(broken_names) <= set(target.properties)


def test_target_is_found_by_name_only():
    assert target_named("mariadb", TARGETS).name == "mariadb"
    with pytest.raises(ParaplyError, match="P620"):
        target_named("maria", TARGETS)


def interrupted_after(*rounds):
    def run(request):
        yield from rounds
        raise KeyboardInterrupt

    return SimpleNamespace(run=run)


@pytest.fixture
def toy(monkeypatch):
    """Let the command know a target whose module is given by the test."""

    def install(module):
        monkeypatch.setattr("paraply.commands.live.TARGETS", (TARGET,))
        monkeypatch.setitem(sys.modules, TARGET.module, module)

    return install


def test_command_exits_with_the_gravest_verdict(toy, tmp_path, capsys):
    toy(SimpleNamespace(run=lambda request: iter([healthy(), broken()])))
    out = tmp_path / "found"
    assert main(["live", "toy", "--fault", "break", "--out", str(out)]) == 1
    assert main(["live", "toy", "--fault", "break", "--out", str(out), "--allow-expected"]) == 0
    assert [file.name for file in out.iterdir()] == ["toy-plain-break-1.jsonl"]
    assert "kept: " in capsys.readouterr().out


def test_kept_history_has_the_command_that_repeats_its_round(toy, tmp_path, capsys):
    toy(SimpleNamespace(run=lambda request: iter([replace(broken(), seed=8)])))
    out = tmp_path / "found"
    assert main(["live", "toy", "--rounds", "3", "--seed", "7", "--out", str(out)]) == 1
    (history,) = histories_in(out / "toy-plain-none-8.jsonl")
    assert history.header.options["command"] == "paraply live toy --mode plain --seed 8"
    assert history.header.recorded_by == f"paraply live {VERSION}"
    capsys.readouterr()


def test_command_without_findings_leaves_no_folder(toy, tmp_path, capsys):
    toy(SimpleNamespace(run=lambda request: iter([healthy()])))
    out = tmp_path / "found"
    assert main(["live", "toy", "--out", str(out), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["verdict"] == "holds"
    assert not out.exists()


def test_mode_that_the_server_lost_is_left_out_of_all_and_refused_alone(toy, tmp_path, capsys):
    def run(request):
        raise ParaplyError(MODE_GONE, server="MySQL 9.7", mode="plain", reason="it was removed")
        yield

    toy(SimpleNamespace(run=run))
    out = ["--out", str(tmp_path)]
    assert main(["live", "toy", *out]) == 3
    assert "P622" in capsys.readouterr().err
    assert main(["live", "toy", "--mode", "all", *out]) == 2
    assert "left out: P622 MySQL 9.7 has no mode plain" in capsys.readouterr().err


def test_interrupted_command_writes_what_it_has(toy, tmp_path, capsys):
    toy(interrupted_after(healthy()))
    report = tmp_path / "r.json"
    arguments = ["live", "toy", "--fault", "all", "--json", str(report), "--out", str(tmp_path)]
    assert main(arguments) == 130
    assert [(one["fault"], one["rounds"]) for one in json.loads(report.read_text())["results"]] == [
        ("none", 1)
    ]
    assert "interrupted" in capsys.readouterr().err


def rounds_of_an_applier(dialect, rounds=3):
    options = {"rotations": 0, "collections": 0, "reads": 0, "barriers": False, "workers": 4}
    workload = Workload(transactions=12, rows=3, dialect=dialect, options=options)
    runs = [subject_named("applier").run(one, workload) for one in random_schedules(5, rounds)]
    return [LiveRound(number=n, seed=n, history=one) for n, one in enumerate(runs, 1)]


def by_models(judged):
    return {name: judged.answers[name] for name in model_traces.NAMES.values()}


def test_each_model_has_an_answer_of_its_own():
    answers = by_models(result(*rounds_of_an_applier("logical_clock_unordered", 12)))
    assert answers["servers_commit_as_the_model"].verdict is Verdict.VIOLATED
    assert answers["servers_start_as_the_model"].verdict is Verdict.HOLDS


def test_round_with_an_undecided_segment_does_not_hold(monkeypatch):
    monkeypatch.setattr(following, "WORLDS_MAX", 1)
    judged = result(*rounds_of_an_applier("logical_clock"))
    for answer in by_models(judged).values():
        assert answer.verdict is Verdict.UNKNOWN
        assert not answer.decides
        assert "segments of a round fit more worlds" in answer.why()
    assert judged.evidence["segments_undecided_by_last_committed"] > 0


ASKED = replace(TARGET, properties=("no_event_is_applied_twice",))


def test_monitors_answer_with_steps_and_assumptions():
    judged = new_result(ASKED, LiveRequest(mode="plain"))
    for one in (healthy(1), healthy(2)):
        take_round(judged, one)
    assert judged.answers["P50"].verdict is Verdict.HOLDS
    assert "2 rounds: 1 part of the logs" in judged.answers["P50"].why()
    assert "assumed: A15" in " ".join(result_text(judged).split())
    again = LiveRound(number=3, seed=3, history=told(LOG, [*LOG, LOG[0]]))
    take_round(judged, again)
    assert judged.answers["P50"].verdict is Verdict.VIOLATED
    assert "engine_committed of T1" in judged.answers["P50"].why()


def test_monitor_without_what_it_needs_is_unknown_and_does_not_decide():
    judged = new_result(ASKED, LiveRequest(mode="plain"))
    take_round(judged, healthy())
    take_round(judged, LiveRound(number=2, seed=2, history=told(LOG, [])))
    assert judged.answers["P50"].verdict is Verdict.HOLDS
    only = new_result(ASKED, LiveRequest(mode="plain"))
    take_round(only, LiveRound(number=1, seed=1, history=told(LOG, [])))
    assert only.answers["P50"].verdict is Verdict.UNKNOWN
    assert not only.answers["P50"].decides
    assert "nothing in common" in only.answers["P50"].why()


def test_monitors_do_not_judge_documented_faults():
    documented = replace(ASKED, documented={"plain/break": ASKED.properties})
    judged = new_result(documented, LiveRequest(mode="plain", fault="break"))
    take_round(judged, LiveRound(number=1, seed=1, history=told(LOG, [*LOG, LOG[0]])))
    assert judged.answers["no_event_is_applied_twice"].verdict is Verdict.VIOLATED
    assert "P50" not in judged.answers


def test_round_that_does_not_decide_a_situation_leaves_the_property_unknown():
    """Rounds that hold do not outvote one that saw no row change of a pair."""
    name = "no_conflicting_parallel_apply"
    windows = parse_history(
        "T1{a} 2<1 | T2{a} 3<1 "
        "| begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped"
    )
    optimistic = replace(windows.header, tier=EvidenceTier.COMMIT_WINDOWS, dialect="optimistic")
    waiting = LiveRound(number=2, seed=2, history=replace(windows, header=optimistic))
    apart = parse_history(
        "T1{a} 2<1 | T2{b} 3<1 | T3{a} 4<2 | begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 "
        "; begun T3@w1 ; engine_committed T2@w2 ; engine_committed T3@w1 ; stopped"
    )
    decided = LiveRound(number=1, seed=1, history=apart)
    judged = new_result(replace(TARGET, properties=(name,)), LiveRequest(mode="plain", fault=""))
    take_round(judged, decided)
    assert judged.answers[name].verdict is Verdict.HOLDS
    take_round(judged, waiting)
    assert judged.answers[name].verdict is Verdict.UNKNOWN
    assert judged.answers[name].why() == "1 of 2: no row_applied of T2 on a"
    assert "1 of 2" in result_text(judged)
    (row,) = (one for one in result_json(judged)["properties"] if one["name"] == name)
    assert (row["situations"]["relevant"], row["situations"]["decided"]) == (2, 1)
