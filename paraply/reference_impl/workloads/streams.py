"""Named workloads: seeded transactions of a source's log.

A row is its table and number. Values are transaction numbers, to expose lost or reordered changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from paraply.reference_impl.workloads.zipfian import THETA_DEFAULT, Zipfian
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind

TRANSACTIONS_MAX = 1_000_000
"""About a kilobyte of memory each."""

RECORDS = 10_000
"""Rows per table, for hot keys and OLTP."""
TABLES = ("sales.sbtest1", "sales.sbtest2", "hr.sbtest3", "hr.sbtest4")
RANGE_ROWS = 10
DDL_EVERY = 20
HUGE_SHARE = 0.5
"""Huge transaction's rows per stream transaction."""

EMPTY_TABLES = frozenset({"archive.events", "load.items"})
"""Tables without initial rows."""

Change = tuple[str, int]
"""Table and row; missing rows are inserted."""
Statement = str | Sequence[Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A named workload."""

    name: str
    meaning: str
    draw: Callable[[Random, int, float], Iterator[Statement]]
    """From random, length and skew."""


def hot_keys(random: Random, count: int, theta: float) -> Iterator[Statement]:
    """Update one to four Zipfian rows."""
    zipfian = Zipfian(RECORDS, theta)
    for _ in range(count):
        rows = {zipfian.draw(random) for _ in range(random.randint(1, 4))}
        yield [("ycsb.usertable", row) for row in sorted(rows)]


def oltp(random: Random, count: int, theta: float) -> Iterator[Statement]:
    """Yield sysbench's oltp_read_write, with ranges.

    A transaction updates two columns of a table, one indexed, and reinserts a row. One in ten
    updates ten adjacent rows instead.
    """
    zipfian = Zipfian(RECORDS, theta)
    for _ in range(count):
        table = random.choice(TABLES)
        if random.random() < 0.1:
            first = random.randrange(RECORDS - RANGE_ROWS)
            yield [(table, row) for row in range(first, first + RANGE_ROWS)]
        else:
            again = zipfian.draw(random)
            updates = [zipfian.draw(random), zipfian.draw(random)]
            yield [(table, row) for row in (*updates, again, again)]


def ddl_heavy(random: Random, count: int, theta: float) -> Iterator[Statement]:
    """Yield OLTP with one DDL in twenty."""
    for number, statement in enumerate(oltp(random, count, theta), start=1):
        if number % DDL_EVERY == 0:
            yield f"ALTER TABLE {random.choice(TABLES)} ADD COLUMN c{number} INT"
        else:
            yield statement


def one_huge(random: Random, count: int, theta: float) -> Iterator[Statement]:
    """Yield small transactions and, after a third, a huge one."""
    place = count // 3
    for number, statement in enumerate(hot_keys(random, count, theta)):
        if number == place:
            yield [("archive.events", row) for row in range(max(1, int(count * HUGE_SHARE)))]
        else:
            yield statement


def fresh_rows(random: Random, count: int, theta: float) -> Iterator[Statement]:
    """Insert untouched rows, like LOAD DATA pieces."""
    del theta
    row = 0
    for _ in range(count):
        size = random.randint(1, 4)
        yield [("load.items", number) for number in range(row, row + size)]
        row += size


STREAMS = {
    stream.name: stream
    for stream in (
        Stream(name="hot-keys", draw=hot_keys,
               meaning="YCSB-like: 1 to 4 updates, keys zipfian over 10,000 rows"),
        Stream(name="oltp", draw=oltp,
               meaning="sysbench-like: updates, delete and insert, ranges, over four tables"),
        Stream(name="ddl-heavy", draw=ddl_heavy, meaning="oltp with a DDL in every twenty"),
        Stream(name="one-huge", draw=one_huge,
               meaning="hot-keys, and one transaction with half as many rows as there are others"),
        Stream(name="fresh-rows", draw=fresh_rows, meaning="inserts only, no conflict at all"),
    )
}  # fmt: skip


def transactions_of(
    stream: Stream, *, count: int, seed: int = 0, theta: float = THETA_DEFAULT
) -> list[Transaction]:
    """Return a workload's transactions, with rows and write sets.

    Equal arguments give equal streams. Smaller counts give prefixes, except for the huge
    transaction.
    """
    values: dict[Change, int | None] = {}
    statements = stream.draw(Random(f"{stream.name} {seed}"), count, theta)
    return [
        _transaction(TransactionId(number), statement, values)
        for number, statement in enumerate(statements, start=1)
    ]


def _transaction(
    number: TransactionId, statement: Statement, values: dict[Change, int | None]
) -> Transaction:
    if isinstance(statement, str):
        return Transaction(id=number, kind=TransactionKind.DDL, statement=statement)
    rows = []
    for place, change in enumerate(statement):
        table, row = change
        before = values.get(change, None if table in EMPTY_TABLES else 0)
        # Two successive changes delete and reinsert the row.
        is_deleted = before is not None and change in statement[place + 1 : place + 2]
        after = None if is_deleted else int(number)
        rows.append(_row(table, f"{table}:{row}", before, after))
        values[change] = after
    items = frozenset(f"{table}:{row}" for table, row in statement)
    return Transaction(id=number, rows=tuple(rows), write_set=items)


def _row(table: str, item: str, before: int | None, after: int | None) -> RowWrite:
    return RowWrite(
        table=table,
        operation=(
            Operation.INSERT if before is None
            else Operation.DELETE if after is None else Operation.UPDATE
        ),
        before=None if before is None else (item, before),
        after=None if after is None else (item, after),
    )  # fmt: skip
