"""Appliers that miss some deadlocks of row locks and commit order."""

from __future__ import annotations

from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutations.applier.scheduling import ORDER, applier_mutant
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item


class CallsBackAtTheTurnOnly(Replica):
    """A holder yields only during its wait for its turn.

    The engine still breaks row cycles.
    """

    def must_yield(self, holder: Worker, *, to: Worker) -> bool:
        """Return whether a later holder awaits its turn."""
        return holder.stage is Stage.FINISHED and super().must_yield(holder, to=to)

    def on_row(self, worker: Worker) -> None:
        """Apply the row, then perhaps yield."""
        super().on_row(worker)
        for other in self.busy_workers:
            if self.holder_for(other) is worker and self.must_yield(worker, to=other):
                self.on_deadlock(worker, to=other)
                return

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait; break a row cycle."""
        super().on_lock_wait(worker, item, holder)
        waiters = [worker]
        while (following := self.holder_for(waiters[-1])) is not None:
            if following in waiters:
                first, *_, last = sorted(waiters, key=lambda one: one.job_id)
                self.on_deadlock(last, to=first)
                return
            waiters.append(following)

    def holder_for(self, worker: Worker) -> Worker | None:
        """Return the awaited row's holder."""
        if worker.waits_for_row is None:
            return None
        holder = self.store.holders.get(worker.waits_for_row)
        return next((one for one in self.busy_workers if one.job_id == holder), None)


class ForgetsWhatItWaitsFor(Replica):
    """A worker asks for its row again and again."""

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait, and forget it."""
        super().on_lock_wait(worker, item, holder)
        worker.waits_for_row = None


class CallsBackTheEarlier(Replica):
    """A holder yields to a later waiter."""

    def must_yield(self, holder: Worker, *, to: Worker) -> bool:
        """Return whether the holder commits before the waiter."""
        return super().must_yield(to, to=holder)


applier_mutant(
    "row_waiter_asks_again", family=ORDER, source="InnoDB: lock_wait_suspend_thread",
    fault="a worker that waits for a row does not sleep: it asks again while the holder holds it",
    caught_by="row_waits_last_until_the_holder_ends",
    parts=ApplierParts(replica=ForgetsWhatItWaitsFor), dialect="logical_clock_unordered",
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False, workers=3,
)  # fmt: skip
applier_mutant(
    "earlier_of_two_is_called_back", family=ORDER,
    source="Commit_order_manager::check_and_report_deadlock",
    fault="the earlier of two transactions is rolled back, and the later one keeps its locks",
    caught_by="commit_order_rolls_back_the_later", parts=ApplierParts(replica=CallsBackTheEarlier),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False, workers=3,
)  # fmt: skip
applier_mutant(
    "worker_that_waits_for_a_row_is_not_called_back", family=ORDER,
    source="MySQL 9.7.4 as seen by live runs (docs/live.md); MDEV-33798",
    fault="the first waits for a row of the third, the third for one of the second, and the second "
    "for its turn: nobody is called back",
    caught_by="applier_reaches_the_end", parts=ApplierParts(replica=CallsBackAtTheTurnOnly),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False, workers=3,
)  # fmt: skip
