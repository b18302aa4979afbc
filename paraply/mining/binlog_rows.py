"""Reads binary logs into Arrow batches."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from glob import glob
from typing import Any

import pyarrow as pa

from paraply.adapters.binlog.blocks import Block, cut_file
from paraply.adapters.binlog.errors import UNREADABLE_FILE
from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.memory import BUDGET
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transaction_stream import TransactionStream
from paraply.adapters.remote_files import is_url, names_in, path_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import ABSENT, LoggedTransaction, RowChange, RowImage

BATCH_ROWS = 4096
KEYS = frozenset({"keys", "key_digests", "keys_complete"})
"""Columns that require table definitions."""
FROM_ROWS = KEYS | {"rows", "tables"}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A log range with prior table definitions."""

    block: Block
    registry: bytes | None = None


def files_at(path: str) -> list[str]:
    """Return log files of comma-separated files, folders or globs, sorted within each.

    Skips indexes and hidden files. Raises ``ParaplyError`` P101 without files.
    """
    found: list[str] = []
    for each in filter(None, path.split(",")):
        files = sorted(_names_at(each), key=_order_of)
        found += [name for name in files if _is_log(name.rpartition("/")[2])]
    if not found:
        raise ParaplyError(UNREADABLE_FILE, where=path, reason="there is no such file")
    return list(dict.fromkeys(found))


def _names_at(place: str) -> Iterable[str]:
    if not is_url(place):
        path = path_of(place)
        is_folder = os.path.isdir(path)
        names = [os.path.join(path, each) for each in os.listdir(path)] if is_folder else glob(path)
        return filter(os.path.isfile, names)
    folder = place.rpartition("/")[0]
    try:
        return [name for name in names_in(folder) if fnmatchcase(name, place)] or names_in(place)
    except OSError as fault:
        raise ParaplyError(UNREADABLE_FILE, where=place, reason=str(fault)) from None


def _order_of(name: str) -> tuple[str, int, str]:
    stem, _, number = name.rpartition(".")
    return (stem, int(number), "") if number.isdecimal() else (name, -1, "")


def _is_log(name: str) -> bool:
    return not name.startswith(".") and not name.endswith((".index", ".part"))


def parts_of(files: Sequence[str], part_bytes: int) -> list[Block]:
    """Return parts of ``part_bytes`` or more, cut at transactions."""
    return [block for file in files for block in cut_file(file, part_bytes)]


def taught_parts(blocks: Sequence[Block], schema: str | None) -> list[Part]:
    """Return parts with table definitions at their start.

    Without a schema dump, first scans the whole log.
    """
    registry = new_registry(schema)
    if schema is not None or len(blocks) < 2:
        return [Part(block=block, registry=pickle.dumps(registry)) for block in blocks]
    stream, keys = _stream(registry, row_bytes_max=0), KeyBuilder(registry)
    parts = []
    version, known = -1, b""
    for block in blocks:
        if registry.version != version:
            version, known = registry.version, pickle.dumps(registry)
        parts.append(Part(block=block, registry=known))
        if block is not blocks[-1]:
            for transaction in stream.read_file(block.open()):
                keys.complete_transaction(transaction)
    return parts


def new_registry(schema: str | None) -> SchemaRegistry:
    """Return a registry, filled from a schema dump."""
    registry = SchemaRegistry()
    if schema is not None:
        load_schema_file(registry, schema)
    return registry


def _stream(registry: SchemaRegistry, *, row_bytes_max: int, on_rows: Any = None) -> Any:
    return TransactionStream(
        report=LogReport(),
        on_table_map=lambda table: registry.observe_table_map(table.table_schema()),
        on_rows=on_rows,
        row_bytes_max=row_bytes_max,
    )


