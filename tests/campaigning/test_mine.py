"""``paraply mine``: runs, reports, resumes, promotes, and tells by its exit code."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from unittest import mock

import pytest
from rich.console import Console

from paraply.campaigning.files import promote
from paraply.campaigning.progress import clock_text, mining_progress
from paraply.campaigning.result import curve_points, judge, overall
from paraply.cli import main
from paraply.commands.mine import SPARK_PAYS_FROM, engine_for
from paraply.mining.campaign import StopWhen, run_campaign
from paraply.mining.clusters import clusters_of
from paraply.mining.engines import InProcess
from paraply.mining.small_scope import FAULTS, explore_scope, words
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.verdict import Verdict
from tests.mining.campaigns import small_plan

CAUGHT = ["--mutants", "last_committed_off_by_one,items_are_stored_before_they_are_looked_up"]
SMALL = ["--histories", "60", "--batch", "20", "--no-times"]


@pytest.fixture(scope="module", autouse=True)
def source():
    """Let the source be one version, whoever edits it while the tests run."""
    with mock.patch("paraply.campaigning.plan.source_digest", return_value="test"):
        yield


@pytest.fixture(scope="module")
def mined(tmp_path_factory, source):
    """Return a folder with a small campaign, and its result as JSON."""
    folder = tmp_path_factory.mktemp("mined")
    result = folder / "result.json"
    code = main(["mine", *CAUGHT, *SMALL, "--out", str(folder / "out"), "--json", str(result)])
    assert code == 0
    return folder / "out", json.loads(result.read_text())


@pytest.mark.long
def test_mutants_that_are_caught_exit_0(mined):
    _, result = mined
    assert result["verdict"] == "holds"
    assert [system["verdict"] for system in result["systems"]] == ["holds", "holds"]
    assert result["histories"] == 120
    assert result["discovery"][-1]["found"] == 2


@pytest.mark.long
def test_each_counterexample_is_confirmed_and_its_command_replays_it(mined, capsys):
    _, result = mined
    assert len(result["counterexamples"]) >= 2
    for entry in result["counterexamples"]:
        assert entry["is_confirmed"]
        words = shlex.split(entry["command"])
        assert main(words[1:]) == 1
        assert entry["prop"] in capsys.readouterr().out


def test_page_of_a_counterexample_says_whose_fault_it_is_and_how_to_run_it_again(mined):
    folder, result = mined
    for entry in result["counterexamples"]:
        page = (folder / "counterexamples" / f"{entry['name']}.md").read_text()
        assert "The mutant's, on purpose" in page
        assert entry["command"] in page
        assert entry["violations"][0].split()[0] in page


def test_report_reads_the_folder_and_runs_nothing(mined, capsys):
    folder, _ = mined
    before = sorted(path.stat().st_mtime_ns for path in folder.rglob("*"))
    assert main(["mine", "--report", str(folder), "--no-times"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 mutants caught" in out
    assert "histories of each" in out
    assert before == sorted(path.stat().st_mtime_ns for path in folder.rglob("*"))


@pytest.mark.long
def test_equal_campaigns_print_the_same(tmp_path, capsys):
    texts = set()
    arguments = ["mine", "--mutants", "refusal_takes_a_number", *SMALL]
    for name in ("one", "two"):
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_second_campaign_in_a_folder_exits_3_and_resume_goes_on(mined, capsys):
    folder, _ = mined
    assert main(["mine", *CAUGHT, *SMALL, "--out", str(folder)]) == 3
    assert "--resume" in capsys.readouterr().err
    assert (
        main(["mine", *CAUGHT, *SMALL, "--out", str(folder), "--resume", "--minimise", "none"]) == 0
    )
    assert "6 batches were there already" in capsys.readouterr().out


@pytest.mark.long
def test_campaign_cut_by_the_time_limit_exits_2(tmp_path, capsys):
    out = ["--out", str(tmp_path / "out")]
    assert (
        main(["mine", *CAUGHT, *SMALL, *out, "--time-limit", "0.000001", "--minimise", "none"]) == 2
    )
    assert "--resume" in capsys.readouterr().out
    assert main(["mine", *CAUGHT, *SMALL, *out, "--resume", "--minimise", "none"]) == 0


def test_mutant_that_is_not_caught_in_so_few_histories_exits_2(tmp_path, capsys):
    arguments = ["--mutants", "low_water_mark_is_highest_done", "--histories", "5"]
    assert main(["mine", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert "not caught by starts_respect_last_committed in 5 histories" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.long
def test_known_breach_of_a_dialect_exits_1_unless_it_is_allowed(tmp_path, capsys):
    arguments = ["--subjects", "semi_sync:after_commit", "--minimise", "none", "--batch", "50"]
    arguments += ["--workload", "source_crashes=1"]
    assert main(["mine", *arguments, "--out", str(tmp_path / "a")]) == 1
    assert "what its dialect is known for" in " ".join(capsys.readouterr().out.split())
    code = main(["mine", *arguments, "--allow-expected", "--out", str(tmp_path / "b")])
    assert code in (0, 2)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--subjects", "nothing"], "P403"),
        (["--mutants", "nothing"], "P408"),
        (["--workload", "transactions"], "P301"),
        (["--workload", "transactions=x"], "P720"),
        (["--workload", "crashs=1"], "P720"),
        (["--histories", "0"], "P301"),
        (["--seed", "20261121173300"], "P301"),
        (["--seed", "-1"], "P301"),
        (["--time-limit", "nan"], "P301"),
        (["--fast", "--guided"], "P301"),
        (["--fast", "--compare", "2", *CAUGHT], "P301"),
        (["--master", "none", "--spark-conf", "spark.driver.memory=1g"], "P301"),
        (["--report", "/nowhere/at/all"], "P724"),
        (["--promote", "/nowhere/at/all"], "P322"),
        (["--out", "/proc/nowhere", *CAUGHT], "P721"),
    ],
)
def test_wrong_usage_exits_3_with_a_remedy(arguments, code, capsys):
    assert main(["mine", *arguments]) == 3
    said = capsys.readouterr().err
    assert code in said
    assert "remedy: " in said


def test_promoted_counterexamples_are_histories_with_what_they_break(mined, tmp_path):
    folder, result = mined
    written = promote(folder, ["all"], tmp_path)
    assert len(written) == 2 * len(result["counterexamples"])
    for path in tmp_path.glob("*.json"):
        expected = json.loads(path.read_text())
        (history,) = read_histories(path.with_suffix(".jsonl").read_text().splitlines())
        assert history.header.subject == expected["subject"]
        assert expected["violations"]
    with pytest.raises(ParaplyError, match="does not list"):
        promote(folder, ["nothing"], tmp_path)


def test_promoting_without_a_name_lists_them_and_writes_nothing(mined, tmp_path, capsys):
    folder, result = mined
    target = tmp_path / "regressions"
    words = ["mine", "--promote", str(folder), "--regressions", str(target)]
    assert main(words) == 0
    listed = capsys.readouterr()
    assert listed.out.split() == [entry["name"] for entry in result["counterexamples"]]
    assert "nothing is written" in listed.err
    assert not target.exists()
    name = listed.out.split()[0]
    assert main([*words, name]) == 3
    assert f"{name} is out of place" in capsys.readouterr().err
    assert main(["mine", "--promote", str(folder), name, *words[3:]]) == 0
    assert len(list(target.iterdir())) == 2


@pytest.mark.long
def test_resume_alone_goes_on_with_the_stored_plan(tmp_path, capsys):
    out = ["--out", str(tmp_path / "out")]
    assert main(["mine", "--resume", *out]) == 3
    assert "P724" in capsys.readouterr().err
    short = ["--minimise", "none", "--no-times"]
    main(["mine", *CAUGHT, *SMALL, *out, "--minimise", "none", "--time-limit", "0.000001"])
    capsys.readouterr()
    assert main(["mine", "--resume", *out, "--seed", "0"]) == 3
    assert "--histories was 60 and is 200; --batch was 20 and is 200" in capsys.readouterr().err
    assert main(["mine", "--resume", *out, *short]) == 0
    assert "1 batches were there already" in capsys.readouterr().out
    assert main(["mine", *CAUGHT, *SMALL, *out, *short[:2], "--resume"]) == 0


def test_resume_alone_goes_on_with_the_stored_stop_rule(tmp_path, capsys):
    out = ["--out", str(tmp_path / "out"), "--minimise", "none", "--no-times"]
    words = ["--mutants", "last_committed_off_by_one", "--histories", "9000", "--batch", "10"]
    main(["mine", *words, *out, "--stop-when", "found", "--time-limit", "0.000001"])
    for again in (["--resume", *out], ["--report", *out[1:2], "--no-times"]):
        capsys.readouterr()
        assert main(["mine", *again]) == 0
        said = capsys.readouterr().out
        assert "not complete" not in said
        assert "9,000 histories" not in said


@pytest.mark.long
def test_damaged_index_is_written_again_by_what_the_remedy_says(tmp_path, capsys):
    out = tmp_path / "out"
    words = ["mine", "--mutants", "refusal_takes_a_number", *SMALL, "--out", str(out)]
    assert main(words) == 0
    index = out / "counterexamples" / "index.json"
    whole = index.read_text()
    index.write_text(whole[:-9])
    capsys.readouterr()
    for reader in (["mine", "--report", str(out)], ["show", str(out)]):
        assert main(reader) == 3
        said = capsys.readouterr().err
        assert "P323" in said
    remedy = re.search(r"`paraply (mine --resume [^`]*)`", said)
    assert main([*shlex.split(remedy.group(1)), "--no-times"]) == 0
    assert index.read_text() == whole


def test_small_campaign_never_starts_spark():
    assert isinstance(engine_for("auto", SPARK_PAYS_FROM - 1), InProcess)
    assert isinstance(engine_for("none", SPARK_PAYS_FROM), InProcess)


@pytest.mark.long
def test_spark_that_does_not_start_exits_3_without_a_traceback(tmp_path):
    # The JVM refuses the setting and ends at once.
    done = subprocess.run(
        [sys.executable, "-m", "paraply", "mine", *CAUGHT, "--master", "local[1]",
         "--spark-conf", "spark.driver.memory=1", "--out", str(tmp_path / "out")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert re.search("P7(01|25)", done.stderr)
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr


def test_subject_is_unknown_where_a_situation_was_never_reached(tmp_path):
    plan = small_plan(histories=3, batch=3, subjects=("applier:logical_clock",), mutants=())
    progress = run_campaign(plan, str(tmp_path), InProcess())
    (result,) = judge(progress)
    assert result.verdict is Verdict.UNKNOWN
    assert "never reached" in result.note
    assert overall(progress, [result]) is Verdict.UNKNOWN


def test_breach_of_precision_is_a_remark_unless_strict(tmp_path):
    plan = small_plan(histories=40, batch=40, subjects=("certifier:mysql_8_0",), mutants=())
    progress = run_campaign(plan, str(tmp_path), InProcess())
    for is_strict in (False, True):
        (result,) = judge(progress, is_strict=is_strict)
        assert "sequence_numbers_are_contiguous" in result.note
        assert (result.verdict is Verdict.VIOLATED) is is_strict


def test_equivalent_mutant_that_survives_holds(tmp_path):
    plan = small_plan(histories=20, batch=20, subjects=(), mutants=("history_survives_rotation",))
    progress = run_campaign(plan, str(tmp_path), InProcess(), stop_when=StopWhen.FOUND)
    (result,) = judge(progress)
    assert (result.verdict, result.note) == (Verdict.HOLDS, "equivalent, caught by none")


@pytest.mark.long
def test_side_effects_of_a_mutant_are_clusters_only_when_asked_for(tmp_path):
    plan = small_plan(histories=60, batch=60, subjects=())
    progress = run_campaign(plan, str(tmp_path), InProcess())
    goals = clusters_of(progress)
    assert {one.prop for one in goals} == {goal for one in plan.systems for goal in one.goals}
    assert len(clusters_of(progress, goals_only=False)) > len(goals)


@pytest.mark.long
def test_most_frequent_clusters_of_each_property_come_first(tmp_path):
    plan = small_plan(histories=80, batch=80, subjects=(), mutants=("last_committed_off_by_one",))
    progress = run_campaign(plan, str(tmp_path), InProcess())
    every = clusters_of(progress)
    assert len(every) > 2
    assert clusters_of(progress, most=2) == every[:2]
    counts = [one.specimen.count for one in every]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.long
def test_progress_is_drawn_on_a_terminal_and_never_in_a_pipe(tmp_path):
    plan = small_plan(histories=20, batch=10)
    for is_terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=is_terminal, width=160)
        with mining_progress(console, clock=lambda: 1e9) as listener:
            run_campaign(plan, str(tmp_path / str(is_terminal)), InProcess(), on_batch=listener)
        drawn = console.file.getvalue()
        assert ("of 60 histories" in drawn and "left" in drawn) == is_terminal
        assert bool(drawn) == is_terminal


def test_times_and_curve_points_read_as_people_expect():
    assert [clock_text(seconds) for seconds in (0, 61, 3_661)] == ["0:00", "1:01", "1:01:01"]
    assert curve_points(25) == [1, 2, 5, 10, 20, 25]
    assert curve_points(10) == [1, 2, 5, 10]


@pytest.mark.long
def test_small_scope_holds_and_says_what_was_explored(capsys):
    assert main(["mine", "--scope", "3"]) == 0
    said = capsys.readouterr().out
    found = explore_scope(3)
    assert f"{found.schedules:,} schedules" in said
    assert f"{found.states:,} states" in said
    assert "conflicting_transactions_never_overlap: holds" in said


def test_small_scope_of_one_transaction_shows_nothing(capsys):
    assert main(["mine", "--scope", "1"]) == 2
    assert "1 transaction on 3 rows" in capsys.readouterr().out


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault])
def test_fault_in_a_small_scope_is_found_with_a_schedule(capsys, fault):
    assert main(["mine", "--scope", "3", "--scope-fault", fault]) == 1
    said = capsys.readouterr().out
    assert "violated" in said
    assert words(explore_scope(3, fault=fault).witness) in said
    assert main(["mine", "--scope", "3", "--scope-fault", fault, "--json", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["fault"], document["verdict"]) == (fault, "violated")
    assert document["violating"] > 0
    assert document["witness"]


def test_unknown_fault_of_a_small_scope_is_refused_with_those_there_are(capsys):
    assert main(["mine", "--scope", "2", "--scope-fault", "lost"]) == 3
    said = capsys.readouterr().err
    assert all(fault in said for fault in ["lost", *filter(None, FAULTS)])


def test_scope_beyond_what_is_explored_in_minutes_is_refused(capsys):
    assert main(["mine", "--scope", "8"]) == 3
    assert "--scope" in capsys.readouterr().err


@pytest.mark.long
def test_report_without_times_is_the_same_again(tmp_path, capsys):
    reports = []
    for number in range(2):
        out = ["--out", str(tmp_path / f"out{number}")]
        report = tmp_path / f"{number}.json"
        words = ["--no-times", "--minimise", "none", "--json", str(report)]
        main(["mine", *CAUGHT, *SMALL, *out, *words])
        reports.append(json.loads(report.read_text()))
    assert reports[0] == reports[1]
    assert reports[0]["worker_seconds"] is None
    capsys.readouterr()


@pytest.mark.long
def test_campaign_that_there_is_nothing_of_is_said_to_begin(tmp_path, capsys):
    out = ["--out", str(tmp_path / "typo")]
    main(["mine", *CAUGHT, *SMALL, *out, "--resume", "--minimise", "none"])
    assert "held no campaign to go on with" in capsys.readouterr().out
