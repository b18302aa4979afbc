"""Commit groups, commit ids and logical timestamps of a source.

A transaction joins the previous group if they share no row, neither is a DDL, and the group has
room. Groups draw sizes up to the number of clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from random import Random

from paraply.reference_impl.certification.trackers import CommitOrderTracker, TrackedTransaction
from paraply.reference_impl.comparison.tasks import TaskLog
from paraply.vocabulary.timestamps import LogicalTimestamp
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
    """Return tracker input; foreign key reads count as writes."""
    return [
        TrackedTransaction(
            items=frozenset(key for row in task.rows for key in (*row.writes, *row.reads)),
            is_empty=not task.rows and not task.is_barrier,
            is_create_select=task.is_barrier,
            has_missing_keys=task.has_missing_keys,
        )
        for task in log.tasks[1:]
    ]
