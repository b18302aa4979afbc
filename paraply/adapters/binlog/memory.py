"""Memory limits of log reading."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.adapters.binlog.cursor import MalformedError

DEFAULT_BYTES = 1 << 30


class EventTooLargeError(MalformedError):
    """An unpacked event exceeds the memory limit."""


@dataclass(slots=True)
class Budget:
    """Bytes for reading, per process (``--memory``)."""

    bytes: int = DEFAULT_BYTES

    @property
    def event_bytes(self) -> int:
        """Return the limit of an unpacked event, with copies."""
        return self.bytes // 4

    @property
    def row_bytes(self) -> int:
        """Return the limit of a transaction's encoded rows.

        Decoding takes 20 times the bytes, or more.
        """
        return self.bytes // 32

    def require(self, size: int) -> None:
        """Raise ``EventTooLargeError`` if ``size`` exceeds the limit."""
        if size > self.event_bytes:
            raise EventTooLargeError(
                f"it unpacks to {size:,} bytes or more; {self.event_bytes:,} are allowed"
            )


BUDGET = Budget()
ROW_OVERHEAD_BYTES = 16
"""Charge per row beside its bytes, before :attr:`Budget.row_bytes`'s factor 20."""
