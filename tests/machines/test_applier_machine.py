"""The machine of the parallel applier, in every dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.applier import ApplierMachine
from paraply.reference_impl.applier.subject import APPLIER
from paraply.registries import mutant_named, property_named
from tests.machines import applier_system
from tests.machines.applier_system import workload_of
from tests.machines.hunting import Hunt, assert_breaks, assert_reaches, bound, promises_of

HUNT = Hunt(steps=30)


def machine_of(workload, *, system=applier_system, judged=None):
    """Return a machine class bound to the reference applier."""
    return bound(
        ApplierMachine,
        lambda program: system.ReferenceApplier(program, workload),
        judged or promises_of(APPLIER, workload.dialect),
    )


@pytest.mark.long
@pytest.mark.parametrize("dialect", APPLIER.dialects)
def test_no_order_of_steps_breaks_the_applier(dialect):
    run_state_machine_as_test(machine_of(workload_of(dialect)))


@pytest.mark.long
def test_no_order_of_steps_breaks_an_applier_that_recovers_by_positions():
    run_state_machine_as_test(machine_of(workload_of("logical_clock", recovery="positions")))


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "barrier_goes_to_any_worker",
        "begun_counts_as_executed",
        "commit_order_is_not_asked",
        "crash_keeps_unfinished_rows",
        "reader_sees_pending_rows",
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    workload = workload_of(mutant.workload.dialect, **mutant.workload.options)
    system = mutant.module("tests.machines.applier_system")
    machine = machine_of(workload, system=system, judged=[property_named(mutant.caught_by)])
    assert_breaks(machine, mutant.caught_by, HUNT)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["engine_commits_follow_the_log", "sessions_keep_their_order", "readers_see_prefixes"]
)
def test_unordered_applier_is_found_to_break_what_it_is_known_to_break(name):
    machine = machine_of(workload_of("logical_clock_unordered"), judged=[property_named(name)])
    assert_breaks(machine, name, HUNT)


def test_machine_lets_transactions_overlap():
    machine = machine_of(workload_of("logical_clock"))
    assert_reaches(machine, "two_transactions_overlap", HUNT)
