"""The normal form of both logs: commits as changes of values by key.

With a table key, a row's value is its image, or ``ABSENT_ROW``. Without one, the row's image is the
key and its value a number of copies, from 0 at the log's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Key = int
Value = int

ABSENT_ROW: Value = 0
"""Value of a key without a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A transaction's net effect."""

    changes: Mapping[Key, tuple[Value, Value]] = field(default_factory=dict)
    """Value before and after, by key."""
    copies: Mapping[Key, int] = field(default_factory=dict)
    """Copies added (negative: removed) of rows without a key."""
    rewritten: frozenset[Key] = frozenset()
    """Keys rewritten with the same value."""


@dataclass(frozen=True, slots=True)
class Step:
    """A state change: a commit, or a change outside of the log (*found*).

    ``number`` counts commits from 1; a found step precedes its commit.
    """

    number: int
    values: Mapping[Key, Value]
    is_found: bool = False


State = dict[Key, Value]


def initial_values(source: Iterable[Commit], target: Iterable[Commit]) -> State:
    """Return every key's value before both logs, by its first change, source first."""
    values: State = {}
    for commit in (*source, *target):
        for key, (before, _) in commit.changes.items():
            values.setdefault(key, before)
        for key in commit.copies:
            values.setdefault(key, 0)
    return values


def steps(commits: Iterable[Commit], initial: State) -> Iterator[Step]:
    """Yield a log's state changes.

    A before-image that differs from the log's last value shows a change outside of the log. A
    separate step for it keeps later states correct.
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
