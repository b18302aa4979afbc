"""The machine of MariaDB's parallel modes, in every dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.exploring import properties_of
from paraply.registries import mutant_named, property_named
from properties.machines.parallel_modes import ParallelModesMachine
from properties.registry import Expectation
from reference_impl.mariadb.subject import MARIADB_PARALLEL
from tests.machines.parallel_modes_system import ReferenceReplica, workload_of

HUNT = settings(
    max_examples=8_000,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=False,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Deep enough for every fault below; not shrunk, since all that is asked is whether it is found.

What Hypothesis generates depends on the modules that are imported, so one count that happens to
suffice is not enough."""


def machine_of(workload, *, parts=None, judged=None):
    """Return a machine class bound to the reference replica."""
    known = MARIADB_PARALLEL.breaks.get(workload.dialect, frozenset())
    properties = judged or [
        prop
        for prop in properties_of(MARIADB_PARALLEL)
        if prop.expectation is Expectation.ALWAYS and prop.name not in known
    ]
    assert properties

    class Bound(ParallelModesMachine):
        def make(self, program):
            return ReferenceReplica(program, workload, parts)

    Bound.judged = properties
    return Bound


@pytest.mark.parametrize("dialect", MARIADB_PARALLEL.dialects)
def test_no_order_of_steps_breaks_a_mode(dialect):
    run_state_machine_as_test(machine_of(workload_of(dialect)))


def test_no_order_of_steps_gives_a_domain_too_many_workers():
    run_state_machine_as_test(machine_of(workload_of("optimistic_by_schema", domain_workers=1)))


@pytest.mark.parametrize(
    "name",
    [
        "commit_start_is_marked_at_begin",
        "binlog_queue_takes_anybody",
        "kill_is_lost_in_commit",
        "prior_failure_is_not_asked",
        "retry_does_not_wait",
        "row_waits_are_not_reported",
        "speculative_error_is_final",
        "wait_overwrites_the_error",
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    workload = workload_of(mutant.workload.dialect, **mutant.workload.options)
    machine = machine_of(
        workload, parts=mutant.subject.parts, judged=[property_named(mutant.caught_by)]
    )
    with pytest.raises(AssertionError, match=f"not {mutant.caught_by}"):
        run_state_machine_as_test(machine, settings=HUNT)


@pytest.mark.parametrize(
    "situation",
    [
        "commit_start_is_revoked",
        "error_meets_later_transactions",
        "waiting_transaction_joins_the_group",
        "conflicting_transactions_are_applied",
    ],
)
def test_machine_reaches_what_the_properties_speak_of(situation):
    """Without this the machine would have shown nothing."""

    class NeverReaches(ParallelModesMachine):
        def make(self, program):
            return ReferenceReplica(program, workload_of("conservative"))

        def teardown(self):
            super().teardown()
            reached = property_named(situation).witness(self.replica.history())
            assert not reached, "reached"

    with pytest.raises(AssertionError, match="reached"):
        run_state_machine_as_test(NeverReaches, settings=HUNT)
