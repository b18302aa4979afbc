"""Production logs with tables that kernels do not judge, beside those that they do.

``ODDITIES`` are what makes a table odd: ill-formed key texts, minimal row images, rows that are
found by all columns, cascades, unchecked foreign keys. Transactions of several tables come from
joining neighbours.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ci.bench import mixes
from tests.builders.log_forger import ForgedLog, RawEvent

ROWS_CODES = (23, 24, 25, 30, 31, 32)
UPDATES, DELETES = (24, 31), (25, 32)
XID, TABLE_MAP, ROTATE, QUERY = 16, 19, 4, 2
TABLES = {table.name: table for table in mixes.TABLES["production"]}

KEYLESS = replace(
    mixes.TARIFF,
    key=(),
    ddl=mixes.TARIFF.ddl.replace(" PRIMARY KEY", "").replace(" UNIQUE", ""),
)
NULLABLE = replace(
    mixes.TARIFF,
    key=(),
    ddl=mixes.TARIFF.ddl.replace(" PRIMARY KEY", "").replace("NOT NULL UNIQUE", "NULL UNIQUE"),
)
# The server adds columns to a versioned table, which the definition does not name.
VERSIONED = replace(
    mixes.TARIFF,
    key=(),
    ddl=mixes.TARIFF.ddl.replace(", uses INT NOT NULL)", ") WITH SYSTEM VERSIONING"),
)


def production_log(
    path: Path, *, dialect: str, seed: int, tariff: mixes.TableShape = mixes.TARIFF,
    size_bytes: int = 60_000,
) -> ForgedLog:  # fmt: skip
    """Return a log of few and therefore hot rows, whose ``tariff`` table has another definition."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CUSTOMERS", "TARIFFS"):
            patch.setattr(mixes, name, 32)
        patch.setattr(mixes, "LOAD_ROWS", 8)
        patch.setattr(mixes, "TARIFF", tariff)
        shapes = tuple(tariff if t.name == "tariff" else t for t in mixes.TABLES["production"])
        patch.setitem(mixes.TABLES, "production", shapes)
        mixes.generate(
            path, kind="production", dialect=dialect, size_bytes=size_bytes, seed=seed, block=24
        )
    return ForgedLog.read(path)


def rows_of(log: ForgedLog, *names: str) -> list[RawEvent]:
    """Return the rows events of tables."""
    numbers = {TABLES[name].number for name in names}
    return [
        event
        for event in log.events
        if event.code in ROWS_CODES and int.from_bytes(event.body[:6], "little") in numbers
    ]


def respell(log: ForgedLog, old: bytes, new: bytes, *names: str, every: int = 1) -> None:
    """Give key texts whose number is a multiple of ``every`` another first letter."""
    for event in rows_of(log, *names):
        for number in range(0, 4_000, every):
            text = b"%s%011d" % (old, number)
            event.body[:] = event.body.replace(text, new + text[len(new) :])


def relabel(log: ForgedLog, rng: random.Random, share: float) -> None:
    """Let some changes of ``tariff`` write a UNIQUE text that another row may have."""
    for event in rows_of(log, "tariff"):
        at = event.body.rfind(b"T0")
        if at >= 0 and rng.random() < share:
            event.body[at : at + 12] = b"T%011d" % rng.randrange(32)


def with_minimal_images(
    log: ForgedLog, name: str, key: tuple[int, ...], share: random.Random | None
) -> None:
    """Record only the key before, and the changed columns after, in all events or in a half."""
    widths = [width for width, _ in mixes.COLUMNS[name]]
    for event in rows_of(log, name):
        if event.code not in (*UPDATES, *DELETES) or (share and share.random() < 0.5):
            continue
        head = 8 + (2 if event.code >= 30 else 0)
        every = (1 << len(widths)) - 1
        if event.body[head + 1] & every != every:
            continue
        sides = 1 if event.code in DELETES else 2
        images = _images(bytes(event.body[head + 1 + sides :]), widths)
        shown: list[tuple[int, ...]] = [key]
        if event.code in UPDATES:
            pairs = list(zip(images[::2], images[1::2], strict=True))
            changed = {c for old, new in pairs for c in range(len(widths)) if old[c] != new[c]}
            shown.append(tuple(sorted(changed)) or (len(widths) - 1,))
        body = bytes(event.body[: head + 1])
        body += bytes(sum(1 << column for column in side) for side in shown)
        for at, image in enumerate(images):
            body += b"\0" + b"".join(image[column] for column in shown[at % len(shown)])
        event.body[:] = body


