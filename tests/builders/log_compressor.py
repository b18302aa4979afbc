"""Compresses transactions of a log: payloads in MySQL's, rows events in MariaDB's."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import zstandard

from ci.bench.mixes import MARIADB_COMPRESSED, PAYLOAD, payload_fields, with_packed_rows
from tests.builders.log_forger import ForgedLog, RawEvent

_XID, _UNPACKED = 16, 255


def compress(
    log: ForgedLog, rng: random.Random, share: float = 0.8, frames: Sequence[int] = (1, 1, 2, 0)
) -> ForgedLog:
    """Compress a share of the transactions that end with an XID, in drawn ways.

    Servers write one frame a payload; others are of writers that nobody knows.
    """
    starts = log.starts()
    kept = log.events[: starts[0]]
    for first, last in zip(starts, [*starts[1:], len(log.events)], strict=True):
        gtid, *events = log.events[first:last]
        ends = [at for at, event in enumerate(events, start=1) if event.code == _XID]
        kept.append(gtid)
        if not ends or rng.random() > share:
            kept += events
        elif gtid.code == 162:
            kept += (_with_rows(event, rng) for event in events)
        else:
            kept.append(payload_of(gtid, events[: ends[0]], rng.choice(frames)))
            kept += events[ends[0] :]
    log.events = kept
    return log


def payload_of(gtid: RawEvent, events: list[RawEvent], frames: int) -> RawEvent:
    """Return a payload of so many ZSTD frames, 0 for plain bytes."""
    parts = [
        struct.pack(
            "<IBIIIH", one.time_s, one.code, one.server_id, 19 + len(one.body), 0, one.flags
        )
        + one.body
        for one in events
    ]
    inner = b"".join(parts)
    packed = inner
    if frames:
        cut = len(parts) // frames
        packer = zstandard.ZstdCompressor()
        pieces = [b"".join(parts[:cut]), b"".join(parts[cut:])]
        packed = b"".join(packer.compress(piece) for piece in pieces if piece)
    fields = payload_fields(len(inner), len(packed), 0 if frames else _UNPACKED)
    return RawEvent(gtid.time_s, PAYLOAD, gtid.server_id, gtid.flags, bytearray(fields + packed))


def _with_rows(event: RawEvent, rng: random.Random) -> RawEvent:
    if event.code not in MARIADB_COMPRESSED or rng.random() < 0.2:
        return event
    body = with_packed_rows(bytes(event.body), event.code)
    code = MARIADB_COMPRESSED[event.code]
    return RawEvent(event.time_s, code, event.server_id, event.flags, bytearray(body))
