"""Mutants of configured limits, failing rows and counted groups."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.subject import ApplierSubject
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Subject, Workload
from paraply.reference_impl.wl4648.coordinator import GraphCoordinator
from paraply.reference_impl.wl4648.merging import MergingReplica
from paraply.reference_impl.wl4648.replica import JobReplica
from paraply.reference_impl.wl4648.subject import Scheme, Wl4648Subject
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.transactions import Transaction


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    subject: Subject,
    *,
    dialect: str = "",
    **options: OptionValue,
) -> None:
    """Register a mutant, mostly with default options."""
    register_mutant(
        written_mutant(
            name=name,
            family="configured limits",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=subject,
            workload=Workload(transactions=6, rows=3, dialect=dialect, options=options),
        )
    )


class OneWorkerMore(Replica):
    """The coordinator counts as no worker."""

    def __init__(self, *arguments: Any, workers: int, **named: Any) -> None:
        super().__init__(*arguments, workers=workers + 1, **named)


mutate(
    "one_worker_more_is_started",
    "slave_start_workers: replica_parallel_workers",
    "An applier starts one worker more than configured.",
    "workers_are_those_configured",
    ApplierSubject(ApplierParts(replica=OneWorkerMore)),
)


class MergesOneMore(MergingReplica):
    """A full job takes one more."""

    def takes(self, members: Sequence[Transaction], following: Transaction | None) -> bool:
        self.merged += 1
        takes = super().takes(members, following)
        self.merged -= 1
        return takes


mutate(
    "full_job_takes_one_more",
    "WL#4648, C4",
    "A job merges one transaction more than configured.",
    "jobs_have_at_most_the_configured_transactions",
    Wl4648Subject(
        Scheme(meaning="C4", replica=MergesOneMore, coordinator=GraphCoordinator),
    ),
    dialect="c4",
)


class PassesOverErrors(JobReplica):
    """Failing rows are passed over."""

    def on_error(self, worker: Worker) -> None:
        worker.next_row += 1
        if worker.row is None:
            worker.stage = Stage.FINISHED


mutate(
    "failing_row_is_passed_over",
    "replica_exec_mode=STRICT: an error stops the applier",
    "A worker goes on with the next row after one that failed.",
    "row_errors_end_the_attempt",
    Wl4648Subject(Scheme(meaning="C0", replica=PassesOverErrors)),
    dialect="c0",
)
