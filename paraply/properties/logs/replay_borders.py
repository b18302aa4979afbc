"""The replay state across a point of a log, so that parts replay separately.

A part replayed from nothing leaves its written rows right, without checking their images. So parts
first replay from nothing. Their results in order *guess* each part's start
(:meth:`ReplayBorder.go_on`), from which it replays again. :meth:`ReplayBorder.fingerprint` compares
its end with the next guess. By induction, a part replayed from the true end of the part before
finds what one replay of the log finds. The guess only decides the number of rounds. It is exact for
full images without cascades or XA across the border; cascades are right a round later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, Protocol, Self, TypeVar

from paraply.properties.logs.cascades import Cascades
from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.properties.logs.replay_state import Resets


class CarriedRows(Protocol):
    """Rows and tables, with ordinals back from the border."""

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Become the state after a part that left ``later`` from nothing."""

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Add the doubts of a replay from another start."""

    def describe(self, digest: blake2b) -> None:
        """Feed all replay-relevant state into ``digest``."""


Rows = TypeVar("Rows", bound=CarriedRows)


@dataclass(slots=True)
class ReplayBorder(Generic[Rows]):
    """A replay's whole memory at one point of a log."""

    rows: Rows
    resets: Resets = field(default_factory=Resets)
    """Resets between the part's beginning and here."""
    cascades: Cascades = field(default_factory=Cascades)
    prepared: PreparedXa = field(default_factory=PreparedXa)

    def go_on(self, later: ReplayBorder[Rows], transactions: int) -> None:
        """Guess the state after a part that left ``later`` from nothing."""
        self.rows.go_on(later.rows, later.resets, transactions)
        self.cascades.go_on(later.cascades)
        self.prepared.go_on(later.prepared, transactions)

    def fingerprint(self) -> bytes:
        """Return 16 bytes, equal for equal continuations."""
        digest = blake2b(digest_size=16)
        self.rows.describe(digest)
        digest.update(f"{self.cascades.described()}{self.prepared.described()}".encode())
        return digest.digest()
