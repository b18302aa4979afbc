"""Cuts events out of a server's packets, many at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled.hashing import unsigned
from paraply.adapters.binlog.live_events import EventBlock

Bytes = NDArray[np.uint8]

PACKET_HEADER_BYTES = 4
_STATUS_BYTES = 1
_EVENT_HEADER_BYTES = 19
_PLAIN_BYTES_MAX = 1 << 20
"""Larger packets are read alone: a block with them would be copied for each read."""
_ROTATE = 4
_CODE_AT, _LENGTH_AT = 4, 9


class Cut(NamedTuple):
    """Events of plain packets, and where and with which number the next packet begins.

    ``is_special``: that packet is no plain one.
    """

    events: EventBlock
    position: int
    sequence: int
    is_special: bool


@njit(cache=True, nogil=True)
def _cut(data: Bytes, sequence: int, events: Bytes) -> tuple[int, int, int, bool]:
    at, written, end = 0, 0, len(data)
    while at + PACKET_HEADER_BYTES <= end:
        size = unsigned(data, at, 3)
        begin = at + PACKET_HEADER_BYTES
        length = size - _STATUS_BYTES
        if begin + size > end and size <= _PLAIN_BYTES_MAX and data[at + 3] == sequence:
            break
        is_plain = (
            size <= _PLAIN_BYTES_MAX
            and data[at + 3] == sequence
            and length >= _EVENT_HEADER_BYTES
            and data[begin] == 0
            and data[begin + _STATUS_BYTES + _CODE_AT] != _ROTATE
            and unsigned(data, begin + _STATUS_BYTES + _LENGTH_AT, 4) == length
        )
        if not is_plain:
            return at, written, sequence, True
        for byte in range(length):
            events[written + byte] = data[begin + _STATUS_BYTES + byte]
        written += length
        at = begin + size
        sequence = (sequence + 1) & 0xFF
    return at, written, sequence, False


def cut_packets(data: bytes, sequence: int) -> Cut:
    """Return the events of the first plain packets.

    A plain packet has one event as long as its header says, no ROTATE, at most 1 MiB, and the next
    number.
    """
    events = np.empty(len(data), np.uint8)
    position, written, sequence, is_special = _cut(np.frombuffer(data, np.uint8), sequence, events)
    return Cut(EventBlock(events[:written].tobytes()), position, sequence, is_special)
