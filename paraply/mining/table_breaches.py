"""Writes table breaches to a sorted Parquet file.

Tasks write their stretch's breaches and return edges; the driver adds breaches between stretches
and merges. Memory is limited to one stretch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraply.adapters.remote_files import whole_file
from paraply.mining.history_tables import Stretch, opened, plan_stretches, read_columns
from paraply.mining.store import Store, located, store_at
from paraply.properties.tables.breaches import KINDS, NO_ROW
from paraply.properties.tables.compiled import breaches as B
from paraply.vocabulary.errors import ParaplyError, register

PARTS_ELSEWHERE = register(
    "P732",
    "what the workers wrote into this folder is not there",
    "name an --out that this machine and all workers reach by the same path",
)

SCHEMA = pa.schema(
    [
        ("breach", pa.string()),
        ("history", pa.int64()),
        ("file", pa.string()),
        ("row", pa.int64()),
        ("lc", pa.int64()),
        ("sn", pa.int64()),
        ("item", pa.int64()),
        ("earlier_file", pa.string()),
        ("earlier_row", pa.int64()),
        ("earlier_sn", pa.int64()),
    ],
    metadata={"written_by": "paraply"},
)
"""A row per breach: transaction (file and row, from 0) and earlier one.

``malformed``: lc not below sn. ``not_rising``: sn not above the previous. ``unordered``: an earlier
writer of ``item`` has sn above lc.
"""

COLUMNS = [f"c{number}" for number in range(B.B_SIZE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStretch:
    """A task's result."""

    number: int
    edges: B.Edges


MapNames = Callable[[Callable[[Stretch], NamedStretch], Iterable[Stretch]], Iterable[NamedStretch]]


@dataclass(frozen=True, slots=True)
class NameTask:
    """Writes a stretch's breaches into the folder."""

    folder: str

    def __call__(self, stretch: Stretch) -> NamedStretch:
        """Return the stretch's edges; idempotent."""
        file, fold = opened(stretch.file), B.BreachFold()
        first_row = stretch.first_row
        found = []
        for group in stretch.groups:
            columns = read_columns(file, group, stretch.file)
            inside, edges = B.breaches_in(columns, first_row)
            found += [inside, fold.add(edges)]
            first_row += len(columns)
        assert fold.edges is not None
        table = pa.table(dict(zip(COLUMNS, B.sorted_breaches(found).T, strict=True)))
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        store_at(self.folder).write(_part(stretch.number), sink.getvalue().to_pybytes())
        edges = fold.edges.without(left=not stretch.joins_left, right=not stretch.joins_right)
        return NamedStretch(number=stretch.number, edges=edges)


def write_breaches(
    files: Sequence[str], place: str, map_stretches: MapNames = map, *, stretches: int = 8
) -> int:
    """Write all breaches atomically to a path or URL; return their number.

    Workers must reach its folder for temporary parts.
    """
    folder = located(os.path.dirname(place))
    store = store_at(folder)
    planned = plan_stretches(files, stretches)
    starts: dict[str, int] = {}
    for stretch in planned:
        starts.setdefault(stretch.file, stretch.first_row)
    try:
        made = map_stretches(NameTask(folder), planned)
        edges = {named.number: named.edges for named in made}
        fold, written = B.BreachFold(), 0
        with whole_file(place) as part, pq.ParquetWriter(part, SCHEMA) as writer:
            for stretch in planned:
                inside = _read(store, stretch.number)
                every = B.sorted_breaches([inside, fold.add(edges.pop(stretch.number))])
                if len(every):
                    writer.write_table(_named(every, starts))
                written += len(every)
    finally:
        for stretch in planned:
            store.delete(_part(stretch.number))
    return written


def _read(store: Store, number: int) -> B.Ints:
    part = store.read(_part(number), sys.maxsize)
    if part is None:
        raise ParaplyError(PARTS_ELSEWHERE, where=store.url)
    table = pq.read_table(pa.BufferReader(part))
    found: B.Ints = np.stack([each.to_numpy() for each in table.columns], axis=1)
    return found


def _part(number: int) -> str:
    return f"breaches-of-{number:06}.parquet"


def _named(breaches: B.Ints, starts: dict[str, int]) -> pa.Table:
    names, firsts = np.array([*starts]), np.array([*starts.values()])
    has_earlier = breaches[:, B.B_EARLIER] != NO_ROW
    has_item = breaches[:, B.B_KIND] == KINDS.index("unordered")

    def located(column: int) -> tuple[np.ndarray, np.ndarray]:
        place = np.maximum(np.searchsorted(firsts, breaches[:, column], side="right") - 1, 0)
        return names[place], breaches[:, column] - firsts[place]

    file, row = located(B.B_ROW)
    earlier_file, earlier_row = located(B.B_EARLIER)
    return pa.Table.from_arrays(
        [
            pa.array(np.array(KINDS)[breaches[:, B.B_KIND]]),
            pa.array(breaches[:, B.B_HISTORY]),
            pa.array(file),
            pa.array(row),
            pa.array(breaches[:, B.B_LC]),
            pa.array(breaches[:, B.B_SN]),
            pa.array(breaches[:, B.B_ITEM], mask=~has_item),
            pa.array(earlier_file, mask=~has_earlier),
            pa.array(earlier_row, mask=~has_earlier),
            pa.array(breaches[:, B.B_EARLIER_SN], mask=~has_earlier),
        ],
        schema=SCHEMA,
    )
