"""Writes the log of a conformance case as binary logs and a schema file, as a server would."""

from __future__ import annotations

from pathlib import Path

from paraply.adapters.conformance.source import EntryKind, SourceLog
from paraply.adapters.conformance.tables import tables_of
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schema import Column
from paraply.vocabulary.transactions import RowWrite
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter

_SPECS = {
    "int": spec.integer(4),
    "bigint": spec.integer(8),
    "varchar": spec.varchar(80),
    "char": spec.char(80),
    "varbinary": spec.varchar(20, spec.BINARY),
}
_CODES = {Operation.INSERT: 30, Operation.UPDATE: 31, Operation.DELETE: 32}


def write_case_log(log: SourceLog, folder: Path) -> tuple[list[str], str]:
    """Write the log's files and its schema; return their names."""
    schema = folder / "schema.sql"
    schema.write_text("".join(f"{statement};\n" for statement in log.source_schema))
    tables = {table.name: table for table in tables_of(log.source_schema).schemas}
    writer = BinlogWriter()
    files = [writer]
    for entry in log.entries:
        if entry.kind is EntryKind.ROTATE:
            writer.rotate(f"bin.{len(files) + 1:06d}")
            writer = BinlogWriter()
            files.append(writer)
        transaction = entry.transaction
        if transaction is None:
            continue
        stamp = transaction.timestamp
        writer.gtid(
            transaction.id,
            last_committed=stamp.last_committed,
            sequence_number=stamp.sequence_number,
        )
        if transaction.statement:
            writer.query(transaction.statement, schema="d")
            tables = {table.name: table for table in entry.schema}
            continue
        writer.query("BEGIN")
        for row in transaction.rows:
            _write_row(writer, row, tables[row.table].columns)
        writer.xid(transaction.id)
    names = []
    for number, each in enumerate(files, start=1):
        names.append(str(each.save(folder / f"bin.{number:06d}")))
    return names, str(schema)


def _write_row(writer: BinlogWriter, row: RowWrite, columns: tuple[Column, ...]) -> None:
    database, _, table = row.table.partition(".")
    specs = [_SPECS[column.type_name.partition(" ")[0]] for column in columns]
    writer.table_map(specs, schema=database, table=table)
    images = [image for image in (row.before, row.after) if image is not None]
    writer.rows(_CODES[row.operation], specs, images)
