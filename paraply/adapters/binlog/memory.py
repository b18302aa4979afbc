"""How much memory reading a log may take, and what follows from it for events and rows."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.adapters.binlog.cursor import MalformedError

DEFAULT_BYTES = 1 << 30


class EventTooLargeError(MalformedError):
    """An event unpacks to more bytes than the memory allows."""


@dataclass(slots=True)
class Budget:
    """Bytes that reading may take; one per process, set by ``--memory``."""

    bytes: int = DEFAULT_BYTES

    @property
    def event_bytes(self) -> int:
        """Return how many bytes a compressed event may unpack to: it is held several times."""
        return self.bytes // 4

    @property
    def row_bytes(self) -> int:
        """Return how many bytes of encoded rows of one transaction are kept decoded.

        A decoded row takes about 20 times its bytes, and more if it is small.
        """
        return self.bytes // 32

    def require(self, size: int) -> None:
        """Raise ``EventTooLargeError`` for an event that unpacks to ``size`` bytes or more."""
        if size > self.event_bytes:
            raise EventTooLargeError(
                f"it unpacks to {size:,} bytes or more; {self.event_bytes:,} are allowed"
            )


BUDGET = Budget()
ROW_OVERHEAD_BYTES = 16
"""What a row counts for beside its bytes: an object, times :attr:`Budget.row_bytes`'s 20."""
