"""Family U: cases from a user's own logs.

The id lists the first transaction, the length of slices and the metadata:
``U-130-12-recorded``, ``U-130-12-restamped``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, pairwise

from paraply.adapters.conformance.cases.case import NO_OVERLAP, ONCE, Case
from paraply.adapters.conformance.own_logs.definitions import create_table
from paraply.adapters.conformance.own_logs.pseudonyms import Names, Pseudonyms
from paraply.adapters.conformance.own_logs.reading import OwnLogs, Tally, read_slices
from paraply.adapters.conformance.own_logs.slices import Slice
from paraply.adapters.conformance.own_logs.steps import Unusable
from paraply.adapters.conformance.source import (
    Change,
    Delete,
    Entry,
    EntryKind,
    Insert,
    SourceLog,
    Update,
)
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.sql_text import column_name
from paraply.vocabulary.timestamps import may_overlap
from paraply.vocabulary.transactions import RowWrite, Transaction

SLICE_TRANSACTIONS = 12
SLICES_MAX = 25
"""More are thinned out: between this number and twice as many remain, evenly spread."""
OTHER_SIZES = (6, 24, 3, 48, 100)
"""Slice lengths of ``--budget``."""
_ID = re.compile(r"U-\d+-(\d+)-")

NO_USABLE_TRANSACTION = register(
    "P638",
    "no transaction can become a case: {reason}",
    "{remedy}",
)
UNKNOWN_OWN_CASE = register(
    "P639",
    "the logs have no case '{name}'",
    "give an id that a run on the same files printed, or the beginning of ids, such as U-1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCases:
    """Cases of slices of one length.

    Attributes:
        slices: number of slices in the logs; ``used`` became cases.
        unsafe: slices whose recorded metadata lets conflicting transactions overlap.
        unstamped: slices without usable recorded metadata.
    """

    size: int
    cases: tuple[Case, ...]
    tally: Tally
    slices: int = 0
    used: int = 0
    unsafe: int = 0
    unstamped: int = 0
    refused: tuple[str, ...] = field(default=())


def size_of_id(name: str) -> int | None:
    """Return the slice length that a case id states."""
    found = _ID.match(name)
    return None if found is None else int(found.group(1))


def own_cases(
    logs: OwnLogs, size: int, *, keep_values: bool = False, named: Iterable[str] = ()
) -> OwnCases:
    """Return the cases of slices of ``size`` transactions, only those ``named`` if any are.

    Raises ``ParaplyError`` P638 if no transaction is usable.
    """
    wanted = tuple(named)
    tally = Tally()
    names = None if keep_values else Names()
    kept: list[Slice] = []
    step, number = 1, 0
    for number, one in enumerate(read_slices(logs, size, tally), start=1):
        if names is not None:
            for table in (*one.tables, *(t for each in one.steps for t in each.tables)):
                names.of_table(table.name)
        if wanted:
            if any(name.startswith(wanted) for name in _ids(one, size)):
                kept.append(one)
            continue
        if (number - 1) % step == 0:
            kept.append(one)
        if len(kept) > 2 * SLICES_MAX:
            kept = kept[::2]
            step *= 2
    if not number:
        raise _nothing_usable(logs, tally)
    made = _cases(kept, names, size, tally, number, wanted)
    if kept and not made.used:
        raise ParaplyError(
            NO_USABLE_TRANSACTION,
            where=", ".join(logs.files),
            reason=f"the source refuses {made.refused[0]}",
            remedy=Unusable.CONTRADICTORY.remedy,
        )
    return made


def _cases(
    kept: list[Slice],
    names: Names | None,
    size: int,
    tally: Tally,
    slices: int,
    wanted: tuple[str, ...],
) -> OwnCases:
    cases: list[Case] = []
    unsafe = unstamped = 0
    refused = []
    for one in kept:
        try:
            found = [_case(one, names, size, recorded=False)]
            if not _is_stamped(one):
                unstamped += 1
            elif not is_safe(own_log(one, names, True, 0)):
                unsafe += 1
            else:
                found.append(_case(one, names, size, recorded=True))
        except ParaplyError as error:
            refused.append(f"transactions {one.first} to {one.last}: {error.text}")
            continue
        cases += [case for case in found if not wanted or case.id.startswith(wanted)]
    return OwnCases(
        size=size,
        cases=tuple(cases),
        tally=tally,
        slices=slices,
        used=len(kept) - len(refused),
        unsafe=unsafe,
        unstamped=unstamped,
        refused=tuple(refused),
    )


def _nothing_usable(logs: OwnLogs, tally: Tally) -> ParaplyError:
    fault = next(tally.report.diagnostics(), None)
    if tally.unusable.total():
        reason, count = tally.unusable.most_common(1)[0]
        text = f"{tally.transactions:,} read, {count:,} of them {reason.what}"
        remedy = reason.remedy.replace("none:", "give other logs:")
    elif fault is not None:
        text, remedy = fault.text, fault.remedy
    else:
        text, remedy = f"{tally.transactions:,} read, none with rows", "give a log with changes"
    return ParaplyError(
        NO_USABLE_TRANSACTION, where=", ".join(logs.files), reason=text, remedy=remedy
    )


def _ids(one: Slice, size: int) -> tuple[str, str]:
    return f"U-{one.first}-{size}-restamped", f"U-{one.first}-{size}-recorded"


def _case(one: Slice, names: Names | None, size: int, *, recorded: bool) -> Case:
    log = partial(own_log, one, names, recorded)
    made = log(0)
    overlaps = has_conflicts(made) and allows_overlap(made)
    how = "metadata as recorded" if recorded else "metadata stamped anew"
    return Case(
        id=_ids(one, size)[recorded],
        fact=f"transactions {one.first} to {one.last} of the log, {how}",
        source="a log given by --log",
        decides=NO_OVERLAP if overlaps else ONCE,
        log=log,
        must_overlap=overlaps,
        is_generated=names is not None,
    )


def _is_stamped(one: Slice) -> bool:
    """Return whether each transaction has a timestamp above that of the one before."""
    last: dict[int, int] = {}
    for step in one.steps:
        number, parent = step.sequence_number, step.last_committed
        if number is None or parent is None or not parent < number:
            return False
        if number <= last.get(step.clock, 0):
            return False
        last[step.clock] = number
    return True


# The log


def own_log(one: Slice, names: Names | None, recorded: bool, seed: int) -> SourceLog:
    """Return the slice as a log, with pseudonyms of the seed if ``names`` is given."""
    if names is not None:
        one = Pseudonyms(names, seed).of_slice(one)
    now = {table.name: table for table in one.tables}
    log = SourceLog(*map(create_table, one.tables))
    if one.initial:
        log.transaction(*(Insert(table, image) for table, image in one.initial))
        log.drain()
    clock = one.steps[0].clock
    if one.initial and recorded:
        log.rotate()
    for step in one.steps:
        if step.clock != clock:
            log.rotate()
            clock = step.clock
        now.update((table.name, table) for table in step.tables)
        if step.creates:
            log.ddl(create_table(step.tables[0]))
        else:
            log.transaction(
                *(_change(row, now[row.table]) for row in step.rows),
                last_committed=step.last_committed if recorded else None,
                sequence_number=step.sequence_number if recorded else None,
            )
    return log


def _change(row: RowWrite, table: TableSchema) -> Change:
    if row.operation is Operation.INSERT:
        assert row.after is not None
        return Insert(row.table, row.after)
    assert row.before is not None
    where = _where(row.before, table)
    if row.after is None:
        return Delete(row.table, where)
    names = _column_names(table)
    changed = zip(names, row.before, row.after, strict=True)
    return Update(row.table, where, {name: new for name, old, new in changed if old != new})


def _where(image: RowImage, table: TableSchema) -> dict[str, object]:
    """Return the values of the first key that has no NULL, or of all columns."""
    names = _column_names(table)
    for key in table.unique_keys:
        found = {names[part.column]: image[part.column] for part in key.parts}
        has_prefix = any(part.prefix_length for part in key.parts)
        if None not in found.values() and not has_prefix:
            return found
    return dict(zip(names, image, strict=True))


def _column_names(table: TableSchema) -> list[str]:
    return [column_name(place, column) for place, column in enumerate(table.columns)]


# Its metadata


def is_safe(log: SourceLog) -> bool:
    """Return whether each transaction waits for the earlier ones that it conflicts with."""
    pairs = (pair for file in _files(log) for pair in combinations(file, 2))
    return not any(_may_overlap(*pair) and pair[0].conflicts_with(pair[1]) for pair in pairs)


def has_conflicts(log: SourceLog) -> bool:
    """Return whether two transactions of a file conflict."""
    pairs = (pair for file in _files(log) for pair in combinations(file, 2))
    return any(earlier.conflicts_with(later) for earlier, later in pairs)


def allows_overlap(log: SourceLog) -> bool:
    """Return whether two successive transactions may overlap."""
    pairs = (pair for file in _files(log) for pair in pairwise(file))
    return any(_may_overlap(*pair) and not pair[0].conflicts_with(pair[1]) for pair in pairs)


def _may_overlap(earlier: Transaction, later: Transaction) -> bool:
    assert earlier.timestamp is not None
    assert later.timestamp is not None
    return may_overlap(earlier.timestamp, later.timestamp)


def _files(log: SourceLog) -> list[list[Transaction]]:
    """Return the transactions between rotations and drains."""
    files: list[list[Transaction]] = [[]]
    for entry in log.entries:
        if _is_border(entry):
            files.append([])
        elif entry.transaction is not None:
            files[-1].append(entry.transaction)
    return files


def _is_border(entry: Entry) -> bool:
    return entry.kind in (EntryKind.ROTATE, EntryKind.DRAIN)
