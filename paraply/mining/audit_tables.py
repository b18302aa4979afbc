"""Delta tables of a followed audit, written by workers and committed by the driver.

Each log file adds one row to ``files``, with the number that its other rows carry. Rows of a number
are committed once, ``files`` last: a row there says that the file is done.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from paraply.adapters.filesystems import table_options
from paraply.adapters.violations_parquet import SCHEMA as VIOLATION
from paraply.mining.commits import (
    NO_DELTA,
    delta_errors,
    delta_library,
    drop_torn_commit,
    first_line,
)
from paraply.mining.row_files import FILE_BYTES, NewFile, parquet_bytes, parquet_table
from paraply.mining.store import STALE_S, Store, located, store_at, store_failed
from paraply.vocabulary.errors import ParaplyError, register

FILES, VIOLATIONS, FINDINGS, PARALLELISM = "files", "violations", "findings", "parallelism"
STATES = "states"
SMALL_FILES_MAX = 64
"""Files below half of ``FILE_BYTES`` that a table may have before they are merged."""
_APP, _MERGE = "paraply-follow", "paraply.merge"
_TABLE = "paraply.table"
"""Marks our commits, whose last line is known."""
_MERGED = "part-"
"""Begins the names of files that delta-rs writes; ours are hexadecimal."""
_COUNTS = pa.map_(pa.string(), pa.int64())
_NUMBER = ("number", pa.int64())
_FILE = ("file", pa.string())

SCHEMAS: Mapping[str, pa.Schema] = {
    FILES: pa.schema(
        [
            _NUMBER, _FILE, ("verdict", pa.string()),
            ("server", pa.string()), ("format", pa.string()), ("checksum", pa.string()),
            ("bytes_read", pa.int64()), ("transactions", pa.int64()),
            ("first_gtid", pa.string()), ("last_gtid", pa.string()),
            ("events", _COUNTS), ("skipped_event_types", _COUNTS), ("stopped", pa.string()),
            ("violations", pa.int64()), ("lint_violations", pa.int64()),
            ("replay_findings", pa.int64()),
            ("verdict_so_far", pa.string()), ("unknown_so_far", pa.list_(pa.string())),
            ("transactions_so_far", pa.int64()), ("row_changes_so_far", pa.int64()),
            ("engine", pa.string()), ("state", pa.string()),
        ]
    ),
    VIOLATIONS: pa.schema([_NUMBER, *VIOLATION]),
    FINDINGS: pa.schema(
        [
            _NUMBER, ("rule", pa.string()), ("severity", pa.string()), ("message", pa.string()),
            _FILE, ("offset", pa.int64()), ("gtid", pa.string()), ("table", pa.string()),
            ("key", pa.string()),
        ]
    ),
    PARALLELISM: pa.schema(
        [
            _NUMBER, _FILE, ("model", pa.string()), ("safe", pa.string()),
            ("conflicting_pairs_apart", pa.int64()), ("work", pa.int64()),
            ("critical_path", pa.int64()), ("transactions_on_path", pa.int64()),
            ("steps", pa.int64()), ("width_max", pa.int64()), ("width_mean", pa.float64()),
            ("ideal_speedup", pa.float64()), ("speedup", pa.map_(pa.int64(), pa.float64())),
            ("knee", pa.int64()),
        ]
    ),
}  # fmt: skip
"""Columns by table (docs/spark.md)."""

SECOND_FOLLOWER = register(
    "P743",
    "another process has audited this log file into the same tables",
    "let one process at a time write to a folder; a new start continues where they are",
)


def write_table(store: Store, table: str, rows: Iterable[Mapping[str, Any]]) -> NewFile | None:
    """Write rows as one new file of a table; None without rows."""
    data = pa.Table.from_pylist(list(rows), SCHEMAS[table])
    if not data.num_rows:
        return None
    name = f"{secrets.token_hex(16)}.parquet"
    packed = parquet_bytes(data, dictionary=True)
    store.write(f"{table}/{name}", packed)
    number = data.column("number")[0].as_py()
    bound = {"number": number}
    stats = {"numRecords": len(data), "minValues": bound, "maxValues": bound}
    return NewFile(name, len(packed), len(data), json.dumps(stats))


def _log(table: str) -> str:
    return f"{table}/_delta_log"


class AuditTables:
    """The tables of one place; raises P736 where they cannot be used."""

    def __init__(self, place: str) -> None:
        self.url = located(place)
        self._store = store_at(self.url)
        self._options = table_options(self.url)

    def last(self) -> Mapping[str, Any] | None:
        """Return the newest row of ``files``; None at the start."""
        table = self._open(FILES)
        number = None if table is None else table.transaction_version(_APP)
        return None if number is None else self.rows(FILES, after=number - 1)[0]

    def rows(self, name: str, *, after: int = 0) -> list[dict[str, Any]]:
        """Return a table's rows with numbers above ``after``, by number."""
        table = self._open(name)
        if table is None:
            return []
        with delta_errors(self._url(name)):
            files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
            found = [
                row
                for file in files
                if (file.get("max.number") or after + 1) > after
                for row in self._read(name, file["path"]).to_pylist()
                if row["number"] > after
            ]
        return sorted(found, key=lambda row: row["number"])

    def _read(self, name: str, file: str) -> pa.Table:
        data = self._store.read(f"{name}/{file}")
        if data is None:
            raise ParaplyError(NO_DELTA, where=self._url(name), reason=f"its file {file} is gone")
        return parquet_table(data, SCHEMAS[name])

    def uris(self, name: str) -> list[str]:
        """Return the Parquet files of a table."""
        table = self._open(name)
        return [] if table is None else list(table.file_uris())

    def commit(self, number: int, files: Mapping[str, NewFile | None]) -> None:
        """Commit the rows of one log file; P743 if another process did."""
        for name in (VIOLATIONS, FINDINGS, PARALLELISM, FILES):
            file = files.get(name)
            if file is not None:
                self._commit(name, number, file)
        for name in SCHEMAS:
            self._merge_small_files(name)

    def drop_torn_commits(self) -> None:
        """Remove commits that a failure of the machine cut short: their file is audited again."""
        for name in SCHEMAS:
            drop_torn_commit(self._store, _log(name), _TABLE)

    def sweep(self, keep: Sequence[str]) -> None:
        """Remove states older than a day, except those to keep."""
        for name, age in self._store.ages(STATES).items():
            if age > STALE_S and name not in keep:
                self._store.delete(f"{STATES}/{name}")

    def _url(self, name: str) -> str:
        return f"{self.url}/{name}"

    def _open(self, name: str) -> Any:
        delta = delta_library()
        with delta_errors(self._url(name)):
            try:
                return delta.DeltaTable(self._url(name), storage_options=self._options)
            except delta.exceptions.TableNotFoundError:
                return None

    def _commit(self, name: str, number: int, file: NewFile) -> None:
        delta = delta_library()
        from deltalake.transaction import AddAction

        table = self._open(name) or self._create(name)
        if (table.transaction_version(_APP) or 0) >= number:
            if name == FILES:
                raise ParaplyError(SECOND_FOLLOWER, where=self.url)
            return  # Committed before the process was killed.
        action = AddAction(file.name, file.size, {}, int(time.time() * 1000), True, file.stats)
        once = delta.CommitProperties(
            custom_metadata={_TABLE: name}, app_transactions=[delta.Transaction(_APP, number)]
        )
        try:
            table.create_write_transaction(
                [action], "append", SCHEMAS[name], commit_properties=once
            )
        except delta.exceptions.CommitFailedError:
            raise ParaplyError(SECOND_FOLLOWER, where=self.url) from None
        except delta.exceptions.DeltaError as error:
            raise _unusable(self._url(name), error) from None
        self._store.sync(_log(name), f"{table.version() + 1:020}")

    def _create(self, name: str) -> Any:
        delta = delta_library()
        if "://" not in self.url:
            try:
                os.makedirs(self._url(name), exist_ok=True)
            except OSError as error:
                raise store_failed(self._url(name), error) from None
        with delta_errors(self._url(name)):
            table = delta.DeltaTable.create(
                self._url(name),
                SCHEMAS[name],
                mode="ignore",
                name=f"paraply audit: {name}",
                storage_options=self._options,
                commit_properties=delta.CommitProperties(custom_metadata={_TABLE: name}),
            )
        # delta-rs does not; a table whose first commit the disk loses in part is unreadable.
        self._store.sync(_log(name), f"{0:020}")
        return table

    def _merge_small_files(self, name: str) -> None:
        """Merge small files in one commit without new rows.

        Files that it replaces stay for readers and older versions until Delta's retention of a week
        is over. A kill leaves the rows as they were, and at most a file that no commit names.
        """
        table = self._open(name)
        if table is None:
            return
        delta = delta_library()
        with delta_errors(self._url(name)):
            sizes = pa.table(table.get_add_actions(flatten=True)).column("size_bytes").to_pylist()
            if sum(size < FILE_BYTES // 2 for size in sizes) <= SMALL_FILES_MAX:
                return
            claimed = table.version() + 1
            try:
                # delta-rs accepts two merges of the same files, and then has their rows twice. It
                # refuses a merge if the metadata changed after the version that it read.
                claim = {_MERGE: secrets.token_hex(8)}
                table.alter.set_table_properties(claim, raise_if_not_exists=False)
                table.optimize.compact(target_size=FILE_BYTES, max_concurrent_tasks=1)
            except delta.exceptions.CommitFailedError:
                return  # Another process merges them.
            # delta-rs does not sync what it writes.
            self._store.sync(name, _MERGED)
            self._store.sync(_log(name), f"{claimed:020}")
            table.vacuum(dry_run=False, full=True)


def _unusable(where: str, error: BaseException) -> ParaplyError:
    return ParaplyError(NO_DELTA, where=where, reason=first_line(error))
