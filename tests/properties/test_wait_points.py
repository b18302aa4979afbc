"""Where a source waits, logs and rotates: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.wait_points import (
    rotations_wait_for_logged_commits,
    sources_log_what_they_have_prepared,
    waiting_rotations,
    waits_are_abandoned_at_the_wait_point,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

PREPARED, FLUSHED, SYNCED = "prepared T1@source", "flushed T1@source", "synced T1@source"
COMMITTED = "engine_committed T1@source"
ABANDONED = 'wait_abandoned T1@source note="time-out"'
CRASHED = "crashed @source ; recovered @source"
ROTATED = "relay_rotated @source"


def run(*events, head=""):
    return history_of(f"members=source,r1 {head}| T1{{a}} | " + " ; ".join(events))


@pytest.mark.parametrize(
    ("head", "events"),
    [
        ("", (SYNCED,)),
        ("dialect=after_commit ", (SYNCED, COMMITTED)),
        ('options={"sync_binlog":0} ', ()),
    ],
)
def test_wait_is_abandoned_at_its_stage(head, events):
    history = run(PREPARED, FLUSHED, *events, ABANDONED, head=head)
    assert verdict(history, waits_are_abandoned_at_the_wait_point) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("head", "events", "stage"),
    [
        ("", (), "not synced"),
        ("", (SYNCED, COMMITTED), "committed"),
        ("dialect=after_commit ", (SYNCED,), "not committed"),
    ],
)
def test_wait_abandoned_at_another_stage_is_reported(head, events, stage):
    history = run(PREPARED, FLUSHED, *events, ABANDONED, head=head)
    (breach,) = waits_are_abandoned_at_the_wait_point(history)
    assert str(breach) == f"a wait of T1 was abandoned, which was {stage}"


def test_what_was_prepared_before_a_crash_is_not_logged_after_it():
    again = run(PREPARED, CRASHED, PREPARED, FLUSHED)
    assert verdict(again, sources_log_what_they_have_prepared) is Verdict.HOLDS
    (breach,) = sources_log_what_they_have_prepared(run(PREPARED, CRASHED, FLUSHED))
    assert str(breach) == "the source logged T1, which it had not prepared since its start"


WAITS = 'options={"rotation_waits":true} '


def test_waiting_rotation_ends_after_the_commit():
    right = run(PREPARED, FLUSHED, COMMITTED, ROTATED, head=WAITS)
    assert verdict(right, rotations_wait_for_logged_commits) is Verdict.HOLDS
    (breach,) = rotations_wait_for_logged_commits(run(PREPARED, FLUSHED, ROTATED, head=WAITS))
    assert str(breach) == "the log was rotated before T1, in it, had committed"


def test_rotation_that_does_not_wait_is_not_judged():
    assert not waiting_rotations(run(PREPARED, FLUSHED, ROTATED))
