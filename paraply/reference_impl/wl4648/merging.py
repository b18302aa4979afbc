"""C4: combine small transactions into one job at reading.

The job writes each row once and commits all together, in order. Each transaction has its own events
at the same steps; BEGUN names them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.wl4648.replica import JobReplica
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item

SMALL_ROWS = 4
"""Larger transactions stay alone."""
MERGED_BY_DEFAULT = 2

_OF_EACH = frozenset({EventKind.BEGUN, EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED,
                      EventKind.ROLLED_BACK, EventKind.FAILED})  # fmt: skip
"""Event kinds per transaction."""


def is_full(sizes: Sequence[int], size: int, *, is_alone: bool, merged: int) -> bool:
    """Return whether a job is full.

    ``sizes`` and ``size`` count row events; ``is_alone`` forbids merging.
    """
    return is_alone or len(sizes) >= merged or max(*sizes, size) > SMALL_ROWS


class MergingReplica(JobReplica):
    """P1 with merged jobs, numbered by the first transaction."""

    merged = MERGED_BY_DEFAULT

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.members: dict[TransactionId, tuple[Transaction, ...]] = {}

    def on_job_list_short(self) -> None:
        """Compose jobs into J."""
        while self.next_entry < len(self.entries) and self.coordinator.has_room:
            members = [self.take_entry()]
            while self.next_entry < len(self.entries) and self.takes(
                members, self.entries[self.next_entry].transaction
            ):
                members.append(self.take_entry())
            job = merged_job(members)
            self.members[job.id] = tuple(members)
            self.coordinator.append(job)

    def takes(self, members: Sequence[Transaction], following: Transaction | None) -> bool:
        """Return whether it accepts the next."""
        if following is None:
            return False
        # A row inserted and deleted in one job has no change to apply.
        fresh = {item_of(row) for one in members for row in one.rows if row.before is None}
        cancels = any(row.after is None and item_of(row) in fresh for row in following.rows)
        is_alone = cancels or following.is_barrier or members[-1].is_barrier
        sizes = [len(one.rows) for one in members]
        return not is_full(sizes, len(following.rows), is_alone=is_alone, merged=self.merged)

    def on_pop(self, worker: Worker) -> None:
        """Record the last begun transaction."""
        super().on_pop(worker)
        self.furthest = max(self.furthest, self.members[worker.job_id][-1].id)

    def on_engine_commit(self, worker: Worker) -> None:
        """Commit all; each row's last writer owns it."""
        members = self.members[worker.job_id]
        for change in self.store.pending.get(worker.job_id, ()):
            change.version = change.version._replace(writer=last_writer(members, change.item))
        super().on_engine_commit(worker)
        self.executed.extend(one.id for one in members[1:])

    # Recording.

    def record(self, kind: EventKind, worker: Worker | None = None, **fields: object) -> None:
        """Record events per transaction, except lock waits."""
        if worker is not None and fields.get("outcome") is Outcome.LOCK_WAIT:
            assert worker.row is not None
            member, place = self.changes_of(worker)[0]
            fields |= {"transaction": member.id, "row": place}
        if worker is None or kind not in _OF_EACH:
            super().record(kind, worker, **fields)
            return
        members = self.members[worker.job_id]
        if kind is EventKind.BEGUN and len(members) > 1:
            fields["transactions"] = tuple(one.id for one in members)
        for one in members:
            super().record(kind, worker, **{**fields, "transaction": one.id})

    def record_row(self, worker: Worker, outcome: Outcome, **fields: object) -> None:
        """Record a change per writer."""
        for member, place in self.changes_of(worker):
            self.record(
                EventKind.ROW_APPLIED, worker, transaction=member.id, outcome=outcome, row=place,
                items=frozenset({item_of(member.rows[place])}), **fields,
            )  # fmt: skip

    def changes_of(self, worker: Worker) -> list[tuple[Transaction, int]]:
        """Return writers and indexes."""
        assert worker.row is not None
        item = item_of(worker.row)
        return [
            (member, place)
            for member in self.members[worker.job_id]
            for place, row in enumerate(member.rows)
            if item_of(row) == item
        ]


def merged_job(members: Sequence[Transaction]) -> Transaction:
    """Return one transaction without repeated rows."""
    if len(members) == 1:
        return members[0]
    rows: dict[Item, RowWrite] = {}
    for one in members:
        for row in one.rows:
            first = rows.get(item_of(row))
            rows[item_of(row)] = row if first is None else _one_change(first, row)
    write_set = frozenset(item for one in members for item in one.write_set)
    return replace(members[0], rows=tuple(rows.values()), write_set=write_set)


def _one_change(first: RowWrite, last: RowWrite) -> RowWrite:
    operation = (
        Operation.INSERT if first.before is None
        else Operation.DELETE if last.after is None else Operation.UPDATE
    )  # fmt: skip
    return replace(last, operation=operation, before=first.before)


def last_writer(members: Sequence[Transaction], item: Item) -> TransactionId:
    """Return the row's last writer."""
    return next(
        one.id for one in reversed(members) if any(item_of(row) == item for row in one.rows)
    )
