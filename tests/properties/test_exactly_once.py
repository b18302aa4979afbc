"""Exactly once: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.apply.exactly_once import (
    no_event_is_applied_twice,
    no_event_is_lost,
    replication_resumes,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | "


def history(events, header=""):
    return history_of(f"{header}{LOG}{events}")


def test_second_commit_of_a_transaction_at_one_member_is_reported():
    run = history("engine_committed T1@r1 ; engine_committed T1@r1")
    (breach,) = no_event_is_applied_twice(run)
    assert str(breach) == "r1 applied T1 twice"


def test_one_commit_at_each_member_is_no_repetition():
    run = history("engine_committed T1@r1 ; engine_committed T1@r2")
    assert verdict(run, no_event_is_applied_twice) is Verdict.HOLDS


def test_commit_after_a_crash_that_lost_the_first_is_no_repetition():
    lost = "engine_committed T1@r1 ; crashed @r1 ; recovered @r1 ; engine_committed T1@r1"
    assert not no_event_is_applied_twice(history(lost))
    kept = lost.replace("recovered @r1", "recovered @r1 transactions=1")
    assert no_event_is_applied_twice(history(kept))


def test_replica_at_rest_that_lacks_something_of_its_source_lost_it():
    run = history("stopped @s1 transactions=1,2 ; stopped @r1 transactions=2 members=s1")
    (breach,) = no_event_is_lost(run)
    assert str(breach) == "r1 has nothing left to read from s1 and lacks T1"


def test_source_without_events_of_its_own_has_the_whole_log():
    complete = history("stopped @r1 transactions=1,2 members=source")
    assert verdict(complete, no_event_is_lost) is Verdict.HOLDS
    (breach,) = no_event_is_lost(history("stopped @r1 transactions=1 members=source"))
    assert breach.transaction == 2


@pytest.mark.parametrize(
    "events",
    [
        "stopped @r1 transactions=1 members=source ; started @r1",
        "stopped @r1 transactions=1 members=source ; crashed @r1",
        "stopped @r1 transactions=1",
        "stopped @s1 transactions=1,2 ; crashed @s1 ; stopped @r1 transactions=1 members=s1",
        "skipped T2@r1 note=filtered ; stopped @r1 transactions=1 members=source",
    ],
)
def test_nothing_is_lost_while_under_way_without_source_or_by_a_filter(events):
    assert not no_event_is_lost(history(events))


def test_recording_that_broke_off_shows_no_loss():
    run = history("stopped @r1 transactions=1 members=source", header="complete=false ")
    assert not no_event_is_lost(run)


@pytest.mark.parametrize(
    ("events", "is_reached"),
    [
        ("started @r1 gtid_set=0-1-1 ; engine_committed T2@r1", True),
        ("started @r1 ; engine_committed T2@r1", False),
        ("engine_committed T2@r1 ; started @r1 gtid_set=0-1-1", False),
        ("started @r1 gtid_set=0-1-1 ; engine_committed T2@r2", False),
    ],
)
def test_replication_resumes_from_a_position_that_is_not_empty(events, is_reached):
    assert replication_resumes(history(events)) is is_reached
