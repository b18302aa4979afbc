"""Facts of one logged transaction, for several judges."""

from __future__ import annotations

from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction

PRIMARY = "PRIMARY"


def get_reference(txn: LoggedTransaction) -> TransactionRef:
    """Return ``txn`` as reports name it."""
    return TransactionRef(
        ordinal=txn.ordinal,
        gtid=txn.gtid,
        file=txn.start.file,
        offset=txn.start.offset,
        last_committed=txn.last_committed,
        sequence_number=txn.sequence_number,
        commit_id=txn.commit_id,
        size_bytes=txn.size_bytes,
    )


def get_name(reference: TransactionRef) -> str:
    """Return the GTID, or else the ordinal."""
    return reference.gtid or f"transaction {reference.ordinal}"


def get_changed_tables(txn: LoggedTransaction) -> frozenset[str]:
    """Return the tables with row changes."""
    rows = frozenset(row.table for row in txn.rows)
    return rows.union(txn.unkeyed_tables, txn.partly_keyed_tables, txn.undecoded_tables)


def get_schema(table: str) -> str:
    """Return the schema of ``schema.table``."""
    return table.partition(".")[0]


def compute_work(txn: LoggedTransaction) -> int:
    """Return steps: one, plus one per row."""
    return 1 + len(txn.rows)


def get_primary_keys(txn: LoggedTransaction) -> tuple[ConflictKey, ...]:
    """Return the changed PRIMARY keys, unordered."""
    return tuple(key for key in txn.keys if key.index == PRIMARY)


def shorten(statement: str, characters_max: int = 80) -> str:
    """Return ``statement`` on one cut line."""
    line = " ".join(statement.split())
    return line if len(line) <= characters_max else line[: characters_max - 1] + "…"
