"""Checking tables of transactions in Parquet files: row groups as tasks, here or on Spark.

Columns: ``history``, ``lc`` and ``sn`` (64-bit integers) and ``items`` (a list of 64-bit integers);
rows of one history follow each other, also from row group to row group and from file to file. What
Spark is sent are names of files and numbers of row groups; a worker reads its row groups, and sends
back counts and, for a history that goes on beside a row group, what its neighbours are compared
with. No row passes through the JVM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from properties.tables.compiled.timestamps import (
    CHUNK_ROWS,
    Columns,
    ColumnSummary,
    SummaryFold,
    TableChecker,
    check_in_chunks,
)
from properties.tables.timestamps import TableCounts
from vocabulary.errors import ParaplyError, register

MALFORMED_TABLE = register(
    "P730",
    "{file} is not a table of transactions: {reason}",
    "it needs the columns history, lc and sn (whole numbers) and items (a list of whole numbers), "
    "rows of a history one after the other",
)

COLUMNS = ("history", "lc", "sn", "items")
SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int64(), nullable=False) for name in COLUMNS[:3]),
        pa.field(
            "items", pa.list_(pa.field("element", pa.int64(), nullable=False)), nullable=False
        ),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Row groups of one file that follow each other."""

    number: int
    file: str
    groups: tuple[int, ...]
    joins: tuple[tuple[bool, bool], ...]
    """Per row group: whether its first history begins before it, and its last goes on after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStretch:
    """What a stretch showed; ``summaries`` are in the order of the rows."""

    number: int
    summaries: tuple[ColumnSummary, ...]


Map = Callable[[Callable[[Stretch], CheckedStretch], Iterable[Stretch]], Iterable[CheckedStretch]]


def plan_stretches(files: Sequence[str], stretches: int) -> list[Stretch]:
    """Return the row groups of all files in about so many stretches of about equal size.

    Raises ``ParaplyError`` P730 for a file that is not such a table.
    """
    groups: list[tuple[str, int, int, int, int]] = []
    for file in files:
        footer = _opened(file).metadata
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            if group.num_rows:
                low, high = _histories(file, group)
                groups.append((file, number, group.num_rows, low, high))
    rows_each = max(1, sum(group[2] for group in groups) // max(1, stretches))
    joined = [before[4] == after[3] for before, after in pairwise(groups)]
    planned: list[Stretch] = []
    begin = rows = 0
    for at, (file, _, count, _, _) in enumerate(groups, start=1):
        rows += count
        if at == len(groups) or groups[at][0] != file or rows >= rows_each:
            edges = [False, *joined, False]
            planned.append(
                Stretch(
                    number=len(planned),
                    file=file,
                    groups=tuple(group[1] for group in groups[begin:at]),
                    joins=tuple((edges[g], edges[g + 1]) for g in range(begin, at)),
                )
            )
            begin, rows = at, 0
    return planned


def _opened(file: str) -> pq.ParquetFile:
    try:
        opened = pq.ParquetFile(file)
    except (OSError, pa.ArrowException) as fault:
        raise ParaplyError(MALFORMED_TABLE, file=file, reason=str(fault)) from None
    kinds = {field.name: field.type for field in opened.schema_arrow}
    for name in COLUMNS:
        kind = kinds.get(name)
        is_right = (
            kind is not None and pa.types.is_list(kind) and kind.value_type == pa.int64()
            if name == "items"
            else kind == pa.int64()
        )
        if not is_right:
            raise ParaplyError(MALFORMED_TABLE, file=file, reason=f"column {name} is {kind}")
    return opened


def _histories(file: str, group: pq.RowGroupMetaData) -> tuple[int, int]:
    """Return the lowest and the highest history of a row group, from the footer."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema == "history" and column.statistics is not None:
            return int(column.statistics.min), int(column.statistics.max)
    raise ParaplyError(MALFORMED_TABLE, file=file, reason="column history has no statistics")


