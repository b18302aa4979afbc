"""Shutdowns that end waits: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.shutdown import (
    shutdowns_answer_their_clients,
    shutdowns_that_end_waits_take_place,
    sources_rotate_and_stop_when_ordered,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

ENDED = 'prepared T1@source ; flushed T1@source ; wait_abandoned T1@source note="shutdown"'


def run(*events, waits="false"):
    head = f'members=source,r1 options={{"shutdown_waits":{waits}}} | T1{{a}} | T2{{b}} | '
    return history_of(head + " ; ".join((ENDED, *events)))


@pytest.mark.parametrize("end", ["stopped @source note=shutdown", "crashed @source"])
def test_shutdown_that_ends_a_wait_stops_the_source(end):
    assert verdict(run(end), shutdowns_that_end_waits_take_place) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "then"),
    [
        (("prepared T2@source",), "T2 was prepared"),
        (("flushed T2@source", "stopped @source note=shutdown"), "T2 was flushed"),
        ((), "the source goes on"),
    ],
)
def test_shutdown_that_does_not_take_place_is_reported(events, then):
    (breach,) = shutdowns_that_end_waits_take_place(run(*events))
    assert str(breach) == f"a shutdown ended the wait of T1, and then {then}"


def test_shutdown_that_waits_ends_no_wait():
    (breach,) = shutdowns_that_end_waits_take_place(
        run("stopped @source note=shutdown", waits="true")
    )
    assert str(breach) == "a shutdown ended the wait of T1, and then waits for the replicas"


def test_wait_that_ends_otherwise_is_not_judged():
    log = ENDED.replace("shutdown", "time-out")
    assert (
        verdict(
            history_of(f"members=source,r1 | T1{{a}} | {log}"), shutdowns_that_end_waits_take_place
        )
        is Verdict.UNKNOWN
    )


ORDERS = 'members=source,r1 options={{"rotations":{},"shutdowns":{}}} | T1{{a}} | '
ROTATED, STOPPED = "relay_rotated @source", "stopped @source note=shutdown"


@pytest.mark.parametrize(("rotations", "shutdowns", "found"), [(1, 1, 0), (0, 1, 1), (1, 0, 1)])
def test_source_rotates_and_stops_when_ordered(rotations, shutdowns, found):
    history = history_of(ORDERS.format(rotations, shutdowns) + f"{ROTATED} ; {STOPPED}")
    breaches = sources_rotate_and_stop_when_ordered(history)
    assert len(breaches) == found
    for one in breaches:
        assert str(one) == f"1 {one.what}, and 0 were ordered"


COMMIT = "prepared T1@source ; flushed T1@source ; engine_committed T1@source"


@pytest.mark.parametrize(
    "events",
    [
        (COMMIT, "client_acknowledged T1@source"),
        (COMMIT, "wait_abandoned T1@source note=shutdown"),
        (COMMIT, 'wait_abandoned T1@source note="KILL CONNECTION"'),
        (COMMIT, "crashed @source", "recovered @source"),
        ("prepared T1@source ; flushed T1@source",),
    ],
)
def test_source_that_stops_has_answered_its_clients(events):
    history = history_of("members=source,r1 | T1{a} | " + " ; ".join((*events, STOPPED)))
    assert not shutdowns_answer_their_clients(history)


def test_client_without_an_answer_is_reported():
    history = history_of(f"members=source,r1 | T1{{a}} | {COMMIT} ; {STOPPED}")
    (breach,) = shutdowns_answer_their_clients(history)
    assert str(breach) == "the source stopped, and the client of T1 has no answer"
