"""Appliers whose coordinator waits longer than it must."""

from __future__ import annotations

from paraply.reference_impl.applier.coordinator import LogicalClock
from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.sleeping import SleepingReplica
from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.mutations.applier.scheduling import applier_mutant
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction

FAMILY = "needless waits"
PROMPT = "prompt_logical_clock"


class OneTooLate(LogicalClock):
    """Waits for LC + 1 too."""

    def has_committed_up_to(self, last_committed: int) -> bool:
        """Compare with LC + 1."""
        return super().has_committed_up_to(last_committed + 1)


class EveryNumberIsAGap(LogicalClock):
    """Each transaction opens a group."""

    def is_gap(self, timestamp: LogicalTimestamp) -> bool:
        """Return True."""
        return True


class SessionsHaveTheirWorker(Replica):
    """The coordinator waits for the worker of the transaction's session."""

    def worker_for(self, transaction: Transaction) -> Worker | None:
        """Ignore other idle workers."""
        if any(one.job.session == transaction.session for one in self.busy_workers):
            return None
        return super().worker_for(transaction)


class SleepsForTheOneBefore(SleepingReplica):
    """The coordinator sleeps until the previous transaction has committed."""

    def must_wait_for_mark(self) -> Transaction | None:
        """Sleep while anything is open."""
        waiting = super().must_wait_for_mark()
        is_read = self.next_entry == len(self.entries)
        following = None if is_read else self.entries[self.next_entry].transaction
        if waiting is not None or following is None or self.coordinator.is_idle:
            return waiting
        assert isinstance(self.coordinator, LogicalClock)
        opens_group = self.coordinator.opens_group(self.coordinator.usable(following.timestamp))
        return None if opens_group else following


applier_mutant(
    "low_water_mark_must_exceed_last_committed",
    family=FAMILY,
    source="Mts_submode_logical_clock::wait_for_last_committed_trx: clock_leq",
    fault="a transaction waits for the one after its last_committed, too",
    caught_by="transactions_start_as_soon_as_they_may",
    parts=ApplierParts(logical_clock=OneTooLate),
    dialect=PROMPT,
)
applier_mutant(
    "every_number_counts_as_a_gap",
    family=FAMILY,
    source="Mts_submode_logical_clock::schedule_next_event: gap_successor",
    fault="each transaction waits until all before it have committed",
    caught_by="transactions_start_as_soon_as_they_may",
    parts=ApplierParts(logical_clock=EveryNumberIsAGap),
    dialect=PROMPT,
)
applier_mutant(
    "sessions_have_their_worker",
    family=FAMILY,
    source="Mts_submode_logical_clock::get_free_worker: any idle worker",
    fault="a transaction waits for the worker of its session while another one is idle",
    caught_by="transactions_start_as_soon_as_they_may",
    parts=ApplierParts(replica=SessionsHaveTheirWorker),
    dialect=PROMPT,
)
applier_mutant(
    "coordinator_sleeps_for_the_one_before",
    family=FAMILY,
    source="Mts_submode_logical_clock::wait_for_last_committed_trx",
    fault="the coordinator sleeps though the low-water mark has reached last_committed",
    caught_by="coordinators_sleep_below_the_mark_only",
    parts=ApplierParts(sleeping_replica=SleepsForTheOneBefore),
    transactions=6,
    rows=6,
    sleeps=True,
    workers=3,
)
