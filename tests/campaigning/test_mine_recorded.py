"""Campaigns of recorded histories: judged as ``paraply check`` judges them, one row each."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from paraply.adapters.history_parquet import write_parquet
from paraply.cli import main
from paraply.judging.recorded_systems import recorded_system
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan, plan_from_json
from paraply.properties.registry import property_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.schedule import SeededSchedule
from tests.mining.campaigns import rows_of, small_plan

COUNT = 12


@pytest.fixture(scope="module")
def histories():
    plan = small_plan(subjects=(), mutants=("last_committed_off_by_one",))
    (system,) = plan.systems
    made = [system.runner.run(SeededSchedule(seed), system.workload) for seed in range(COUNT)]
    assert sum(bool(broken(history)) for history in made) not in (0, COUNT)
    return made


def broken(history):
    return property_named("no_conflicting_parallel_apply").violations(history)


@pytest.fixture
def recorded(tmp_path, histories):
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(f"{line}\n" for one in histories for line in write_history(one)))
    return path


def plan_for(path, histories=COUNT, batch=5):
    systems = (recorded_system(str(path)),)
    return Plan(systems=systems, histories=histories, seed=0, batch_histories=batch)


def test_each_recorded_history_is_judged_once(tmp_path, recorded, histories):
    plan = plan_for(recorded, histories=100)
    progress = run_campaign(plan, str(tmp_path / "out"), InProcess())
    rows = rows_of(tmp_path / "out", plan)
    assert [row["run"] for row in rows] == list(range(COUNT))
    assert progress.is_complete
    assert progress.histories == progress.histories_planned == COUNT
    for row, history in zip(rows, histories, strict=True):
        assert row["seed"] == history.header.seed
        assert ("no_conflicting_parallel_apply" in row["violated"]) == bool(broken(history))
        assert (row["history"] is not None) == bool(row["violated"])


@pytest.mark.long
def test_folder_of_parquet_files_gives_the_same_rows(tmp_path, recorded, histories):
    write_parquet(tmp_path / "parquet", histories)
    tables = []
    for number, path in enumerate((recorded, tmp_path / "parquet")):
        plan = plan_for(path)
        run_campaign(plan, str(tmp_path / str(number)), InProcess())
        rows = rows_of(tmp_path / str(number), plan)
        tables.append([(row["course"], row["violated"], row["holds"]) for row in rows])
    assert tables[0] == tables[1]


def test_campaign_of_a_recording_goes_on_unless_the_file_is_another(tmp_path, recorded):
    plan = plan_for(recorded)
    out = str(tmp_path / "out")
    run_campaign(plan, out, InProcess(), time_limit_s=0.0)
    read = plan_from_json(json.loads(json.dumps(plan.as_json())))
    assert read == plan
    recorded.write_text(recorded.read_text() + "\n")
    with pytest.raises(ParaplyError, match="P324"):
        run_campaign(read, out, InProcess(), resume=True)


@pytest.mark.long
def test_command_reports_the_smallest_of_each_sort_and_how_to_judge_it_again(
    tmp_path, recorded, histories, capsys
):
    out = tmp_path / "out"
    assert main(["mine", "--recorded", str(recorded), "--out", str(out)]) == 1
    said = capsys.readouterr().out
    assert f"recorded:{recorded}" in said
    entries = json.loads((out / "counterexamples" / "index.json").read_text())["counterexamples"]
    smallest = min(len(one.transactions) for one in histories if broken(one))
    assert entries
    for entry in entries:
        assert entry["is_confirmed"]
        assert main(shlex.split(entry["command"])[1:]) == 1
        assert entry["prop"] in capsys.readouterr().out
        if entry["prop"] == "no_conflicting_parallel_apply":
            assert entry["transactions"] >= smallest
    assert main(["mine", "--recorded", str(recorded), "--histories", "3", "--out", f"{out}2"]) in (
        1,
        2,
    )
    assert f"the first 3 of {COUNT} histories" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "P360"), ("word", "P360"), ('{"type": "invoke", "f": "txn"}', "P301"), (None, "P360")],
)
def test_what_is_no_recording_is_refused(tmp_path, text, code, capsys):
    path = tmp_path / "file.jsonl"
    if text is not None:
        path.write_text(text)
    assert main(["mine", "--recorded", str(path), "--out", str(tmp_path / "out")]) == 3
    assert code in capsys.readouterr().err


WINDOWS = """
T1{a} 2<1 | T2{a} 3<1
| begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped
"""
WINDOWS_APART = """
T1{a} 2<1 | T2{b} 3<1 | T3{a} 4<2
| begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; begun T3@w1
; engine_committed T2@w2 ; engine_committed T3@w1 ; stopped
"""


def test_situation_that_one_history_does_not_decide_leaves_the_recording_unknown(tmp_path, capsys):
    """The first history decides its pair, and so would hide that of the second."""
    apart = parse_history(WINDOWS_APART)
    waiting = parse_history(WINDOWS)
    windows = [
        replace(one, header=replace(one.header, tier=EvidenceTier.COMMIT_WINDOWS, dialect=dialect))
        for one, dialect in ((apart, ""), (waiting, "optimistic"))
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(f"{line}\n" for one in windows for line in write_history(one)))
    out, form = tmp_path / "out", tmp_path / "report.json"
    assert main(["mine", "--recorded", str(path), "--out", str(out), "--json", str(form)]) == 2
    (system,) = json.loads(form.read_text())["systems"]
    name = "no_conflicting_parallel_apply"
    assert system["situations"][name] == {"relevant": 2, "decided": 1}
    assert f"not decidable: {name} (1 of 2)" in system["note"]
    text = " ".join(capsys.readouterr().out.split())
    assert f"not decidable: {name} (1 of 2)" in text


def test_property_is_judged_only_of_histories_that_it_applies_to(tmp_path, histories):
    """Options that one history lacks would end the campaign, and exemptions would be lost."""
    stripped = [replace(one, header=replace(one.header, options={})) for one in histories[:2]]
    path = tmp_path / "runs.jsonl"
    both = [*histories[:2], *stripped]
    path.write_text("".join(f"{line}\n" for one in both for line in write_history(one)))
    plan = plan_for(path, histories=4)
    assert "workers_are_those_configured" in plan.systems[0].judges
    run_campaign(plan, str(tmp_path / "out"), InProcess())
    rows = rows_of(tmp_path / "out", plan)
    said = ["workers_are_those_configured" in row["holds"] for row in rows]
    assert said == [True, True, False, False]
