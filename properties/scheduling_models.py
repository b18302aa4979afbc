"""The models that need no keys: the logical clock and commit groups as the log has them, and
partitioning by table or schema.

Each turns a transaction into the time it may start, and is told when it finishes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from properties.conflict_index import SeenTransaction
from properties.overlap_rules import Place
from properties.worker_timeline import UNBOUNDED, WorkerTimeline, later_of

WINDOW_MAX = 250_000
"""Transactions a logical timestamp may reach back; one that reaches further is taken to wait for
the oldest of them, so the model then understates parallelism."""
PARTITIONS_MAX = 100_000
"""Tables, schemas followed at once; one that comes back after so many others starts afresh."""


class PrefixClockModel:
    """Start once everything with SN <= LC has finished: a prefix maximum of finish times.

    Only times that rise are kept: a transaction that finishes before an earlier one changes no
    prefix maximum.
    """

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._run: int | None = None
        self._begin = timeline.start_of_log()
        self._ranks: list[int] = []
        self._finished: list[list[int]] = []

    def place(self, place: Place, work: int) -> list[int]:
        """Schedule a transaction at ``place``; return its finish."""
        if place.run != self._run:
            # Between two runs every worker is waited for.
            self._run = place.run
            self._begin = self.timeline.end
            self._ranks, self._finished = [], []
        at = bisect_right(self._ranks, place.floor) - 1
        ready = self._finished[at] if at >= 0 else self._begin
        finish = self.timeline.schedule(ready, work)
        before = self._finished[-1] if self._finished else self._begin
        prefix = later_of(before, finish)
        if prefix != before:
            self._ranks.append(place.rank)
            self._finished.append(prefix)
            if len(self._ranks) > 2 * WINDOW_MAX:
                del self._ranks[:WINDOW_MAX], self._finished[:WINDOW_MAX]
                self._begin = self._finished[0]
        return finish


class GroupModel:
    """Start once every earlier group of the lane has finished; groups of one lane follow."""

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._lanes: dict[int, tuple[int, list[int], list[int]]] = {}

    def place(self, place: Place, work: int) -> list[int]:
        """Schedule a transaction at ``place``; return its finish."""
        start = self.timeline.start_of_log()
        floor, ready, end = self._lanes.get(place.lane, (-1, start, start))
        if place.floor != floor:
            ready = end
        finish = self.timeline.schedule(ready, work)
        self._lanes.pop(place.lane, None)
        if len(self._lanes) >= PARTITIONS_MAX:
            del self._lanes[next(iter(self._lanes))]
        self._lanes[place.lane] = (place.floor, ready, later_of(end, finish))
        return finish


class PartitionModel:
    """Start once the last transaction of each own partition has finished; barriers run alone."""

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._barrier = timeline.start_of_log()
        self._partitions: dict[str, list[int]] = {}

    def place(self, partitions: Iterable[str], work: int, *, barrier: bool) -> list[int]:
        """Schedule a transaction of ``partitions``; return its finish."""
        timeline = self.timeline
        if barrier:
            self._barrier = timeline.schedule(timeline.end, work)
            self._partitions.clear()
            return self._barrier
        names = tuple(partitions)
        ready = self._barrier
        for name in names:
            before = self._partitions.pop(name, None)
            if before is not None:
                ready = later_of(ready, before)
        finish = timeline.schedule(ready, work)
        for name in names:
            if len(self._partitions) >= PARTITIONS_MAX:
                del self._partitions[next(iter(self._partitions))]
            self._partitions[name] = finish
        return finish


@dataclass(slots=True)
class TableFinish:
    """By when some changes of a table have finished, and which of them finished last."""

    finish: tuple[list[int], ...]
    """One time vector per model, as :attr:`SeenTransaction.finish`."""
    last: SeenTransaction

    def extend(self, seen: SeenTransaction) -> None:
        """Add a change."""
        if seen.finish[0][UNBOUNDED] > self.finish[0][UNBOUNDED]:
            self.last = seen
        self.finish = tuple(map(later_of, self.finish, seen.finish))


class UnkeyedTables:
    """Keeps the changes of a table in order while its keys are unknown.

    A change with unknown keys waits for every earlier change of its table, and every later change
    waits for it. A table is followed from its first change with unknown keys: keys that were known
    become unknown only by DDL, which is a barrier anyway.
    """

    def __init__(self) -> None:
        self._tables: dict[str, tuple[TableFinish, TableFinish]] = {}
        """By table: all changes, and those with unknown keys."""

    def waits(
        self, tables: Iterable[str], unkeyed: frozenset[str]
    ) -> list[tuple[str, TableFinish]]:
        """Return what a change of ``tables``, of which ``unkeyed`` have no keys, waits for."""
        if not self._tables:
            return []
        return [
            (table, self._tables[table][0 if table in unkeyed else 1])
            for table in sorted(tables)
            if table in self._tables
        ]

    def remember(
        self, seen: SeenTransaction, tables: Iterable[str], unkeyed: frozenset[str]
    ) -> None:
        """Add a scheduled transaction."""
        for table in tables:
            known = self._tables.get(table)
            if known is not None:
                known[0].extend(seen)
                if table in unkeyed:
                    known[1].extend(seen)
            elif table in unkeyed:
                if len(self._tables) >= PARTITIONS_MAX:
                    del self._tables[next(iter(self._tables))]
                self._tables[table] = (
                    TableFinish(seen.finish, seen),
                    TableFinish(seen.finish, seen),
                )

    def clear(self) -> None:
        """Forget everything: a barrier has been waited for."""
        self._tables.clear()
