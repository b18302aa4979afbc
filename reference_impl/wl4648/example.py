"""Henrik's example of WL#4648: four updates, discarded where the row is newer.

Two rows with two columns each, all zero. The example writes the rows in turn; a replica with four
workers and no order of commits can show T3 without T2, a state that the source never was in.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.applier.row_store import RowStore, Version
from reference_impl.applier.source_log import TABLE, Entry, Part, RelayLog
from reference_impl.recorder import Recorder
from vocabulary.events import Observation
from vocabulary.log import Operation, RowImage
from vocabulary.transactions import INITIAL_STATE, RowWrite, Transaction

ROWS = ("t1", "t2")
ZERO = (0, 0)
UPDATES = (("t1", (1, 2)), ("t2", (3, 4)), ("t1", (5, 6)), ("t2", (7, 8)))
"""Row and its columns f1 and f2, in the source's order; the timestamp is the place."""
NEVER_EXISTED = (5, 6, 0, 0)

Columns = tuple[int, ...]


def state_of(observed: Sequence[Observation]) -> Columns:
    """Return t1.f1, t1.f2, t2.f1, t2.f2 of a snapshot."""
    columns = {item: UPDATES[writer - 1][1] if writer else ZERO for item, writer in observed}
    return (*columns["t1"], *columns["t2"])


def states_of_the_source() -> tuple[Columns, ...]:
    """Return the states that the source went through."""
    rows = dict.fromkeys(ROWS, ZERO)
    states: list[Columns] = [(*rows["t1"], *rows["t2"])]
    for row, columns in UPDATES:
        rows[row] = columns
        states.append((*rows["t1"], *rows["t2"]))
    return tuple(states)


def log_of(recorder: Recorder) -> RelayLog:
    """Return the relay log of the example and list its transactions."""
    log = RelayLog()
    rows = dict.fromkeys(ROWS, ZERO)
    for row, columns in UPDATES:
        before: RowImage = (row, *rows[row])
        after: RowImage = (row, *columns)
        rows[row] = columns
        transaction = Transaction(
            id=recorder.next_id(),
            write_set=frozenset({row}),
            rows=(RowWrite(table=TABLE, operation=Operation.UPDATE, before=before, after=after),),
        )
        recorder.add(transaction)
        log.append(Entry(Part.WHOLE, transaction))
    return log


def fill(store: RowStore) -> None:
    """Put the two rows there, all zero."""
    for row in ROWS:
        store.versions[row] = [Version(INITIAL_STATE, ZERO)]
