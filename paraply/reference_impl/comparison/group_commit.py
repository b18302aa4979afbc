"""A log as its source would have written it with a wait before each sync of the binary log.

A closed loop of sessions, in microseconds. A transaction enters a sync group when it is written to
the binary log, which is its logged time. The first one of a group waits until the sync before has
ended, and then for the delay; all that have entered by then are synced and committed together.
``wait_count_or_timeout`` in MySQL's sql/binlog.cc does so in the sync stage.

Each session keeps its own time from one commit to its next transaction.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from paraply.reference_impl.comparison.tasks import NOBODY, LogBuilder, Task, TaskLog
from paraply.reference_impl.workloads.stamps import Parents
from paraply.vocabulary.audit_result import SourcePrice

LOW = 0.1
"""Quantile of the bounds of the time of a sync that is taken."""
GROUPS = 5
"""Successive commits of groups whose distance bounds the time of a sync."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """When each task is written to the binary log, and when it commits; by number, from 1.

    Those with the same moment of commit are one group.
    """

    written: list[int]
    committed: list[int]

    @property
    def span(self) -> int:
        """Return the time from the first write to the last commit."""
        return max(1, max(self.committed) - min(self.written[1:]))

    @property
    def wait(self) -> float:
        """Return the median time from write to commit."""
        pairs = zip(self.written[1:], self.committed[1:], strict=True)
        return median(end - begin for begin, end in pairs)


@dataclass(slots=True)
class _Group:
    """The sync group that waits, and the moment until which the sync before it lasts."""

    delay: int
    sync: int
    free: int = 0
    fetched: int = -1
    members: list[int] | None = None

    def enter(self, number: int, moment: int) -> None:
        """Add a task to the group, which must be open at the moment."""
        if self.members is None:
            self.members = []
            self.fetched = max(moment, self.free) + self.delay
            self.free = self.fetched + self.sync
        self.members.append(number)

    def take(self) -> list[int]:
        """Return the members, and close the group."""
        found, self.members = self.members or [], None
        return found


class LoggedCommits:
    """The commits of a log, and what its sessions do between them.

    ``sync`` is the time of a sync with its commits; without one the log bounds it.
    """

    def __init__(self, log: TaskLog, parents: Parents, *, sync: int | None = None) -> None:
        self.tasks = log.tasks
        self.parents = parents
        self.before: list[int] = [NOBODY]
        """Task -> its session's previous one."""
        last: dict[int | None, int] = {}
        written = [0]
        for task in log.tasks[1:]:
            assert task.written_at_us is not None
            written.append(max(written[-1], task.written_at_us))
            self.before.append(last.get(task.session, NOBODY))
            last[task.session] = task.number
        # By COMMIT_ORDER a session's transaction depends on the session's one before.
        self.is_by_commit_order = all(
            parent is None or parent >= before or self._is_first(number)
            for number, (parent, before) in enumerate(zip(parents, self.before, strict=True))
        )
        bounding = parents if self.is_by_commit_order else []
        self.sync = sync or _sync_time(written, self.before, bounding)
        self.moments = Moments(written=written, committed=self._committed(written))
        self.follows = [
            sorted({other for row in task.rows for other in row.follows}) for task in log.tasks
        ]
        self.rest = self._rests()
        """Task -> the time from the end of its last statement to its write."""

    def _is_first(self, number: int) -> bool:
        before = self.before[number]
        return not before or self.tasks[before].clock != self.tasks[number].clock

    def _committed(self, written: Sequence[int]) -> list[int]:
        group, found = _Group(0, self.sync), [0]
        for number in range(1, len(written)):
            if group.members and written[number] > group.fetched:
                group.take()
            group.enter(number, written[number])
            found.append(group.free)
        if self.is_by_commit_order:
            # What a later one depends on had committed before that one was written.
            seen = [found[-1]] * len(written)
            for number, parent in enumerate(self.parents):
                if parent:
                    seen[parent] = min(seen[parent], written[number])
            for number in reversed(range(1, len(written))):
                seen[number - 1] = min(seen[number - 1], seen[number])
                found[number] = min(found[number], seen[number])
        return found

    def _rests(self) -> list[int]:
        written, committed = self.moments.written, self.moments.committed
        bounds: list[tuple[int, int] | None] = [None]
        for task in self.tasks[1:]:
            number, parent = task.number, self.parents[task.number]
            latest = max((committed[one] for one in self._waits_for(number)), default=0)
            most = max(0, written[number] - latest)
            is_parent = self.is_by_commit_order or _falls_back(task)
            if parent is None or not is_parent:
                bounds.append(None)
                continue
            # Its parent had committed by then, and the next one had not.
            most = max(0, min(most, written[number] - committed[parent]))
            least = written[number] - committed[parent + 1] + 1 if parent + 1 < number else 0
            bounds.append((min(most, max(0, least)), most))
        usual = [sum(one) / 2 for one in bounds if one is not None and one[0]]
        middle = round(median(usual)) if usual else 0
        return [0 if one is None else min(max(middle, one[0]), one[1]) for one in bounds]

    def _waits_for(self, number: int) -> Iterator[int]:
        if self.before[number]:
            yield self.before[number]
        yield from self.follows[number]

    def delayed(self, delay: int) -> Moments:
        """Return the moments with a delay before each sync.

        Locks are taken in the order of the log. A DDL, and a new file, wait for all commits.
        """
        written, committed = [0] * len(self.tasks), [0] * len(self.tasks)
        group = _Group(delay, self.sync)
        floor = 0
        for part in _parts(self.tasks[1:]):
            self._run(part, floor, group, written, committed)
            floor = max(floor, group.free)
        return Moments(written=written, committed=committed)

    def _run(
        self, part: list[int], floor: int, group: _Group, written: list[int], committed: list[int]
    ) -> None:
        first = part[0]
        left: dict[int, int] = {}
        """Task -> how many of this part it still waits for."""
        waiting: dict[int, list[int]] = {}
        for number in part:
            own = [one for one in set(self._waits_for(number)) if one >= first]
            left[number] = len(own)
            for one in own:
                waiting.setdefault(one, []).append(number)
        ready: list[tuple[int, int]] = []

        def plan(number: int) -> None:
            moment = max(floor, self._planned(number, committed))
            heapq.heappush(ready, (moment, number))

        for number in part:
            if not left[number]:
                plan(number)
        while ready or group.members:
            if ready and (group.members is None or ready[0][0] <= group.fetched):
                moment, number = heapq.heappop(ready)
                written[number] = moment
                group.enter(number, moment)
                continue
            for number in group.take():
                committed[number] = group.free
                for other in waiting.get(number, ()):
                    left[other] -= 1
                    if not left[other]:
                        plan(other)

    def _planned(self, number: int, committed: Sequence[int]) -> int:
        """Return when a task is written, from the commits of those that it waits for."""
        was, before = self.moments, self.before[number]
        began = was.committed[before] if before else 0
        gap = max(0, was.written[number] - began)
        found = committed[before] + gap if before else was.written[number]
        for other in self.follows[number]:
            # If the other committed after this one began, it is taken to have waited for that.
            has_waited = was.committed[other] > began
            least = max(0, was.written[number] - was.committed[other])
            rest = least if has_waited else min(least, self.rest[number])
            found = max(found, committed[other] + rest)
        return found

    def price(self, then: Moments) -> SourcePrice:
        """Return what these moments cost, compared with those of the log."""
        return SourcePrice(
            throughput=round(self.moments.span / then.span, 4),
            wait_us_now=self.moments.wait,
            wait_us_then=then.wait,
        )

    def rewritten(self, log: TaskLog, then: Moments) -> tuple[TaskLog, list[int | None]]:
        """Return the log in the order of its writes at these moments, and its commit parents."""
        order = sorted(range(1, len(self.tasks)), key=lambda one: (then.written[one], one))
        # Groups commit in the order of their writes.
        commits = [then.committed[number] for number in order]
        builder = LogBuilder(numbers=dict(log.numbers))
        parents: list[int | None] = [None]
        for number in order:
            task = self.tasks[number]
            rows = [replace(row, expected=(), follows=()) for row in task.rows]
            added = builder.add_changed(task, rows)
            added.logged_at_us = added.written_at_us = then.written[number]
            least = max((then.committed[one] for one in self._waits_for(number)), default=0)
            prepared = max(least, then.written[number] - self.rest[number])
            is_known = self.parents[number] is not None
            parents.append(bisect_right(commits, prepared) if is_known else None)
        found = builder.log()
        found.keys_of_table, found.costs = log.keys_of_table, log.costs
        found.unfollowed_tables = log.unfollowed_tables
        return found, parents


