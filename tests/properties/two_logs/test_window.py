"""Long logs: bounded memory, concession of lost rows, and work per change that stays flat."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from paraply.properties.two_logs import chains
from paraply.properties.two_logs import window as window_module
from paraply.properties.two_logs.blame import blame
from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.fingerprints import fingerprint
from paraply.properties.two_logs.judgement import Level
from paraply.properties.two_logs.least_ideal import LeastIdeal
from paraply.properties.two_logs.streaming import StreamingJudge, judge_streaming

KEYS = 50
SECRET = b"window"


def source(count: int) -> list[Commit]:
    """Commits of two keys each; values never repeat."""
    chance = Random(1)
    held = dict.fromkeys(range(KEYS), 0)
    commits = []
    for number in range(1, count + 1):
        changes = {}
        for key in chance.sample(range(KEYS), 2):
            value = fingerprint(SECRET, key, number)
            changes[key] = (held[key], value)
            held[key] = value
        commits.append(Commit(changes=changes))
    return commits


def recoming(commits: list[Commit], lost: int = -1) -> list[Commit]:
    """The same values, with before-images of rows as they were left; ``lost`` is never written."""
    held: dict[int, int] = {}
    found = []
    for commit in commits:
        changes = {
            k: (held.get(k, b), a) for k, (b, a) in commit.changes.items() if k != lost
        }  # fmt: skip
        held |= {k: a for k, (_, a) in changes.items()}
        found.append(Commit(changes=changes))
    return found


def applier(name: str, commits: list[Commit]) -> list[Commit]:
    if name == "serial":
        return commits
    if name == "swapped":
        order = list(commits)
        for at in range(0, len(order) - 1, 4):
            if not order[at].changes.keys() & order[at + 1].changes.keys():
                order[at], order[at + 1] = order[at + 1], order[at]
        return recoming(order)
    if name == "split":
        return [Commit(changes={k: v}) for c in commits for k, v in c.changes.items()]
    if name == "torn":
        singles = [(at + 9 * (k % 3), {k: v}) for at, c in enumerate(commits)
                   for k, v in c.changes.items()]  # fmt: skip
        singles.sort(key=lambda single: single[0])
        return recoming([Commit(changes=change) for _, change in singles])
    return recoming(commits, lost=7)


def size_of(judge: StreamingJudge) -> int:
    versions = sum(chain.last - chain._dropped + 1 for chain in judge._source.chains.values())
    return versions + len(judge._source._steps) + len(judge._source.where) + len(judge._ideal.unmet)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", ["serial", "swapped", "split", "torn", "lost"])
def test_memory_is_flat_on_a_log_ten_times_as_long(name, monkeypatch):
    monkeypatch.setattr(window_module, "_STEPS_TRIMMED_AT_ONCE", 32)
    monkeypatch.setattr(chains, "_TRIMMED_AT_ONCE", 4)
    sizes = []
    for count in (400, 4_000):
        commits = source(count)
        judge = StreamingJudge(commits, window=50, reach=64, excluded=frozenset())
        most = 0
        for commit in applier(name, commits):
            judge.observe(commit)
            if judge.result.target_commits % 10 == 0:
                most = max(most, size_of(judge))
        judge.finish()
        sizes.append(most)
    assert sizes[1] <= 1.2 * sizes[0], sizes


@pytest.mark.long
@pytest.mark.parametrize("name", ["serial", "swapped", "split", "torn", "lost"])
def test_work_per_change_is_flat(name, monkeypatch):
    work = 0
    push, pull = LeastIdeal._push, LeastIdeal._pull

    def counted_push(self, seed):
        nonlocal work
        work += 1
        return push(self, seed)

    def counted_pull(self, number, cause):
        nonlocal work
        work += 1
        return pull(self, number, cause)

    monkeypatch.setattr(LeastIdeal, "_push", counted_push)
    monkeypatch.setattr(LeastIdeal, "_pull", counted_pull)
    per_change = []
    for count in (500, 5_000):
        work = 0
        commits = source(count)
        judge_streaming(commits, applier(name, commits), window=500)
        per_change.append(work / (2 * count))
    assert per_change[1] <= 1.5 * per_change[0] + 1, per_change


def test_work_is_flat_where_values_come_back_everywhere(monkeypatch):
    """A torn target and two values per key: each failed explanation may run far ahead."""
    work = 0
    pull = LeastIdeal._pull

    def counted_pull(self, number, cause):
        nonlocal work
        work += 1
        return pull(self, number, cause)

    monkeypatch.setattr(LeastIdeal, "_pull", counted_pull)
    per_change = []
    for count in (1_000, 4_000):
        work = 0
        held = dict.fromkeys(range(KEYS), 0)
        chance = Random(2)
        commits = []
        for _ in range(count):
            changes = {}
            for key in chance.sample(range(KEYS), 2):
                value = fingerprint(SECRET, key, chance.randrange(2))
                changes[key] = (held[key], value)
                held[key] = value
            commits.append(Commit(changes=changes))
        judge_streaming(commits, applier("split", commits), reach=32)
        per_change.append(work / (2 * count))
    assert per_change[1] <= 2 * per_change[0] + 2, per_change


@pytest.mark.long
def test_row_lost_for_good_is_conceded_and_the_rest_is_judged_on():
    commits = source(4_000)
    target = applier("lost", commits)
    found = judge_streaming(commits, target, window=300)
    assert set(found.conceded) == {7}
    # After the concession, the states are those of the source again.
    assert found.prefixes > found.target_commits - 700
    assert found.stretches[-1].last < 800

    def judge_without(keys: frozenset[int]):
        return judge_streaming(commits, target, window=300, excluded=keys)

    excepted = blame(judge_without, found)
    assert excepted is not None
    assert excepted.keys == (7,)
    assert excepted.judgement.level is Level.PREFIX


def test_row_whose_value_came_back_within_a_batch_is_not_conceded():
    """A batch that writes net changes never writes it, although the source changed it."""
    there_and_back = [
        Commit(changes={7: (1, 2)}),
        Commit(changes={7: (2, 1), 8: (1, 3)}),
    ]
    rest = source(500)
    target = [Commit(changes={8: (1, 3)}), *rest]
    found = judge_streaming([*there_and_back, *rest], target, window=50)
    assert found.level is Level.BATCHES
    assert not found.conceded


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("window", [50, 400])
@pytest.mark.parametrize("name", ["serial", "swapped", "split", "torn"])
def test_window_does_not_change_the_level(name, window):
    commits = source(1_000)
    target = applier(name, commits)
    whole = judge_streaming(commits, target)
    part = judge_streaming(commits, target, window=window)
    assert part.level is whole.level
    assert (part.prefixes, part.torn, part.end) == (whole.prefixes, whole.torn, whole.end)
    assert not part.conceded


def test_source_and_target_are_read_once_and_in_step():
    """Neither log is read as a whole: the source is at most a window ahead."""
    read = 0

    def counting() -> Iterator[Commit]:
        nonlocal read
        for commit in commits:
            read += 1
            yield commit

    commits = source(5_000)
    judge = StreamingJudge(counting(), window=100, reach=64, excluded=frozenset())
    for number, commit in enumerate(commits, start=1):
        judge.observe(commit)
        assert read <= number + 101
