"""The memory limit of log reading, and its shares for events and rows."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.adapters.binlog.cursor import MalformedError

DEFAULT_BYTES = 1 << 30


class EventTooLargeError(MalformedError):
    """An event whose unpacked size exceeds the memory limit."""


@dataclass(slots=True)
class Budget:
    """The bytes for reading; one per process, set by ``--memory``."""

    bytes: int = DEFAULT_BYTES

    @property
    def event_bytes(self) -> int:
        """Return the limit of an unpacked event, which exists several times."""
        return self.bytes // 4

    @property
    def row_bytes(self) -> int:
        """Return the limit of a transaction's encoded rows.

        A decoded row takes about 20 times its bytes, and more if small.
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
"""A row's extra charge: an object, over :attr:`Budget.row_bytes`'s 20."""
