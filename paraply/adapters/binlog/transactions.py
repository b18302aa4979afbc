"""From logs to transactions: the entry point.

Memory does not grow with the files: one transaction is held at a time, and of a huge one only what
``row_bytes_max`` allows, unless its rows are taken batch by batch through ``on_rows``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import Source
from paraply.adapters.binlog.transaction_stream import (
    ROWS_BATCH,
    OnRows,
    OnTableMap,
    TransactionStream,
)
from paraply.vocabulary.log import LoggedTransaction

__all__ = ["ROWS_BATCH", "OnRows", "OnTableMap", "read_transactions"]


def read_transactions(
    files: Sequence[str | Source],
    *,
    report: LogReport | None = None,
    on_table_map: OnTableMap | None = None,
    on_rows: OnRows | None = None,
    row_bytes_max: int | None = None,
) -> Iterator[LoggedTransaction]:
    """Yield the transactions of binary or relay logs, read as one stream in the given order.

    Never raises ``ParaplyError``: a file that cannot be read, or only to a point, says so in the
    ``report`` (which is filled while iterating), everything before that point is yielded, and the
    next file is read. A transaction without its end has ``complete=False``.

    Args:
        files: paths, ``-`` for standard input, or open sources.
        report: gets one ``FileReport`` per file.
        on_table_map: called with a table's definition before the first rows of it, and again
            when the definition changes; transactions before that call used the earlier one.
        on_rows: called with the rows of a transaction as they are read, at most 4,096 at a time
            and before the transaction is yielded; ``LoggedTransaction.rows`` then stays empty.
        row_bytes_max: without ``on_rows``, how many bytes of encoded rows of one transaction are
            kept (None: what ``--memory`` allows); tables of the rows beyond are named in
            ``undecoded_tables``. Each row counts for 16 bytes more than it has.
    """
    stream = TransactionStream(
        report=report if report is not None else LogReport(),
        on_table_map=on_table_map,
        on_rows=on_rows,
        row_bytes_max=row_bytes_max,
    )
    for file in files:
        yield from stream.read_file(file)
    yield from stream.finish()


_Stream = TransactionStream
