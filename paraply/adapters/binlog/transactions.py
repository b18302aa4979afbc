"""Entry point from logs to transactions.

Memory is one transaction, with at most ``row_bytes_max`` of rows.
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
    """Yield the transactions of binary or relay logs as one stream.

    Never raises ``ParaplyError``: the ``report`` lists faults during iteration, and the next file
    follows. A transaction without end has ``complete=False``. ``files`` are paths, ``-`` for
    standard input, or open sources.

    ``on_table_map`` receives definitions before their first rows. ``on_rows`` receives at most
    4,096 rows at a time; ``rows`` then stay empty. ``row_bytes_max`` bounds kept encoded rows, each
    plus 16 bytes (None: by ``--memory``); ``undecoded_tables`` names tables beyond it.
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
