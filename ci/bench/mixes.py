"""Logs of three more kinds, in both dialects: ``python -m ci.bench.mixes KIND OUT``.

- ``narrow``: transactions that change one row of two integers.
- ``production``: foreign keys, DECIMAL and VARCHAR keys, DDL each 10,000 transactions, and a table
  without a key in a tenth of the transactions.
- ``compressed``: the same, with compressed transactions (MySQL) or events (MariaDB).

Eight neighbours form a commit group. Each of them changes rows of its own class modulo eight, so
that none conflict. An audit must find no fault.
"""

from __future__ import annotations

import argparse
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard

from ci.bench import templates
from ci.bench.dialects import (
    FORMAT,
    QUERY,
    ROTATE,
    XID,
    Dialect,
    TableShape,
    query_body,
)
from ci.bench.generate_log import DIALECTS, MAGIC, START_US, rotate_body
from ci.bench.templates import Bytes, Event, Gap, Ints, Part, Template

KINDS = ("narrow", "production", "compressed")
GROUP = 8
"""Transactions of a commit group."""
BLOCK = 10_000
"""Transactions between two DDL statements; a multiple of the group."""
CUSTOMERS = TARIFFS = COUNTERS = 8_000
LOAD_ROWS = 100
_LATIN = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"

COUNTER = TableShape(
    number=200, name="counter", columns=("id", "n"), types=bytes([3, 3]), metadata=b"",
    signedness=b"\x00", collations=(), key=(0,),
    ddl=f"CREATE TABLE counter (id INT NOT NULL PRIMARY KEY, n INT NOT NULL) {_LATIN}",
)  # fmt: skip
CUSTOMER = TableShape(
    number=201, name="customer", columns=("id", "balance", "seen"),
    types=bytes([8, 246, 3]), metadata=bytes([10, 2]), signedness=b"\x80", collations=(),
    key=(0,),
    ddl="CREATE TABLE customer (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, "
    f"balance DECIMAL(10,2) NOT NULL, seen INT NOT NULL) {_LATIN}",
)  # fmt: skip
ORDERS = TableShape(
    number=202, name="orders", columns=("code", "customer", "total"),
    types=bytes([15, 8, 246]), metadata=bytes([48, 0, 10, 2]), signedness=b"\x80",
    collations=(45,), key=(0,),
    ddl="CREATE TABLE orders (code VARCHAR(12) NOT NULL PRIMARY KEY, "
    "customer BIGINT UNSIGNED NOT NULL, total DECIMAL(10,2) NOT NULL, KEY (customer), "
    f"FOREIGN KEY (customer) REFERENCES customer (id)) {_LATIN}",
)  # fmt: skip
ITEM = TableShape(
    number=203, name="item", columns=("code", "line", "amount"),
    types=bytes([15, 1, 246]), metadata=bytes([48, 0, 10, 2]), signedness=b"\x00",
    collations=(45,), key=(0, 1),
    ddl="CREATE TABLE item (code VARCHAR(12) NOT NULL, line TINYINT NOT NULL, "
    "amount DECIMAL(10,2) NOT NULL, PRIMARY KEY (code, line), "
    f"FOREIGN KEY (code) REFERENCES orders (code)) {_LATIN}",
)  # fmt: skip
TARIFF = TableShape(
    number=204, name="tariff", columns=("rate", "label", "uses"),
    types=bytes([246, 15, 3]), metadata=bytes([10, 4, 48, 0]), signedness=b"\x00",
    collations=(45,), key=(0,),
    ddl="CREATE TABLE tariff (rate DECIMAL(10,4) NOT NULL PRIMARY KEY, "
    f"label VARCHAR(12) NOT NULL UNIQUE, uses INT NOT NULL) {_LATIN}",
)  # fmt: skip
JOURNAL = TableShape(
    number=205, name="journal", columns=("at", "what"), types=bytes([8, 15]),
    metadata=bytes([160, 0]), signedness=b"\x00", collations=(45,), key=(),
    ddl=f"CREATE TABLE journal (at BIGINT NOT NULL, what VARCHAR(40) NOT NULL) {_LATIN}",
)  # fmt: skip
TABLES = {"narrow": (COUNTER,), "production": (CUSTOMER, ORDERS, ITEM, TARIFF, JOURNAL)}

