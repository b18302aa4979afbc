"""The interface between log readers and compiled judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.log_lint import KeptHeaders
from paraply.vocabulary.keys import ConflictKey, TableTies
from paraply.vocabulary.log import LoggedKind, LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
KINDS = {kind: number for number, kind in enumerate(LoggedKind)}
"""``columns.B_KIND`` of a transaction."""


@dataclass(slots=True, kw_only=True)
class JudgedBatch:
    """Transactions with full row images and known keys, in log order.

    Keys are 64-bit digests: written, read and locked ones follow each other per transaction. Row
    arrays have a line per row, key arrays (before, after). The census counts inserts, updates,
    deletes, and rows without a key.
    """

    columns: Ints
    """``columns.B_*`` per transaction; B_AT is set here."""
    keys: Words
    marks: NDArray[np.uint8]
    """``columns.PRIMARY`` and so on, per key."""
    tables: Ints
    table_roles: Ints
    """How the transaction touches each table beside keys (``columns.BLURRED`` and so on)."""
    table_names: list[str]
    key_names: list[tuple[str, ...]]
    """By table number, in digest order."""
    ties: Sequence[TableTies] = ()
    """By table number."""
    census: Ints
    row_ends: Ints
    row_operations: Ints
    row_tables: Ints
    row_unchecked: Ints
    row_keys_start: Ints
    row_images: Words
    row_keys: Words
    left: Sequence[LeftPart] = ()
    names: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbers of tables and aspects touched beside keys, by transaction up to B_NAME_END."""
    roles: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """How (``columns.MET`` and so on)."""
    ddl: LoggedTransaction | None = None
    """The one transaction of the batch, if it is DDL."""

    def uses_max(self) -> Ints:
        """Return how many names each transaction uses at most.

        Of each table these are itself, three aspects, two by key, and what its ties name; and one.
        """
        of_table = [
            4 + 2 * len(keys) + len({name for each in tied.names for name in each.met})
            for keys, tied in zip(self.key_names, self.ties, strict=True)
        ]
        before = np.concatenate([[0], np.cumsum(np.array(of_table, np.int64)[self.tables])])
        return 1 + np.diff(before[self.columns[:, C.B_TABLE_END]], prepend=0)


class LeftPart(Protocol):
    """A transaction's rows that the readable code judges."""

    @property
    def index(self) -> int:
        """Of the transaction in its batch."""
        ...

    @property
    def transaction(self) -> LoggedTransaction:
        """The rows with their keys, without header."""
        ...

    @property
    def rows(self) -> Sequence[int]:
        """Place of each row among those of the batch."""
        ...


class TouchedParts(Protocol):
    """The keys and tables of a batch."""

    key_ends: Ints
    """(written, read, locked) per transaction, exclusive."""
    keys: Words
    marks: NDArray[np.uint8]
    table_ends: Ints
    tables: Ints
    roles: Ints
    census: Ints


class BatchParts(Protocol):
    """A scanner's batch (``paraply.adapters.binlog.compiled.batch.Batch``)."""

    clock: int
    first_ordinal: int

    @property
    def touched(self) -> TouchedParts:
        """Return the keys and tables."""
        ...

    @property
    def last_committed(self) -> Ints:
        """Per transaction, -1 for absent."""
        ...

    @property
    def sequence_number(self) -> Ints:
        """Per transaction, -1 for absent."""
        ...

    @property
    def commit_id(self) -> Ints:
        """Per transaction, -1 for groups of one."""
        ...

    @property
    def domain(self) -> Ints:
        """Per transaction, -1 for absent."""
        ...

    @property
    def places(self) -> Ints:
        """Each transaction's place in the log."""
        ...

    @property
    def row_ends(self) -> Ints:
        """Each transaction's exclusive row end."""
        ...

    @property
    def row_operations(self) -> Ints:
        """0 insert, 1 update, 2 delete."""
        ...

    @property
    def row_tables(self) -> Ints:
        """Table number per row."""
        ...

    @property
    def row_unchecked(self) -> Ints:
        """Whether no foreign keys were checked, per row."""
        ...

    @property
    def row_keys_start(self) -> Ints:
        """First line of each row's keys."""
        ...

    @property
    def row_images(self) -> Words:
        """Digests of each row before and after."""
        ...

    @property
    def row_keys(self) -> Words:
        """Digests of keys before and after."""
        ...

    @property
    def table_names(self) -> list[str]:
        """Table names by number."""
        ...

    @property
    def key_names(self) -> list[tuple[str, ...]]:
        """Key names by table number."""
        ...

    @property
    def ties(self) -> list[TableTies]:
        """What foreign keys mean for rows, by table number."""
        ...

    @property
    def origins(self) -> Ints:
        """What numbers each GTID, in some columns, and last its number."""
        ...

    @property
    def clocks(self) -> Ints:
        """Server id, event time and commit time per transaction."""
        ...

    @property
    def left(self) -> Sequence[LeftPart]:
        """Rows that the readable code judges."""
        ...

    def headers(self, chosen: Sequence[int] | None = None) -> Iterator[LoggedTransaction]:
        """Yield the transactions, or the chosen ones, without rows and keys."""
        ...

    def kept(self, chosen: Ints) -> KeptHeaders:
        """Return what names the chosen transactions after the batch is gone."""
        ...


