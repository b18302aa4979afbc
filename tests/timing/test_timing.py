"""Predictions held against stored times of real replicas, and a short measurement of a new pair."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ci.pages import measured_replicas
from ci.pages.measured_replicas import ERROR_MAX, Cell, cells, predicted, source_of, wrongly_ordered
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.reference_impl.comparison.tasks import LogBuilder, RowEvent
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.timestamps import LogicalTimestamp
from tests.timing.loads import LOADS, SCHEMA, definitions
from tests.timing.mysql_replica import timed_mysql_replica
from tests.timing.replica import timed_replica

REPEATS = 5
MYSQL_LOGS, MYSQL_SYNC_LOGS = 6, 2
MODES = {"minimal", "conservative", "optimistic", "aggressive"}
LIVE_ERROR_MAX = 0.35
"""Two runs on a busy machine; the stored five have less noise."""


def test_stored_times_are_of_six_logs_five_repeats_and_up_to_sixteen_workers():
    found = cells()
    assert len({one.log for one in found}) >= 6
    for log in {one.log for one in found}:
        own = [one for one in found if one.log == log]
        assert {one.mode for one in own} == MODES
        assert {one.workers for one in own} == {1, 2, 4, 8, 16}
        assert all(len(one.measured) == REPEATS for one in own)
    assert max(one.predicted for one in found) > 10


@pytest.mark.long
def test_predictions_are_within_a_fifth_of_the_measured_speed_up():
    assert [one for one in cells() if abs(one.error) > ERROR_MAX] == []


@pytest.mark.long
def test_modes_are_in_the_measured_order():
    assert wrongly_ordered(cells()) == []
    certain = sum(
        one.is_slower_than(other)
        for one in cells()
        for other in cells()
        if (one.log, one.workers) == (other.log, other.workers)
    )
    assert certain > 50


def test_order_of_two_modes_counts_only_outside_the_spread():
    slow = Cell(log="l", mode="a", workers=2, predicted=3.0, retries=0,
                measured=(1.0, 1.2), measured_retries=(0, 0))  # fmt: skip
    fast = replace(slow, mode="b", predicted=2.0, measured=(1.3, 1.4))
    assert wrongly_ordered([slow, fast]) == [(slow, fast)]
    assert wrongly_ordered([slow, replace(fast, measured=(1.1, 1.4))]) == []
    assert wrongly_ordered([replace(slow, predicted=1.5), fast]) == []


@pytest.mark.long
def test_clock_that_lets_inserts_without_a_key_wait_is_caught():
    source = source_of("journal.000001.gz")
    stored = {(one.mode, one.workers): one for one in cells() if one.log.startswith("journal")}
    measured = stored["optimistic", 8]
    assert abs(measured.error) <= ERROR_MAX
    builder = LogBuilder(numbers=dict(source.log.numbers))
    for task in source.log.tasks[1:]:
        builder.add(
            (RowEvent(table=row.table, writes=row.writes + row.reads) for row in task.rows),
            is_barrier=task.is_barrier,
        ).group = task.group
    source.log = builder.log()
    source.log.costs = measured_replicas.COSTS
    wrong, _ = predicted(source, "mariadb-optimistic", 8)
    assert abs(replace(measured, predicted=wrong).error) > ERROR_MAX


@pytest.mark.long
@pytest.mark.parametrize(("mode", "other"), [("optimistic", "conservative"),
                                             ("conservative", "minimal")])  # fmt: skip
def test_prediction_of_another_mode_is_caught(mode, other):
    found = {(one.log, one.mode, one.workers): one for one in cells()}
    wrong = [
        replace(one, predicted=found[log, other, workers].predicted)
        for (log, name, workers), one in found.items()
        if name == mode and workers == 16
    ]
    assert sum(abs(one.error) > ERROR_MAX for one in wrong) >= 5


@pytest.mark.parametrize(
    ("name", "logs", "workers"),
    [("mysql", MYSQL_LOGS, {1, 2, 4, 8, 16}), ("mysql-syncs", MYSQL_SYNC_LOGS, {1, 2, 4, 16})],
)
def test_stored_times_of_mysql_are_with_and_without_commit_order(name, logs, workers):
    found = cells(name)
    assert len({one.log for one in found}) == logs
    for log in {one.log for one in found}:
        own = {(one.mode, one.workers): one for one in found if one.log == log}
        expected = {(mode, n) for mode in ("ordered", "unordered") for n in workers}
        assert own.keys() == expected - {measured_replicas.MYSQL.serial}
        assert all(len(one.measured) == REPEATS for one in own.values())
    assert max(one.predicted for one in found) > 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "known"), [("mysql", set()), ("mysql-syncs", {("ordered", 2), ("ordered", 4)})]
)
def test_predictions_of_mysql_are_within_a_fifth_of_the_measured_speed_up(name, known):
    # Known: the clock shares more syncs than a replica with a hot row and commit order.
    above = [one for one in cells(name) if abs(one.error) > ERROR_MAX]
    assert {(one.mode, one.workers) for one in above} == known
    assert all(one.log == "mysql-syncs-hot.000001.gz" for one in above)


@pytest.mark.long
@pytest.mark.parametrize("name", ["mysql", "mysql-syncs"])
def test_modes_of_mysql_are_in_the_measured_order(name):
    assert wrongly_ordered(cells(name)) == []


@pytest.mark.long
def test_clock_without_the_stamps_of_mysql_is_caught():
    stored = {(one.log, one.mode, one.workers): one for one in cells("mysql")}
    measured = stored["mysql-hot.000001.gz", "ordered", 8]
    assert abs(measured.error) <= ERROR_MAX
    source = source_of(measured.log, measured_replicas.MYSQL.costs)
    rows = [[replace(row, writes=(), reads=()) for row in task.rows] for task in source.log.tasks]
    builder = LogBuilder(numbers=dict(source.log.numbers))
    for task, own in zip(source.log.tasks[1:], rows[1:], strict=True):
        free = LogicalTimestamp.of(0, task.number)
        builder.add(own, is_barrier=task.is_barrier).stamp = free
    source.log = builder.log()
    source.log.costs = measured_replicas.MYSQL.costs
    wrong, _ = predicted(source, "mysql-as-logged", 8)
    assert abs(replace(measured, predicted=wrong).error) > ERROR_MAX


@pytest.mark.live
@pytest.mark.long(each=1)
def test_new_mysql_pair_applies_as_predicted(tmp_path, monkeypatch):
    try:
        find_mysql()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    with timed_mysql_replica() as pair:
        recorded = pair.record(LOADS["hot"], tmp_path, seed=1)
        serial = [pair.apply(recorded, "ordered", 1) for _ in range(2)]
        expected = pair.checksums()
        runs = {}
        for mode in ("ordered", "unordered"):
            for workers in (2, 8):
                runs[mode, workers] = [pair.apply(recorded, mode, workers) for _ in range(2)]
                assert pair.checksums() == expected
    stored = measured_replicas.ROOT / measured_replicas.LOGS / "schema.sql"
    (tmp_path / "schema.sql").write_text(stored.read_text())
    monkeypatch.setattr(measured_replicas, "LOGS", str(tmp_path))
    source = source_of(recorded.log.name, measured_replicas.MYSQL.costs)
    for (mode, workers), found in runs.items():
        speedup = min(one.seconds for one in serial) / min(one.seconds for one in found)
        applier = measured_replicas.MYSQL.appliers[mode]
        predicted_speedup, _ = predicted(source, applier, workers)
        print(f"hot {mode} {workers}: predicted {predicted_speedup:.2f}, measured {speedup:.2f}")
        assert abs(predicted_speedup / speedup - 1) <= LIVE_ERROR_MAX


def test_stored_definitions_are_those_of_the_loads():
    path = measured_replicas.ROOT / measured_replicas.LOGS / "schema.sql"
    tables = ";\n".join(definitions())
    assert path.read_text(encoding="utf-8") == (
        f"CREATE DATABASE {SCHEMA};\nUSE {SCHEMA};\n{tables};\n"
    )


@pytest.mark.live
@pytest.mark.long(each=1)
@pytest.mark.parametrize("load", ["hot", "journal"])
def test_new_pair_of_servers_applies_as_predicted(load, tmp_path, monkeypatch):
    try:
        find_mariadb()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    with timed_replica() as pair:
        recorded = pair.record(LOADS[load], tmp_path, seed=1)
        serial = [pair.apply(recorded, "none", 0) for _ in range(2)]
        expected = pair.checksums()
        runs = {}
        for mode in ("conservative", "optimistic"):
            for workers in (2, 8):
                runs[mode, workers] = [pair.apply(recorded, mode, workers) for _ in range(2)]
                assert pair.checksums() == expected
    stored = measured_replicas.ROOT / measured_replicas.LOGS / "schema.sql"
    (tmp_path / "schema.sql").write_text(stored.read_text())
    monkeypatch.setattr(measured_replicas, "LOGS", str(tmp_path))
    source = source_of(recorded.log.name)
    for (mode, workers), found in runs.items():
        speedup = min(one.seconds for one in serial) / min(one.seconds for one in found)
        predicted_speedup, _ = predicted(source, f"mariadb-{mode}", workers)
        print(f"{load} {mode} {workers}: predicted {predicted_speedup:.2f}, measured {speedup:.2f}")
        assert abs(predicted_speedup / speedup - 1) <= LIVE_ERROR_MAX
