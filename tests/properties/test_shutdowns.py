"""Shutdowns that end waits: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.shutdown import shutdowns_that_end_waits_take_place
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
