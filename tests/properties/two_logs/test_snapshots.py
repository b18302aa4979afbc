"""Snapshot order: what it names, and that faults are never called by its name."""

from __future__ import annotations

from dataclasses import fields

import pytest

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.judgement import NEAR, Judgement, Level, Snapshot
from paraply.properties.two_logs.rule import judge
from paraply.properties.two_logs.streaming import judge_streaming
from tests.properties.two_logs.small_histories import value

JUDGES = (judge, judge_streaming)


def log(*writes: dict[int, int], start: dict[int, int] | None = None) -> list[Commit]:
    """Commits that write versions of keys."""
    now = dict(start or {})
    commits = []
    for write in writes:
        changes = {k: (value(k, now.get(k, 0)), value(k, new)) for k, new in write.items()}
        commits.append(Commit(changes=changes))
        now |= write
    return commits


A, B, C, D = {1: 1}, {2: 2}, {3: 3}, {4: 4, 5: 4}
SOURCE = log(A, B, C, D)


@pytest.mark.parametrize("judging", JUDGES)
def test_swapped_neighbours_are_named(judging):
    result = judging(SOURCE, log(A, C, B, D))
    assert result.snapshots == [Snapshot(target=2, missing=(2,), early=(3,))]
    assert (result.snapshot_count, result.torn, result.is_snapshots) == (1, 0, True)
    assert result.level is Level.ATOMIC


@pytest.mark.parametrize("judging", JUDGES)
def test_batches_may_end_in_snapshots(judging):
    result = judging(SOURCE, log(A | C, B | D))
    assert result.snapshots == [Snapshot(target=1, missing=(2,), early=(3,))]
    assert result.is_snapshots


@pytest.mark.parametrize("judging", JUDGES)
def test_prefixes_are_no_snapshots(judging):
    for target in (log(A, B, C, D), log(A | B, C | D), log(A)):
        result = judging(SOURCE, target)
        assert (result.is_snapshots, result.snapshots) == (True, [])


CONFLICT = log(A, {1: 2}, C)
FAR = [*log(A), *log(*({10 + n: 1} for n in range(NEAR)))]
FAULTS = {
    "conflicting transactions swapped": (CONFLICT, log({1: 2}, A, C)),
    "one with a common row left out": (log({1: 1, 2: 1}, {1: 2}, C), log({1: 2}, {2: 1}, C)),
    "torn": (SOURCE, log(A, B, C, {4: 4}, {5: 4})),
    "torn and swapped": (SOURCE, log(A, C, {4: 4}, B, {5: 4})),
    "went back": (SOURCE, log(A, B, {2: 0}, B, C, D)),
    "a value of its own": (SOURCE, log(A, C, B, {7: 7})),
    "too far apart": (FAR, [*FAR[1:], FAR[0]]),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("judging", JUDGES)
def test_fault_is_not_excused(judging, fault):
    source, target = FAULTS[fault]
    result = judging(source, target)
    assert not result.is_snapshots
    assert result.level < Level.BATCHES


@pytest.mark.parametrize("judging", JUDGES)
def test_distance_is_the_limit(judging):
    result = judging(FAR[:NEAR], [*FAR[1:NEAR], FAR[0]])
    assert result.is_snapshots
    assert result.snapshot_count == NEAR - 1


@pytest.mark.parametrize("judging", JUDGES)
def test_snapshots_count_again_from_the_next_prefix(judging):
    source = log(A, B, C, D, {6: 1}, {7: 1})
    target = log(A, B, C, {4: 4}, {5: 4}, {7: 1}, {6: 1})
    result = judging(source, target)
    assert not result.is_snapshots
    assert [one.target for one in result.snapshots] == [6]


def test_window_drops_what_a_snapshot_waited_for():
    """A search that the window overtakes ends, and both judges go on alike afterwards."""
    writes = [{key: 1} for key in range(1, 60)]
    source = log({0: 1}, *writes)
    target = log(*writes)
    result = judge_streaming(source, target, window=8, near=1 << 30)
    assert not result.is_snapshots
    assert 0 not in {n for one in result.snapshots for n in one.early}


def test_twins_agree_on_every_field_that_snapshots_add():
    source, target = log(A, B, C, D), log(B, A, D, C)
    one, other = judge(source, target), judge_streaming(source, target)
    names = {field.name for field in fields(Judgement) if "snapshot" in field.name}
    assert names == {"is_snapshots", "snapshots", "snapshot_count"}
    assert all(getattr(one, name) == getattr(other, name) for name in names)