def _falls_back(task: Task) -> bool:
    """Return whether WRITESET, too, stamps the commit parent."""
    return task.has_missing_keys or task.has_referenced_tables or task.is_barrier


def _parts(tasks: Sequence[Task]) -> Iterator[list[int]]:
    for _, part in groupby(
        tasks, key=lambda one: (one.clock, one.barrier_before, one.number * one.is_barrier)
    ):
        yield [task.number for task in part]


def _sync_time(written: Sequence[int], before: Sequence[int], parents: Parents) -> int:
    """Return the time of a sync with its commits, from what it cannot exceed.

    A session writes again after its commit. Groups commit one after the other, so that the times
    between transactions with different parents bound it, too.
    """
    found = [_low([written[number] - written[one] for number, one in enumerate(before) if one])]
    seen: list[tuple[int, int]] = []
    for number, parent in enumerate(parents):
        if parent and (not seen or parent > seen[-1][0]):
            seen.append((parent, number))
    found.append(
        _low([
            (written[late[1]] - written[early[1]]) // (GROUPS - 1)
            for early, late in zip(seen, seen[GROUPS - 1 :], strict=False)
        ])
    )  # fmt: skip
    return max(1, min((one for one in found if one is not None), default=1))


def _low(bounds: Sequence[int]) -> int | None:
    return sorted(bounds)[int(LOW * len(bounds))] if bounds else None
