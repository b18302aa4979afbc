"""Compressed transactions as the plain ones that the scanner reads.

MySQL packs all events of a transaction behind its GTID (TRANSACTION_PAYLOAD), MariaDB the rows of
single events. A run of them unpacks to plain events without checksums, which are checked here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
import zstandard
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled.expand_kernel import (
    P_CODE,
    P_PLAIN,
    P_SIZE,
    P_TRANSACTION,
    PART_BYTES_MIN,
    PART_COLUMNS,
    PAYLOAD,
    find_run,
    put_together,
)
from paraply.adapters.binlog.compiled.hashing import crc32_tables
from paraply.adapters.binlog.compressed import inflate
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import CHECKSUM_BYTES
from paraply.adapters.binlog.payload import WINDOW_BYTES_MAX
from paraply.adapters.binlog.rows_events import rows_head_bytes

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

RUN_BYTES = 1 << 20
"""Plain bytes after which a run ends."""
_PLAIN_BYTES_MAX = 1 << 20
"""Within which the first compressed event of a run must come."""
TRANSACTION_BYTES_MAX = 32 << 20
"""Transactions that are larger when unpacked are read event by event in the readable decoder."""
_ROWS = {
    EventType.WRITE_ROWS_COMPRESSED_V1: EventType.WRITE_ROWS_V1,
    EventType.UPDATE_ROWS_COMPRESSED_V1: EventType.UPDATE_ROWS_V1,
    EventType.DELETE_ROWS_COMPRESSED_V1: EventType.DELETE_ROWS_V1,
    EventType.WRITE_ROWS_COMPRESSED: EventType.WRITE_ROWS,
    EventType.UPDATE_ROWS_COMPRESSED: EventType.UPDATE_ROWS,
    EventType.DELETE_ROWS_COMPRESSED: EventType.DELETE_ROWS,
}


@dataclass(slots=True)
class Run:
    """Unpacked transactions.

    ``ends[i]`` is where the i-th begins in ``data`` (the last: where all end), ``places[i]`` where
    it begins in the file.
    """

    data: Bytes
    ends: Ints
    places: Ints
    parts: Ints
    """The compressed parts (``expand_kernel``), in order."""
    position: int = 0
    """Of the next transaction in ``data``."""

    def __len__(self) -> int:
        return len(self.places) - 1

    def seek(self, offset: int) -> bool:
        """Go to a transaction by its place in the file, if the run has it."""
        at = int(np.searchsorted(self.places, offset))
        if at >= len(self) or self.places[at] != offset:
            return False
        self.position = int(self.ends[at])
        return True

    @property
    def place(self) -> int:
        """Return the place of the next transaction in the file."""
        return int(self.places[np.searchsorted(self.ends, self.position)])

    def hidden(self, first: int, end: int) -> Ints:
        """Return how many more events of each type the file has in these transactions.

        The scanner counts the unpacked ones: below zero are those that the file does not have.
        """
        bounds = np.searchsorted(self.parts[:, P_TRANSACTION], [first, end])
        parts = self.parts[slice(*bounds)]
        plain = parts[:, P_PLAIN]
        packed = np.bincount(parts[:, P_CODE], minlength=256)
        return packed - np.bincount(plain[plain > 0], minlength=256)


def expand(data: Bytes, offset: int, *, checked: bool) -> Run | None:
    """Return the run at ``data[0]``, at ``offset`` of the file; None if none begins there.

    Its first transaction is compressed. An empty run asks for more bytes.
    """
    lines = len(data) // PART_BYTES_MIN + 2
    ends, places = np.zeros(lines, np.int64), np.zeros(lines, np.int64)
    parts = np.empty((lines, PART_COLUMNS), np.int64)
    trailer = CHECKSUM_BYTES if checked else 0
    count, found = find_run(
        data, trailer, crc32_tables(), RUN_BYTES, _PLAIN_BYTES_MAX, TRANSACTION_BYTES_MAX,
        ends, places, parts,
    )  # fmt: skip
    if not found:
        return None
    plain = np.empty(0, np.uint8)
    if count:
        unpacked = _unpacked(memoryview(data), parts[:found])
        if len(unpacked) < found:
            count = int(parts[len(unpacked), P_TRANSACTION])
        plain = np.empty(ends[count], np.uint8)
        count = put_together(
            data, places[: count + 1], trailer, parts[:found],
            np.frombuffer(b"".join(unpacked), np.uint8), plain,
        )  # fmt: skip
        if not count:
            return None
    return Run(
        data=plain[: ends[count]],
        ends=ends[: count + 1].copy(),
        places=offset + places[: count + 1],
        parts=parts[:found].copy(),
    )


def _unpacked(data: memoryview, parts: Ints) -> list[bytes]:
    """Return the parts, unpacked, up to the first that is damaged."""
    unzstd = _decompressor().decompress
    found: list[bytes] = []
    try:
        for code, start, end, size in parts[:, P_CODE : P_SIZE + 1].tolist():
            if code == PAYLOAD:
                part = unzstd(data[start:end], max_output_size=size, allow_extra_data=False)
            else:
                part = zlib.decompressobj().decompress(data[start:end], size + 1)
            if len(part) != size:
                break
            found.append(part)
    except (zstandard.ZstdError, zlib.error):
        pass
    return found


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES_MAX)


def as_plain_rows(code: int, body: bytes) -> tuple[int, bytes]:
    """Return an event's type and body with MariaDB's compressed rows unpacked."""
    if code not in _ROWS:
        return code, body
    head = rows_head_bytes(code, body)
    rows = inflate(body[head:]) if head < len(body) else b""
    return _ROWS[EventType(code)], body[:head] + rows
