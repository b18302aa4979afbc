"""Parquet files of verdict rows, always under new names.

Repeated or lost tasks leave uncommitted files outside of the table (:mod:`paraply.mining.commits`).
"""

from __future__ import annotations

import io
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraply.mining.batch_runs import SCHEMA
from paraply.mining.store import Store, store_at
from paraply.vocabulary.errors import ParaplyError, register

ROWS = "rows"
FILE_BYTES = 32 << 20
"""Buffer size; commits merge smaller files."""
READS_AT_ONCE = 16
COMPRESSION = "zstd"
COLUMNS_PACKED = [
    "system", "subject", "mutant", "dialect", "options", "holds.list.element",
    "unknown.list.element", "violated.list.element", "expected.list.element",
    "situations.list.element", "signatures.list.element",
]  # fmt: skip
"""Columns with few values; dictionaries enlarge others."""

ROWS_DAMAGED = register(
    "P735",
    "a file of rows cannot be read: {reason}",
    "let `paraply mine --resume --out DIR` make its rows again",
)


@dataclass(frozen=True, slots=True)
class NewFile:
    """A row file below ``rows/``."""

    name: str
    size: int
    rows: int
    stats: str = ""
    """Delta's statistics as JSON, if any."""


class RowWriter:
    """Collects rows into few files."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables: list[pa.Table] = []
        self._bytes = 0
        self._written: list[NewFile] = []

    def add(self, table: pa.Table) -> None:
        """Add rows; write full files."""
        if table.num_rows:
            self._tables.append(table)
            self._bytes += table.nbytes
        if self._bytes >= FILE_BYTES:
            self._write()

    def close(self) -> list[NewFile]:
        """Write the rest; return all files."""
        self._write()
        return self._written

    def _write(self) -> None:
        if self._tables:
            table = pa.concat_tables(self._tables)
            self._written.append(write_rows(self._store, table))
            self._tables, self._bytes = [], 0


def write_rows(store: Store, table: pa.Table) -> NewFile:
    """Write rows as one new file."""
    name = f"{secrets.token_hex(16)}.parquet"
    data = parquet_bytes(table)
    store.write(f"{ROWS}/{name}", data)
    low, high = pc.min_max(table.column("run")).as_py().values()
    systems = sorted(table.column("system").unique().to_pylist())
    stats = {
        "numRecords": table.num_rows,
        "minValues": {"system": systems[0], "run": low},
        "maxValues": {"system": systems[-1], "run": high},
        "nullCount": {"system": 0, "run": 0},
    }
    return NewFile(name, len(data), table.num_rows, json.dumps(stats))


def parquet_bytes(
    table: pa.Table, *, dictionary: bool | Sequence[str] = tuple(COLUMNS_PACKED)
) -> bytes:
    """Return a Parquet file, reproducible by bytes."""
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression=COMPRESSION,
        use_dictionary=dictionary if isinstance(dictionary, bool) else [*dictionary],
        write_page_checksum=True,
    )
    return sink.getvalue()


def parquet_table(data: bytes, schema: pa.Schema) -> pa.Table:
    """Return the rows of a Parquet file, read by this thread alone.

    Arrow's own threads call Python to free what they have read; one that did at the exit of the
    process would abort it. Raises ``ArrowException`` or ``OSError`` for a damaged or other file.
    """
    file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True, pre_buffer=False)
    found = file.read(use_threads=False)
    missing = [name for name in schema.names if name not in found.column_names]
    if missing:
        raise pa.ArrowInvalid(f"it has no column {missing[0]}")
    return found.select(schema.names).cast(schema)


def read_file(store: Store, name: str) -> pa.Table:
    """Return rows; P735 if unreadable."""
    where = f"{store.url}/{ROWS}/{name}"
    data = store.read(f"{ROWS}/{name}")
    if data is None:
        raise ParaplyError(ROWS_DAMAGED, where=where, reason="it is gone")
    try:
        return parquet_table(data, SCHEMA)
    except (OSError, pa.ArrowException) as fault:
        reason = str(fault).partition("\n")[0]
        raise ParaplyError(ROWS_DAMAGED, where=where, reason=reason) from None


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Merges files into one."""

    place: str

    def __call__(self, names: Sequence[str]) -> NewFile:
        """Return the new file; old ones await its commit."""
        store = store_at(self.place)
        # An object store answers after tens of milliseconds, and a commit may merge thousands.
        with ThreadPoolExecutor(READS_AT_ONCE) as threads:
            tables = [*threads.map(partial(read_file, store), names)]
        return write_rows(store, pa.concat_tables(tables))


@dataclass(frozen=True, slots=True)
class CheckTask:
    """Verifies a row file's checksums."""

    place: str

    def __call__(self, name: str) -> tuple[str, str]:
        """Return name and fault; empty if intact."""
        try:
            read_file(store_at(self.place), name)
        except ParaplyError as fault:
            return name, str(fault.details["reason"])
        return name, ""


@dataclass(frozen=True, slots=True)
class CountTask:
    """Counts a file's rows by system."""

    place: str

    def __call__(self, name: str) -> Counter[str]:
        """Return row counts by system."""
        return Counter(read_file(store_at(self.place), name).column("system").to_pylist())


def groups_of(files: Sequence[NewFile]) -> list[list[NewFile]]:
    """Return groups of about :data:`FILE_BYTES` for merging."""
    groups: list[list[NewFile]] = []
    size = FILE_BYTES
    for file in files:
        if size + file.size > FILE_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.size
    return groups
