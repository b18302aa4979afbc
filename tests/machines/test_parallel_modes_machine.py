"""The machine of MariaDB's parallel modes, in every dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.parallel_modes import ParallelModesMachine
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.registries import mutant_named, property_named
from tests.machines.hunting import Hunt, assert_breaks, assert_reaches, bound, promises_of
from tests.machines.parallel_modes_system import ReferenceReplica, workload_of

HUNT = Hunt(steps=30, stories=1_000)


def machine_of(workload, *, replica=ReferenceReplica, judged=None):
    """Return a machine class bound to a replica."""
    return bound(
        ParallelModesMachine,
        lambda program: replica(program, workload),
        judged or promises_of(MARIADB_PARALLEL, workload.dialect),
    )


def fewer():
    """Return settings for a third of the stories that the profile asks for: there are 13 tests."""
    return settings(max_examples=settings().max_examples // 3)


@pytest.mark.long
@pytest.mark.parametrize("dialect", MARIADB_PARALLEL.dialects)
def test_no_order_of_steps_breaks_a_mode(dialect):
    run_state_machine_as_test(machine_of(workload_of(dialect)), settings=fewer())


@pytest.mark.long
def test_no_order_of_steps_gives_a_domain_too_many_workers():
    machine = machine_of(workload_of("optimistic_by_schema", domain_workers=1))
    run_state_machine_as_test(machine, settings=fewer())


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    "name",
    [
        "commit_start_is_marked_at_begin",
        "binlog_queue_takes_anybody",
        pytest.param("kill_is_lost_in_commit", marks=pytest.mark.nightly),
        pytest.param("prior_failure_is_not_asked", marks=pytest.mark.nightly),
        "retry_does_not_wait",
        pytest.param("row_waits_are_not_reported", marks=pytest.mark.nightly),
        "speculative_error_is_final",
        "wait_overwrites_the_error",
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    workload = workload_of(mutant.workload.dialect, **mutant.workload.options)
    replica = mutant.module("tests.machines.parallel_modes_system").ReferenceReplica
    machine = machine_of(workload, replica=replica, judged=[property_named(mutant.caught_by)])
    assert_breaks(machine, mutant.caught_by, HUNT)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    "situation",
    [
        "conflicting_transactions_are_applied",
        "error_meets_later_transactions",
        pytest.param("waiting_transaction_joins_the_group", marks=pytest.mark.nightly),
        "commit_start_is_revoked",
    ],
)
def test_machine_reaches_what_the_properties_speak_of(situation):
    assert_reaches(machine_of(workload_of("conservative")), situation, HUNT)
