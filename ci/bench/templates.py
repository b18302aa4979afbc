"""Transactions of one shape, rendered as a byte matrix.

Values have fixed widths. Checksums come last.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

HEADER_BYTES = 19
CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class Gap:
    """``width`` bytes per transaction from field ``name``."""

    name: str
    width: int


Part = bytes | Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event without header and checksum."""

    type: int
    parts: tuple[Part, ...]
    flags: int = 0

    @property
    def length(self) -> int:
        """Return the length with header and checksum."""
        body = sum(part.width if isinstance(part, Gap) else len(part) for part in self.parts)
        return HEADER_BYTES + body + CHECKSUM_BYTES


def little_endian(values: Ints, width: int) -> Bytes:
    """Return values in ``width`` little-endian bytes."""
    wide = np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)
    return wide[:, :width]


def big_endian(values: Ints, width: int) -> Bytes:
    """Return values in ``width`` big-endian bytes."""
    wide = np.ascontiguousarray(values, ">i8").view(np.uint8).reshape(-1, 8)
    return wide[:, 8 - width :]


def digits(values: Ints, width: int) -> Bytes:
    """Return each value's decimal digits, zero-padded."""
    powers = 10 ** np.arange(width - 1, -1, -1)
    return (values.reshape(-1, 1) // powers % 10 + ord("0")).astype(np.uint8)


class Template:
    """The event layout of one transaction shape."""

    def __init__(self, events: Sequence[Event], *, server_id: int) -> None:
        self.gaps: list[tuple[str, int, int]] = []
        self.event_ranges: list[tuple[int, int]] = []
        constant = bytearray()
        for event in events:
            start = len(constant)
            self.event_ranges.append((start, start + event.length))
            self.gaps.append(("time", start, 4))
            constant += struct.pack(
                "<IBIIIH", 0, event.type, server_id, event.length, 0, event.flags
            )
            for part in event.parts:
                if isinstance(part, Gap):
                    self.gaps.append((part.name, len(constant), part.width))
                    constant += bytes(part.width)
                else:
                    constant += part
            constant += bytes(CHECKSUM_BYTES)
        self.constant: Bytes = np.frombuffer(bytes(constant), np.uint8)
        self.length = len(constant)

    def render(self, fields: Mapping[str, Bytes], time_s: Ints, starts: Ints) -> Bytes:
        """Return bytes per transaction, at offsets ``starts``."""
        count = len(starts)
        block = np.tile(self.constant, (count, 1))
        times = little_endian(time_s, 4)
        for name, offset, width in self.gaps:
            block[:, offset : offset + width] = times if name == "time" else fields[name]
        for begin, end in self.event_ranges:
            block[:, begin + 13 : begin + 17] = little_endian(starts + end, 4)
        self._add_checksums(block)
        return block

    def _add_checksums(self, block: Bytes) -> None:
        crc32 = zlib.crc32
        for begin, end in self.event_ranges:
            body = np.ascontiguousarray(block[:, begin : end - CHECKSUM_BYTES])
            sums = [crc32(row) for row in body]
            block[:, end - CHECKSUM_BYTES : end] = (
                np.array(sums, "<u4").view(np.uint8).reshape(-1, 4)
            )


def one_event(event: Event, *, time_s: int, server_id: int, start: int) -> bytes:
    """Return a complete event without gaps."""
    template = Template([event], server_id=server_id)
    rendered = template.render({}, np.array([time_s]), np.array([start]))
    return bytes(rendered[0])
