"""The semi-sync source as a subject: each design keeps what it promises, and no more."""

from __future__ import annotations

import pytest

from properties import semi_sync
from properties.registry import registered_properties, verdict_of
from properties.search import random_schedules
from reference_impl.semi_sync.subject import SEMI_SYNC
from reference_impl.subject import Workload
from vocabulary.events import EventKind
from vocabulary.schedule import Exploration
from vocabulary.verdict import Verdict

JUDGES = [prop for prop in registered_properties() if prop.name in vars(semi_sync)]

SETTINGS = (
    {},
    {"acknowledgements": 2, "replica_crashes": 2},
    {"abandons": 2, "source_crashes": 2},
    {"waits_without_replicas": False, "replica_crashes": 2},
    {"loses_source": False, "source_crashes": 3, "rotations": 2},
)


@pytest.mark.parametrize("dialect", SEMI_SYNC.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_design_promises(dialect, options):
    workload = Workload(transactions=4, members=3, dialect=dialect, options=options)
    known = SEMI_SYNC.breaks.get(dialect, frozenset())
    for schedule in random_schedules(0, 150):
        history = SEMI_SYNC.run(schedule, workload)
        assert not list(history.faults())
        for prop in JUDGES:
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.parametrize(
    ("dialect", "name"), [(d, n) for d, names in SEMI_SYNC.breaks.items() for n in sorted(names)]
)
def test_documented_loss_is_found(dialect, name):
    prop = next(prop for prop in JUDGES if prop.name == name)
    workload = Workload(transactions=3, members=2, dialect=dialect)
    verdicts = {
        verdict_of(SEMI_SYNC.run(schedule, workload), prop)
        for schedule in random_schedules(0, 1500)
    }
    assert Verdict.VIOLATED in verdicts


@pytest.mark.parametrize("name", ["commit_stages_overlap", "source_recovers_unacknowledged",
                                  "source_is_lost_after_a_read"])  # fmt: skip
def test_interesting_situation_is_reached(name):
    prop = next(prop for prop in JUDGES if prop.name == name)
    workload = Workload(transactions=4, members=3)
    reached = sum(prop.witness(SEMI_SYNC.run(s, workload)) for s in random_schedules(0, 200))
    assert reached >= 10


def test_global_mutex_lets_no_two_groups_overlap():
    workload = Workload(transactions=4, members=2, dialect="global_mutex")
    histories = [SEMI_SYNC.run(schedule, workload) for schedule in random_schedules(0, 200)]
    assert not any(map(semi_sync.commit_stages_overlap, histories))


def test_group_of_several_waits_once_for_its_last_position():
    workload = Workload(transactions=4, members=2, options={"source_crashes": 0})
    sizes = set()
    for schedule in random_schedules(0, 100):
        groups = {}
        for event in SEMI_SYNC.run(schedule, workload).events_of(EventKind.FLUSHED):
            groups.setdefault(event.group, []).append(event.transaction)
        sizes |= {len(members) for members in groups.values()}
    assert {1, 2, 3} <= sizes


def test_hole_of_the_text_is_found_and_both_remedies_close_it_in_a_whole_scope():
    # One transaction, one replica, one crash, one read, the source may be lost: every schedule.
    counts = {}
    for dialect in ("stock_recovery", "after_sync", "barred_recovery"):
        workload = Workload(
            transactions=1, members=2, dialect=dialect, options={"reads": 1, "rotations": 0}
        )
        exploration, broken = Exploration(), 0
        for schedule in exploration:
            broken += bool(semi_sync.what_was_seen_survives(SEMI_SYNC.run(schedule, workload)))
        assert exploration.is_complete
        counts[dialect] = (exploration.count, broken)
    assert counts["stock_recovery"][1] > 0
    assert counts["after_sync"][1] == counts["barred_recovery"][1] == 0
    # Pinned, as runs and breaches: a change in the numbers is a change of the subject.
    assert counts == {
        "stock_recovery": (609, 3),
        "after_sync": (409, 0),
        "barred_recovery": (548, 0),
    }