def read_columns(file: pq.ParquetFile, group: int) -> Columns:
    """Return a row group."""
    table = file.read_row_group(group, columns=list(COLUMNS), use_threads=False).combine_chunks()
    if any(column.null_count for column in table.columns):
        raise ParaplyError(MALFORMED_TABLE, file="a row group", reason="there are nulls")
    history, lc, sn = (table.column(name).chunk(0).to_numpy() for name in COLUMNS[:3])
    items = table.column("items").chunk(0)
    offsets = items.offsets.to_numpy().astype(np.int64)
    values = items.values.to_numpy()[offsets[0] : offsets[-1]]
    return Columns(history, lc, sn, offsets[1:] - offsets[0], values)


def check_stretch(stretch: Stretch) -> CheckedStretch:
    """Check row groups; the same function in this process and on a worker of Spark."""
    file = _opened(stretch.file)
    checker = TableChecker()
    summaries: list[ColumnSummary] = []
    whole = TableCounts()
    for group, (joins_left, joins_right) in zip(stretch.groups, stretch.joins, strict=True):
        columns = read_columns(file, group)
        if (np.diff(columns.history) < 0).any():
            raise ParaplyError(
                MALFORMED_TABLE, file=stretch.file, reason=f"row group {group} is not in order"
            )
        if joins_left or joins_right:
            summary = checker.summarise(columns)
            none = np.zeros((0, 2), np.int64)
            summaries.append(
                replace(
                    summary,
                    firsts=summary.firsts if joins_left else none,
                    lasts=summary.lasts if joins_right else none,
                )
            )
        else:
            whole += checker.check(columns)
    if whole.transactions:
        none = np.zeros((0, 2), np.int64)
        # Whole histories join nothing, so it does not matter where they stand.
        summaries.insert(0, ColumnSummary(whole, -1, -1, True, 0, 0, none, none))
    return CheckedStretch(number=stretch.number, summaries=tuple(summaries))


def check_files(
    files: Sequence[str], map_stretches: Map = map, *, stretches: int = 8
) -> TableCounts:
    """Check tables as one, in the order given; raises ``ParaplyError`` P730."""
    return fold_stretches(map_stretches(check_stretch, plan_stretches(files, stretches)))


def fold_stretches(checked: Iterable[CheckedStretch]) -> TableCounts:
    """Return the counts of stretches, which may come in any order."""
    counts = TableCounts()
    fold = SummaryFold()
    waiting: dict[int, CheckedStretch] = {}
    following = 0
    for each in checked:
        waiting[each.number] = each
        while following in waiting:
            for summary in waiting.pop(following).summaries:
                if summary.history_first == -1 and not len(summary.lasts):
                    counts += summary.counts
                else:
                    fold.add(summary)
            following += 1
    return counts + fold.counts


def check_one_history(file: str | Path) -> TableCounts:
    """Check a file in this process by merging the summaries of chunks that fit the cache."""
    opened = _opened(str(file))
    checker, fold = TableChecker(), SummaryFold()
    for group in range(opened.num_row_groups):
        for chunk in _chunks(read_columns(opened, group)):
            fold.add(checker.summarise(chunk))
    return fold.counts


def _chunks(columns: Columns) -> Iterator[Columns]:
    for begin in range(0, len(columns), CHUNK_ROWS):
        yield columns.slice(begin, min(len(columns), begin + CHUNK_ROWS))


def write_columns(path: Path, groups: Iterable[Columns]) -> int:
    """Write row groups, and return the number of rows."""
    rows = 0
    with pq.ParquetWriter(path, SCHEMA, compression="snappy", use_dictionary=False) as writer:
        for columns in groups:
            offsets = np.concatenate([[0], columns.ends]).astype(np.int32)
            items = pa.ListArray.from_arrays(offsets, columns.items, type=SCHEMA.field(3).type)
            arrays = [columns.history, columns.lc, columns.sn]
            table = pa.Table.from_arrays([*map(pa.array, arrays), items], schema=SCHEMA)
            writer.write_table(table, row_group_size=max(1, len(columns)))
            rows += len(columns)
    return rows


__all__ = [
    "CheckedStretch", "Stretch", "check_files", "check_in_chunks", "check_one_history",
    "check_stretch", "fold_stretches", "plan_stretches", "read_columns", "write_columns",
]  # fmt: skip
