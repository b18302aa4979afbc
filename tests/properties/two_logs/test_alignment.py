"""Where the later log begins in the earlier one, against its definition by states."""

from __future__ import annotations

import random

import pytest

import paraply.properties.two_logs.alignment as alignment
from paraply.properties.two_logs.alignment import Begin, begin_within
from paraply.properties.two_logs.commits import Commit


def commits_of(chance: random.Random, count: int, rows: int) -> list[Commit]:
    """Return commits whose before images are the states before them; values come back."""
    state: dict[str, int] = {}
    made = []
    for _ in range(count):
        changes = {}
        for key in chance.sample("abcdefghij"[:rows], chance.randint(1, min(3, rows))):
            new = chance.randrange(4)
            changes[key] = (state.get(key, 0), new)
            state[key] = new
        made.append(Commit(changes=changes))
    return made


def by_states(earlier: list[Commit], later: list[Commit]) -> Begin:
    """Return the first moment at which most rows are as the later log found them."""
    wanted: dict[str, int] = {}
    for commit in later:
        for key, (before, _) in commit.changes.items():
            wanted.setdefault(key, before)
    states: list[dict[str, int]] = []
    first: dict[str, int] = {}
    for commit in earlier:
        for key, (before, _) in commit.changes.items():
            first.setdefault(key, before)
    voters = first.keys() & wanted.keys()
    states.append(dict(first))
    for commit in earlier:
        states.append({**states[-1], **{key: after for key, (_, after) in commit.changes.items()}})
    agreeing = [sum(state[key] == wanted[key] for key in voters) for state in states]
    best = agreeing.index(max(agreeing))
    enough = max(alignment.VOTES_MIN, alignment.SHARE_MIN * len(voters))
    if agreeing[best] - agreeing[0] < enough:
        best = 0
    return Begin(after=best, votes=len(voters), agreeing=agreeing[best])


@pytest.mark.parametrize("seed", range(400))
def test_begin_is_where_most_rows_agree(seed):
    chance = random.Random(seed)
    whole = commits_of(chance, chance.randint(1, 30), chance.randint(1, 10))
    cut = chance.randint(0, len(whole))
    later = whole[cut:] if seed % 3 else commits_of(chance, 5, 10)
    # The states of a log cut at its end differ from those of the whole log behind the cut only.
    earlier = whole[: chance.randint(cut, len(whole))]
    assert begin_within(earlier, later) == by_states(earlier, later)


def test_logs_are_of_one_time_if_half_of_the_rows_agree_or_few_voted():
    assert Begin(after=0, votes=10, agreeing=5).is_common
    assert not Begin(after=0, votes=10, agreeing=4).is_common
    assert Begin(after=9, votes=9, agreeing=0).is_common
    assert not Begin(after=9, votes=10, agreeing=0).is_common


def test_begin_of_a_long_log_is_found():
    whole = commits_of(random.Random(1), 300, 10)
    unique = [
        Commit(changes={key: (before, (at, after)) for key, (before, after) in one.changes.items()})
        for at, one in enumerate(whole)
    ]
    state: dict[str, object] = {}
    chained = []
    for one in unique:
        changes = {key: (state.get(key, 0), after) for key, (_, after) in one.changes.items()}
        state.update({key: after for key, (_, after) in changes.items()})
        chained.append(Commit(changes=changes))
    assert begin_within(chained, chained[200:]).after == 200
