"""Finds an inclusion-minimal set of keys that prevents a stronger level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from paraply.properties.two_logs.commits import Key
from paraply.properties.two_logs.judgement import Judgement, Level

ROWS_MAX = 200
"""More rows are systematic."""
ROUNDS_MAX = 6
PASSES_MAX = 60

JudgeWithout = Callable[[frozenset[Key]], Judgement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Without ``keys``, the target reaches ``judgement``'s level."""

    keys: tuple[Key, ...]
    """In the order in which they were suspected."""
    judgement: Judgement
    is_minimal: bool
    """False if passes ran out."""


def blame(judge_without: JudgeWithout, first: Judgement) -> Blame | None:
    """Return the few rows to except, or None.

    Excluding rows never weakens a level, so returning rows greedily yields a minimal set.
    """
    if first.level >= Level.BATCHES and not first.conceded:
        return None
    keys = _suspected(first)
    judgement = first
    for _ in range(ROUNDS_MAX):
        if not keys or len(keys) > ROWS_MAX:
            return None
        judgement = judge_without(frozenset(keys))
        more = keys | _suspected(judgement)
        if judgement.level >= Level.BATCHES or len(more) == len(keys):
            break
        keys = more
    if judgement.conceded or (judgement.level <= first.level and not first.conceded):
        return None
    search = _Search(judge_without, judgement.level, frozenset(keys), judgement)
    search.put_back(sorted(keys, key=lambda key: first.suspects.get(key, 0)))
    return Blame(
        keys=tuple(key for key in keys if key in search.keys),
        judgement=search.judgement,
        is_minimal=search.is_minimal,
    )


def _suspected(judgement: Judgement) -> dict[Key, None]:
    named = (judgement.suspects, judgement.conceded, judgement.found, judgement.differing)
    return dict.fromkeys(chain.from_iterable(named))


@dataclass(slots=True)
class _Search:
    judge_without: JudgeWithout
    level: Level
    keys: frozenset[Key]
    judgement: Judgement
    is_minimal: bool = True
    passes: int = 0

    def put_back(self, candidates: list[Key]) -> None:
        """Put candidates back by bisection."""
        if not candidates:
            return
        if self.passes >= PASSES_MAX:
            self.is_minimal = False
            return
        rest = self.keys - frozenset(candidates)
        self.passes += 1
        judgement = self.judge_without(rest)
        if judgement.level >= self.level and not judgement.conceded:
            self.keys, self.judgement = rest, judgement
        elif len(candidates) > 1:
            half = len(candidates) // 2
            self.put_back(candidates[:half])
            self.put_back(candidates[half:])
