"""Where a replica keeps its position: what each way survives, and what it costs."""

from __future__ import annotations

from functools import cache

import pytest

from paraply.properties.apply import exactly_once
from paraply.properties.gtid import positions
from paraply.properties.search import random_schedules
from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup, groups_after
from paraply.reference_impl.mariadb_gtid.position_store import (
    PositionRow,
    PositionStore,
    SingleRowTable,
)
from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.mariadb_gtid import MariadbGtid, parse_position
from paraply.vocabulary.schedule import Exploration
from tests.reference_impl.judges import judges_of


@cache
def judges():
    return judges_of(GTID_POSITIONS)


SETTINGS = (
    {},
    {"workers": 3, "crashes": 2, "failures": 1, "stops": 0, "cleanups": 3},
    {"rewinds": 1, "domains": 1, "reads": 3, "engines": 2, "retries": 2},
)


@pytest.mark.long
@pytest.mark.parametrize("dialect", GTID_POSITIONS.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_method_keeps(dialect, options):
    known = GTID_POSITIONS.breaks.get(dialect, frozenset())
    workload = Workload(transactions=4, dialect=dialect, options=options)
    for schedule in random_schedules(0, 100):
        history = GTID_POSITIONS.run(schedule, workload).check()
        assert history.events[-1].kind is EventKind.STOPPED, "it stalls"
        for prop in judges().values():
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(d, n) for d, names in GTID_POSITIONS.breaks.items() for n in sorted(names)],
)
def test_breach_that_a_method_is_known_for_is_found(dialect, name):
    workload = Workload(transactions=4, dialect=dialect, options={"workers": 3, "crashes": 2})
    runs = (GTID_POSITIONS.run(schedule, workload) for schedule in random_schedules(0, 1500))
    assert any(judges()[name].violations(history) for history in runs)


def test_position_is_the_row_with_the_highest_sub_id_and_not_the_greatest_number():
    # Measured on a server without strict mode: after 0-1-101 a session logs 0-1-50.
    table = PositionStore(())
    for sub_id, sequence in ((1, 100), (2, 101), (3, 50)):
        group = EventGroup(sub_id, MariadbGtid(0, 1, sequence))
        table.on_engine_commit(group, PositionRow(sub_id, group.gtid))
    assert str(table.load(())) == "0-1-50"
    table.delete_old()
    assert table.rows == [PositionRow(3, MariadbGtid(0, 1, 50))]


def test_start_skips_in_each_domain_up_to_its_own_gtid():
    names = ("0-1-1", "1-1-1", "0-1-2", "1-1-2", "0-1-3")
    log = tuple(
        EventGroup(number, next(iter(parse_position(name))))
        for number, name in enumerate(names, start=1)
    )
    rest = groups_after(log, parse_position("0-1-2,1-1-1"))
    assert [group.transaction for group in rest] == [4, 5]
    assert groups_after(log, parse_position("")) == list(log)


def commits_per_group(dialect, seeds=20):
    sizes, waits = [], 0
    options = {"workers": 4, "domains": 1, "crashes": 0, "stops": 0, "retries": 0}
    workload = Workload(transactions=12, dialect=dialect, options=options)
    for schedule in random_schedules(1, seeds):
        history = GTID_POSITIONS.run(schedule, workload)
        groups = [event.group for event in history.events_of(EventKind.ENGINE_COMMITTED)]
        sizes += [groups.count(group) for group in set(groups)]
        waits += sum(event.outcome is Outcome.LOCK_WAIT for event in history.events)
    return max(sizes), sum(sizes) / len(sizes), waits


def test_single_row_makes_group_commit_impossible_and_a_row_each_does_not():
    assert commits_per_group("single_row")[:2] == (1, 1.0)
    assert commits_per_group("single_row")[2] > 0
    largest, mean, waits = commits_per_group("table")
    assert (largest, waits) == (4, 0)
    assert mean > 1.3


def test_single_row_waits_only_within_its_domain():
    zero, one = PositionRow(1, MariadbGtid(0, 1, 1)), PositionRow(2, MariadbGtid(1, 1, 1))
    assert SingleRowTable(()).holder(one, [zero]) is None
    assert SingleRowTable(()).holder(PositionRow(3, MariadbGtid(0, 1, 2)), [zero, one]) == zero


SMALL = {"domains": 1, "stops": 0, "retries": 0, "reads": 0, "cleanups": 0}


# Pinned, as runs and runs in which position and data differ, over every run of a scope of two
# transactions and one crash: a change in the numbers is a change of the subject.
@pytest.mark.parametrize(
    ("dialect", "workers", "counts"),
    [
        ("table", 1, (16, 0)),
        ("table_without_binlog", 1, (12, 0)),
        ("table_unsynced_binlog", 1, (20, 0)),
        ("table_with_ddl", 1, (84, 12)),
        ("single_row", 1, (16, 0)),
        ("binlog", 1, (14, 0)),
        pytest.param("binlog", 2, (4243, 0), marks=pytest.mark.long(each=1)),
        ("binlog_unsynced", 1, (17, 5)),
        ("binlog_with_ddl", 1, (78, 12)),
        ("relay_log_info", 1, (112, 35)),
    ],
)
def test_every_crash_of_a_small_scope_is_survived_or_counted(dialect, workers, counts):
    options = SMALL | {"workers": workers}
    workload = Workload(transactions=2, dialect=dialect, options=options)
    exploration, broken = Exploration(), 0
    for schedule in exploration:
        history = GTID_POSITIONS.run(schedule, workload)
        ahead = positions.position_covers_only_what_is_applied(history)
        behind = positions.position_covers_all_that_is_applied(history)
        broken += bool(ahead or behind)
        assert bool(behind) == bool(exactly_once.no_event_is_applied_twice(history))
    assert exploration.is_complete
    assert (exploration.count, broken) == counts


def test_crash_between_a_ddl_and_its_position_repeats_the_ddl():
    workload = Workload(transactions=1, dialect="table_with_ddl", options=SMALL)
    repeated = [
        history
        for schedule in Exploration()
        if exactly_once.no_event_is_applied_twice(history := GTID_POSITIONS.run(schedule, workload))
    ]
    assert {str(sorted(h.transactions[0].flags) or h.transactions[0].kind) for h in repeated} == {
        "TransactionKind.DDL",
        "['non_transactional']",
    }
