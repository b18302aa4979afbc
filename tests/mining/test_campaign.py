from __future__ import annotations

import json
import os
import time

import pyarrow.fs as pafs
import pytest

from paraply.mining.batch_runs import SCHEMA, counts_from_json, run_batch
from paraply.mining.campaign import (
    ROUND_MIN,
    StopWhen,
    next_size,
    read_campaign,
    run_campaign,
)
from paraply.mining.coverage import course_of, features_of
from paraply.mining.engines import InProcess
from paraply.mining.plan import plan_from_json
from paraply.mining.row_files import RowWriter, parquet_bytes, read_file
from paraply.mining.store import STALE_S, ArrowStore
from paraply.mining.systems import systems_of
from paraply.properties.registry import verdict_of
from paraply.reference_impl.mutants import mutant_named, registered_mutants
from paraply.reference_impl.subject import registered_subjects
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import read_histories
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule
from paraply.vocabulary.verdict import Verdict
from tests.mining.campaigns import rows_of, small_plan


@pytest.mark.long
def test_each_row_replays_to_its_verdicts(tmp_path):
    plan = small_plan(histories=20, batch=10)
    run_campaign(plan, str(tmp_path), InProcess())
    rows = rows_of(tmp_path, plan)
    assert len(rows) == 60
    kept = 0
    for row in rows:
        (system,) = [
            one
            for one in plan.systems
            if (one.subject, one.mutant) == (row["subject"], row["mutant"])
        ]
        schedule = RecordedSchedule(decode_program(row["program"]), strict=True)
        history = system.runner.run(schedule, system.workload)
        assert schedule.is_faithful
        verdicts = {prop.name: verdict_of(history, prop) for prop in system.properties}
        words = {Verdict.HOLDS: "holds", Verdict.UNKNOWN: "unknown", Verdict.VIOLATED: "violated"}
        for prop in system.properties:
            if prop.check is None:
                assert (prop.name in row["situations"]) == (verdicts[prop.name] is Verdict.HOLDS)
            else:
                assert prop.name in row[words[verdicts[prop.name]]]
        assert course_of(history) == row["course"]
        assert len(row["signatures"]) == len(row["violated"])
        if row["violated"]:
            kept += 1
            (recorded,) = read_histories(row["history"].splitlines())
            assert recorded.events == history.events
        else:
            assert row["history"] is None
    assert 0 < kept < len(rows)


@pytest.mark.long
def test_counts_of_the_driver_are_those_of_the_rows(tmp_path):
    plan = small_plan()
    progress = run_campaign(plan, str(tmp_path), InProcess())
    rows = rows_of(tmp_path, plan)
    for system, counts in zip(plan.systems, progress.per_system, strict=True):
        mine = [
            row
            for row in rows
            if (row["subject"], row["mutant"]) == (system.subject, system.mutant)
        ]
        for name in system.judges:
            breaking = [row["run"] for row in mine if name in row["violated"]]
            assert counts.violated.get(name, 0) == len(breaking)
            assert counts.first_violated.get(name) == (min(breaking) if breaking else None)
            reached = sum(name in row["holds"] or name in row["situations"] for row in mine)
            assert counts.reached.get(name, 0) == reached
        assert sum(one.count for one in counts.clusters.values()) == sum(
            len(row["signatures"]) for row in mine
        )
    assert read_campaign(str(tmp_path)).per_system == progress.per_system


def test_equal_plans_write_equal_bytes(tmp_path):
    plan = small_plan(histories=10, batch=10)
    first, second = (parquet_bytes(run_batch(plan, plan.batch(0)).table) for _ in range(2))
    assert first == second


def test_runs_are_those_of_explore_with_the_same_seed():
    plan = small_plan(seed=3, histories=4, batch=4, subjects=("write_sets",), mutants=())
    history = plan.systems[0].runner.run(SeededSchedule(plan.seed_of(2)), plan.systems[0].workload)
    row = run_batch(plan, plan.batch(0)).table.to_pylist()[2]
    assert (row["run"], row["course"]) == (2, course_of(history))


def test_batches_cover_every_run_once():
    plan = small_plan(histories=47, batch=10)
    runs = {number: [] for number in range(len(plan.systems))}
    for number in range(plan.batches):
        batch = plan.batch(number)
        runs[batch.system] += range(batch.first, batch.first + batch.count)
    assert all(sorted(each) == list(range(47)) for each in runs.values())


def test_table_of_work_of_ten_to_the_thirteen_takes_no_memory():
    plan = small_plan(histories=10**13, batch=1000)
    assert plan.batch(plan.batches - 1).first == 10**13 - 1000


def test_plan_and_counts_survive_json():
    plan = small_plan(histories=12, batch=12, subjects=("applier",))
    assert plan_from_json(json.loads(json.dumps(plan.as_json()))) == plan
    counts = run_batch(plan, plan.batch(plan.batches - 1), known=set()).counts
    assert counts.clusters
    assert counts_from_json(json.loads(json.dumps(counts.as_json()))) == counts


