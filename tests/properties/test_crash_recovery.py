"""What a member recovers from its own binary log after a crash."""

from __future__ import annotations

import pytest

from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.properties.group.crash_recovery import members_recover_what_they_synced
from paraply.properties.registry import property_named
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

VIEW = "view_installed @r1 view=1 members=r1,r2"
LOG = " ; ".join(f"{kind} T{one}@r1" for kind in ("flushed", "synced") for one in (1, 2))
DOWN = "crashed @r1 ; started @r1"


def history(*events):
    return history_of(f"| T1{{a}} | T2{{b}} | T3{{c}} | {' ; '.join((VIEW, *events))}")


def commits(*transactions, member="r1"):
    return " ; ".join(f"engine_committed T{one}@{member}" for one in transactions)


@pytest.mark.parametrize(
    "events",
    [
        (LOG, DOWN, commits(1, 2, 3), "recovered @r1 transactions=1,2,3"),
        (LOG, commits(1), DOWN, commits(2, 3)),
        (LOG, DOWN, commits(1, 2), "stopped @r1"),
        (LOG, "crashed @r1", commits(3, member="r2"), "started @r1", commits(1, 2)),
    ],
    ids=["all in order", "one had committed", "nothing from a donor", "others go on"],
)
def test_synced_transactions_that_come_first_and_in_order_hold(events):
    assert verdict(history(*events), members_recover_what_they_synced) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "lost", "instead"),
    [
        ((LOG, DOWN, commits(1, 3)), 2, "committed T3"),
        ((LOG, DOWN, commits(2, 1)), 1, "committed T2"),
        ((LOG, DOWN, commits(1), "recovered @r1 transactions=1"), 2, "ended its recovery"),
        ((LOG, DOWN, "online @r1 members=r1,r2"), 1, "ended its recovery"),
        ((LOG, DOWN, "crashed @r1", "started @r1", commits(3)), 1, "committed T3"),
    ],
    ids=["one is passed over", "the wrong way round", "one is forgotten", "all are", "twice down"],
)
def test_member_that_goes_on_without_what_it_synced_is_reported_once(events, lost, instead):
    (breach,) = members_recover_what_they_synced(history(*events, commits(3)))
    assert str(breach) == (
        f"r1 had T{lost} next in its synced binary log when it crashed, and {instead} without it"
    )


@pytest.mark.parametrize(
    "events",
    [
        (LOG, commits(1, 2), DOWN, commits(3)),
        (LOG, "crashed @r1"),
        ("flushed T1@r1", "synced T3@r2", DOWN, commits(3)),
    ],
    ids=["all had committed", "it stays down", "only flushed"],
)
def test_crash_that_leaves_nothing_to_recover_decides_nothing(events):
    assert verdict(history(*events), members_recover_what_they_synced) is Verdict.UNKNOWN


@pytest.mark.long
def test_crashes_meet_synced_transactions_in_default_runs():
    """A crash at a random time hardly ever does."""
    recovers = property_named("members_recover_what_they_synced").witness
    drawing = Drawing(subject=subject_named("composed"), given=Workload(dialect="mysql_8_4"))
    assert sum(recovers(drawing.run(one)) > 0 for one in drawn_schedules(0, 600)) >= 6
