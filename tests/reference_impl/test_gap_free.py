"""The gap-free rule of MySQL 5.6: what it needs, and what a hole costs; MariaDB beside it."""

from __future__ import annotations

from functools import cache

import pytest

from paraply.counterexamples.hunt import properties_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.mariadb_gtid.gap_free_subject import GAP_FREE
from paraply.reference_impl.mariadb_gtid.topology_subject import GTID_TOPOLOGY
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.schedule import Exploration
from tests.reference_impl.judges import judges_of


@cache
def judges():
    return judges_of(GAP_FREE)


MANY = {"failures": 2, "restarts": 3, "purges": 3}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("dialect", GAP_FREE.dialects)
@pytest.mark.parametrize("options", [{}, MANY], ids=str)
def test_no_schedule_breaks_what_the_rule_keeps(dialect, options):
    known = GAP_FREE.breaks[dialect]
    workload = Workload(transactions=5, dialect=dialect, options=options)
    for schedule in random_schedules(0, 150):
        history = GAP_FREE.run(schedule, workload).check()
        for prop in judges().values():
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.parametrize(
    ("dialect", "name"), [(d, n) for d, names in GAP_FREE.breaks.items() for n in sorted(names)]
)
def test_breach_that_the_rule_is_known_for_is_found(dialect, name):
    workload = Workload(transactions=5, dialect=dialect, options=MANY)
    runs = (GAP_FREE.run(schedule, workload) for schedule in random_schedules(0, 500))
    assert any(judges()[name].violations(history) for history in runs)


def executed_at_end(dialect):
    """Return r1's executed set at the end of every run of two transactions."""
    quiet = {"failures": 0, "restarts": 0, "purges": 0, "losses": 0}
    workload = Workload(transactions=2, dialect=dialect, options=quiet)
    exploration = Exploration()
    ends = [
        next(iter(GAP_FREE.run(s, workload).events_of(EventKind.STOPPED, member="r1"))).gtid_set
        for s in exploration
    ]
    assert exploration.is_complete
    return [parse_gtid_set(end) for end in ends]


@pytest.mark.long
def test_empty_transactions_keep_every_set_one_run_and_dropping_does_not():
    kept = executed_at_end("mysql_5_6")
    assert {(end.count, end.interval_count) for end in kept} == {(2, 1)}
    assert {end.count for end in executed_at_end("filters_drop")} == {0, 1, 2}


def test_number_given_at_the_beginning_is_missing_for_ever_once_its_transaction_fails():
    # T1 draws 1, T2 draws 2, T1 fails: the text says why it cannot simply be given back.
    firsts = {}
    for dialect in ("allocates_early", "mysql_5_6"):
        workload = Workload(transactions=2, dialect=dialect)
        for schedule in random_schedules(3, 200):
            for event in GAP_FREE.run(schedule, workload).events_of(EventKind.STOPPED):
                numbers = [one.first for one in parse_gtid_set(event.gtid_set)]
                firsts.setdefault(dialect, set()).update(numbers)
    assert firsts == {"allocates_early": {1, 2}, "mysql_5_6": {1}}


@pytest.mark.long
def test_same_hole_and_the_same_filter_do_mariadb_no_harm():
    judges = [p for p in properties_of(GTID_TOPOLOGY) if p.check]
    options = {"topology": "failover", "filter": True, "holes": 3}
    holes = 0
    for schedule in random_schedules(5, 150):
        history = GTID_TOPOLOGY.run(schedule, Workload(transactions=5, options=options))
        holes += any("gtid_seq_no" in one.flags for one in history.transactions)
        for prop in judges:
            assert not prop.violations(history), (prop.name, schedule.seed)
    assert holes > 50
