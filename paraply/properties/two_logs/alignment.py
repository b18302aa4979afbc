"""Aligns the begins of two logs.

Each row's first before-image votes for source positions with that value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from paraply.properties.two_logs.commits import Commit, Key, Value

SAMPLED_KEYS = 2_000
SEARCHED_COMMITS = 50_000
VOTES_MIN = 3
SHARE_MIN = 0.1
"""A later begin requires so many more votes, as a share of voters."""
VOTES_DECISIVE = 10
AGREEING_MIN = 0.5
"""Below this share of agreeing rows, the logs are of different times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Commits of the earlier log before the later begins; 0 if unclear.

    ``agreeing`` of ``votes`` rows match.
    """

    after: int
    votes: int
    agreeing: int

    @property
    def is_common(self) -> bool:
        """Return whether enough rows agree, or too few voted."""
        return self.votes < VOTES_DECISIVE or self.agreeing >= AGREEING_MIN * self.votes


def begin_within(earlier: Iterable[Commit], later: Iterable[Commit]) -> Begin:
    """Return where ``later`` begins in ``earlier``.

    Keyed rows of the first ``SEARCHED_COMMITS`` commits vote.
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
    if most - at_start < max(VOTES_MIN, SHARE_MIN * len(voters)):
        best, most = 0, at_start
    return Begin(after=best, votes=len(voters), agreeing=most)


def _first_values(commits: Iterable[Commit]) -> dict[Key, Value]:
    found: dict[Key, Value] = {}
    for commit in islice(commits, SEARCHED_COMMITS):
        for key, (before, _) in commit.changes.items():
            found.setdefault(key, before)
        if len(found) >= SAMPLED_KEYS:
            break
    return found
