"""Commit groups, commit ids and logical timestamps of a source.

A transaction joins the previous group if they share no row, neither is a DDL, and the group has
room. Groups draw sizes up to the number of clients.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby
from random import Random

from paraply.reference_impl.certification.trackers import CommitOrderTracker, TrackedTransaction
from paraply.reference_impl.comparison.tasks import Task, TaskLog, WholeTable
from paraply.vocabulary.timestamps import VIEW_CHANGE, LogicalTimestamp
from paraply.vocabulary.transactions import Transaction
from paraply.vocabulary.write_set import Item

CLIENTS = 16
"""The maximum group size."""


def commit_groups(
    log: Sequence[Transaction], *, seed: int = 0, clients: int = CLIENTS
) -> list[int]:
    """Return monotonic commit groups, from 1."""
    random = Random(f"commit groups {seed}")
    groups: list[int] = []
    group, room = 0, 0
    items: set[Item] = set()
    for transaction in log:
        is_alone = transaction.is_barrier
        if not room or is_alone or not items.isdisjoint(transaction.write_set):
            group, room = group + 1, random.randint(1, clients)
            items.clear()
        room = 0 if is_alone else room - 1
        items |= transaction.write_set
        groups.append(group)
    return groups


def timestamps(
    log: Iterable[TrackedTransaction], groups: Iterable[int], tracker: CommitOrderTracker
) -> list[LogicalTimestamp]:
    """Return a source tracker's last_committed and sequence_number.

    Groups prepare after the previous commit. Only the new log's first group has last_committed 0.
    """
    tracker.on_rotation()
    found: list[LogicalTimestamp] = []
    for _, members in groupby(zip(log, groups, strict=True), key=lambda pair: pair[1]):
        tracked = [one for one, _ in members]
        for one in tracked:
            tracker.on_statement_prepared(one)
        found += [tracker.on_flushed(one) for one in tracked]
        for one in tracked:
            tracker.on_engine_commit(one)
    return found


def tracked(log: Iterable[Transaction]) -> list[TrackedTransaction]:
    """Return tracker input; a barrier has no items."""
    return [TrackedTransaction(items=one.write_set) for one in log]


def tracked_tasks(log: TaskLog) -> list[TrackedTransaction]:
    """Return tracker input; foreign key reads count as writes.

    A table as a whole is an item only if a task writes it so, because its keys are unknown.
    """
    never = {
        key
        for subject, key in log.numbers.items()
        if isinstance(subject, WholeTable) and key not in log.last_writers
    }
    return [_tracked(task, never) for task in log.tasks[1:]]


def _tracked(task: Task, never: set[int]) -> TrackedTransaction:
    keys = frozenset().union(*(row.writes for row in task.rows), *(row.reads for row in task.rows))
    return TrackedTransaction(
        items=keys - never,
        is_empty=not task.rows and not task.is_barrier,
        is_create_select=task.is_barrier,
        has_missing_keys=task.has_missing_keys,
        has_related_foreign_keys=task.has_referenced_tables,
    )


Parents = Sequence[int | None]
"""By task: the last one that had committed at the source when it prepared, 0 for none; None if
its stamp does not say."""


def commit_parents(log: TaskLog, stamps: Sequence[LogicalTimestamp | None]) -> list[int | None]:
    """Return each task's parent as logged: its ``last_committed``, as a number in the log."""
    found: list[int | None] = [None]
    clock: int | None = None
    numbers: list[int] = []
    tasks: list[int] = []
    for task, stamp in zip(log.tasks[1:], stamps, strict=True):
        if task.clock != clock:
            clock, numbers, tasks = task.clock, [], []
        is_usable = stamp is not None and stamp.is_well_formed and not stamp.is_view_change
        if stamp is None or not is_usable or (numbers and stamp.sequence_number <= numbers[-1]):
            found.append(None)
            continue
        at = bisect_right(numbers, stamp.last_committed)
        found.append(tasks[at - 1] if at else 0)
        numbers.append(stamp.sequence_number)
        tasks.append(task.number)
    return found


def restamped(
    log: TaskLog, parents: Parents, tracker: CommitOrderTracker
) -> list[LogicalTimestamp | None]:
    """Return what a tracker stamps on commits with these parents; a task without one runs alone."""
    found: list[LogicalTimestamp | None] = []
    tracker.on_rotation()
    for task, one in zip(log.tasks[1:], tracked_tasks(log), strict=True):
        if task.number > 1 and task.clock != log.tasks[task.number - 1].clock:
            tracker.on_rotation()
        parent = parents[task.number]
        one.commit_parent = parent or 0
        stamp = tracker.on_flushed(one)
        found.append(VIEW_CHANGE if parent is None else stamp)
    return found
