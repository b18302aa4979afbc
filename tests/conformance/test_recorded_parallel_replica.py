"""Recorded replicas of MariaDB in conservative mode are runs of the model of batches.

``python -m ci.record_parallel_replica`` makes new records. Touches of rows are recorded by
triggers, and commits by the log. Commit starts, kills and the places of rollbacks are tried.
Records of the optimistic and the aggressive mode are no such runs.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from paraply.models.judging.mutants import mutants
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded import touched
from paraply.models.recorded.following import follow
from paraply.models.recorded.monitors import why_broken
from paraply.models.systems.batches import batches
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history_jsonl import read_histories

FOLDER = Path(__file__).parent.parent / "data" / "parallel_replica"
RUNS = sorted(file.name for file in FOLDER.glob("*.jsonl.gz"))
CONSERVATIVE = [name for name in RUNS if "-conservative-" in name]
SCANS = [name for name in CONSERVATIVE if "-scans-" in name]
"""Those whose appliers lock more rows than they write: attempts are rolled back."""
SPECULATIVE = [name for name in RUNS if name not in CONSERVATIVE]
REPLICA = "replica1"
PART = 12
"""Transactions that are followed together."""
PROVED = CompiledReading(batches())


@cache
def recorded(name):
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return next(read_histories(lines))


@cache
def parts(name):
    return tuple(touched.parts(recorded(name), REPLICA, PART))


def refusal(part, reading=PROVED):
    """Return why a part is no run, however its rollbacks are placed, and the followed steps."""
    found = []
    for one in touched.batches(part):
        followed = follow(reading, one)
        found.append((why_broken(reading, followed), followed.steps))
        if not found[-1][0]:
            break
    return min(found, key=lambda one: (one[0] != "", -one[1]))


def test_records_have_batches_and_attempts_that_are_rolled_back():
    for name in CONSERVATIVE:
        sizes = Counter(one.commit_id for one in recorded(name).transactions if one.commit_id)
        assert max(sizes.values()) >= 3
        assert (EventKind.ROLLED_BACK in recorded(name).kinds) is (name in SCANS)
    assert len(SCANS) >= 3
    assert len(SPECULATIVE) >= 3


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_conservative_replica_is_a_run_of_the_proved_system(name):
    found = [refusal(part) for part in parts(name)]
    assert [why for why, _ in found if why] == []
    assert sum(steps for _, steps in found) >= 300


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", SPECULATIVE)
def test_replica_that_speculates_is_no_run_of_batches(name):
    found = [refusal(part)[0] for part in parts(name)[:3]]
    assert any("commit_started q" in why for why in found), found


# A model that forbids what a server does


ALL_BEFORE = "(forall ((q Int)) (or (not (and (<= 0 q) (< q p))) (committed q)))"


@cache
def over_restricted():
    return {one.name: one for one in mutants(batches())}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    "action", ["start", "apply", "start_commit", "fail", "roll_back", "retry", "engine_commit"]
)
def test_model_that_lacks_a_step_is_refused(action):
    reading = CompiledReading(over_restricted()[f"{action}: action dropped: {action}#1"].system)
    assert any("does not allow" in refusal(part, reading)[0] for part in parts(SCANS[0]))


@pytest.mark.parametrize("action", ["start", "apply"])
def test_model_of_one_worker_is_refused(action):
    reading = CompiledReading(over_restricted()[f"{action}: guard added: {ALL_BEFORE}#1"].system)
    assert f"{action}(" in refusal(parts(SCANS[0])[0], reading)[0]


# A server that does what the model forbids


def forged(part, events):
    return replace(part, events=tuple(events))


def spans(part):
    """Yield pairs of a batch's last transaction and the next batch's first, with their ids."""
    for before, after in zip(part.transactions, part.transactions[1:], strict=False):
        if before.commit_id is None or before.commit_id != after.commit_id:
            yield before.id, after.id


@pytest.mark.parametrize("name", CONSERVATIVE[:3])
def test_transaction_that_begins_before_an_earlier_batch_has_applied_all_is_refused(name):
    for part in parts(name)[:3]:
        before, after = next(spans(part))
        own = [e for e in part.events if e.transaction == after and e.kind is EventKind.BEGUN]
        rest = [event for event in part.events if event is not own[0]]
        place = next(n for n, event in enumerate(rest) if event.transaction == before)
        rest.insert(place, own[0])
        why, _ = refusal(forged(part, rest))
        assert "start(p=" in why
        assert "commit_started" in why


@pytest.mark.parametrize("name", CONSERVATIVE[:3])
def test_commits_out_of_order_are_refused(name):
    part = parts(name)[0]
    places = [n for n, e in enumerate(part.events) if e.kind is EventKind.ENGINE_COMMITTED][:2]
    events = list(part.events)
    first, second = places
    events[first], events[second] = events[second], events[first]
    assert "engine_commit(" in refusal(forged(part, events))[0]


def test_attempt_whose_rollback_is_left_out_is_refused():
    part = next(p for p in parts(SCANS[0]) if EventKind.ROLLED_BACK in p.kinds)
    events = [event for event in part.events if event.kind is not EventKind.ROLLED_BACK]
    assert "retry(" in refusal(forged(part, events))[0]


def test_retry_before_earlier_transactions_have_committed_is_refused():
    part = next(p for p in parts(SCANS[0]) if EventKind.ROLLED_BACK in p.kinds)
    retried = [e for e in part.events if e.kind is EventKind.BEGUN and e.attempt > 1]
    ids = [one.id for one in part.transactions]
    one = next(e for e in retried if e.transaction != ids[0])
    before = ids[ids.index(one.transaction) - 1]
    rest = [event for event in part.events if event is not one]
    place = next(
        n for n, event in enumerate(rest)
        if event.kind is EventKind.ENGINE_COMMITTED and event.transaction == before
    )  # fmt: skip
    last = max(
        n for n, event in enumerate(rest)
        if event.kind is EventKind.ROLLED_BACK and event.transaction == one.transaction
    )  # fmt: skip
    assert last < place, "the rollback of this attempt precedes the commit"
    rest.insert(place, one)
    assert "retry(" in refusal(forged(part, rest))[0]
