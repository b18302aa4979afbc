"""Where one log begins in the other, from what the first changes of rows found.

A target's log that begins after some source commits finds rows as these left them. Each first
before-image votes for the source positions at which the source held that value.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from paraply.properties.two_logs.commits import Commit, Key, Value

SAMPLED_KEYS = 2_000
SEARCHED_COMMITS = 50_000
VOTES_MIN = 3
SHARE_MIN = 0.1
"""A later begin must explain so many more of the first before-images than the log's own begin."""


def begin_within(earlier: Iterable[Commit], later: Iterable[Commit]) -> int:
    """Return after how many commits of ``earlier`` the log ``later`` begins; 0 where it is unclear.

    Only keyed rows vote, and the first ``SEARCHED_COMMITS`` commits of each log are looked at.
    """
    found = _first_values(later)
    votes_from: dict[int, int] = {}
    held: dict[Key, Value] = {}
    at_start = 0
    voters: set[Key] = set()
    for number, commit in enumerate(islice(earlier, SEARCHED_COMMITS), start=1):
        for key, (before, after) in commit.changes.items():
            wanted = found.get(key)
            if wanted is None:
                continue
            if key not in voters:
                voters.add(key)
                at_start += before == wanted
                held[key] = before
            votes_from[number] = (
                votes_from.get(number, 0) + (after == wanted) - (held[key] == wanted)
            )
            held[key] = after
    votes = most = at_start
    best = 0
    for number in sorted(votes_from):
        votes += votes_from[number]
        if votes > most:
            best, most = number, votes
    return best if most - at_start >= max(VOTES_MIN, SHARE_MIN * len(voters)) else 0


def _first_values(commits: Iterable[Commit]) -> dict[Key, Value]:
    found: dict[Key, Value] = {}
    for commit in islice(commits, SEARCHED_COMMITS):
        for key, (before, _) in commit.changes.items():
            found.setdefault(key, before)
        if len(found) >= SAMPLED_KEYS:
            break
    return found