def read_part(
    part: Part,
    rows: str,
    schema: pa.Schema,
    wanted: Callable[[Row], bool],
    *,
    permissive: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield a part's ``wanted`` rows.

    Raises ``ParaplyError`` for unreadable parts, unless ``permissive``.
    """
    columns = frozenset(schema.names)
    made = _KINDS[rows](part, columns, permissive)
    batch: list[Row] = []
    for row in made:
        if wanted(row):
            batch.append(row)
        if len(batch) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(batch, schema=schema)
            batch = []
    if batch:
        yield pa.RecordBatch.from_pylist(batch, schema=schema)


def _transactions(part: Part, columns: frozenset[str], permissive: bool) -> Iterator[Row]:
    registry = pickle.loads(part.registry) if part.registry else SchemaRegistry()
    stream = _stream(registry, row_bytes_max=BUDGET.row_bytes if columns & FROM_ROWS else 0)
    keys = KeyBuilder(registry) if columns & KEYS else None
    for transaction in _read(stream, part.block, permissive):
        if keys is not None:
            keys.complete_transaction(transaction)
        yield _row_of(transaction, columns)


def _read(stream: Any, block: Block, permissive: bool) -> Iterator[LoggedTransaction]:
    yield from stream.read_file(block.open())
    yield from stream.finish()
    for diagnostic in stream.report.diagnostics():
        if diagnostic.ends_file and not permissive:
            raise ParaplyError(UNREADABLE_FILE, where=diagnostic.where, reason=diagnostic.text)


def _row_of(transaction: LoggedTransaction, columns: frozenset[str]) -> Row:
    tables = sorted({row.table for row in transaction.rows} | transaction.undecoded_tables)
    row: Row = {
        "file": transaction.start.file,
        "offset": transaction.start.offset,
        "end_offset": transaction.end_offset,
        "gtid": transaction.gtid or None,
        "kind": transaction.kind.value,
        "server_id": transaction.server_id,
        "last_committed": transaction.last_committed,
        "sequence_number": transaction.sequence_number,
        "commit_id": transaction.commit_id,
        "domain": transaction.domain,
        "time": _time_of(transaction),
        "bytes": transaction.size_bytes,
        "rows": None if transaction.undecoded_tables else len(transaction.rows),
        "tables": tables,
        "statements": list(transaction.statements),
        "complete": transaction.complete,
    }
    if columns & KEYS:
        built = sorted(transaction.keys, key=str)
        row["keys"] = [str(key) for key in built]
        row["key_digests"] = [_digest(key.table, key.index, key.values) for key in built]
        row["keys_complete"] = not (
            transaction.unkeyed_tables
            or transaction.partly_keyed_tables
            or transaction.reached_tables
        )
    return row


def _time_of(transaction: LoggedTransaction) -> datetime:
    committed = transaction.committed_at_us
    seconds = transaction.event_time_s if committed is None else committed / 1e6
    return datetime.fromtimestamp(seconds, UTC)


def _digest(*parts: object) -> int:
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _changes(part: Part, columns: frozenset[str], permissive: bool) -> Iterator[Row]:
    registry = pickle.loads(part.registry) if part.registry else SchemaRegistry()
    waiting: list[Row] = []

    def take(transaction: LoggedTransaction, changes: Sequence[RowChange]) -> None:
        for change in changes:
            known = registry.table(change.table)
            names = [column.name for column in known.columns] if known else []
            waiting.append(
                {
                    **_about(transaction, change.table),
                    "offset": change.position.offset,
                    "operation": change.operation.value,
                    "before": _image(change.before, names),
                    "after": _image(change.after, names),
                }
            )

    stream = _stream(registry, row_bytes_max=BUDGET.row_bytes, on_rows=take)
    keys = KeyBuilder(registry)
    for transaction in _read(stream, part.block, permissive):
        keys.complete_transaction(transaction)
        yield from waiting
        waiting.clear()
        for table in sorted(transaction.undecoded_tables):
            about = _about(transaction, table)
            yield {**about, "offset": transaction.start.offset, "operation": "undecoded"}


def _about(transaction: LoggedTransaction, table: str) -> Row:
    return {
        "file": transaction.start.file,
        "gtid": transaction.gtid or None,
        "server_id": transaction.server_id,
        "time": _time_of(transaction),
        "table": table,
        "before": None,
        "after": None,
    }


def _image(image: RowImage | None, names: Sequence[str]) -> list[tuple[str, str | None]] | None:
    if image is None:
        return None
    is_named = len(names) == len(image) and all(names)
    return [
        (names[place] if is_named else f"@{place + 1}", _text(value))
        for place, value in enumerate(image)
        if value is not ABSENT
    ]


def _text(value: object) -> str | None:
    if value is None:
        return None
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)


def _events(part: Part, columns: frozenset[str], permissive: bool) -> Iterator[Row]:
    with part.block.open() as source:
        try:
            for event in BinlogReader(source).raw_events():
                header = event.header
                if header.offset < part.block.begin:
                    continue  # The head of the file, which the first part yields.
                yield {
                    "file": part.block.file,
                    "offset": header.offset,
                    "end_offset": header.next_offset,
                    "type": header.name,
                    "server_id": header.server_id,
                    "time": datetime.fromtimestamp(header.timestamp_s, UTC),
                    "bytes": header.next_offset - header.offset,
                    "flags": header.flags,
                }
        except ParaplyError:
            if not permissive:
                raise


_KINDS: Mapping[str, Callable[[Part, frozenset[str], bool], Iterator[Row]]] = {
    "transactions": _transactions,
    "changes": _changes,
    "events": _events,
}
