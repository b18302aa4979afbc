"""``paraply explore``: verdicts, expectations, counterexamples, exit codes, determinism."""

from __future__ import annotations

import json
import shlex

import pytest

from paraply.cli import main
from paraply.counterexamples.hunt import properties_of
from paraply.exploring.explore import explore
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, subject_named
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import Exploration
from paraply.vocabulary.verdict import Verdict

UNORDERED = ["explore", "applier", "--dialect", "logical_clock_unordered"]
COMMIT_ORDER = ["--property", "engine_commits_follow_the_log"]


def explored(subject_name, properties, schedules=60, dialect="", **sizes):
    subject = subject_named(subject_name)
    workload = Workload(dialect=dialect or subject.dialects[0], **sizes)
    judged = [property_named(name) for name in properties]
    return explore(subject, workload, judged, random_schedules(0, schedules), is_named=bool(judged))


def test_property_that_holds_exits_0(capsys):
    assert (
        main(["explore", "applier", "--schedules", "40", "--property", "rows_apply_as_logged"]) == 0
    )
    out = capsys.readouterr().out
    assert "random schedules of seed 0: 40 runs" in out
    assert out.endswith("holds: 1 holds\n")


def test_situation_that_never_occurs_exits_2_and_says_which_options_are_off(capsys):
    arguments = ["explore", "applier", "--defaults", "--schedules", "5", "--property"]
    assert main([*arguments, "saved_positions_are_executed"]) == 2
    out = capsys.readouterr().out
    assert "its situation does not occur" in out
    assert "options that are off: " in out
    assert "checkpoints" in out


@pytest.mark.long
def test_breach_exits_1_and_prints_table_lanes_sentence_and_command(capsys):
    assert main([*UNORDERED, *COMMIT_ORDER]) == 1
    out = capsys.readouterr().out
    assert "violated" in out
    assert "expected of this dialect" in out
    assert "Trx | WS | trx.LC | trx.SN" in out
    assert "worker 2" in out
    assert "committed before" in out
    assert ">>>  breaks engine_commits_follow_the_log" in out
    assert "replay: paraply replay --subject=applier" in out


@pytest.mark.long
def test_expected_breach_can_be_allowed(capsys):
    assert main([*UNORDERED, *COMMIT_ORDER, "--allow-expected"]) == 0
    assert "expected of this dialect" in capsys.readouterr().out


def test_expected_breach_that_is_not_found_is_said_and_is_unknown(capsys):
    assert main([*UNORDERED, *COMMIT_ORDER, "--schedules", "1", "--seed", "1"]) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert "the breach expected of this dialect was not found" in out


@pytest.mark.long
def test_printed_replay_command_shows_the_same_breach(capsys):
    main([*UNORDERED, *COMMIT_ORDER])
    command = capsys.readouterr().out.partition("replay: ")[2].splitlines()[0]
    assert main(shlex.split(command)[1:]) == 1
    assert "violated engine_commits_follow_the_log" in capsys.readouterr().out


@pytest.mark.long
def test_counterexample_file_holds_the_run_with_everything_to_replay_it(tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    main([*UNORDERED, *COMMIT_ORDER, "--out", str(folder)])
    (file,) = folder.glob("*.jsonl")
    assert file.name == "applier-logical_clock_unordered-engine_commits_follow_the_log.jsonl"
    (history,) = read_histories(file.read_text().splitlines())
    assert history.header.subject == "applier"
    assert history.header.dialect == "logical_clock_unordered"
    assert history.header.options["workers"] == 2
    assert history.header.program
    assert property_named("engine_commits_follow_the_log").violations(history)
    command = capsys.readouterr().out.partition("replay: ")[2].splitlines()[0]
    assert main(shlex.split(command)[1:]) == 1
    assert "the run is the one recorded" in capsys.readouterr().out


def test_folder_that_cannot_be_made_is_a_user_error(tmp_path, capsys):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert main([*UNORDERED, *COMMIT_ORDER, "--out", str(blocked / "folder")]) == 3
    assert "P302" in capsys.readouterr().err


@pytest.mark.long
def test_same_seed_gives_the_same_output_and_another_seed_another(capsys):
    outputs = []
    for seed in ("3", "3", "4"):
        main([*UNORDERED, *COMMIT_ORDER, "--schedules", "40", "--seed", seed, "--json", "-"])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]


@pytest.mark.long
def test_json_has_every_verdict_and_a_counterexample_that_replays(capsys):
    code = main([*UNORDERED, *COMMIT_ORDER, "readers_see_prefixes", "--json", "-"])
    document = json.loads(capsys.readouterr().out)
    assert code == 1
    assert document["verdict"] == "violated"
    assert document["search"] == {"seed": 0, "schedules": 500}
    assert document["runs"] == 500
    assert document["is_drawn"] is True
    assert document["options"] == {}
    broken = document["properties"][0]
    assert broken["name"] == "engine_commits_follow_the_log"
    assert broken["is_expected"] is True
    assert 0 < broken["histories_broken"] <= broken["histories_reached"] < document["runs"]
    counterexample = broken["counterexample"]
    assert counterexample["violations"][0].startswith("r1: T")
    assert decode_program(parse_program(counterexample["program"]))
    assert counterexample["history"][0]["record"] == "history"


def test_json_beside_the_report_is_written_to_the_file(tmp_path, capsys):
    file = tmp_path / "result.json"
    arguments = ["explore", "source", "--schedules", "9", "--json", str(file)]
    code = main(arguments)
    assert json.loads(file.read_text())["runs"] == 9
    assert "source, dialect commit_order" in capsys.readouterr().out
    assert code in (0, 1, 2)


