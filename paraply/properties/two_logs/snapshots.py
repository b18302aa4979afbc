"""Snapshot order: states that a source session may have seen although no log prefix equals them.

PostgreSQL writes a commit record first and makes the transaction visible later, so transactions
that commit at the same time may become visible in another order than that of the log. A *snapshot*
is a set of whole source transactions. It contains, with a transaction, all earlier ones with a
common row, and all that are :data:`NEAR` or more places earlier. These conditions have the form of
those of ideals (:mod:`paraply.properties.two_logs.rule`), so the least rising snapshots explain a
whole history wherever any do.

Two logs do not show who swapped the transactions: the source's visible order, or the applier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from paraply.properties.two_logs.chains import Chain, SourceStep
from paraply.properties.two_logs.judgement import NEAR


class LeastSnapshot:
    """Maintains the least snapshot that explains the target.

    The snapshot contains all steps up to ``base`` and those in ``early``. A state without
    explanation ends the search until :meth:`start_again`. ``limit`` is the last step to pull in.
    """

    def __init__(
        self, step_at: Callable[[int], SourceStep], limit: Callable[[], int], near: int = NEAR
    ) -> None:
        self._step_at = step_at
        self._limit = limit
        self._near = near
        self.base = 0
        self.early: set[int] = set()
        self.is_lost = False

    def explains(self, changed: Iterable[Chain]) -> bool:
        """Include what the changed keys show; return whether a snapshot exists."""
        if self.is_lost:
            return False
        moved: list[tuple[Chain, int]] = []
        early = set(self.early)
        if not self._push([(chain, chain.near) for chain in changed], moved):
            for chain, position in reversed(moved):
                chain.near = position
            self.early = early
            self.is_lost = True
            return False
        # Steps without rows are in every snapshot.
        while self.early and (
            self.base + 1 in self.early or not self._step_at(self.base + 1).versions
        ):
            self.base += 1
            self.early.discard(self.base)
        return True

    def start_again(self, prefix: int) -> None:
        """Continue a lost search at a prefix, unless the snapshot contains later steps."""
        if self.is_lost and prefix >= max(self.early, default=self.base):
            for number in range(self.base + 1, prefix + 1):
                self._show(self._step_at(number))
            self.base = prefix
            self.early.clear()
            self.is_lost = False

    def drop(self, number: int) -> None:
        """Include the oldest step of the window, which the window drops."""
        if number > self.base:
            self.is_lost = self.is_lost or number not in self.early
            self.early.discard(number)
            self._show(self._step_at(number))
            self.base = number

    def missing(self) -> list[int]:
        """Return the steps that the snapshot leaves out before one that it contains."""
        last = max(self.early, default=self.base)
        return [number for number in range(self.base + 1, last) if number not in self.early]

    def _show(self, step: SourceStep) -> None:
        for chain, position in step.versions:
            chain.near = max(chain.near, position)

    def _push(self, todo: list[tuple[Chain, int]], moved: list[tuple[Chain, int]]) -> bool:
        pulled_to = self.base
        while todo:
            chain, at_least = todo.pop()
            old = chain.near
            position = chain.find(chain.value, max(at_least, old))
            if position is None:
                return False
            if position == old:
                continue
            moved.append((chain, old))
            chain.near = position
            for version in range(old + 1, position + 1):
                number = chain.step(version)
                if number > self._limit():
                    return False
                self._pull(number, todo)
                while pulled_to < number - self._near:
                    pulled_to += 1
                    self._pull(pulled_to, todo)
        return True

    def _pull(self, number: int, todo: list[tuple[Chain, int]]) -> None:
        if number > self.base and number not in self.early:
            self.early.add(number)
            todo += [
                (chain, position)
                for chain, position in self._step_at(number).versions
                if chain.near < position and not chain.is_conceded
            ]
