"""Rows of a text dump."""

from __future__ import annotations

import re

from paraply.adapters.binlog.framing import EventHeader
from paraply.adapters.binlog.report import diagnostic_of
from paraply.adapters.binlog.text.lines import MALFORMED_TEXT, TEXT_WITHOUT_ROWS, Lines
from paraply.adapters.binlog.text.values import UnreadableValue, parse_value
from paraply.adapters.binlog.transaction_stream import ROWS_BATCH, TransactionStream
from paraply.vocabulary.errors import ErrorCode, ParaplyError
from paraply.vocabulary.log import ABSENT, LogPosition, Operation, RowChange, RowImage

COLUMNS_MAX = 4096
"""The servers' column limit."""
TABLES_MAX = 4096
"""Each statement maps its tables again."""
_TABLE_MAP = re.compile(r"`((?:[^`]|``)*)`\.`((?:[^`]|``)*)` mapped to number (\d+)")
_TABLE_ID = re.compile(r"table id (\d+)")
_ROW_EVENT = re.compile(rb"### (INSERT INTO|UPDATE|DELETE FROM) `((?:[^`]|``)*)`\.`((?:[^`]|``)*)`")
_OPERATIONS = {
    b"INSERT INTO": Operation.INSERT,
    b"UPDATE": Operation.UPDATE,
    b"DELETE FROM": Operation.DELETE,
}
_COLUMN = re.compile(rb"###   @(\d{1,4})=(.*)", re.DOTALL)


class RowText:
    """Collects one row's lines.

    Columns without line are ABSENT; trailing ones leave no trace.
    """

    def __init__(self, table: str, operation: Operation) -> None:
        self.table = table
        self.operation = operation
        self.bytes_read = 0
        self._before: dict[int, object] = {}
        self._after: dict[int, object] = {}
        self._section = self._before

    def take_line(self, line: bytes, *, is_mariadb: bool) -> None:
        """Read one line; raises ``UnreadableValue``."""
        self.bytes_read += len(line)
        word = line[3:].strip()
        if word == b"SET":
            self._section = self._after
        elif word == b"WHERE":
            self._section = self._before
        else:
            found = _COLUMN.match(line)
            if found is None or not 1 <= int(found[1]) <= COLUMNS_MAX:
                raise UnreadableValue(line[:60].decode("utf-8", "replace"))
            self._section[int(found[1]) - 1] = parse_value(found[2], is_mariadb=is_mariadb)

    def images(self) -> tuple[RowImage | None, RowImage | None]:
        """Return equally long images before and after."""
        width = max((*self._before, *self._after), default=-1) + 1
        before = None if self.operation is Operation.INSERT else _image(self._before, width)
        after = None if self.operation is Operation.DELETE else _image(self._after, width)
        return before, after


def _image(columns: dict[int, object], width: int) -> RowImage:
    return tuple(columns.get(position, ABSENT) for position in range(width))


class RowReader:
    """Collects the open transaction's rows and delivers batches."""

    def __init__(self, stream: TransactionStream, lines: Lines) -> None:
        self.stream = stream
        self.lines = lines
        self.position: LogPosition | None = None
        """Last announced rows event, None outside statements."""
        self.tables: dict[str, str] = {}
        self.row: RowText | None = None
        self.batch: list[RowChange] = []
        self.is_mariadb = False
        self._unprinted: set[str] = set()

    def on_table_map(self, rest: str) -> None:
        """Note the table of a number."""
        if found := _TABLE_MAP.search(rest):
            if len(self.tables) > TABLES_MAX:
                self.tables.clear()
            schema, table, number = found.groups()
            self.tables[number] = f"{schema}.{table}".replace("``", "`")

    def on_rows_event(self, rest: str, header: EventHeader) -> None:
        """Expect the rows of an event."""
        self.position = LogPosition(file=self.stream.file.file, offset=header.offset)
        found = _TABLE_ID.search(rest)
        self._unprinted.add(self.tables.get(found[1] if found else "", "a table"))

    def error(self, code: ErrorCode, **details: object) -> ParaplyError:
        """Return an error at the current line."""
        return ParaplyError(code, where=self.lines.where, **details)

    def end_statement(self) -> None:
        """Record tables whose announced rows are missing."""
        for table in sorted(self._unprinted):
            self.mark_undecoded(table, self.error(TEXT_WITHOUT_ROWS, table=table))
        self._unprinted.clear()
        self.position = None

    def on_line(self, line: bytes) -> None:
        """Read a line that begins with ``###``."""
        found = _ROW_EVENT.match(line)
        if found:
            self.end_row()
            schema, table = (
                part.replace(b"``", b"`").decode("utf-8", "replace") for part in found.groups()[1:]
            )
            self.row = RowText(f"{schema}.{table}", _OPERATIONS[found[1]])
            self._unprinted.discard(self.row.table)
            return
        if self.row is None:
            return
        try:
            self.row.take_line(line, is_mariadb=self.is_mariadb)
        except UnreadableValue as fault:
            self.skip_row(str(fault))

    def skip_row(self, text: str) -> None:
        """Note an unreadable row."""
        assert self.row is not None
        table, self.row = self.row.table, None
        self.mark_undecoded(table, self.error(MALFORMED_TEXT, what=f"a row of {table}", text=text))

    def mark_undecoded(self, table: str, fault: ParaplyError) -> None:
        """Record a table with missing rows once."""
        if self.stream.open is None:
            return
        transaction = self.stream.open.transaction
        if table not in transaction.undecoded_tables:
            transaction.undecoded_tables |= {table}
            self.stream.file.diagnostics.append(diagnostic_of(fault, ends_file=False))

    def end_row(self) -> None:
        """Store the finished row."""
        row, self.row = self.row, None
        if row is None or self.stream.open is None:
            return
        start = self.stream.open.transaction.start
        before, after = row.images()
        change = RowChange(
            table=row.table,
            operation=row.operation,
            before=before,
            after=after,
            position=self.position or start,
        )
        self.stream.open.row_bytes += row.bytes_read
        if self.stream.on_rows is None and self.stream.open.row_bytes > self.stream.row_bytes_max:
            limit = f"the transaction has more than {self.stream.row_bytes_max} bytes of rows"
            self.mark_undecoded(row.table, self.error(MALFORMED_TEXT, what="a row", text=limit))
            return
        self.batch.append(change)
        if len(self.batch) == ROWS_BATCH:
            self.hand_out_rows()

    def hand_out_rows(self) -> None:
        """Deliver rows to consumer or transaction."""
        if not self.batch or self.stream.open is None:
            return
        self.stream.file.rows += len(self.batch)
        if self.stream.on_rows is None:
            self.stream.open.transaction.rows += self.batch
        else:
            self.stream.on_rows(self.stream.open.transaction, self.batch)
        self.batch = []
