"""Mutants of configured limits, failing rows and counted groups."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mariadb.driver import Settings
from paraply.reference_impl.mariadb.groups import EventGroup
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.subject import ParallelModesSubject, Parts
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.recorder import Recorder
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


class OneRetryMore(ParallelReplica):
    """The first attempt counts as no attempt."""

    def __init__(self, log: Any, recorder: Recorder, settings: Settings, **named: Any) -> None:
        more = replace(settings, retries_max=settings.retries_max + 1)
        super().__init__(log, recorder, more, **named)


mutate(
    "one_retry_more_is_made",
    "rpl_parallel.cc: retry_event_group, slave_trans_retries",
    "A transaction is tried once more than configured.",
    "attempts_end_with_the_configured_retries",
    ParallelModesSubject(Parts(replica=OneRetryMore)),
    retries_max=1,
    timeouts=3,
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


class CountsDefinitionsTwice(ParallelReplica):
    """A DDL counts as two groups."""

    def on_statement(self, group: EventGroup) -> None:
        self.groups_made += 1
        super().on_statement(group)


mutate(
    "definition_counts_as_two_groups",
    "MariaDB manual, Binlog_group_commits",
    "The count of commit groups passes one over at each DDL.",
    "commit_groups_are_counted_one_by_one",
    ParallelModesSubject(Parts(replica=CountsDefinitionsTwice)),
)
