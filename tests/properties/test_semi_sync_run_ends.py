"""The end of a run: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.registry import property_named
from paraply.properties.semi_sync.promises import waits_are_abandoned_only_for_cause
from paraply.properties.semi_sync.run_ends import (
    connected_replicas_get_the_log,
    sources_at_rest_have_served_their_clients,
    sources_stall_only_for_replicas,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

COMMIT = "prepared T1@source ; flushed T1@source ; synced T1@source"
HEARD = "delivered T1@r1 ; acknowledged T1@r1"
END = "engine_committed T1@source ; client_acknowledged T1@source"
REST = 'stopped @source note="at rest"'


def run(*events, options=""):
    head = f"members=source,r1 options={{{options}}}" if options else "members=source,r1"
    return history_of(f"{head} | T1{{a}} | {' ; '.join(events)}")


def test_replica_that_acknowledged_the_log_holds():
    assert verdict(run(COMMIT, HEARD, END, REST), connected_replicas_get_the_log) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((COMMIT, END, REST), "r1, which was connected, never received T1"),
        ((COMMIT, "delivered T1@r1"), "the source never heard that r1 had received T1"),
    ],
)
def test_replica_without_the_log_is_reported(events, text):
    (breach,) = connected_replicas_get_the_log(run(*events))
    assert str(breach) == text


@pytest.mark.parametrize(
    "events",
    [
        (COMMIT, "crashed @r1", END, REST),
        ("prepared T1@source ; flushed T1@source",),
        (COMMIT, 'crashed @source note="lost for good"'),
    ],
)
def test_replica_that_is_down_or_unsynced_log_is_not_judged(events):
    assert verdict(run(*events), connected_replicas_get_the_log) is Verdict.UNKNOWN


def test_dump_threads_that_need_the_log_lock_may_end_behind_a_wait():
    history = run(COMMIT, options='"dump_takes_lock_log":true')
    assert verdict(history, connected_replicas_get_the_log) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("events", "options"),
    [
        ((COMMIT, "crashed @r1"), ""),
        ((COMMIT, HEARD), '"acknowledgements":2'),
        ((COMMIT, "crashed @source", "recovered @source transactions=1", "crashed @r1"), ""),
        ((COMMIT, HEARD, "crashed @source", "recovered @source transactions=1", "crashed @r1"), ""),
        (("flushed T1@source", "delivered T1@r1", "crashed @source", "recovered @source"),
         '"shutdown_waits":true,"sync_binlog":0'),
        ((COMMIT, HEARD, END, REST), ""),
    ],
)  # fmt: skip
def test_source_that_waits_for_a_replica_may_stall(events, options):
    assert verdict(run(*events, options=options), sources_stall_only_for_replicas) is Verdict.HOLDS


@pytest.mark.parametrize(("options", "gaps"), [("", 1), ('"dump_takes_lock_log":true', 0)])
def test_wait_without_any_recorded_reply_is_unknown_and_a_gap_unless_a_lock_explains_it(
    options, gaps
):
    history = run(COMMIT, "delivered T1@r1", options=options)
    assert verdict(history, sources_stall_only_for_replicas) is Verdict.UNKNOWN
    prop = property_named("sources_stall_only_for_replicas")
    assert prop.evidence(history).relevant == gaps


@pytest.mark.parametrize(
    ("events", "options"),
    [
        ((COMMIT, HEARD), ""),
        ((COMMIT, "crashed @r1"), '"waits_without_replicas":false'),
        ((COMMIT, 'wait_abandoned T1@source note="KILL QUERY"'), ""),
        (("prepared T1@source",), ""),
    ],
)
def test_source_that_waits_for_nothing_is_reported(events, options):
    (breach,) = sources_stall_only_for_replicas(run(*events, options=options))
    assert str(breach) == "nothing can move; the clients of T1 wait"


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (("flushed T1@source", REST), "not even prepared"),
        ((COMMIT, REST), "prepared, and not answered"),
    ],
)
def test_client_that_is_left_is_reported(events, text):
    (breach,) = sources_at_rest_have_served_their_clients(run(*events))
    assert str(breach) == f"the source is at rest, and T1 is {text}"


@pytest.mark.parametrize(
    "between",
    [
        "client_acknowledged T1@source",
        "crashed @source ; recovered @source",
        'wait_abandoned T1@source note="KILL CONNECTION"',
        "stopped @source note=shutdown ; started @source",
    ],
)
def test_client_that_is_answered_or_lost_holds(between):
    history = run(COMMIT, between, REST)
    assert verdict(history, sources_at_rest_have_served_their_clients) is Verdict.HOLDS


@pytest.mark.parametrize("note", ["KILL QUERY", "time-out", "shutdown"])
def test_acknowledged_wait_is_not_abandoned(note):
    history = run(COMMIT, HEARD, f'wait_abandoned T1@source note="{note}"')
    assert verdict(history, waits_are_abandoned_only_for_cause) is Verdict.VIOLATED
