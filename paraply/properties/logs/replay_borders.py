"""Replay state across a point of a log, for separate parts.

A part replayed from nothing leaves right rows but unchecked images. Its end *guesses* the next
start (:meth:`ReplayBorder.go_on`), for another replay; :meth:`ReplayBorder.fingerprint` compares
both. By induction, a part replayed from a true end matches one replay of the log. Guesses only
affect the number of rounds. They are right for full images without crossing cascades or XA;
cascades take one more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, Protocol, Self, TypeVar

from paraply.properties.logs.cascades import Cascades
from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.properties.logs.replay_state import Resets


class CarriedRows(Protocol):
    """Rows and tables; ordinals count back."""

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Advance past a part that left ``later`` from nothing."""

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Add doubts of another start."""

    def describe(self, digest: blake2b) -> None:
        """Feed all replay-relevant state into ``digest``."""


Rows = TypeVar("Rows", bound=CarriedRows)


@dataclass(slots=True)
class ReplayBorder(Generic[Rows]):
    """A replay's memory at one point."""

    rows: Rows
    resets: Resets = field(default_factory=Resets)
    """Resets since the part's beginning."""
    cascades: Cascades = field(default_factory=Cascades)
    prepared: PreparedXa = field(default_factory=PreparedXa)

    def go_on(
        self,
        later: ReplayBorder[Rows],
        transactions: int,
        followed: ReplayBorder[Rows] | None = None,
    ) -> None:
        """Guess the state after ``later``'s part; ``followed`` began at a wrong guess."""
        self.rows.go_on(later.rows, later.resets, transactions)
        self.cascades.go_on(later.cascades)
        self.prepared.go_on(later.prepared, transactions)
        if followed is not None:
            self.rows.take_doubts(followed.rows, transactions)

    def fingerprint(self) -> bytes:
        """Return 16 bytes, equal for equal continuations."""
        digest = blake2b(digest_size=16)
        self.rows.describe(digest)
        digest.update(f"{self.cascades.described()}{self.prepared.described()}".encode())
        return digest.digest()
