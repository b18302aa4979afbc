"""Binary logs of a small shop: a source's, and what appliers of our own write at a target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata

ACCOUNT = (
    spec.integer(4).named("id", nullable=False),
    spec.varchar(100).named("owner"),
    spec.integer(8).named("balance"),
)
NOTE = (spec.varchar(100).named("text"), spec.integer(4).named("size"))
TABLES = {"account": ACCOUNT, "basket": ACCOUNT, "note": NOTE}

Row = tuple[object, ...]


@dataclass(frozen=True)
class Txn:
    """Rows to leave by (table, id), None for a delete; and notes to add or (negative) remove."""

    writes: dict[tuple[str, int], Row | None] = field(default_factory=dict)
    notes: tuple[tuple[str, int], ...] = ()
    name: int = 0


def account(number: int, balance: int, owner: str = "ann") -> dict[tuple[str, int], Row]:
    return {("account", number): (number, owner, balance)}


class Server:
    """Rows, and a MariaDB log of what changed them."""

    def __init__(
        self,
        rows: dict[tuple[str, int], Row] | None = None,
        *,
        schema: str = "shop",
        names: dict[str, str] | None = None,
        tables: dict[str, tuple[spec.ColumnSpec, ...]] | None = None,
        domain: int = 0,
        has_key: bool = True,
        has_names: bool = True,
    ) -> None:
        self.rows = dict(rows or {})
        self.schema = schema
        self.names = names or {}
        self.tables = tables or TABLES
        self.domain = domain
        self.has_key = has_key
        self.has_names = has_names
        self.sequence = 0
        self.writer = BinlogWriter(server_version="10.11.19-MariaDB-log")
        self.convert = lambda table, row: row

    def commit(self, txn: Txn, name: int | None = None) -> None:
        """Apply a transaction and log what it changed; rows that are as wanted are not logged."""
        self.sequence += 1
        changes = []
        for (table, number), after in txn.writes.items():
            wanted = None if after is None else self.convert(table, after)
            before = self.rows.get((table, number))
            if before != wanted:
                changes.append((table, before, wanted))
            self.put(table, number, wanted)
        for text, size in txn.notes:
            row = (text, abs(size))
            changes.append(("note", None, row) if size > 0 else ("note", row, None))
        self.log(changes, name or self.sequence)

    def put(self, table: str, number: int, row: Row | None) -> None:
        """Change a row outside of the log."""
        if row is None:
            self.rows.pop((table, number), None)
        else:
            self.rows[table, number] = row

    def log(self, changes: list[tuple[str, Row | None, Row | None]], sequence: int) -> None:
        self.writer.mariadb_gtid(sequence, domain=self.domain)
        for at, (table, before, after) in enumerate(changes):
            columns = self.tables[table]
            key = [0] if columns[0].name == "id" and self.has_key else []
            metadata = optional_metadata(columns, primary_key=key, full=self.has_names)
            self.writer.table_map(
                columns, schema=self.schema, table=self.names.get(table, table),
                table_id=70 + at, metadata=metadata,
            )  # fmt: skip
            rows = [row for row in (before, after) if row is not None]
            code = 24 if len(rows) == 2 else 23 if before is None else 25
            self.writer.rows(code, columns, rows, table_id=70 + at)
        self.writer.xid(sequence)

    def save(self, path: Path) -> str:
        return str(self.writer.save(path))


def run(txns: list[Txn], path: Path, rows: dict | None = None, **options: object) -> str:
    """Apply transactions one by one; return the log."""
    server = Server(rows, **options)
    for txn in txns:
        server.commit(txn, txn.name or None)
    return server.save(path)
