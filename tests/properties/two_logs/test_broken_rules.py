"""Each part of the rule is needed: without it, small histories are judged wrongly."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from random import Random

import pytest

from paraply.properties.two_logs import chains, streaming
from paraply.properties.two_logs.least_ideal import LeastIdeal
from paraply.properties.two_logs.snapshots import LeastSnapshot
from paraply.properties.two_logs.streaming import StreamingJudge
from tests.properties.two_logs.against_brute_force import differences
from tests.properties.two_logs.small_histories import history

CASES = 4_000


def exclusive_or(monkeypatch):
    """Two equal rows of a table without a key cancel out."""
    monkeypatch.setattr(chains, "weight_of_copies", lambda key, copies: key if copies % 2 else 0)


class Resetting(StreamingJudge):
    def _judge_prefix(self, *, is_found):
        super()._judge_prefix(is_found=is_found)
        if self.position is None:
            return
        for at, step in enumerate(self._source._steps):
            step.included = at <= self._last
            for chain, _ in step.versions:
                known = range(chain.last + 1)
                chain.atomic = max(p for p in known if chain.step(p) <= self._last)


def reset(monkeypatch):
    """At each prefix the ideal starts anew from that prefix, which need not be the least one."""
    monkeypatch.setattr(streaming, "StreamingJudge", Resetting)


def no_closure(monkeypatch):
    """A source commit counts as shown as soon as one of its keys shows it."""
    monkeypatch.setattr(LeastIdeal, "_pull", lambda self, number, cause: [])


def largest_prefix_first(monkeypatch):
    """The last prefix with a sum, not the first one that is not before the last position."""
    monkeypatch.setattr(
        StreamingJudge, "_position", lambda self, equal: equal[-1] if equal else None
    )


def no_drift_correction(monkeypatch):
    """A row that changed outside of the log keeps its old part in the sum."""

    def take(self, found):
        for chain, value in found:
            chain.value = value

    monkeypatch.setattr(StreamingJudge, "_take_found", take)


def key_follows_ideal(monkeypatch):
    """A key alone is pushed as far as whole transactions push it."""
    original = StreamingJudge._judge_key

    def judge_key(self, chain):
        chain.single = max(chain.single, chain.atomic)
        original(self, chain)

    monkeypatch.setattr(StreamingJudge, "_judge_key", judge_key)


def failure_is_kept(monkeypatch):
    """What a failed attempt pushed stays pushed."""

    def forget_to_undo(self, seed, missing, cause):
        self._undo.clear()
        self._undo_steps.clear()
        return original(self, seed, missing, cause)

    original = LeastIdeal._fail
    monkeypatch.setattr(LeastIdeal, "_fail", forget_to_undo)


def cause_is_one_key(monkeypatch):
    """A failed state is looked at again only where the key that could not move has changed."""
    original = LeastIdeal._fail

    def fail(self, seed, missing, cause):
        return original(self, seed, missing, (cause[0], None))

    monkeypatch.setattr(LeastIdeal, "_fail", fail)


def versions_of_equal_value_are_one(monkeypatch):
    """A value that comes back is taken for its first version."""

    def find(self, value, at_least):
        first = self._where.get(value, [None])[0]
        return first if first is not None and first >= at_least else None

    monkeypatch.setattr(chains.Chain, "find", find)


def greedy_skip(monkeypatch):
    """Skipped states are counted from the first prefix alone."""

    def without_a_skip(self, equal):
        at = equal[max(0, min(bisect_left(equal, self._last), len(equal) - 1))]
        near = self._source.step(at).effective - self._source.step(self._last).effective <= 1
        return [at] if near else []

    monkeypatch.setattr(StreamingJudge, "_without_a_skip", without_a_skip)


def snapshot_without_conflicts(monkeypatch):
    """A snapshot may leave out a transaction although it contains a later one with a common row."""

    def pull(self, number, todo):
        if number > self.base:
            self.early.add(number)

    monkeypatch.setattr(LeastSnapshot, "_pull", pull)


def snapshot_without_distance(monkeypatch):
    """A snapshot may leave out a transaction for ever."""
    original = LeastSnapshot.__init__

    def init(self, step_at, limit, near):
        original(self, step_at, limit, 1 << 30)

    monkeypatch.setattr(LeastSnapshot, "__init__", init)


def snapshot_starts_at_each_prefix(monkeypatch):
    """The search starts anew at each prefix, which need not be the least snapshot."""
    original = LeastSnapshot.explains

    def explains(self, changed):
        found = original(self, changed)
        self.early.clear()
        return found

    monkeypatch.setattr(LeastSnapshot, "explains", explains)


def snapshot_keeps_failure(monkeypatch):
    """What a failed attempt included stays included."""
    original = LeastSnapshot._push
    monkeypatch.setattr(LeastSnapshot, "_push", lambda self, todo, moved: original(self, todo, []))


BROKEN = (
    snapshot_without_conflicts, snapshot_without_distance, snapshot_starts_at_each_prefix,
    snapshot_keeps_failure,
    exclusive_or, reset, no_closure, largest_prefix_first, no_drift_correction, key_follows_ideal,
    failure_is_kept, cause_is_one_key, versions_of_equal_value_are_one, greedy_skip,
)  # fmt: skip


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_broken_rule_is_found_by_small_histories(broken, monkeypatch):
    broken(monkeypatch)
    judging = partial(streaming.judge_streaming)
    for number in range(CASES):
        source, target, _ = history(Random(f"broken/{number}"))
        if differences(source, target, judging):
            return
    pytest.fail(f"{CASES} small histories do not show what is wrong: {broken.__doc__}")
