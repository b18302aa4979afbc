"""Binary logs, text dumps and recorded histories as one sequence of slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.schema.tables import DatedTable
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.conformance.own_logs.definitions import create_table
from paraply.adapters.conformance.own_logs.slices import Slice, Slicer
from paraply.adapters.conformance.own_logs.steps import Unusable, UnusableError, take
from paraply.adapters.conformance.tables import row_changes
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import bounded_lines, read_histories
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition
from paraply.vocabulary.schema import (
    Column,
    KeyPart,
    SchemaSource,
    TableSchema,
    UniqueKey,
)
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionKind
from paraply.vocabulary.write_set import Item

_KINDS = {
    TransactionKind.ROWS: LoggedKind.ROWS,
    TransactionKind.NO_WRITE_SET: LoggedKind.ROWS,
    TransactionKind.DDL: LoggedKind.DDL,
    TransactionKind.CTAS: LoggedKind.DDL,
    TransactionKind.VIEW_CHANGE: LoggedKind.VIEW_CHANGE,
}
_HEAD_BYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLogs:
    """Files to read, and a schema dump; the logs among the files are text if ``is_text``."""

    files: tuple[str, ...]
    is_text: bool = False
    schema: str | None = None


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was read, and why some of it is in no slice."""

    transactions: int = 0
    unusable: Counter[Unusable] = field(default_factory=Counter)
    report: LogReport = field(default_factory=LogReport)


def is_history(name: str) -> bool:
    """Return whether the file contains JSON Lines."""
    try:
        with Path(name).open("rb") as stream:
            return stream.read(_HEAD_BYTES).lstrip().startswith(b"{")
    except OSError:
        return False


def read_slices(logs: OwnLogs, size: int, tally: Tally) -> Iterator[Slice]:
    """Yield slices of at most ``size`` transactions; raises ``ParaplyError`` of the schema file.

    Faults of the logs are in the report of ``tally``. Tables that contradict the schema dump are
    taken from the log.
    """
    for of_history, files in groupby(logs.files, is_history):
        if of_history:
            for history in (one for name in files for one in _histories(name)):
                keys = KeyBuilder(_registry_of(history))
                yield from _sliced(map(_logged, history.transactions), keys, size, tally)
        else:
            yield from _slices_of_logs(tuple(files), logs, size, tally)


def _slices_of_logs(
    files: Sequence[str], logs: OwnLogs, size: int, tally: Tally
) -> Iterator[Slice]:
    registry = SchemaRegistry()
    if logs.schema is not None:
        load_schema_file(registry, logs.schema, map(DatedTable, _distrusted(files, logs)))
    transactions = _transactions(files, registry, logs, tally.report)
    yield from _sliced(transactions, KeyBuilder(registry), size, tally)


def _distrusted(files: Sequence[str], logs: OwnLogs) -> frozenset[str]:
    """Return the dump's tables that the logs contradict; each round may show more."""
    assert logs.schema is not None
    found: frozenset[str] = frozenset()
    while True:
        registry = SchemaRegistry()
        load_schema_file(registry, logs.schema, map(DatedTable, found))
        keys = KeyBuilder(registry)
        for txn in _transactions(files, registry, logs, LogReport()):
            keys.complete_transaction(txn)
        more = registry.doubts.distrusted - found
        if not more:
            return found
        found |= more


def _transactions(
    files: Sequence[str], registry: SchemaRegistry, logs: OwnLogs, report: LogReport
) -> Iterable[LoggedTransaction]:
    if logs.is_text:
        return read_text_transactions(files, report=report)
    return read_transactions(
        files,
        report=report,
        on_table_map=lambda table: registry.observe_table_map(table.table_schema()),
    )


def _sliced(
    transactions: Iterable[LoggedTransaction], keys: KeyBuilder, size: int, tally: Tally
) -> Iterator[Slice]:
    slicer = Slicer(keys, size)
    for txn in transactions:
        tally.transactions += 1
        try:
            step = take(txn, keys)
            yield from slicer.take(step, tally.transactions)
        except UnusableError as refused:
            tally.unusable[refused.reason] += 1
            if refused.reason is Unusable.DDL:
                yield from slicer.cut()
    yield from slicer.cut()
    tally.unusable[Unusable.ALONE] += slicer.dropped


# Recorded histories


def _histories(name: str) -> list[History]:
    with Path(name).open(encoding="utf-8", errors="replace") as stream:
        return list(read_histories(bounded_lines(stream), name=name))


def _registry_of(history: History) -> SchemaRegistry:
    registry = SchemaRegistry()
    for table in history.header.schema or _tables_of(history):
        registry.observe_statement(create_table(table), source=SchemaSource.DUMP)
    return registry


def _tables_of(history: History) -> Iterator[TableSchema]:
    """Yield tables whose first column names the items that transactions write."""
    rows: dict[str, list[RowWrite]] = {}
    items: dict[str, set[Item]] = {}
    for one in history.transactions:
        for row in one.rows:
            rows.setdefault(row.table, []).append(row)
            items.setdefault(row.table, set()).update(one.write_set)
    for name, changes in rows.items():
        images = [image for row in changes for image in (row.before, row.after) if image]
        widths = {len(image) for image in images}
        if "." not in name or len(widths) != 1 or not all(i[0] in items[name] for i in images):
            continue
        columns = tuple(_column(at, [image[at] for image in images]) for at in range(widths.pop()))
        key = UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),))
        yield TableSchema(name=name, columns=columns, unique_keys=(key,), keys_known=True)


def _column(place: int, values: list[object]) -> Column:
    name, nullable = f"c{place + 1}", place > 0
    if all(value is None or isinstance(value, int) for value in values):
        return Column(name=name, type_name="bigint", nullable=nullable)
    return Column(
        name=name,
        type_name="varchar",
        nullable=nullable,
        charset="utf8mb4",
        collation="utf8mb4_bin",
    )


def _logged(one: Transaction) -> LoggedTransaction:
    position = LogPosition(file=one.position, offset=0)
    stamp = one.timestamp
    return LoggedTransaction(
        ordinal=one.id,
        kind=_KINDS[one.kind] if one.rows or one.statement else _kind_without_rows(one),
        start=position,
        end_offset=0,
        last_committed=None if stamp is None else stamp.last_committed,
        sequence_number=None if stamp is None else stamp.sequence_number,
        clock=one.clock,
        rows=row_changes(one.rows, position),
        statements=(one.statement,) if one.statement else (),
    )


def _kind_without_rows(one: Transaction) -> LoggedKind:
    # A write set without rows, and a barrier without a statement, say too little.
    if one.kind is TransactionKind.VIEW_CHANGE:
        return LoggedKind.VIEW_CHANGE
    return LoggedKind.STATEMENT
