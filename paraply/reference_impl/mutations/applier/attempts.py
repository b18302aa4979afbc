"""Appliers whose workers confuse the steps of an attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.source_log import Source
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutations.applier.scheduling import applier_mutant
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.write_set import Item

FAMILY = "attempts"


class BeginsNothing(Replica):
    """A worker changes rows outside a transaction of its own."""

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Skip the begin."""
        if worker.stage is Stage.ASSIGNED:
            worker.stage = Stage.APPLYING
        return super().step_of(worker)


applier_mutant(
    "worker_begins_no_transaction", family=FAMILY,
    source="WL#5569: slave_worker_exec_job_group",
    fault="a worker changes rows without a begin, so each change commits by itself",
    caught_by="attempts_take_their_steps_in_order", parts=ApplierParts(replica=BeginsNothing),
)  # fmt: skip


class DependsOnItself(Source):
    """Transactions depend on themselves."""

    def stamp(self, kind: TransactionKind, items: Sequence[Item]) -> LogicalTimestamp | None:
        """Depend on the transaction itself."""
        given = super().stamp(kind, items)
        if given is None or given.is_view_change:
            return given
        return LogicalTimestamp.as_recorded(given.sequence_number, given.sequence_number)


applier_mutant(
    "source_depends_on_itself", family=FAMILY, source="WL#7165: last_committed",
    fault="the log says that a transaction waits for its own commit",
    caught_by="logged_numbers_rise_above_last_committed",
    parts=ApplierParts(source=DependsOnItself), stamps="mysql_8_4",
)  # fmt: skip
