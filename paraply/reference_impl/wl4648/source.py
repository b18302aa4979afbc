"""The source of WL#4648: row events in statement order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from paraply.reference_impl.applier.source_log import RelayLog, Source
from paraply.reference_impl.choices import Writes, write_sets
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.write_set import Item


class RowSource(Source):
    """A source of row events; the design predates logical clocks.

    Without ``conflicts``, transactions write fresh rows, like LOAD DATA, and need a row each.
    ``deletes`` allows deletes and reinserts.
    """

    conflicts = True
    deletes = True

    def execute(self, schedule: Schedule, recorder: Recorder, count: int) -> RelayLog:
        """Return a log of ``count`` transactions."""
        self.left = count
        self.marks: dict[str, tuple[int, ...]] = dict.fromkeys(self.writers, ())
        return super().execute(schedule, recorder, count)

    def choose_writes(self, schedule: Schedule) -> Writes:
        """Return rows, one order per symmetry."""
        self.left -= 1
        fresh: dict[str, tuple[int, ...]] = {
            row: () for row, marks in self.marks.items() if not marks
        }
        if self.conflicts or len(fresh) <= self.left:
            sets = self.row_sets(self.marks)
        else:
            sets = [rows for rows in self.row_sets(fresh) if len(rows) <= len(fresh) - self.left]
        options = [order for rows in sets for order in permutations(rows) if self._is_plain(order)]
        chosen = schedule.choose(options, "writes")
        for place, row in enumerate(chosen, start=1):
            # Rows at different places of a transaction are not equivalent.
            self.marks[row] += (self.left, place)
        return Writes(TransactionKind.ROWS, chosen)

    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        """Return row sets, a few per symmetry."""
        return write_sets(rows)

    def _is_plain(self, order: Sequence[str]) -> bool:
        return all(
            one < other
            for place, one in enumerate(order)
            for other in order[place + 1 :]
            if self.marks[one] == self.marks[other]
        )

    def choose_operation(self, schedule: Schedule) -> Operation:
        """Return an existing row's operation."""
        return super().choose_operation(schedule) if self.deletes else Operation.UPDATE

    def stamp(self, kind: TransactionKind, items: Sequence[Item]) -> LogicalTimestamp | None:
        """Return None: replicas compare rows."""
        del kind, items
        return None
