"""Row locks against commit order: waits, deadlock kills, rollback and retry.

Row queues are first in, first out. The engine reports each wait and kills a holder that follows its
waiter in the domain's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.mariadb.committing import CommittingDriver
from paraply.reference_impl.mariadb.groups import EventGroup, Speculation, Stage
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.write_set import Item

DEADLOCK_KILL = "deadlock kill"


class KillRequest(NamedTuple):
    """The victim and the waiter."""

    victim: EventGroup
    attempt: int
    waiter: EventGroup


class LockingDriver(CommittingDriver):
    """Driver with row waits and rollbacks."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.waiters: list[EventGroup] = []
        self.kills: list[KillRequest] = []
        """Undelivered requests."""

    # Locks.

    def lock_beside(self, group: EventGroup) -> bool:
        """Take the extra lock first."""
        item = self.extra_locks.get(group.id)
        if item is None or group.next_row:
            return True
        return self.lock(group, item)

    def lock(self, group: EventGroup, item: Item) -> bool:
        """Lock an item, or queue."""
        holder = self.store.lock(group.id, item)
        if holder is None:
            return True
        group.waits_for_row = item
        self.waiters.append(group)
        self.record(
            EventKind.ROW_APPLIED, group, outcome=Outcome.LOCK_WAIT, other=holder,
            row=group.next_row if item in group.transaction.write_set else None,
            items=frozenset({item}),
        )  # fmt: skip
        self.on_wait_reported(group)
        return False

    def holder_for(self, group: EventGroup) -> EventGroup | None:
        """Return the awaited row's holder."""
        if group.waits_for_row is None:
            return None
        holder = self.store.holders.get(group.waits_for_row)
        return next((one for one in self.under_way if one.id == holder), None)

    def on_locks_freed(self) -> None:
        """Grant free rows; report other waits."""
        for waiter in list(self.waiters):
            assert waiter.waits_for_row is not None
            if waiter.waits_for_row not in self.store.holders:
                self.store.lock(waiter.id, waiter.waits_for_row)
                self.waiters.remove(waiter)
                waiter.waits_for_row = None
            else:
                self.on_wait_reported(waiter)

    # Deadlock kills.

    def on_wait_reported(self, waiter: EventGroup) -> None:
        """Kill the holder or a cycle's victim."""
        holder = self.holder_for(waiter)
        if holder is None:
            return
        victim = self.cycle_victim(waiter)
        if victim is not None:
            self.on_temporary_error(victim, "deadlock")
        elif self.must_kill(holder, waiter):
            request = KillRequest(holder, holder.attempt, waiter)
            if request not in self.kills and holder.killed_by is None:
                self.kills.append(request)

    def must_kill(self, holder: EventGroup, waiter: EventGroup) -> bool:
        """Return whether the holder must, or might, commit later.

        Domains have no common order; a speculating holder dies too (MDEV-33798).
        """
        if holder.entry is waiter.entry:
            return waiter.sub_id < holder.sub_id
        return holder.speculation is Speculation.OPTIMISTIC

    def cycle_victim(self, waiter: EventGroup) -> EventGroup | None:
        """Return a row cycle's latest group."""
        cycle = [waiter]
        while (holder := self.holder_for(cycle[-1])) is not None and holder not in cycle:
            cycle.append(holder)
        if holder is not waiter:
            return None
        return max(cycle, key=lambda group: group.sub_id)

    def kill_steps(self) -> Iterator[Step]:
        """Yield the next kill's delivery."""
        if self.kills:
            yield Step("deadlock kill", self.on_kill)

    def on_kill(self) -> None:
        """Kill the victim's attempt; one that is queued for group commit commits all the same."""
        victim, attempt, waiter = self.kills.pop(0)
        if victim.attempt == attempt:
            victim.killed_by = waiter.id

    def on_killed(self, group: EventGroup) -> None:
        """Handle the kill at an event or wait."""
        self.on_temporary_error(group, DEADLOCK_KILL)

    # Rollback and retry.

    def on_temporary_error(self, group: EventGroup, note: str) -> None:
        """Revoke the commit start, then roll back."""
        if group.attempt > self.settings.retries_max:
            self.on_error(group, note)
            return
        self.revoke_commit_start(group)
        group.undone_because = note
        if group.waits_for_row is not None:
            self.waiters.remove(group)
            group.waits_for_row = None
        group.stage = Stage.UNDOING

    def on_rollback(self, group: EventGroup) -> None:
        """Undo the attempt."""
        is_killed = group.undone_because == DEADLOCK_KILL
        self.record(
            EventKind.ROLLED_BACK, group, note=group.undone_because,
            other=group.killed_by if is_killed else None,
        )  # fmt: skip
        self.roll_back(group)
        group.stage = Stage.RETRYING

    def roll_back(self, group: EventGroup) -> None:
        """Undo changes and leave lock queues."""
        if group in self.waiters:
            self.waiters.remove(group)
        group.waits_for_row = None
        self.store.roll_back(group.id)
        self.on_locks_freed()

    def may_retry(self, group: EventGroup) -> bool:
        """Return whether kills and earlier groups ended."""
        is_awaited = any(request.victim is group for request in self.kills)
        return self.prior_is_done(group) and not is_awaited

    def on_retry(self, group: EventGroup) -> None:
        """Retry, unless an earlier group failed."""
        if self.prior_has_failed(group):
            group.has_failed, group.stage = True, Stage.FAILING
            return
        group.begin_again()
        self.record(EventKind.RETRIED, group)
        group.stage = Stage.APPLYING
        self.record(EventKind.BEGUN, group)

    def on_error(self, group: EventGroup, note: str) -> None:
        """Give up for good."""
        raise NotImplementedError

    def record_row(self, group: EventGroup, row: RowWrite, outcome: Outcome) -> None:
        """Record a row change's result."""
        self.record(
            EventKind.ROW_APPLIED, group, outcome=outcome, row=group.next_row,
            items=frozenset({item_of(row)}),
        )  # fmt: skip
