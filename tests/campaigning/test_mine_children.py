"""Campaigns of appliers in child processes: the runs of ``paraply conform``, by the thousand."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.cli import main
from paraply.conforming.child_systems import ChildCommand, children_of
from paraply.conforming.suite import Conformance
from paraply.mining.campaign import run_campaign
from paraply.mining.coverage import course_of
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan, plan_from_json
from paraply.properties.registry import property_named
from paraply.properties.search import random_schedules
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import read_histories
from tests.mining.campaigns import rows_of

CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"
ONE_NUMBER = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"
BROKEN = str(Path(__file__).with_name("broken_appliers.py"))


def plan_for(applier, *cases, histories=6, batch=3, seed=3):
    systems = children_of(ChildCommand(applier=applier), cases, seed=seed)
    return Plan(systems=systems, histories=histories, seed=seed, batch_histories=batch)


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("children")
    plan = plan_for(ONE_NUMBER, "B-random", "K-random")
    return plan, run_campaign(plan, str(folder), InProcess()), rows_of(folder, plan)


@pytest.mark.long
def test_rows_are_the_runs_that_conform_makes_of_the_same_seeds(explored):
    plan, progress, rows = explored
    assert [row["run"] for row in rows] == [*range(6), *range(6)]
    assert sum(len(row["violated"]) for row in rows) > 3
    (case,) = cases_named(["B-random"])
    with CommandLauncher(plan.systems[0].command.words) as launcher:
        conformance = Conformance(launcher)
        for run, schedule in enumerate(random_schedules(plan.seed, 2)):
            history = conformance.run_once(case, schedule, plan.seed + run).history
            (row,) = (one for one in rows if one["dialect"] == case.id and one["run"] == run)
            assert (row["course"], row["seed"]) == (course_of(history), schedule.seed)
            broken = set(row["violated"])
            assert broken == {
                prop.name for prop in plan.systems[0].properties if prop.violations(history)
            }
    assert progress.reached[0] == progress.reached[1] > 0


@pytest.mark.long
def test_campaign_of_a_child_that_was_cut_resumes_to_the_same_table(tmp_path, explored):
    plan, progress, rows = explored
    read = plan_from_json(json.loads(json.dumps(plan.as_json())))
    assert read == plan
    run_campaign(plan, str(tmp_path), InProcess(), time_limit_s=0.0)
    resumed = run_campaign(read, str(tmp_path), InProcess(), resume=True)
    assert (resumed.batches_kept, resumed.per_system) == (1, progress.per_system)
    assert rows_of(tmp_path, plan) == rows


@pytest.mark.long
def test_breach_of_a_child_is_made_small_and_its_command_shows_it_again(tmp_path, capsys):
    out = tmp_path / "out"
    words = ["--applier", ONE_NUMBER, "--case", "A-random", "--histories", "4", "--no-times"]
    assert main(["mine", *words, "--out", str(out)]) == 1
    assert "child:waits_for_one_number:A-random-01" in capsys.readouterr().out
    filed = json.loads((out / "counterexamples" / "index.json").read_text())["counterexamples"]
    assert all(entry["is_confirmed"] for entry in filed)
    (entry,) = (one for one in filed if one["prop"] == "starts_respect_last_committed")
    assert entry["transactions"] < 12
    assert main(shlex.split(entry["command"])[1:]) == 1
    assert entry["violations"][0] in capsys.readouterr().out
    assert main(["mine", "--report", str(out)]) == 1
    assert main(["show", str(out), "--out", str(tmp_path / "pages")]) == 0


def test_right_applier_holds_where_every_situation_occurred(tmp_path):
    words = ["--applier", CLOCK, "--case", "A-rotation-01", "--histories", "3"]
    assert main(["mine", *words, "--out", str(tmp_path / "out")]) == 0


def test_applier_that_dies_has_given_up_and_the_history_says_why(tmp_path):
    plan = plan_for(f"{BROKEN}:Dies", "B-random", histories=2, batch=2)
    progress = run_campaign(plan, str(tmp_path), InProcess())
    assert progress.per_system[0].violated["applier_does_not_give_up"] == 2
    (history,) = read_histories(rows_of(tmp_path, plan)[0]["history"].splitlines())
    assert history.check().events[-1].note.startswith("the applier ")
    assert not history.is_complete


def test_breach_that_does_not_recur_is_reported_with_its_history_as_it_was(
    tmp_path, capsys, monkeypatch
):
    out, counter = tmp_path / "out", tmp_path / "left"
    counter.write_text("4")
    monkeypatch.setenv("PARAPLY_TEST_RUNS_LEFT", str(counter))
    applier = f"{BROKEN}:FaultyAtFirst"
    words = ["--applier", applier, "--case", "A-random-01", "--histories", "4", "--no-times"]
    assert main(["mine", *words, "--out", str(out)]) == 1
    assert int(counter.read_text()) < 0
    printed = capsys.readouterr().out
    assert "were not met again on the same choices" in printed
    assert "their histories are in rows/" in printed
    filed = json.loads((out / "counterexamples" / "index.json").read_text())["counterexamples"]
    assert filed == []
    broken = [row for row in rows_of(out, None) if row["violated"]]
    assert broken
    for row in broken:
        (history,) = read_histories(row["history"].splitlines())
        for name in row["violated"]:
            assert property_named(name).violations(history)


@pytest.mark.long
def test_applier_that_falls_silent_ends_the_campaign_with_a_remedy(tmp_path):
    plan = plan_for(f"{BROKEN}:FallsSilent", "B-random")
    systems = tuple(replace(one, command=replace(one.command, timeout=0.3)) for one in plan.systems)
    # On a busy machine it is silent before it has begun, which is an error of its own.
    with pytest.raises(ParaplyError, match=r"P63[45].*no message for 0\.3 s"):
        run_campaign(replace(plan, systems=systems), str(tmp_path), InProcess())
    assert rows_of(tmp_path, plan) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--", "false"], "P634"),
        (["--", "/nowhere/applier"], "P630"),
        (["--applier", "nowhere.py:Class"], "P633"),
        (["--applier", CLOCK, "--case", "Z"], "P632"),
        (["--applier", CLOCK, "--", "true"], "P301"),
        (["--case", "A"], "P301"),
        (["--timeout", "3"], "P301"),
        (["--applier", CLOCK, "--compare", "2"], "P301"),
    ],
)
def test_wrong_usage_of_a_child_exits_3_with_a_remedy(words, code, tmp_path, capsys):
    assert main(["mine", "--out", str(tmp_path / "out"), *words]) == 3
    said = capsys.readouterr().err
    assert code in said
    assert "remedy: " in said
    assert not (tmp_path / "out").exists()
