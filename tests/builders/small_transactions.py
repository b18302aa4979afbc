"""Small transactions for the tests of reading them."""

from __future__ import annotations

from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.varchar(100).named("name")]
METADATA = optional_metadata(COLUMNS, primary_key=[0])
MARIADB = "10.11.19-MariaDB"


def write_rows(writer: BinlogWriter, *ids: int, table: str = "t") -> None:
    writer.table_map(COLUMNS, table=table, metadata=METADATA)
    writer.rows(30, COLUMNS, [(number, "x") for number in ids])


def write_transaction(writer: BinlogWriter, number: int, *ids: int, lc: int = 0) -> None:
    writer.gtid(number, last_committed=lc, sequence_number=number)
    writer.query("BEGIN")
    write_rows(writer, *ids)
    writer.xid(number)
