"""Recorded replicas of MariaDB lock rows one by one as the model of the lock queue does.

The runs are those of ``test_recorded_parallel_replica``. The optimistic and the aggressive mode
start transactions after nothing, the conservative mode after the commit starts of earlier batches.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from paraply.models.judging.mutants import mutants
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded import queued
from paraply.models.recorded.following import follow
from paraply.models.recorded.monitors import why_broken
from paraply.models.systems.lock_queue import Rules, lock_queue
from paraply.vocabulary.events import EventKind
from tests.conformance.test_recorded_parallel_replica import (
    CONSERVATIVE,
    REPLICA,
    RUNS,
    SCANS,
    SPECULATIVE,
    recorded,
)

SIZE = 60
"""Transactions from the beginning."""
HOT = [name for name in SPECULATIVE if "-hot-" in name]


@cache
def system(starts_after):
    return lock_queue(Rules(starts_after=starts_after))


def beginning(name):
    return queued.beginning(recorded(name), REPLICA, SIZE)


def refusal(part, starts_after="nothing", mutant=None):
    """Return why the system is not followed, and the steps that it follows."""
    reading = CompiledReading(mutant or system(starts_after))
    followed = follow(reading, queued.lock_queue(part))
    return why_broken(reading, followed), followed.steps


def gives_way(name):
    steps = queued.lock_queue(beginning(name)).steps
    return sum(step.actions == ("call_back",) for step in steps)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", RUNS)
def test_replica_is_a_run_of_the_queue_that_starts_after_nothing(name):
    why, steps = refusal(beginning(name))
    assert why == ""
    assert steps >= 150


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_conservative_replica_is_a_run_of_the_queue_of_batches(name):
    why, steps = refusal(beginning(name), "batches")
    assert why == ""
    assert steps >= 400


def test_records_have_transactions_that_give_way():
    assert all(gives_way(name) for name in (*SCANS, *HOT))
    assert sum(map(gives_way, RUNS)) >= 20
    whole = [name for name in RUNS if not queued.lock_queue(beginning(name)).ended]
    assert {*CONSERVATIVE} < {*whole}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", HOT)
@pytest.mark.parametrize("starts_after", ["batches", "conflicts"])
def test_speculative_replica_starts_sooner_than_other_modes(name, starts_after):
    assert "start(p=" in refusal(beginning(name), starts_after)[0]


# A model that forbids what a server does


@pytest.mark.parametrize("action", ["start", "lock_row", "engine_commit", "call_back"])
def test_queue_that_lacks_a_step_is_refused(action):
    dropped = next(
        one for one in mutants(system("nothing"))
        if one.name == f"{action}: action dropped: {action}#1"
    )  # fmt: skip
    assert f"{action}(" in refusal(beginning(HOT[0]), mutant=dropped.system)[0]


def test_queue_in_which_only_circles_end_is_refused():
    rules = Rules(starts_after="nothing", calls_back="nobody")
    assert any("call_back(" in refusal(beginning(name), mutant=lock_queue(rules))[0]
               for name in SCANS)  # fmt: skip


# A server that does what the model forbids


@pytest.mark.parametrize("name", SCANS + HOT)
def test_rollback_that_is_left_out_is_refused(name):
    part = beginning(name)
    undone = next(event for event in part.events if event.kind is EventKind.ROLLED_BACK)
    kept = tuple(event for event in part.events if event is not undone)
    why, _ = refusal(replace(part, events=kept))
    assert "does not allow" in why


@pytest.mark.parametrize("name", CONSERVATIVE[:2] + HOT)
def test_commits_out_of_order_are_refused(name):
    part = beginning(name)
    first, second = [
        n for n, e in enumerate(part.events) if e.kind is EventKind.ENGINE_COMMITTED
    ][:2]  # fmt: skip
    events = list(part.events)
    events[first], events[second] = events[second], events[first]
    assert "engine_commit(" in refusal(replace(part, events=tuple(events)))[0]


def second_touches(part):
    """Yield an earlier writer of a row, and a later one's first touch after that has committed."""
    writers, committed = {}, set()
    for event in part.events:
        if event.kind is EventKind.ENGINE_COMMITTED:
            committed.add(event.transaction)
        for item in sorted(event.items) if event.attempt == 1 else ():
            before = writers.get(item)
            if before in committed and before != event.transaction:
                yield before, event
            writers[item] = event.transaction


@pytest.mark.parametrize("name", [*CONSERVATIVE[:1], *HOT])
def test_touch_of_a_row_that_another_holds_is_refused(name):
    part = beginning(name)
    before, touch = next(second_touches(part))
    own = [e for e in part.events if e.transaction == touch.transaction]
    own = own[: own.index(touch) + 1]
    rest = [event for event in part.events if event not in own]
    place = next(
        n for n, event in enumerate(rest)
        if event.transaction == before and event.kind is EventKind.ENGINE_COMMITTED
    )  # fmt: skip
    rest[place:place] = own
    assert "lock_row(" in refusal(replace(part, events=tuple(rest)))[0]
