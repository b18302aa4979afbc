"""Maintains the least set of whole source transactions that explains the target."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from paraply.properties.two_logs.chains import Chain, SourceStep

_Cause = tuple[Chain, "_Cause | None"]
"""Moved key and cause."""
_Demand = tuple[Chain, int, int, _Cause]
"""Key, required position, demanding source step, cause."""


class LeastIdeal:
    """Pushes keys until the ideal shows the target's values.

    Pushes are forced, so their order does not matter. Failed attempts are undone, as later states
    may succeed. Their chain of causes remains: states that change none of its keys fail at no cost.

    ``limit`` is the last step to pull in.
    """

    def __init__(self, step_at: Callable[[int], SourceStep], limit: Callable[[], int]) -> None:
        self._step_at = step_at
        self._limit = limit
        self.unmet: dict[Chain, None] = {}
        """Keys that differ from the target."""
        self.blocker: Chain | None = None
        """The key that failed the last attempt."""
        self.shown: Chain | None = None
        """The key that demanded the move."""
        self.missing_step = -1
        """The source step that the blocker misses."""
        self.was_cut_off = False
        """The attempt reached the limit."""
        self._because: set[Chain] = set()
        self._limit_then = -1
        self._seed: Chain | None = None
        self._undo: list[tuple[Chain, int]] = []
        self._undo_steps: list[SourceStep] = []

    def explains(self, changed: Iterable[Chain]) -> bool:
        """Add changed keys; return whether an ideal exists."""
        retry = self.blocker is None or (self.was_cut_off and self._limit() > self._limit_then)
        for chain in changed:
            if chain.version(chain.atomic) == chain.value:
                self.unmet.pop(chain, None)
            else:
                self.unmet[chain] = None
            retry = retry or chain in self._because
        return self.attempt() if retry else False

    def attempt(self) -> bool:
        """Push until nothing moves; undo on failure."""
        self._undo.clear()
        self._undo_steps.clear()
        self.was_cut_off = False
        first = self._seed
        if first is not None and first in self.unmet and not self._push(first):
            return False
        for seed in self.unmet:
            if seed is not first and not self._push(seed):
                return False
        self.unmet.clear()
        self.blocker = self._seed = None
        self._because.clear()
        return True

    def forget(self, chain: Chain) -> None:
        """Stop judging a key."""
        self.unmet.pop(chain, None)
        self.blocker = None

    def force(self, step: SourceStep) -> None:
        """Include an old step that its keys showed separately.

        Only after an unexplained state; the ideal may no longer be least.
        """
        step.included = True
        for chain, position in step.versions:
            if not chain.is_conceded and chain.atomic < position:
                chain.atomic = position
                if chain.version(position) == chain.value:
                    self.unmet.pop(chain, None)
                else:
                    self.unmet[chain] = None
                if chain in self._because:
                    self.blocker = None

    def _push(self, seed: Chain) -> bool:
        todo: list[_Demand] = [(seed, seed.atomic, -1, (seed, None))]
        while todo:
            chain, at_least, because_of, cause = todo.pop()
            old = chain.atomic
            position = chain.find(chain.value, max(at_least, old))
            if position is None:
                return self._fail(seed, because_of, cause)
            if position == old:
                continue
            self._undo.append((chain, old))
            chain.atomic = position
            for version in range(old + 1, position + 1):
                number = chain.step(version)
                if number > self._limit():
                    self.was_cut_off = True
                    return self._fail(seed, number, cause)
                todo += self._pull(number, cause)
        return True

    def _pull(self, number: int, cause: _Cause) -> list[_Demand]:
        step = self._step_at(number)
        if step.included:
            return []
        step.included = True
        self._undo_steps.append(step)
        return [
            (chain, position, number, (chain, cause))
            for chain, position in step.versions
            if chain.atomic < position and not chain.is_conceded
        ]

    def _fail(self, seed: Chain, missing: int, cause: _Cause) -> bool:
        for chain, position in reversed(self._undo):
            chain.atomic = position
        for step in self._undo_steps:
            step.included = False
        self._seed, self.missing_step = seed, missing
        self._limit_then = self._limit()
        self.blocker = cause[0]
        self.shown = cause[1][0] if cause[1] is not None else None
        self._because.clear()
        link: _Cause | None = cause
        while link is not None:
            self._because.add(link[0])
            link = link[1]
        return False