def judged_batch(parts: BatchParts) -> JudgedBatch:
    """Return a scanned batch for the judges."""
    row_ends = parts.row_ends
    touched = parts.touched
    rows = np.diff(row_ends, prepend=0)
    columns = np.zeros((len(row_ends), C.BATCH_COLUMNS), np.int64)
    columns[:, C.B_KIND] = np.where(rows > 0, C.ROWS, C.EMPTY)
    columns[:, C.B_LAST_COMMITTED] = parts.last_committed
    columns[:, C.B_SEQUENCE_NUMBER] = parts.sequence_number
    columns[:, C.B_CLOCK] = parts.clock
    columns[:, C.B_COMMIT_ID] = parts.commit_id
    domain = parts.domain
    columns[:, C.B_LANE] = np.maximum(domain, 0)
    columns[:, C.B_HAS_DOMAIN] = domain >= 0
    columns[:, C.B_ROWS] = rows
    columns[:, C.B_KEY_END : C.B_LOCK_END + 1] = touched.key_ends
    columns[1:, C.B_KEY_START] = touched.key_ends[:-1, -1]
    columns[:, C.B_TABLE_END] = touched.table_ends
    columns[:, C.B_AT] = parts.places
    keys, tables = int(touched.key_ends[-1, -1]), int(touched.table_ends[-1])
    return JudgedBatch(
        columns=columns,
        keys=touched.keys[:keys],
        marks=touched.marks[:keys],
        tables=touched.tables[:tables],
        table_roles=touched.roles[:tables],
        table_names=parts.table_names,
        key_names=parts.key_names,
        ties=parts.ties,
        census=touched.census,
        row_ends=row_ends,
        row_operations=np.ascontiguousarray(parts.row_operations),
        row_tables=np.ascontiguousarray(parts.row_tables),
        row_unchecked=np.ascontiguousarray(parts.row_unchecked),
        row_keys_start=np.ascontiguousarray(parts.row_keys_start),
        row_images=parts.row_images,
        row_keys=parts.row_keys,
        left=parts.left,
    )


def batch_of_one(txn: LoggedTransaction, kind: int) -> JudgedBatch:
    """Return a keyless transaction as a batch."""

    def number(value: int | None) -> int:
        return C.NONE if value is None else value

    columns = np.zeros((1, C.BATCH_COLUMNS), np.int64)
    columns[0, C.B_KIND] = kind
    columns[0, C.B_LAST_COMMITTED] = number(txn.last_committed)
    columns[0, C.B_SEQUENCE_NUMBER] = number(txn.sequence_number)
    columns[0, C.B_CLOCK] = txn.clock
    columns[0, C.B_COMMIT_ID] = number(txn.commit_id)
    columns[0, C.B_LANE] = txn.domain or 0
    columns[0, C.B_HAS_DOMAIN] = txn.domain is not None
    columns[0, C.B_IS_DDL] = txn.is_ddl
    columns[0, C.B_ROWS] = len(txn.rows)
    none: Ints = np.zeros(0, np.int64)
    words: Words = np.zeros(0, np.uint64)
    return JudgedBatch(
        columns=columns, keys=words, marks=np.zeros(0, np.uint8), tables=none, table_roles=none,
        table_names=[], key_names=[], census=np.zeros((0, 4), np.int64), row_ends=none,
        row_operations=none, row_tables=none, row_unchecked=none, row_keys_start=none,
        row_images=np.zeros((0, 2), np.uint64), row_keys=np.zeros((0, 2), np.uint64),
        ddl=txn if txn.is_ddl else None,
    )  # fmt: skip


def digested_one(txn: LoggedTransaction, kind: int, parts: BatchParts) -> JudgedBatch:
    """Return a transaction as a batch, of which ``parts`` has rows and keys."""
    batch, one = judged_batch(parts), batch_of_one(txn, kind)
    head = one.columns
    head[:, C.B_KEY_START : C.B_TABLE_END + 1] = batch.columns[:, C.B_KEY_START : C.B_TABLE_END + 1]
    head[:, C.B_AT] = batch.columns[:, C.B_AT]
    # The stream's next rows may have other keys.
    return replace(
        batch, columns=head, key_names=list(batch.key_names), ties=list(batch.ties), ddl=one.ddl
    )


def require_compilable(txn: LoggedTransaction, *, has_rows: bool) -> None:
    """Raise ``NotCompilable`` for a single transaction that kernels cannot place."""
    if txn.complete and (
        ((txn.rows or txn.xa_keys) and not has_rows)
        or txn.undecoded_tables
        or (txn.last_committed or 0) < 0
        or (txn.sequence_number or 0) < 0
    ):
        raise NotCompilable(f"rows that kernels cannot read at {txn.start}")
    if txn.commit_id is not None and txn.commit_id >= 1 << 63:
        raise NotCompilable(f"a commit group's number of 64 bits at {txn.start}")


class BatchSource(Protocol):
    """Rereads a log as the readable reader."""

    def reread(self, ordinal: int, at: int) -> LoggedTransaction:
        """Return a transaction by its B_AT."""
        ...

    def keys_with(self, ordinal: int, at: int, digests: frozenset[int]) -> dict[int, ConflictKey]:
        """Return, by digest, the first such key."""
        ...
