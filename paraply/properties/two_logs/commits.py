"""Both logs in one normal form: commits as changes of values by key.

A row of a table with a key is one key whose value is the row's image; ``ABSENT_ROW`` is no row. A
row of a table without a key is a key of its own (its whole image) whose value is a number of
copies, counted from 0 at the start of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Key = int
Value = int

ABSENT_ROW: Value = 0
"""The value of a key that has no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The net effect of one transaction."""

    changes: Mapping[Key, tuple[Value, Value]] = field(default_factory=dict)
    """Value found and value left, by key."""
    copies: Mapping[Key, int] = field(default_factory=dict)
    """Copies added (negative: removed) of rows without a key."""
    rewritten: frozenset[Key] = frozenset()
    """Keys that were written with exactly what they held."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of state: a commit, or what a commit found changed outside of its log.

    ``number`` counts the commits of the log from 1; a *found* step comes before its commit.
    """

    number: int
    values: Mapping[Key, Value]
    is_found: bool = False


State = dict[Key, Value]


def initial_values(source: Iterable[Commit], target: Iterable[Commit]) -> State:
    """Return the value of every key before both logs: what its first change found, source first."""
    values: State = {}
    for commit in (*source, *target):
        for key, (before, _) in commit.changes.items():
            values.setdefault(key, before)
        for key in commit.copies:
            values.setdefault(key, 0)
    return values


def steps(commits: Iterable[Commit], initial: State) -> Iterator[Step]:
    """Yield the changes of state of a log.

    A commit that finds another value than its log left shows a change outside of the log: that
    state comes first, as a step of its own. Without it one such change would falsify every
    later state.
    """
    state = dict(initial)
    for number, commit in enumerate(commits, start=1):
        found = {
            key: before
            for key, (before, _) in commit.changes.items()
            if state.get(key, before) != before
        }
        if found:
            state.update(found)
            yield Step(number, found, is_found=True)
        after = {key: value for key, (_, value) in commit.changes.items()}
        after |= {key: state.get(key, 0) + added for key, added in commit.copies.items()}
        state.update(after)
        yield Step(number, after)
