"""Mutants of configured limits, failing rows and counted groups."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import replace
from typing import Any

from paraply.reference_impl.mariadb.driver import Settings
from paraply.reference_impl.mariadb.groups import EventGroup
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.subject import ParallelModesSubject, Parts
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.history import OptionValue


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
