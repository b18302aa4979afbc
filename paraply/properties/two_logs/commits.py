"""The normal form of both logs: changes of values by key.

Keyed rows: the value is the image or ``ABSENT_ROW``. Other rows: the key is the image, the value a
number of copies, relative to the log's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Key = int
Value = int

ABSENT_ROW: Value = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A transaction's net effect."""

    changes: Mapping[Key, tuple[Value, Value]] = field(default_factory=dict)
    """Values before and after."""
    copies: Mapping[Key, int] = field(default_factory=dict)
    """Copies added or removed (negative), of rows without keys."""
    rewritten: frozenset[Key] = frozenset()
    """Keys rewritten unchanged."""


@dataclass(frozen=True, slots=True)
class Step:
    """A commit, or a change outside of the log (*found*).

    ``number`` counts commits from 1; found steps precede their commit.
    """

    number: int
    values: Mapping[Key, Value]
    is_found: bool = False


State = dict[Key, Value]


def initial_values(source: Iterable[Commit], target: Iterable[Commit]) -> State:
    """Return initial values by first changes, source first."""
    values: State = {}
    for commit in (*source, *target):
        for key, (before, _) in commit.changes.items():
            values.setdefault(key, before)
        for key in commit.copies:
            values.setdefault(key, 0)
    return values


def steps(commits: Iterable[Commit], initial: State) -> Iterator[Step]:
    """Yield state changes.

    An unexpected before-image shows a change outside of the log. It becomes a separate step,
    because it would falsify later states.
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
