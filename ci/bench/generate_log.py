"""Write a large, valid, deterministic binary log: ``python -m ci.bench.generate_log OUT``.

It runs the mix of :mod:`ci.bench.workload` after filling tables. An audit must find no fault.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ci.bench import templates, workload
from ci.bench.dialects import (
    ACCOUNT,
    LEDGER,
    QUERY,
    ROTATE,
    SBTEST,
    TABLES,
    XID,
    Dialect,
    MariaDb,
    MySql,
    TableShape,
    query_body,
)
from ci.bench.templates import Bytes, Event, Gap, Ints, Part, Template
from ci.bench.workload import Block, Kind, State

START_US = 1_700_000_000_000_000
BLOCK_TRANSACTIONS = 10_000
LOAD_ROWS = 100
C_BYTES, PAD_BYTES = 119, 59
MAGIC = b"\xfebin"
POSITION_MAX = 1 << 32
DIALECTS: dict[str, type[MariaDb] | type[MySql]] = {"mariadb": MariaDb, "mysql": MySql}

WIDTHS = {
    "id": 4, "k": 4, "c": 1 + C_BYTES, "pad": 1 + PAD_BYTES, "account": 8, "email": 26,
    "balance": 7, "updated": 7, "ledger": 8, "amount": 7,
}  # fmt: skip


def _texts(rng: np.random.Generator, length: int) -> Bytes:
    text = rng.integers(ord("0"), ord("9") + 1, (workload.TEXTS, length)).astype(np.uint8)
    text[:, 11::12] = ord("-")
    return np.concatenate([np.full((len(text), 1), length, np.uint8), text], axis=1)


@dataclass(slots=True)
class _Encoder:
    c: Bytes
    pad: Bytes

    def encode(self, column: str, values: Ints) -> Bytes:
        if column in ("id", "k"):
            return templates.little_endian(values, 4)
        if column in ("account", "ledger"):
            return templates.little_endian(values, 8)
        if column in ("c", "pad"):
            texts: Bytes = getattr(self, column)
            return texts[values]
        if column in ("balance", "amount"):
            # DECIMAL(14,2): twelve digits in 2 + 4 bytes, two in one; the sign bit is inverted.
            whole = templates.big_endian(values // 100 + (0x8000 << 32), 6)
            return np.concatenate([whole, templates.little_endian(values % 100, 1)], axis=1)
        if column == "updated":
            seconds = templates.big_endian(values // 1_000_000, 4)
            return np.concatenate([seconds, templates.big_endian(values % 1_000_000, 3)], axis=1)
        assert column == "email", column
        count = len(values)
        head = np.tile(np.frombuffer(b"\x19user", np.uint8), (count, 1))
        tail = np.tile(np.frombuffer(b"@example.com", np.uint8), (count, 1))
        return np.concatenate([head, templates.digits(values, 9), tail], axis=1)


_ImageOf = Callable[[Dialect, str, int], list[Part]]


def _image(dialect: Dialect, *columns: tuple[str, str, int]) -> list[Part]:
    nulls = b"\xf0" if dialect.name == "mariadb" else b"\x00"
    return [nulls, *(Gap(f"{name}.{slot}", WIDTHS[kind]) for kind, name, slot in columns)]


def _sbtest_image(dialect: Dialect, side: str, slot: int) -> list[Part]:
    return _image(
        dialect, ("id", "id", slot), ("k", f"k_{side}", slot), ("c", f"c_{side}", slot),
        ("pad", f"pad_{side}", slot),
    )  # fmt: skip


def _account_image(dialect: Dialect, side: str, slot: int) -> list[Part]:
    return _image(
        dialect, ("account", "account", slot), ("email", f"email_{side}", slot),
        ("balance", f"balance_{side}", slot), ("updated", f"updated_{side}", slot),
    )  # fmt: skip


def _ledger_image(dialect: Dialect, slot: int) -> list[Part]:
    return _image(
        dialect, ("account", "account", slot), ("ledger", "ledger", slot),
        ("amount", "amount", slot), ("updated", "updated_after", slot),
    )  # fmt: skip


def _change(
    dialect: Dialect, table: TableShape, operation: int, sql: list[Part], images: list[Part]
) -> list[Event]:
    return [
        *dialect.statement(sql),
        table.table_map(),
        dialect.rows(table, operation, images),
    ]


def _body(dialect: Dialect, kind: Kind, table: int) -> list[Event]:
    shape = SBTEST[table]
    name = shape.name.encode()
    if kind is Kind.OLTP:

        def update(slot: int, what: bytes) -> list[Event]:
            sql: list[Part] = [b"UPDATE " + name + b" SET " + what + b" WHERE id=",
                               Gap(f"id_digits.{slot}", 5)]  # fmt: skip
            images = _sbtest_image(dialect, "before", slot) + _sbtest_image(dialect, "after", slot)
            return _change(dialect, shape, dialect.update, sql, images)

        return [
            *update(0, b"k=k+1"),
            *update(1, b"c='" + b"#" * 40 + b"'"),
            *_change(
                dialect, shape, dialect.delete,
                [b"DELETE FROM " + name + b" WHERE id=", Gap("id_digits.2", 5)],
                _sbtest_image(dialect, "before", 2),
            ),
            *_change(
                dialect, shape, dialect.insert,
                [b"INSERT INTO " + name + b" (id, k, c, pad) VALUES (", Gap("id_digits.3", 5),
                 b", 5000, '" + b"#" * 40 + b"', '" + b"#" * 20 + b"')"],
                _sbtest_image(dialect, "after", 3),
            ),
        ]  # fmt: skip
    if kind is Kind.RANGE:
        images: list[Part] = []
        for slot in range(workload.RANGE_ROWS):
            images += _sbtest_image(dialect, "before", slot)
            images += _sbtest_image(dialect, "after", slot)
        sql: list[Part] = [b"UPDATE " + name + b" SET k=k+1 WHERE id BETWEEN ",
                           Gap("id_digits.0", 5), b" AND ", Gap("id_digits.9", 5)]  # fmt: skip
        return _change(dialect, shape, dialect.update, sql, images)
    slots = range(workload.ACCOUNT_OPERATIONS[kind])
    images = []
    for slot in slots:
        images += _account_image(dialect, "before", slot) + _account_image(dialect, "after", slot)
    events = _change(
        dialect, ACCOUNT, dialect.update,
        [b"UPDATE account SET balance=balance+?, updated=NOW(6) WHERE id IN (?, ?)"], images,
    )  # fmt: skip
    if kind is Kind.TRANSFER:
        images = []
        for slot in slots:
            images += _ledger_image(dialect, slot)
        events += _change(
            dialect, LEDGER, dialect.insert,
            [b"INSERT INTO ledger VALUES (?, ?, ?, NOW(6)), (?, ?, ?, NOW(6))"], images,
        )  # fmt: skip
    return events


@dataclass(slots=True)
class LogWriter:
    """Writes the log; ``number`` is the next transaction's."""

    out: BinaryIO
    dialect: Dialect
    seed: int
    position: int = 4
    number: int = 1
    now_us: int = START_US
    shapes: dict[tuple[int, int, bool], Template] = field(default_factory=dict)

    def write(self, size_bytes: int) -> int:
        """Write at least ``size_bytes``; return the number of transactions."""
        for _ in self.write_files(iter([(self.out, size_bytes)]), is_cut=True):
            pass
        return self.number - 1

    def write_files(
        self, files: Iterator[tuple[BinaryIO, int]], *, is_cut: bool = False
    ) -> Iterator[None]:
        """Write a log into files of at least so many bytes, and yield after each.

        Without ``is_cut`` a file ends with a whole block, and the next one continues.
        """
        rng = np.random.default_rng(self.seed)
        encoder = _Encoder(_texts(rng, C_BYTES), _texts(rng, PAD_BYTES))
        state = State.initial(rng, self.now_us)
        for file, (self.out, size_bytes) in enumerate(files, start=1):
            self.position = len(MAGIC)
            self.out.write(MAGIC)
            self._event(Event(type=15, parts=(self.dialect.format_body(self.now_us // 1_000_000),)))
            for event in self.dialect.preamble(f"bench.{file:06}"):
                self._event(event)
            if file == 1:
                self._create_tables()
                self._load(encoder, state)
            while self.position < size_bytes:
                block = workload.make_block(
                    rng, state, BLOCK_TRANSACTIONS, self.number, self.now_us
                )
                self.now_us = int(block.committed_us[-1])
                self._write_block(encoder, block, size_bytes if is_cut else POSITION_MAX)
            self._event(Event(type=ROTATE, parts=(rotate_body(f"bench.{file + 1:06}"),)))
            yield

    def _event(self, event: Event) -> None:
        data = templates.one_event(
            event, time_s=self.now_us // 1_000_000, server_id=self.dialect.server_id,
            start=self.position,
        )  # fmt: skip
        self.out.write(data)
        self.position += len(data)

    def _transaction_fields(
        self, numbers: Ints, last_committed: Ints, committed_us: Ints, length: int
    ) -> dict[str, Bytes]:
        count = len(numbers)
        stamp = templates.little_endian(committed_us, 7)
        return {
            "number": templates.little_endian(numbers, 8),
            "sequence_number": templates.little_endian(numbers, 8),
            "last_committed": templates.little_endian(last_committed, 8),
            "committed_us": stamp,
            "length": templates.little_endian(np.full(count, length), 8),
        }

    def _write_one(self, events: list[Event], fields: dict[str, Bytes]) -> None:
        template = Template(events, server_id=self.dialect.server_id)
        number = np.array([self.number])
        now = np.array([self.now_us])
        fields |= self._transaction_fields(number, number - 1, now, template.length)
        rendered = template.render(fields, now // 1_000_000, np.array([self.position]))
        self.out.write(rendered.tobytes())
        self.position += template.length
        self.number += 1

    def _create_tables(self) -> None:
        statements = ["CREATE DATABASE bench", *(table.ddl for table in TABLES)]
        for sql in statements:
            body = query_body(sql, self.dialect.query_status())
            event = Event(type=QUERY, parts=(body,))
            self._write_one([*self.dialect.begin(grouped=False, ddl=True), event], {})

    def _load(self, encoder: _Encoder, state: State) -> None:
        rows = {"id": np.arange(workload.SBTEST_ROWS) + 1}
        for table, shape in enumerate(SBTEST):
            mine = slice(table * workload.SBTEST_ROWS, (table + 1) * workload.SBTEST_ROWS)
            rows |= {
                "k_after": state.k[mine], "c_after": state.c[mine], "pad_after": state.pad[mine],
            }  # fmt: skip
            self._load_table(encoder, shape, rows, _sbtest_image, state, mine.start)
        accounts = {
            "account": np.arange(workload.ACCOUNTS) + 1, "email_after": state.email,
            "balance_after": state.balance, "updated_after": state.updated,
        }  # fmt: skip
        first = workload.SBTEST_TABLES * workload.SBTEST_ROWS
        self._load_table(encoder, ACCOUNT, accounts, _account_image, state, first)

    def _load_table(
        self,
        encoder: _Encoder,
        shape: TableShape,
        columns: dict[str, Ints],
        image: _ImageOf,
        state: State,
        first_row: int,
    ) -> None:
        images: list[Part] = []
        for slot in range(LOAD_ROWS):
            images += image(self.dialect, "after", slot)
        sql: list[Part] = [f"INSERT INTO {shape.name} VALUES (...)".encode()]
        events = [
            *self.dialect.begin(grouped=False),
            *_change(self.dialect, shape, self.dialect.insert, sql, images),
            Event(type=XID, parts=(Gap("number", 8),)),
        ]
        count = len(next(iter(columns.values())))
        for start in range(0, count, LOAD_ROWS):
            fields = {
                f"{name}.{slot}": encoder.encode(_column(name), values[start + slot :][:1])
                for name, values in columns.items()
                for slot in range(LOAD_ROWS)
            }
            rows = slice(first_row + start, first_row + start + LOAD_ROWS)
            state.row_writer[rows] = self.number
            self._write_one(events, fields)

    def _shape(self, kind: int, table: int, grouped: bool) -> Template:
        key = (kind, table, grouped)
        if key not in self.shapes:
            events = [
                *self.dialect.begin(grouped=grouped),
                *_body(self.dialect, Kind(kind), table),
                Event(type=XID, parts=(Gap("number", 8),)),
            ]
            self.shapes[key] = Template(events, server_id=self.dialect.server_id)
        return self.shapes[key]

    def _write_block(self, encoder: _Encoder, block: Block, size_bytes: int) -> None:
        count = len(block.kinds)
        tables = np.where(np.isin(block.kinds, (Kind.OLTP, Kind.RANGE)), block.tables, 0)
        grouped = block.grouped & (self.dialect.name == "mariadb")
        codes = (block.kinds * workload.SBTEST_TABLES + tables) * 2 + grouped
        lengths = np.zeros(count, np.int64)
        members: list[tuple[Template, Ints]] = []
        for code in np.unique(codes):
            kind, table = divmod(int(code) // 2, workload.SBTEST_TABLES)
            template = self._shape(kind, table, bool(code & 1))
            chosen = np.flatnonzero(codes == code)
            lengths[chosen] = template.length
            members.append((template, chosen))
        ends = self.position + np.cumsum(lengths)
        starts = ends - lengths
        rendered: list[Bytes | None] = [None] * count
        for template, chosen in members:
            fields = self._fields_of(encoder, block, chosen, template.length)
            lines = template.render(fields, block.committed_us[chosen] // 1_000_000, starts[chosen])
            for index, line in zip(chosen.tolist(), lines, strict=True):
                rendered[index] = line
        # The last block is cut where the size is reached: a shorter log is a prefix of a longer.
        kept = min(count, int(np.searchsorted(starts, size_bytes)))
        self.out.writelines(line.data for line in rendered[:kept] if line is not None)
        self.position = int(ends[kept - 1])
        self.number += kept

    def _fields_of(
        self, encoder: _Encoder, block: Block, chosen: Ints, length: int
    ) -> dict[str, Bytes]:
        kind = Kind(int(block.kinds[chosen[0]]))
        rank = np.cumsum(block.kinds == kind) - 1
        fields = self._transaction_fields(
            self.number + chosen, block.last_committed[chosen], block.committed_us[chosen], length
        )
        fields["commit_id"] = templates.little_endian(block.commit_ids[chosen], 8)
        for name, matrix in block.fields[kind].items():
            mine = matrix[rank[chosen]]
            for slot in range(mine.shape[1]):
                fields[f"{name}.{slot}"] = encoder.encode(_column(name), mine[:, slot])
                if name == "id":
                    fields[f"id_digits.{slot}"] = templates.digits(mine[:, slot], 5)
        return fields


def _column(field_name: str) -> str:
    return field_name.removesuffix("_before").removesuffix("_after")


def rotate_body(next_file: str) -> bytes:
    """Return a rotate event's body for ``next_file``."""
    return (4).to_bytes(8, "little") + next_file.encode()


def generate(path: Path, *, dialect: str, size_bytes: int, seed: int = 0) -> int:
    """Write a log; return its number of transactions."""
    with path.open("wb") as out:
        return LogWriter(out=out, dialect=DIALECTS[dialect](), seed=seed).write(size_bytes)


def main() -> None:
    """Write a log from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="mariadb")
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    size = int(options.megabytes * 1_000_000)
    count = generate(options.out, dialect=options.dialect, size_bytes=size, seed=options.seed)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes, {count:,} transactions")


if __name__ == "__main__":
    main()
