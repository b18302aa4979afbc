"""What the replay of row images carries across a point of a log, so that parts can be replayed.

A part that is replayed from nothing leaves each row that it wrote as the whole log leaves it; what
its images should have fitted is not known. So the parts are first replayed from nothing. What they
leave, put together in order, *guesses* what is carried into each (:meth:`ReplayBorder.go_on`), and
each is replayed again from there. What it then leaves is compared with what was guessed for the
next part (:meth:`ReplayBorder.fingerprint`). By induction from the first part, a part that was
replayed from what the part before it left finds what one replay of the whole log finds in it. So
nothing rests on the guess but how soon this ends. It is exact where images record all columns and
neither a cascade nor an XA transaction reaches over the border; cascades are right a round later,
when the parts know of the foreign keys that earlier ones met.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, Protocol, Self, TypeVar

from paraply.properties.logs.cascades import Cascades
from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.properties.logs.replay_state import Resets


class CarriedRows(Protocol):
    """Rows and tables, with ordinals that count from the border back."""

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Become what is left after a part of ``transactions`` that left ``later`` from nothing."""

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Correct the guess by the doubts that arose when the part was followed from elsewhere."""

    def describe(self, digest: blake2b) -> None:
        """Feed everything that a replay from here depends on into ``digest``."""


Rows = TypeVar("Rows", bound=CarriedRows)


@dataclass(slots=True)
class ReplayBorder(Generic[Rows]):
    """Everything that a replay remembers at one point of a log."""

    rows: Rows
    resets: Resets = field(default_factory=Resets)
    """What was reset between the beginning of the part and here."""
    cascades: Cascades = field(default_factory=Cascades)
    prepared: PreparedXa = field(default_factory=PreparedXa)

    def go_on(self, later: ReplayBorder[Rows], transactions: int) -> None:
        """Guess what is carried on after a part that left ``later`` when replayed from nothing."""
        self.rows.go_on(later.rows, later.resets, transactions)
        self.cascades.go_on(later.cascades)
        self.prepared.go_on(later.prepared, transactions)

    def fingerprint(self) -> bytes:
        """Return 16 bytes that are equal where a replay goes on in the same way."""
        digest = blake2b(digest_size=16)
        self.rows.describe(digest)
        digest.update(f"{self.cascades.described()}{self.prepared.described()}".encode())
        return digest.digest()
