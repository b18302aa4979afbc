"""Which misses of a level an unread end of the source's log may explain."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from paraply.properties.two_logs.commits import Commit, initial_values, steps
from paraply.properties.two_logs.judgement import Level
from paraply.properties.two_logs.rule import judge
from tests.properties.two_logs.brute_force import truth
from tests.properties.two_logs.small_histories import history

CASES = 3_000
NEAR = 2

pytestmark = pytest.mark.long


def reached(source, target) -> Level:
    return Level[truth(source, target, NEAR).level.upper().replace("-", "_")]


def continued(source: list[Commit], target: list[Commit], at: int) -> list[Commit]:
    """The source, at whose end rows change so that they are as the target's after ``at`` steps.

    Then they do what the target's rows do.
    """
    initial = initial_values(source, target)
    states = [initial]
    for step in steps(target, initial):
        states.append({**states[-1], **step.values})
    known = {key for commit in source for key in commit.changes}
    touched = {key for commit in target for key in commit.changes} | known
    first = Commit(changes={key: (initial[key], initial[key]) for key in touched - known})
    rest = [Commit(changes={key: (state[key], state[key]) for key in touched}) for state in states]
    return [*source, first, *rest[at:]]


def test_miss_that_the_end_cannot_explain_is_one_of_the_whole_log():
    """And any other miss is explained by some end, unless copies of rows stand against it."""
    chance = Random(20)
    seen: Counter = Counter()
    for _ in range(CASES):
        whole, target, _ = history(chance)
        source = whole[: chance.randrange(len(whole) + 1)]
        found = judge(source, target)
        if found.level is Level.PREFIX:
            continue
        seen[found.left_early] += 1
        if found.left_early:
            assert reached(whole, target) < Level.PREFIX, (whole, len(source), target)
            for _ in range(3):
                other = [*source, *history(chance)[0]]
                assert reached(other, target) < Level.PREFIX
        elif not any(commit.copies for commit in (*source, *target)):
            ends = (continued(source, target, at) for at in range(len(target) + 1))
            assert any(judge(end, target).level is Level.PREFIX for end in ends)
            seen["explained"] += 1
        if not any(commit.copies for commit in (*source, *target)):
            back = continued(source, target, 0)
            assert judge(back, target).level >= Level.BATCHES, "weaker levels are always explained"
    assert min(seen[True], seen["explained"]) > CASES / 20, seen
