"""Henrik's example of WL#4648: four updates, discarded where the row is newer.

They write two rows of zeros in turn. Four workers without commit order can show T3 without T2,
unlike the source.
"""

from __future__ import annotations

from collections.abc import Sequence

from paraply.reference_impl.applier.row_store import RowStore, Version
from paraply.reference_impl.applier.source_log import TABLE, Entry, Part, RelayLog
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.vocabulary.events import Observation
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.schedule import Exploration
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, Transaction

ROWS = ("t1", "t2")
ZERO = (0, 0)
UPDATES = (("t1", (1, 2)), ("t2", (3, 4)), ("t1", (5, 6)), ("t2", (7, 8)))
"""Row and f1, f2 in source order; indexes are timestamps."""
NEVER_EXISTED = (5, 6, 0, 0)

Columns = tuple[int, ...]


def state_of(observed: Sequence[Observation]) -> Columns:
    """Return a snapshot's t1.f1, t1.f2, t2.f1, t2.f2."""
    columns = {item: UPDATES[writer - 1][1] if writer else ZERO for item, writer in observed}
    return (*columns["t1"], *columns["t2"])


def states_of_the_source() -> tuple[Columns, ...]:
    """Return the source's states."""
    rows = dict.fromkeys(ROWS, ZERO)
    states: list[Columns] = [(*rows["t1"], *rows["t2"])]
    for row, columns in UPDATES:
        rows[row] = columns
        states.append((*rows["t1"], *rows["t2"]))
    return tuple(states)


def log_of(recorder: Recorder) -> RelayLog:
    """Return the example's log."""
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
    """Insert two rows of zeros."""
    store.versions.clear()
    for row in ROWS:
        store.versions[row] = [Version(INITIAL_STATE, ZERO)]


def never_existed_on_the_source(*, workers: int) -> tuple[int, frozenset[Columns]]:
    """Enumerate runs; return their number and states foreign to the source.

    Raises ``AssertionError`` for a wrong final state.
    """
    workload = Workload(rows=len(ROWS), options={"workers": workers, "reads": 0})
    exploration = Exploration()
    states: set[Columns] = set()
    for schedule in exploration:
        recorder = Recorder()
        log = log_of(recorder)
        replica = WL4648.replica(
            log, workload, "c0_timestamp", WL4648.options_of(workload), recorder
        )  # fmt: skip
        fill(replica.store)
        replica.run(schedule)
        versions = {row: list(replica.store.versions[row]) for row in ROWS}
        shown = dict.fromkeys(ROWS, INITIAL_STATE)
        for transaction in replica.executed:
            row = UPDATES[transaction - 1][0]
            if transaction in (version.writer for version in versions[row]):
                shown[row] = transaction
            states.add(state_of([Observation(*one) for one in shown.items()]))
        assert state_of(replica.store.snapshot()) == states_of_the_source()[-1]
    return exploration.count, frozenset(states.difference(states_of_the_source()))
