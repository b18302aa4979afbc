"""How many tables the last transactions used: beyond the horizon readable judges forget some."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from paraply.properties.logs.critical_path import RING_MAX


@dataclass(slots=True)
class RecentUses:
    """Uses of tables by batch, for as many transactions as the ring of ranks holds."""

    _uses: int = 0
    _before: deque[tuple[int, int]] = field(default_factory=deque)
    """By the first ordinal of a batch, what was used before it."""

    def note(self, first_ordinal: int, uses: int) -> None:
        """Add a batch, or a transaction; ``uses`` may be too high."""
        self._before.append((first_ordinal, self._uses))
        while len(self._before) > 1 and self._before[1][0] <= first_ordinal - RING_MAX:
            self._before.popleft()
        self._uses += uses

    def since(self, first: int) -> int:
        """Return at most how much was used by the transaction ``first`` and later ones."""
        return self._uses - max((uses for at, uses in self._before if at <= first), default=0)
