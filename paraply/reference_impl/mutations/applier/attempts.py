"""Appliers whose workers confuse the steps of an attempt."""

from __future__ import annotations

from collections.abc import Callable

from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutations.applier.scheduling import applier_mutant

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
