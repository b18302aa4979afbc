"""Mutants between a member's certifier, its relay log and its workers."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.composed.applier import Applier, CertificationOrder
from paraply.reference_impl.group.messages import RelayEntry
from paraply.reference_impl.mutations.composed.registering import mutate
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId


class DropsLastCommitted(Applier):
    """The relay log has the least last_committed."""

    def receive(self, entry: RelayEntry) -> None:
        lowest = min(entry.timestamp.last_committed, 1)
        stamp = LogicalTimestamp.as_recorded(lowest, entry.timestamp.sequence_number)
        super().receive(replace(entry, timestamp=stamp))


mutate(
    "composed_relay_log_drops_last_committed",
    "WL#8440, trx.LC in the relay log",
    "The relay log loses what a transaction has to wait for.",
    "members_start_as_they_stamped",
    DropsLastCommitted,
)


class KeepsPlaceOfSkipped(Applier):
    """A skipped transaction keeps its place in commit order."""

    def on_skip(self) -> None:
        transaction = self.entries[self.next_entry].transaction
        assert transaction is not None
        super().on_skip()
        self.commit_order.queue.insert(0, transaction.id)


mutate(
    "composed_skipped_transaction_keeps_its_place",
    "Commit_order_manager: a skipped transaction must leave the queue",
    "A joiner skips what recovery copied, and waits for its commit.",
    "members_end_at_rest",
    KeepsPlaceOfSkipped,
)


class KeepsSkippedInRelayLog(Applier):
    """A skipped transaction stays in the relay log."""

    def on_skip(self) -> None:
        kept = list(self.member.relay_log)
        super().on_skip()
        self.member.relay_log = kept


mutate(
    "composed_skipped_transaction_is_never_purged",
    "recovery ends when the relay log is applied",
    "A joiner that skips a transaction is never declared online.",
    "members_end_at_rest",
    KeepsSkippedInRelayLog,
)


class CommitsInAnyOrder(CertificationOrder):
    """Workers commit in any order."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        return True


class WithoutOrder(Applier):
    """The member's commit order binds clients only."""

    order_class = CommitsInAnyOrder


mutate(
    "composed_commit_order_binds_nobody",
    "replica_preserve_commit_order=ON",
    "Workers and clients commit as they come.",
    "members_commit_in_one_order",
    WithoutOrder,
)


class CountsDispatchedAsExecuted(Applier):
    """The executed set grows when a transaction is dispatched."""

    def on_dispatch(self, worker: Worker) -> None:
        super().on_dispatch(worker)
        self.member.executed |= {self.member.gtids[worker.job_id]}


mutate(
    "composed_dispatched_counts_as_executed",
    "gtid_executed grows at the engine commit",
    "A snapshot has a transaction that a worker has yet to apply.",
    "first_certified_wins",
    CountsDispatchedAsExecuted,
)
