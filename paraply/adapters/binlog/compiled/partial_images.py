"""What kernels make of row images that do not show all columns (binlog_row_image).

Images before a change show the *compared* columns of a table, the same in all events; those after
an update show what it sets, and those of an insert all that keys need. A key with a column that is
not compared is *hidden*: its value before a change is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paraply.adapters.binlog.column_types import BLOBS
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.descriptors import KeyLine, Named, ScanPlan
from paraply.adapters.binlog.keys.builder import TablePlan
from paraply.adapters.binlog.keys.foreign import ChildTie
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.log import RELEASED, aspect
from paraply.vocabulary.schema import TableSchema


def compared_columns(
    table: TableMap, plan: ScanPlan, before: Sequence[int], after: Sequence[int]
) -> frozenset[int]:
    """Return the columns that images before a change show, by those of the first partial ones.

    An insert has no such image: it is guessed from what the insert omits (binlog_row_image=NOBLOB
    or MINIMAL).
    """
    if any(before):
        return frozenset(np.flatnonzero(before).tolist())
    blobs = {column for column, wire in enumerate(table.columns) if wire.kind in BLOBS}
    if all(shown or column in blobs for column, shown in enumerate(after)):
        return frozenset(range(len(table.columns))) - blobs
    return frozenset(part.column for line in plan[:1] for part in line.parts)


def suffices(
    compared: frozenset[int], schema: TableSchema, plan: ScanPlan, read_by: TablePlan
) -> bool:
    """Return whether images that show these columns before a change show enough to kernels.

    They name the row, and show either each key or no more than the first (MINIMAL).
    """
    columns = schema.columns
    named_by = [part.column for line in plan[:1] if line.role == L.UNIQUE for part in line.parts]
    is_named = named_by and not any(columns[column].nullable for column in named_by)
    if len(compared) < len(columns) and not (is_named and compared.issuperset(named_by)):
        return False
    if any(key.is_computed for key in read_by.keys):
        return False  # MariaDB changes such a key without a record.
    hidden = [line for line in plan if not compared.issuperset(_columns_of(line))]
    return not hidden or (
        compared == frozenset(named_by)
        and not any(line.role == L.PARENT for line in hidden)
        and not any(columns[c].generated for line in hidden for c in _columns_of(line))
    )


def _columns_of(line: KeyLine) -> list[int]:
    return [part.column for part in line.parts]


def with_releases(plan: ScanPlan) -> Iterator[KeyLine]:
    """Yield the keys of rows with parents that name their going: children with hidden ones ask."""
    for line in plan:
        is_parent = line.role == L.PARENT and not line.names
        released = Named(frozenset({aspect(line.table, RELEASED)}))
        yield replace(line, names=(released, released)) if is_parent else line


def with_hidden(plan: ScanPlan, read_by: TablePlan, compared: frozenset[int]) -> Iterator[KeyLine]:
    """Yield the keys of rows with what changes name where images do not show a value before.

    As ``KeyBuilder`` does by its docstring, and ``take_child_tie``.
    """
    children = iter(read_by.as_child)
    for line in plan:
        tie = next(children) if line.role == L.CHILD else None
        is_hidden = not compared.issuperset(_columns_of(line))
        parts = (
            replace(part, is_null_if_omitted=read_by.omitted[part.column] is None)
            for part in line.parts
        )
        names = _names_where_hidden(line, tie) if is_hidden else line.names
        yield replace(line, names=names, parts=tuple(parts))


def _names_where_hidden(line: KeyLine, tie: ChildTie | None) -> tuple[Named, ...]:
    if tie is not None:
        late = aspect(tie.parent, RELEASED) if tie.is_unique else tie.parent
        hidden = (Named(reached=frozenset({name})) for name in (late, tie.parent))
        return (*(line.names or (Named(),)), *hidden)
    if line.role != L.UNIQUE or line.built_by is None or line.built_by.is_implied:
        return line.names
    freed, taken = (frozenset({each}) for each in line.built_by.changes)
    met = frozenset[str]().union(*(named.met for named in line.names))
    return Named(met | taken), Named(freed, taken), Named(freed | taken, freed | taken)