def test_exhaustive_exploration_says_how_many_and_that_these_are_all(capsys):
    arguments = ["explore", "certifier", "--exhaustive", "--transactions", "1", "--rows", "2"]
    assert main([*arguments, "--option", "views=0", "--property", "gtids_are_unique"]) == 2
    out = capsys.readouterr().out
    # Local or remote; {a}, {a b}, no write set or CREATE TABLE ... SELECT: {b} is {a} renamed.
    assert "every schedule: 8 runs, 8 distinct histories" in out


def test_exhaustive_exploration_that_is_cut_short_is_unknown_at_best(capsys):
    arguments = ["explore", "certifier", "--exhaustive", "--runs-max", "30"]
    assert main([*arguments, "--property", "gtids_are_unique"]) == 2
    out = capsys.readouterr().out
    assert "NOT every schedule (stopped by --runs-max 30): 30 runs" in out
    assert out.endswith("unknown: 1 holds; not every schedule was run\n")


def test_unreachable_properties_are_set_aside_unless_they_are_asked_for():
    result = explored("certifier", [])
    assert result.findings == ()
    subject = subject_named("certifier")
    everything = explore(
        subject, Workload(dialect="wl8440"), properties_of(subject), random_schedules(0, 20)
    )
    assert "members_decide_alike" in everything.set_aside
    assert "members_decide_alike" not in {finding.prop.name for finding in everything.findings}
    asked = explored("certifier", ["members_decide_alike"])
    assert asked.findings[0].verdict is Verdict.UNKNOWN


@pytest.mark.long
def test_counterexample_is_smaller_than_what_was_found():
    result = explored("applier", COMMIT_ORDER[1:], 500, "logical_clock_unordered", transactions=6)
    (finding,) = result.findings
    found, small = finding.tally.first.history, finding.smallest.counterexample.history
    assert len(small.transactions) < len(found.transactions)
    assert len(small.events) < len(found.events)


def test_exploration_without_properties_is_unknown():
    result = explored("applier", [])
    assert result.verdict() is Verdict.UNKNOWN


def test_tally_counts_histories_that_differ():
    subject = subject_named("certifier")
    workload = Workload(transactions=1, rows=1, dialect="wl8440")
    schedules = [*Exploration(), *Exploration()]
    assert explore(subject, workload, [], schedules).campaign.histories <= len(schedules)
    doubled = [*random_schedules(0, 4), *random_schedules(0, 4)]
    campaign = explore(subject, workload, [], doubled).campaign
    assert campaign.runs == 8
    assert campaign.histories <= 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nosuch"], "P403"),
        (["applier", "--dialect", "nosuch"], "P405"),
        (["applier", "--option", "nosuch=1"], "P404"),
        (["applier", "--option", "workers"], "P320"),
        (["applier", "--option", "workers=many"], "P320"),
        (["applier", "--option", "workers=-1"], "P320"),
        (["applier", "--option", "barriers=maybe"], "P320"),
        (["applier", "--option", "workers=1", "workers=2"], "P320"),
        (["applier", "--option", "workers=0"], "P409"),
        (["applier", "--option", "stamps=nosuch"], "P409"),
        (["applier", "--rows", "0"], "P407"),
        (["applier", "--property", "nosuch"], "P520"),
        (["applier", "--schedules", "0"], "P301"),
        (["applier", "--schedules", "5", "--exhaustive"], "P301"),
        (["applier", "--json", "/no/such/folder/x.json"], "P302"),
    ],
)
def test_wrong_usage_exits_3_with_a_code(arguments, code, capsys):
    assert main(["explore", *arguments]) == 3
    assert f"paraply: {code}" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "value"), [("on", True), ("False", False), ("yes", True)])
def test_truth_value_of_an_option_may_be_spelled_in_several_ways(word, value, capsys):
    main(["explore", "applier", "--schedules", "1", "--option", f"barriers={word}", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["options"]["barriers"] is value


PRECISION = ["explore", "certifier", "--dialect", "mysql_8_0", "--schedules", "60", "--property"]


def test_breach_of_precision_is_a_class_of_its_own_unless_strict(capsys, tmp_path):
    words = [*PRECISION, "sequence_numbers_are_contiguous", "--out", str(tmp_path)]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("holds: 1 over-serialises (1 expected)\n")
    assert main([*words, "--strict", "--force"]) == 1
    assert capsys.readouterr().out.endswith("violated: 1 over-serialises (1 expected)\n")

    (file,) = tmp_path.glob("*.jsonl")
    words = ["check", str(file), "--property", "sequence_numbers_are_contiguous"]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("holds: 1 over-serialises\n")
    assert main([*words, "--strict"]) == 1
    assert capsys.readouterr().out.endswith("violated: 1 over-serialises\n")


@pytest.mark.long
def test_breach_of_safety_beside_one_of_precision_decides(capsys):
    assert main([*PRECISION[:-1], "--json", "-"]) in {0, 2}
    found = json.loads(capsys.readouterr().out)["properties"]
    assert {one["verdict"] for one in found if not one["is_safety"]} >= {"over-serialises"}
    words = ["explore", "certifier", "--dialect", "wl8440_literal", "--property"]
    both = ["last_committed_is_minimal", "barriers_are_ordered_with_all"]
    assert main([*words, *both]) == 1
    assert "violated: 1 violated, 1 over-serialises (2 expected)" in capsys.readouterr().out
