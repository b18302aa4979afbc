"""Production logs whose transactions are prepared by XA, and end later, or never.

Other transactions contain savepoints, rollbacks to them, or a statement beside their rows.
"""

from __future__ import annotations

import random
import struct
from itertools import pairwise

from tests.builders.log_forger import ForgedLog, RawEvent

QUERY, XID, TABLE_MAP, MARIADB_GTID, XA_PREPARE = 2, 16, 19, 162, 38
_PREPARED, _COMPLETED, _COMMIT_ID = 0x40, 0x80, 0x02
INSIDE = (b"SAVEPOINT `a`", b"ROLLBACK TO `a`", b"UPDATE bench.tariff SET uses = 1")


def _query(like: RawEvent, sql: bytes) -> RawEvent:
    body = struct.pack("<IIBHH", 1, 0, 0, 0, 0) + b"\0" + sql
    return RawEvent(like.time_s, QUERY, like.server_id, 0, bytearray(body))


def _gtid(like: RawEvent, name: bytes, flag: int) -> RawEvent:
    """Return a GTID event with MariaDB's XA flag and name."""
    body = bytearray(like.body)
    if like.code == MARIADB_GTID:
        end = 21 if body[12] & _COMMIT_ID else 13
        body[12] = body[12] & ~(_PREPARED | _COMPLETED) | flag
        body[end:] = struct.pack("<iBB", 1, len(name), 1) + name + b"b"
    return RawEvent(like.time_s, like.code, like.server_id, like.flags, body)


def _prepared(block: list[RawEvent], name: bytes, *, one_phase: bool) -> list[RawEvent]:
    first, *rest, last = block
    xid = _xid(name)
    begin = [] if first.code == MARIADB_GTID else [_query(first, b"XA START " + xid)]
    rows = [event for event in rest if event.code != QUERY]
    end = struct.pack("<BiII", one_phase, 1, len(name), 1) + name + b"b"
    prepare = RawEvent(last.time_s, XA_PREPARE, last.server_id, last.flags, bytearray(end))
    return [
        _gtid(first, name, _PREPARED), *begin, *rows, _query(first, b"XA END " + xid), prepare
    ]  # fmt: skip


def _xid(name: bytes) -> bytes:
    return b"X'%s',X'62',1" % name.hex().encode()


def with_xa(
    log: ForgedLog, dialect: str, rng: random.Random, *, share: float, first: int,
    inside: tuple[bytes, ...] = INSIDE,
) -> ForgedLog:  # fmt: skip
    """Return a log in which a ``share`` of the transactions from ``first`` on is odd."""
    starts = [*log.starts(), len(log.events)]
    head = log.events[: starts[0]]
    blocks = [log.events[a:b] for a, b in pairwise(starts)]
    found: list[list[RawEvent]] = []
    places = {0: 0}
    floors: list[int] = []
    """Per transaction: the original number that it follows, or below zero a new one."""
    pending: list[tuple[int, int, bytes]] = []
    for number, block in enumerate(blocks, start=1):
        chosen = number >= first and block[-1].code == XID and rng.random() < share
        if chosen and rng.random() < 0.6:
            one_phase = rng.random() < 0.2
            name = b"%d" % (number if rng.random() < 0.9 else 1)
            block = _prepared(block, name, one_phase=one_phase)
            if not one_phase or rng.random() < 0.1:
                pending.append((len(found) + rng.choice((1, 1, 2, 5, 40)), len(found) + 1, name))
        elif chosen:
            # Between statements: a query closes their table maps.
            places_inside = [i for i, e in enumerate(block) if e.code in (TABLE_MAP, XID)]
            at = rng.choice(places_inside)
            block = [*block[:at], _query(block[0], rng.choice(inside)), *block[at:]]
        floors.append(number - 1 if dialect == "mariadb" else _last_committed(block[0]))
        found.append(block)
        places[number] = len(found)
        for due in [each for each in pending if each[0] <= len(found)]:
            pending.remove(due)
            _, prepare, name = due
            verb = b"XA COMMIT " if rng.random() < 0.7 else b"XA ROLLBACK "
            gtid = _gtid(found[prepare - 1][0], name, _COMPLETED)
            found.append([gtid, _query(gtid, verb + _xid(name))])
            floors.append(-prepare if rng.random() < 0.9 else -max(1, prepare - 1))
    log.events = head
    for place, (block, floor) in enumerate(zip(found, floors, strict=True), start=1):
        follows = places[floor] if floor >= 0 else -floor
        # DDL overlaps nothing, no new transaction either.
        is_ddl = not any(event.code in (XID, XA_PREPARE) for event in block) and floor >= 0
        _renumber(block[0], place, place - 1 if is_ddl else follows)
        log.events = [*log.events, *block]
    return ForgedLog(log.data())


def _last_committed(gtid: RawEvent) -> int:
    return int.from_bytes(gtid.body[26:34], "little")


def _renumber(gtid: RawEvent, number: int, last_committed: int) -> None:
    if gtid.code == MARIADB_GTID:
        struct.pack_into("<q", gtid.body, 0, number)
    else:
        struct.pack_into("<q", gtid.body, 17, number)
        struct.pack_into("<qq", gtid.body, 26, last_committed, number)
