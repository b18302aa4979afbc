"""Everything within a small scope: counts pinned, symmetry sound, faults found, twins agree."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from paraply.mining.compiled import scope_kernel as K
from paraply.mining.small_scope import FAULTS, explore_scope, find_smallest, words
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.certification.lc_sn import ParallelizationIndexes
from paraply.vocabulary.verdict import Verdict


def orbits(length):
    """Count schedules up to a permutation of rows by Burnside's lemma, without enumerating them."""
    total = 0
    for permuted in permutations(range(K.ROWS)):
        fixed = sum(
            all(w >> row & 1 == w >> permuted[row] & 1 for row in range(K.ROWS))
            for w in range(K.WRITE_SETS)
        )
        total += (2 * fixed + 2) ** length
    return total // 6


def test_burnside_gives_the_count_of_six_transactions():
    assert orbits(6) == 6_184_256


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_canonical_schedules_are_one_of_each_orbit(length):
    assert explore_scope(length).schedules == orbits(length)
    assert explore_scope(length, symmetric=False).schedules == K.STEPS**length


@pytest.mark.parametrize("fault", FAULTS)
def test_symmetry_switched_off_gives_the_same_verdict(fault):
    for length in (2, 3):
        reduced, raw = (
            explore_scope(length, fault=fault),
            explore_scope(length, fault=fault, symmetric=False),
        )
        assert reduced.verdict is raw.verdict
        assert bool(reduced.violating) is bool(raw.violating)
        assert reduced.states < raw.states


def test_specified_behaviour_holds_in_the_scope_and_does_overlap():
    result = explore_scope(4)
    assert result.verdict is Verdict.HOLDS
    assert result.overlapping > 1_000
    assert (result.schedules, result.states) == PINNED_OF_FOUR


@pytest.mark.long
def test_six_transactions_are_explored_whole():
    result = explore_scope(6)
    assert (result.schedules, result.states) == (6_184_256, 126_672_192)
    assert result.violating == 0


PINNED_OF_FOUR = (22_928, 316_592)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault])
def test_fault_shows_within_three_transactions(fault):
    result = find_smallest(fault)
    assert result.verdict is Verdict.VIOLATED
    assert len(result.witness) <= 3, words(result.witness)


def test_one_worker_shows_nothing():
    result = explore_scope(3, workers=1)
    assert result.verdict is Verdict.UNKNOWN
    # Each transaction starts, finishes and commits, one after the other.
    assert result.states == result.schedules * (3 * 3 + 1)


def test_kernel_stamps_as_the_reference_does():
    dialect = DIALECTS["wl8440"]
    for schedule in product(range(K.VIEW_CHANGE), repeat=3):
        reference, stored = ParallelizationIndexes(dialect), {}
        state, after = np.array([0, 0, 0, 1, 2]), np.zeros(5, np.int64)
        for step in schedule:
            if step >= K.COLLECTS:
                stored.clear()
                reference.on_garbage_collected()
            rows = [row for row in range(K.ROWS) if step >> row & 1]
            if rows:
                expected = reference.on_remote_with_items([stored.get(row) for row in rows])
                stored |= dict.fromkeys(rows, expected.sequence_number)
            else:
                expected = reference.on_remote_barrier()
            found = K.stamp(step, state, after, K.RIGHT)
            assert found == (expected.last_committed, expected.sequence_number), schedule
            state, after = after, state


def orders(schedule, workers):
    """Apply a schedule in every order, by sets: the readable twin of ``apply_all``."""
    stamps, state, after = [], np.array([0, 0, 0, 1, 2]), np.zeros(5, np.int64)
    for step in schedule:
        stamps.append(K.stamp(step, state, after, K.RIGHT))
        state, after = after, state
    is_view = [step >= K.VIEW_CHANGE for step in schedule]
    seen, todo = set(), [(0, 0, frozenset())]
    while todo:
        committed, started, finished = now = todo.pop()
        if now in seen:
            continue
        seen.add(now)
        todo += [
            (committed, started, finished | {at})
            for at in range(committed, started)
            if at not in finished
        ]
        if committed in finished:
            todo.append((committed + 1, started, finished - {committed}))
        running = range(committed, started)
        if started < len(schedule) and len(running) < workers:
            lc = stamps[started][0]
            if not any(is_view[started] or is_view[at] or stamps[at][1] <= lc for at in running):
                todo.append((committed, started + 1, finished))
    return len(seen)


def test_kernel_reaches_the_states_of_the_readable_applier():
    expected = sum(orders(schedule, 4) for schedule in product(range(K.STEPS), repeat=2))
    assert explore_scope(2, symmetric=False).states == expected
    assert explore_scope(3).states == sum(orders(schedule, 4) for schedule in canonical(3))


def canonical(length):
    """Return the smallest schedule of each orbit under the kernel's choice of rows."""

    def renamed(schedule, names):
        return tuple(
            step
            if step >= K.VIEW_CHANGE
            else step
            - step % K.WRITE_SETS
            + sum(1 << names[row] for row in range(K.ROWS) if step >> row & 1)
            for step in schedule
        )

    every = product(range(K.STEPS), repeat=length)
    return [
        schedule
        for schedule in every
        if schedule == min(renamed(schedule, names) for names in permutations(range(K.ROWS)))
    ]
