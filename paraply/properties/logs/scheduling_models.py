"""Models without keys: clock, groups, and partitions.

Each returns earliest starts and receives finishes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from paraply.properties.logs.conflict_index import SeenTransaction
from paraply.properties.logs.overlap_rules import Place
from paraply.properties.logs.worker_timeline import ROUND, UNBOUNDED, WorkerTimeline, later_of

WINDOW_MAX = 50_000
"""Reach of a timestamp; beyond it the model understates parallelism."""
PARTITIONS_MAX = 100_000
"""Followed partitions; later returns start afresh."""


class PrefixClockModel:
    """Starts once everything with SN <= LC has finished.

    Stores only rising times.
    """

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._run: int | None = None
        self._begin = timeline.start_of_log()
        self._ranks: list[int] = []
        self._finished: list[list[int]] = []

    def place(self, place: Place, work: int) -> list[int]:
        """Schedule a transaction; return its finish."""
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
    """Starts once the lane's earlier groups finished, but for their commits on MariaDB.

    There a batch starts when all before have started to commit (``rpl_parallel.cc``,
    ``mark_start_commit``).
    """

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._lanes: dict[int, tuple[int, list[int], list[int]]] = {}

    def place(self, place: Place, work: int, *, commit: int = 0) -> list[int]:
        """Schedule a transaction; return its finish. The next group may share ``commit`` steps."""
        start = self.timeline.start_of_log()
        floor, ready, end = self._lanes.get(place.lane, (-1, start, start))
        if place.floor != floor:
            ready = end
        finish = self.timeline.schedule(ready, work)
        self._lanes.pop(place.lane, None)
        if len(self._lanes) >= PARTITIONS_MAX:
            del self._lanes[next(iter(self._lanes))]
        marked = [finish[ROUND], *(time - commit for time in finish[UNBOUNDED:])]
        self._lanes[place.lane] = (place.floor, ready, later_of(end, marked))
        return finish


class PartitionModel:
    """Starts once its partitions finished; barriers run alone."""

    def __init__(self, timeline: WorkerTimeline) -> None:
        self.timeline = timeline
        self._barrier = timeline.start_of_log()
        self._partitions: dict[str, list[int]] = {}

    def place(self, partitions: Iterable[str], work: int, *, barrier: bool) -> list[int]:
        """Schedule a transaction; return its finish."""
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
    """When some changes finish, and the last ones."""

    finish: tuple[list[int], ...]
    """Time vectors, as :attr:`SeenTransaction.finish`."""
    last: SeenTransaction

    def extend(self, seen: SeenTransaction) -> None:
        """Add a change."""
        if seen.finish[0][UNBOUNDED] > self.finish[0][UNBOUNDED]:
            self.last = seen
        self.finish = tuple(map(later_of, self.finish, seen.finish))


@dataclass(slots=True)
class _TableFinishes:
    changed: TableFinish | None = None
    unkeyed: TableFinish | None = None
    searched: TableFinish | None = None
    blurred: TableFinish | None = None


class TableOrder:
    """Orders a table's changes that keys do not order.

    What searches rows without a key (``searched``) and what changes such rows (``unkeyed``) follow
    each other; inserts alone do not. ``blurred`` changes and all others follow each other.
    """

    def __init__(self) -> None:
        self._tables: dict[str, _TableFinishes] = {}

    def waits(
        self,
        tables: frozenset[str],
        unkeyed: frozenset[str],
        searched: frozenset[str],
        blurred: frozenset[str],
    ) -> list[tuple[str, TableFinish]]:
        """Return waits other than keys, by table."""
        found = []
        for table in sorted(tables | blurred):
            known = self._tables.get(table)
            if known is None:
                continue
            for applies, finish in (
                (table in searched, known.unkeyed),
                (table in unkeyed, known.searched),
                (table in blurred, known.changed),
                (table in tables, known.blurred),
            ):
                if applies and finish is not None:
                    found.append((table, finish))
        return found

    def remember(
        self,
        seen: SeenTransaction,
        tables: frozenset[str],
        unkeyed: frozenset[str],
        searched: frozenset[str],
        blurred: frozenset[str],
    ) -> None:
        """Add a scheduled transaction."""
        for table in tables | blurred:
            known = self._tables.get(table)
            if known is None:
                if len(self._tables) >= PARTITIONS_MAX:
                    del self._tables[next(iter(self._tables))]
                known = self._tables[table] = _TableFinishes()
            if table in tables:
                known.changed = _extended(known.changed, seen)
            if table in unkeyed:
                known.unkeyed = _extended(known.unkeyed, seen)
            if table in searched:
                known.searched = _extended(known.searched, seen)
            if table in blurred:
                known.blurred = _extended(known.blurred, seen)

    def clear(self) -> None:
        """Forget everything after a barrier."""
        self._tables.clear()


def _extended(finish: TableFinish | None, seen: SeenTransaction) -> TableFinish:
    if finish is None:
        return TableFinish(seen.finish, seen)
    finish.extend(seen)
    return finish