def test_stop_when_found_ends_a_system_after_the_round_that_found_it(tmp_path):
    plan = small_plan(histories=200, batch=10, subjects=())
    progress = run_campaign(plan, str(tmp_path), InProcess(), stop_when=StopWhen.FOUND)
    assert progress.is_complete
    assert progress.found == (2, 2)
    for system, counts in zip(plan.systems, progress.per_system, strict=True):
        (goal,) = system.goals
        assert counts.first_violated[goal] // 10 == counts.histories // 10 - 1
    assert progress.batches < plan.batches
    read = read_campaign(str(tmp_path))
    assert (read.is_complete, read.stopped) == (True, progress.stopped)
    again = run_campaign(plan, str(tmp_path), InProcess(), resume=True, time_limit_s=0.0)
    assert not again.is_complete  # Resumed without the rule, there is more to do.
    assert not read_campaign(str(tmp_path)).is_complete


def test_stop_when_covered_ends_when_every_situation_was_reached(tmp_path):
    plan = small_plan(histories=400, batch=20, mutants=())
    progress = run_campaign(plan, str(tmp_path), InProcess(), stop_when=StopWhen.COVERAGE)
    assert progress.reached[0] == progress.reached[1] > 0
    assert progress.histories < 400


@pytest.mark.long
def test_time_limit_leaves_a_campaign_that_resumes(tmp_path):
    plan = small_plan()
    cut = run_campaign(plan, str(tmp_path), InProcess(), time_limit_s=0.0)
    assert not cut.is_complete
    assert cut.batches == 1
    whole = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert whole.is_complete
    assert whole.batches_kept == 1


def test_all_names_every_subject_dialect_and_mutant():
    systems = systems_of(["all"], ["all"], {})
    dialects = sum(len(subject.dialects) for subject in registered_subjects())
    assert len(systems) == dialects + len(registered_mutants())
    assert len({system.name for system in systems}) == len(systems)


def test_workload_words_reach_the_subjects_that_have_them():
    systems = systems_of(
        ["applier:database", "write_sets"], [], {"transactions": "2", "crashes": "1"}
    )
    assert [system.workload.transactions for system in systems] == [2, 2]
    assert dict(systems[0].workload.options) == {"crashes": 1}
    assert dict(systems[1].workload.options) == {}


@pytest.mark.parametrize(
    ("subjects", "words", "code"),
    [
        (["nothing"], {}, "P403"),
        (["applier:nothing"], {}, "P405"),
        (["applier"], {"crashs": "1"}, "P720"),
        (["applier"], {"crashes": "x"}, "P720"),
        (["applier"], {"barriers": "7"}, "P720"),
        (["applier"], {"workers": "999999"}, "P409"),
    ],
)
def test_unknown_names_and_options_are_refused(subjects, words, code):
    with pytest.raises(ParaplyError, match=code):
        systems_of(subjects, [], words)


def test_goal_of_a_mutant_is_the_property_that_must_catch_it():
    (system,) = systems_of([], ["last_committed_off_by_one"], {})
    assert system.goals == {mutant_named("last_committed_off_by_one").caught_by}
    assert system.runner is mutant_named("last_committed_off_by_one").subject


def test_features_do_not_depend_on_names():
    plan = small_plan(subjects=("applier:logical_clock",), mutants=())
    system = plan.systems[0]
    found = set()
    for seed in range(30):
        history = system.runner.run(SeededSchedule(seed), system.workload)
        features = features_of(history)
        assert len(features) > 5
        found.add(frozenset(features))
    assert len(found) > 10


def test_store_behind_a_url_keeps_batches_whole(tmp_path):
    plan = small_plan(histories=10, batch=10)
    files = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    store = ArrowStore("shared/campaign", files)
    run = run_batch(plan, plan.batch(0))
    writer = RowWriter(store)
    writer.add(run.table)
    (file,) = writer.close()
    assert read_file(store, file.name) == run.table
    assert store.names("rows") == [file.name]
    assert store.names("nowhere") == []
    left = tmp_path / "shared/campaign/rows/.left.part"
    left.write_bytes(b"")
    assert store.sweep() == 0
    os.utime(left, (0, time.time() - STALE_S - 1))
    assert store.sweep() == 1


def test_table_has_the_columns_that_are_documented(tmp_path):
    plan = small_plan(histories=2, batch=2)
    assert run_batch(plan, plan.batch(0)).table.schema == SCHEMA


def test_rounds_grow_until_every_core_has_several_batches():
    cores, batch_s, size = 800, 60.0, ROUND_MIN
    for _ in range(12):
        took = -(-size // cores) * batch_s
        size = next_size(size, took, batch_s)
    assert 3 * cores <= size <= 5 * cores
    assert next_size(ROUND_MIN, took=1_000.0, batch_s=1.0) == ROUND_MIN
