"""Spark runs the same function on the same batches: the same table, whoever dies on the way."""

from __future__ import annotations

import pytest

from paraply.conforming.child_systems import ChildCommand, children_of
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.mining.batch_files import rows_name
from paraply.mining.campaign import run_campaign
from paraply.mining.clusters import clusters_of, distinct, minimise_all
from paraply.mining.engines import InProcess, OnSpark
from paraply.mining.plan import Plan
from paraply.mining.session import spark_session
from tests.mining.campaigns import rows_of, small_plan

# With --dist loadgroup one process runs them all, and starts one JVM.
pytestmark = pytest.mark.xdist_group("spark")

PLAN = small_plan(histories=60, batch=10)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    return run_campaign(PLAN, str(folder), InProcess()), rows_of(folder, PLAN)


@pytest.fixture(scope="module")
def engine(spark):
    return OnSpark("local[2]", spark)


def test_spark_writes_the_table_of_one_process(tmp_path, local, engine):
    progress, rows = local
    on_spark = run_campaign(PLAN, str(tmp_path), engine)
    assert on_spark.is_complete
    assert rows_of(tmp_path, PLAN) == rows
    assert on_spark.per_system == progress.per_system


def test_task_whose_worker_dies_is_run_again(tmp_path, engine):
    seen = tmp_path / "seen"

    def dies_the_first_time(number):
        import os

        if number == 3 and not seen.exists():
            seen.write_text("")
            os._exit(1)
        return number

    assert sorted(engine.map(dies_the_first_time, range(8))) == list(range(8))
    assert seen.exists()


def test_worker_does_not_look_for_garbage_in_what_it_has_loaded(engine):
    def frozen(_):
        import gc

        return gc.get_freeze_count()

    list(engine.map(frozen, range(4)))
    assert max(engine.map(frozen, range(4))) > 1_000


def test_campaign_begun_in_one_process_resumes_on_spark(tmp_path, local, engine):
    _, rows = local
    run_campaign(PLAN, str(tmp_path), InProcess(), time_limit_s=0.0)
    damaged = tmp_path / rows_name(0)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    progress = run_campaign(PLAN, str(tmp_path), engine, resume=True)
    assert ["batch 0 was redone" in remark for remark in progress.remarks] == [True]
    assert rows_of(tmp_path, PLAN) == rows


def test_minimising_on_spark_finds_what_one_process_finds(local, engine):
    progress, _ = local
    clusters = clusters_of(progress)[:3]
    assert clusters
    here, there = (
        distinct(minimise_all(PLAN, clusters, one, smallest_of_system))
        for one in (InProcess(), engine)
    )
    assert [(one.digest, one.choices) for one in here] == [
        (one.digest, one.choices) for one in there
    ]
    assert all(one.is_confirmed for one in there)


def test_items_are_taken_from_their_source_as_they_are_needed(engine):
    taken = []

    def source():
        for number in range(10_000):
            taken.append(number)
            yield number

    results = engine.map(lambda number: number * 2, source())
    assert next(results) % 2 == 0
    results.close()
    assert len(taken) < 200


def test_spark_session_is_shared_and_asked_for_only_once(spark):
    assert spark_session("local[2]") is spark


def test_children_are_explored_on_spark_as_in_one_process(tmp_path, engine):
    command = ChildCommand(applier="paraply.adapters.conformance.rules.correct:Serial")
    systems = children_of(command, ["B-random"], seed=1)
    plan = Plan(systems=systems, histories=4, seed=1, batch_histories=2)
    tables = []
    for name, one in (("here", InProcess()), ("there", engine)):
        run_campaign(plan, str(tmp_path / name), one)
        tables.append(rows_of(tmp_path / name, plan))
    assert tables[0] == tables[1]
    assert len(tables[0]) == 4