COLUMNS: dict[str, tuple[tuple[int, Callable[[Ints], Bytes]], ...]] = {}
"""Width and encoding per column, by table."""


def _integer(width: int) -> tuple[int, Callable[[Ints], Bytes]]:
    return width, lambda values: templates.little_endian(values, width)


def _decimal(whole: int, fraction: int, scale: int) -> tuple[int, Callable[[Ints], Bytes]]:
    def encode(values: Ints) -> Bytes:
        # The sign bit is inverted.
        first = templates.big_endian(values // scale + (0x80 << (8 * whole - 8)), whole)
        return np.concatenate([first, templates.big_endian(values % scale, fraction)], axis=1)

    return whole + fraction, encode


def _text(head: str, digits: int) -> tuple[int, Callable[[Ints], Bytes]]:
    lead = bytes([len(head) + digits]) + head.encode()

    def encode(values: Ints) -> Bytes:
        start = np.tile(np.frombuffer(lead, np.uint8), (len(values), 1))
        return np.concatenate([start, templates.digits(values, digits)], axis=1)

    return len(lead) + digits, encode


_MONEY = _decimal(4, 1, 100)
COLUMNS |= {
    "counter": (_integer(4), _integer(4)),
    "customer": (_integer(8), _MONEY, _integer(4)),
    "orders": (_text("O", 11), _integer(8), _MONEY),
    "item": (_text("O", 11), _integer(1), _MONEY),
    "tariff": (_decimal(3, 2, 10_000), _text("T", 11), _integer(4)),
    "journal": (_integer(8), _text("somebody has read page ", 17)),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One statement: an operation and the columns of its row images, per transaction."""

    table: TableShape
    operation: str
    images: tuple[tuple[Ints, ...], ...]


@dataclass(slots=True)
class State:
    """The rows between two blocks."""

    counter: Ints = field(default_factory=lambda: np.zeros(COUNTERS, np.int64))
    balance: Ints = field(default_factory=lambda: np.full(CUSTOMERS, 500_000_00, np.int64))
    seen: Ints = field(default_factory=lambda: np.zeros(CUSTOMERS, np.int64))
    uses: Ints = field(default_factory=lambda: np.zeros(TARIFFS, np.int64))
    open_orders: Ints = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    """Code, customer and total of orders that may be cancelled."""
    next_order: int = 1
    next_entry: int = 1


def _versions(rows: Ints, state: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Return values before and after each addition to a row, in order."""
    order = np.argsort(rows, kind="stable")
    sorted_rows, sorted_steps = rows[order], step[order]
    total = np.cumsum(sorted_steps)
    first = np.ones(len(rows), np.bool_)
    first[1:] = sorted_rows[1:] != sorted_rows[:-1]
    base = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
    after = np.empty(len(rows), np.int64)
    after[order] = state[sorted_rows] + total - (total - sorted_steps)[base]
    np.add.at(state, rows, step)
    return after - step, after


def _rows_of(rng: np.random.Generator, places: Ints, count: int) -> Ints:
    """Draw rows of each transaction's own class, a few of them often."""
    wide = rng.integers(0, count // GROUP, len(places))
    hot = rng.integers(0, 4, len(places))
    return np.where(rng.random(len(places)) < 0.1, hot, wide) * GROUP + places % GROUP


def _narrow(
    rng: np.random.Generator, state: State, count: int
) -> Iterator[tuple[Ints, list[Change]]]:
    places = np.arange(count)
    rows = _rows_of(rng, places, COUNTERS)
    before, after = _versions(rows, state.counter, np.ones(count, np.int64))
    yield places, [Change(COUNTER, "update", ((rows, before), (rows, after)))]


_SHARES = {"pay": 0.35, "order": 0.33, "tariff": 0.15, "cancel": 0.07, "journal": 0.1}


def _production(
    rng: np.random.Generator, state: State, count: int
) -> Iterator[tuple[Ints, list[Change]]]:
    kinds = rng.choice(len(_SHARES), count, p=list(_SHARES.values()))
    at = {name: np.flatnonzero(kinds == number) for number, name in enumerate(_SHARES)}
    # Orders of earlier blocks are cancelled, each once.
    cancelled, at["cancel"], rest = _drawn(rng, state.open_orders, at["cancel"])

    places = at["pay"]
    rows = _rows_of(rng, places, CUSTOMERS)
    balances = _versions(rows, state.balance, rng.integers(-500, 500, len(rows)))
    seen = _versions(rows, state.seen, np.ones(len(rows), np.int64))
    paid = tuple((rows, balances[side], seen[side]) for side in range(2))
    yield places, [Change(CUSTOMER, "update", paid)]

    places = at["order"]
    codes = state.next_order + np.arange(len(places))
    state.next_order += len(places)
    customers = _rows_of(rng, places, CUSTOMERS)
    totals = rng.integers(1, 99_999_00, len(places))
    state.open_orders = np.concatenate([rest, np.stack([codes, customers, totals], axis=1)])
    one, two = np.ones_like(codes), np.full_like(codes, 2)
    yield (
        places,
        [
            Change(ORDERS, "insert", ((codes, customers, totals),)),
            Change(ITEM, "insert", ((codes, one, totals // 2), (codes, two, totals - totals // 2))),
        ],
    )

    codes, customers, totals = cancelled.T
    one, two = np.ones_like(codes), np.full_like(codes, 2)
    yield (
        at["cancel"],
        [
            Change(ITEM, "delete", ((codes, one, totals // 2), (codes, two, totals - totals // 2))),
            Change(ORDERS, "delete", ((codes, customers, totals),)),
        ],
    )

    places = at["tariff"]
    rows = _rows_of(rng, places, TARIFFS)
    uses = _versions(rows, state.uses, np.ones(len(rows), np.int64))
    yield (
        places,
        [Change(TARIFF, "update", tuple((rows * 1_237, rows, uses[side]) for side in range(2)))],
    )

    places = at["journal"]
    new = np.stack([state.next_entry + np.arange(len(places))] * 2, axis=1)
    state.next_entry += len(places)
    yield places, [Change(JOURNAL, "insert", (tuple(new.T),))]


def _drawn(rng: np.random.Generator, rows: Ints, places: Ints) -> tuple[Ints, Ints, Ints]:
    """Return rows for as many places as there are, those places, and the rows that stay."""
    count = min(len(rows), len(places))
    order = rng.permutation(len(rows))
    return rows[order[:count]], places[:count], rows[np.sort(order[count:])]


_BLOCKS = {"narrow": _narrow, "production": _production}


@dataclass(slots=True)
class MixWriter:
    """Writes one log; ``number`` is the next transaction's."""

    out: BinaryIO
    dialect: Dialect
    kind: str
    seed: int
    block: int = BLOCK
    position: int = len(MAGIC)
    number: int = 1
    now_us: int = START_US
    _shapes: dict[tuple[object, ...], Template] = field(default_factory=dict)

    def write(self, size_bytes: int) -> int:
        """Write at least ``size_bytes`` in whole blocks; return the number of transactions."""
        rng, state = np.random.default_rng(self.seed), State()
        self.out.write(MAGIC)
        self._event(Event(type=15, parts=(self.dialect.format_body(self.now_us // 1_000_000),)))
        for event in self.dialect.preamble("bench.000001"):
            self._event(event)
        self._define("CREATE DATABASE bench")
        for table in TABLES[self.kind]:
            self._define(table.ddl)
        self._load(state)
        blocks = 0
        while self.position < size_bytes:
            self._write_block(list(_BLOCKS[self.kind](rng, state, self.block)))
            blocks += 1
            if self.kind == "production":
                self._define(f"ALTER TABLE tariff ADD KEY uses_{blocks} (uses)")
        self._event(Event(type=ROTATE, parts=(rotate_body("bench.000002"),)))
        return self.number - 1

    def _event(self, event: Event) -> None:
        data = templates.one_event(
            event, time_s=self.now_us // 1_000_000, server_id=self.dialect.server_id,
            start=self.position,
        )  # fmt: skip
        self.out.write(data)
        self.position += len(data)

    def _define(self, sql: str) -> None:
        body = query_body(sql, self.dialect.query_status())
        events = [*self.dialect.begin(grouped=False, ddl=True), Event(type=QUERY, parts=(body,))]
        self._write_alone(events, {})

    def _load(self, state: State) -> None:
        filled: dict[str, Callable[[Ints], tuple[Ints, ...]]] = {
            "counter": lambda rows: (rows, rows * 0),
            "customer": lambda rows: (rows, state.balance[rows], rows * 0),
            "tariff": lambda rows: (rows * 1_237, rows, rows * 0),
        }
        for table in TABLES[self.kind]:
            for first in range(0, CUSTOMERS if table.name in filled else 0, LOAD_ROWS):
                rows = np.arange(first, first + LOAD_ROWS).reshape(-1, 1)
                images = tuple(filled[table.name](row) for row in rows)
                changes = [Change(table, "insert", images)]
                events = [*self.dialect.begin(grouped=False), *self._body(changes)]
                self._write_alone(events, _fields(changes))

    def _body(self, changes: list[Change]) -> Iterator[Event]:
        for at, change in enumerate(changes):
            table, columns = change.table, COLUMNS[change.table.name]
            # MariaDB sets the bits of a null bitmap that belong to no column.
            unused = 0xFF << len(columns) & 0xFF if self.dialect.name == "mariadb" else 0
            images: list[Part] = []
            for image in range(len(change.images)):
                images.append(bytes([unused]))
                images += (Gap(f"{at}.{image}.{c}", columns[c][0]) for c in range(len(columns)))
            yield from self.dialect.statement([f"-- {change.operation} {table.name}".encode()])
            yield table.table_map()
            yield self.dialect.rows(table, getattr(self.dialect, change.operation), images)
        yield Event(type=XID, parts=(Gap("number", 8),))

    def _write_alone(self, events: list[Event], fields: dict[str, Bytes]) -> None:
        template = Template(events, server_id=self.dialect.server_id)
        number = np.array([self.number])
        fields |= self._stamps(number, number - 1, number * 0, template.length)
        now = np.array([self.now_us // 1_000_000])
        self.out.write(template.render(fields, now, np.array([self.position])).tobytes())
        self.position += template.length
        self.number += 1

    def _stamps(
        self, numbers: Ints, last_committed: Ints, commit_ids: Ints, length: int
    ) -> dict[str, Bytes]:
        return {
            "number": templates.little_endian(numbers, 8),
            "sequence_number": templates.little_endian(numbers, 8),
            "last_committed": templates.little_endian(last_committed, 8),
            "commit_id": templates.little_endian(commit_ids, 8),
            "committed_us": templates.little_endian(self.now_us + numbers, 7),
            "length": templates.little_endian(np.full(len(numbers), length), 8),
        }

    def _write_block(self, parts: list[tuple[Ints, list[Change]]]) -> None:
        lengths = np.zeros(self.block, np.int64)
        chosen = []
        for places, changes in parts:
            key = tuple((c.table.name, c.operation, len(c.images)) for c in changes)
            if key not in self._shapes:
                events = [*self.dialect.begin(grouped=True), *self._body(changes)]
                self._shapes[key] = Template(events, server_id=self.dialect.server_id)
            template = self._shapes[key]
            lengths[places] = template.length
            chosen.append((places, changes, template))
        written = np.flatnonzero(lengths)
        ends = self.position + np.cumsum(lengths)
        numbers = self.number + np.cumsum(lengths > 0) - 1
        groups = np.arange(self.block) // GROUP
        # The last number before each group.
        floors = (numbers - (lengths > 0))[groups * GROUP]
        rendered: dict[int, Bytes] = {}
        for places, changes, template in chosen:
            if not len(places):
                continue
            floor = floors[places]
            fields = _fields(changes)
            fields |= self._stamps(numbers[places], floor, floor + 1, template.length)
            seconds = np.full(len(places), self.now_us // 1_000_000)
            lines = template.render(fields, seconds, (ends - lengths)[places])
            rendered.update(zip(places.tolist(), lines, strict=True))
        self.out.writelines(rendered[place].data for place in written.tolist())
        self.position = int(ends[-1])
        self.number += len(written)
        self.now_us += 1_000_000


def _fields(changes: list[Change]) -> dict[str, Bytes]:
    return {
        f"{at}.{number}.{column}": COLUMNS[change.table.name][column][1](values)
        for at, change in enumerate(changes)
        for number, image in enumerate(change.images)
        for column, values in enumerate(image)
    }


# --- Compression -----------------------------------------------------------------------------

PAYLOAD = 40
MARIADB_COMPRESSED = {23: 166, 24: 167, 25: 168}
_UPDATE_ROWS = 24


def compressed(data: bytes, dialect: str, *, first: int = 0) -> Iterator[bytes]:
    """Yield a log with its transactions (MySQL) or rows events (MariaDB) compressed.

    Events before the offset ``first`` stay as they are.
    """
    yield MAGIC
    position = at = len(MAGIC)
    packer = zstandard.ZstdCompressor(level=3)
    inner = bytearray()
    while at < len(data):
        length = int.from_bytes(data[at + 9 : at + 13], "little")
        event, at = data[at : at + length], at + length
        code, body = event[4], event[19:-4]
        if code == FORMAT or at <= first:
            made = event
        elif dialect == "mysql" and (inner or (code == QUERY and body.endswith(b"\0BEGIN"))):
            inner += event[:9] + struct.pack("<II", length - 4, 0) + event[17:-4]
            if code != XID:
                continue
            packed = packer.compress(bytes(inner))
            made = _event(
                event, PAYLOAD, payload_fields(len(inner), len(packed)) + packed, position
            )
            inner.clear()
        elif dialect == "mariadb" and code in MARIADB_COMPRESSED:
            made = _event(event, MARIADB_COMPRESSED[code], with_packed_rows(body, code), position)
        else:
            made = _event(event, code, body, position)
        yield made
        position += len(made)


def _event(like: bytes, code: int, body: bytes, position: int) -> bytes:
    length = 19 + len(body) + 4
    made = like[:4] + bytes([code]) + like[5:9] + struct.pack("<II", length, position + length)
    made += like[17:19] + body
    return made + struct.pack("<I", zlib.crc32(made))


def payload_fields(size: int, packed: int, compression: int = 0) -> bytes:
    """Return a payload's header: its size, compression (0: ZSTD) and uncompressed size."""

    def number(value: int) -> bytes:
        return bytes([value]) if value < 251 else b"\xfd" + value.to_bytes(3, "little")

    fields = ((1, number(packed)), (2, number(compression)), (3, number(size)))
    return b"".join(bytes([kind, len(value)]) + value for kind, value in fields) + b"\0"


def with_packed_rows(body: bytes, code: int) -> bytes:
    """Return a rows event's body with its rows compressed."""
    head = 9 + (body[8] + 7) // 8 * (2 if code == _UPDATE_ROWS else 1)
    rows = body[head:]
    return body[:head] + b"\x84" + len(rows).to_bytes(4, "big") + zlib.compress(rows)


def generate(
    path: Path, *, kind: str, dialect: str, size_bytes: int, seed: int = 0, block: int = BLOCK
) -> int:
    """Write a log; return its number of transactions. ``size_bytes`` is before compression."""
    is_packed = kind == "compressed"
    plain = io.BytesIO()
    with path.open("wb") as out:
        writer = MixWriter(
            out=plain if is_packed else out, dialect=DIALECTS[dialect](),
            kind="production" if is_packed else kind, seed=seed, block=block,
        )  # fmt: skip
        count = writer.write(size_bytes)
        if is_packed:
            out.writelines(compressed(plain.getvalue(), dialect))
    return count


def main() -> None:
    """Write a log from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="mariadb")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    count = generate(
        options.out, kind=options.kind, dialect=options.dialect,
        size_bytes=int(options.megabytes * 1e6), seed=options.seed,
    )  # fmt: skip
    print(f"{options.out}: {options.out.stat().st_size:,} bytes, {count:,} transactions")


if __name__ == "__main__":
    main()