def _images(data: bytes, widths: list[int]) -> list[list[bytes]]:
    images = []
    at = 0
    while at < len(data):
        at += 1  # The NULL bits: no column is NULL.
        image = []
        for width in widths:
            image.append(data[at : at + width])
            at += width
        images.append(image)
    return images


def redefine(log: ForgedLog, old: str, new: str) -> None:
    """Change the text of statements."""
    for event in log.events:
        if event.code == QUERY:
            event.body[:] = event.body.replace(old.encode(), new.encode())


def uncheck(log: ForgedLog, rng: random.Random) -> None:
    """Let some changes of child rows have unchecked foreign keys."""
    for event in rows_of(log, "orders", "item"):
        if rng.random() < 0.3:
            event.body[6] |= 2


def overlap(log: ForgedLog, dialect: str, by: int, first: int) -> None:
    """Let transactions from ``first`` on overlap ``by`` before them, but for DDL."""
    starts = [*log.starts(), len(log.events)]
    barrier = first - 2
    for ordinal in range(first, len(log) + 1):
        events = log.events[starts[ordinal - 1] : starts[ordinal]]
        if any(b"ALTER" in event.body for event in events if event.code == QUERY):
            barrier = ordinal
        elif dialect == "mysql":
            log.set_timestamp(ordinal, last_committed=max(barrier, ordinal - by))
        else:
            log.set_commit_id(ordinal, 1_000 * barrier + ordinal // by)
        if dialect == "mysql":
            log.set_timestamp(ordinal, sequence_number=ordinal)


def join_transactions(log: ForgedLog, rng: random.Random, share: float, first: int) -> None:
    """Join neighbours from the transaction ``first`` on, so that they change several tables."""
    starts = [*log.starts(), len(log.events)]
    dropped: set[int] = set()
    for number in range(first, len(starts) - 2):
        ends = [
            at for at in range(starts[number], starts[number + 1]) if log.events[at].code == XID
        ]
        following = range(starts[number + 1], starts[number + 2])
        if not ends or log.events[following[-1]].code != XID or rng.random() > share:
            continue
        dropped.add(ends[-1])
        dropped.add(following[0])
        if log.events[following[1]].code == QUERY:
            dropped.add(following[1])
    log.events = [event for at, event in enumerate(log.events) if at not in dropped]


Oddity = Callable[[ForgedLog, random.Random], None]
_CHILD, _PARENT = "REFERENCES orders (code))", "REFERENCES customer (id))"


def _redefines(old: str, action: str) -> Oddity:
    return lambda log, rng: redefine(log, old, f"{old[:-1]} {action})")


ODDITIES: dict[str, tuple[mixes.TableShape, Oddity]] = {
    "texts": (mixes.TARIFF, lambda log, rng: respell(log, b"T", b"\xc3a", "tariff")),
    "some-texts": (
        mixes.TARIFF,
        lambda log, rng: respell(log, b"T", b"\xc3a", "tariff", every=rng.choice((3, 7))),
    ),
    "texts-of-parents": (
        mixes.TARIFF,
        lambda log, rng: respell(log, b"O", b"\xc3a", "orders", "item", every=2),
    ),
    "spellings": (
        mixes.TARIFF,
        lambda log, rng: respell(log, b"T", b"\xc3\xa9", "tariff", every=rng.choice((1, 3))),
    ),
    "spellings-of-parents": (
        mixes.TARIFF,
        lambda log, rng: respell(log, b"O", b"\xc3\xa9", "orders", "item", every=2),
    ),
    "minimal": (
        mixes.TARIFF,
        lambda log, rng: with_minimal_images(log, "tariff", (0,), rng),
    ),
    "minimal-parents": (
        mixes.TARIFF,
        lambda log, rng: with_minimal_images(log, "customer", (0,), rng),
    ),
    "minimal-children": (
        mixes.TARIFF,
        lambda log, rng: with_minimal_images(log, "item", (0, 1), rng),
    ),
    "minimal-both": (
        mixes.TARIFF,
        lambda log, rng: with_minimal_images(log, "orders", (0,), rng),
    ),
    "keyless": (KEYLESS, lambda log, rng: None),
    "keyless-minimal": (
        KEYLESS,
        lambda log, rng: with_minimal_images(log, "tariff", (0,), rng),
    ),
    "nullable": (
        NULLABLE,
        lambda log, rng: with_minimal_images(log, "tariff", (1,), rng),
    ),
    "nullable-hidden": (
        NULLABLE,
        lambda log, rng: with_minimal_images(log, "tariff", (0,), rng),
    ),
    "versioned": (VERSIONED, lambda log, rng: None),
    "cascade": (mixes.TARIFF, _redefines(_CHILD, "ON DELETE CASCADE")),
    "cascade-of-updates": (mixes.TARIFF, _redefines(_CHILD, "ON UPDATE CASCADE")),
    "cascade-to-parent": (mixes.TARIFF, _redefines(_PARENT, "ON DELETE CASCADE")),
    "set-null": (mixes.TARIFF, _redefines(_PARENT, "ON DELETE SET NULL")),
    "unchecked": (mixes.TARIFF, uncheck),
}
"""By name: the definition of ``tariff``, and what is done to the log."""
JUDGED_BY_KERNELS = frozenset({
    "keyless", "spellings", "spellings-of-parents", "unchecked",
    "cascade", "cascade-of-updates", "cascade-to-parent", "set-null",
})  # fmt: skip
"""Kernels name rows by all columns, compare texts beyond ASCII, and follow cascades."""


def odd_log(
    path: Path, *, dialect: str, seed: int, oddities: tuple[str, ...], size_bytes: int = 60_000
) -> ForgedLog:
    """Return a log with these oddities, of which one may redefine ``tariff``."""
    rng = random.Random(seed)
    shapes = {id(ODDITIES[name][0]): ODDITIES[name][0] for name in oddities}
    shapes.pop(id(mixes.TARIFF), None)
    tariff = next(iter(shapes.values()), mixes.TARIFF)
    log = production_log(path, dialect=dialect, seed=seed % 5, tariff=tariff, size_bytes=size_bytes)
    for name in oddities:
        ODDITIES[name][1](log, rng)
    return log


def begin_late(log: ForgedLog, rng: random.Random, first: int) -> None:
    """Drop all before some transaction from ``first`` on, so that no definition is in the log."""
    starts = log.starts()
    begin = starts[rng.randrange(first, max(first + 1, len(starts) // 2))]
    del log.events[starts[0] : begin]


def spread_over_domains(log: ForgedLog, domains: int, rng: random.Random | None = None) -> None:
    """Give MariaDB transactions the domain of the first table that they change.

    With ``rng``, a tenth of them gets any domain, so that keys cross domains.
    """
    starts = [*log.starts(), len(log.events)]
    for first, last in itertools.pairwise(starts):
        events = log.events[first:last]
        rows = [event for event in events if event.code in ROWS_CODES]
        domain = int.from_bytes(rows[0].body[:6], "little") % domains if rows else 0
        if rng is not None and rng.random() < 0.1:
            domain = rng.randrange(domains)
        events[0].body[8:12] = domain.to_bytes(4, "little")


def with_minimal_metadata(log: ForgedLog) -> None:
    """Drop what binlog_row_metadata=FULL adds to table maps."""
    for event in log.events:
        if event.code == TABLE_MAP:
            at = 8
            for _ in range(2):  # The names of the schema and of the table.
                at += event.body[at] + 2
            columns = event.body[at]
            at += 1 + columns
            at += 1 + event.body[at]
            del event.body[at + (columns + 7) // 8 :]
