"""The machine of the parallel applier, in every dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.exploring import properties_of
from paraply.registries import mutant_named, property_named
from properties.machines.applier import ApplierMachine
from properties.registry import Expectation
from reference_impl.applier.subject import APPLIER
from tests.machines.applier_system import ReferenceApplier, workload_of

HUNT = settings(
    max_examples=1_000,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=False,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Deep enough for every fault below; not shrunk, since all that is asked is whether it is found."""


def machine_of(workload, *, parts=None, judged=None):
    """Return a machine class bound to the reference applier."""
    known = APPLIER.breaks.get(workload.dialect, frozenset())
    properties = judged or [
        prop
        for prop in properties_of(APPLIER)
        if prop.expectation is Expectation.ALWAYS and prop.name not in known
    ]
    assert properties

    class Bound(ApplierMachine):
        def make(self, program):
            return ReferenceApplier(program, workload, parts)

    Bound.judged = properties
    return Bound


@pytest.mark.parametrize("dialect", APPLIER.dialects)
def test_no_order_of_steps_breaks_the_applier(dialect):
    run_state_machine_as_test(machine_of(workload_of(dialect)))


def test_no_order_of_steps_breaks_an_applier_that_recovers_by_positions():
    run_state_machine_as_test(machine_of(workload_of("logical_clock", recovery="positions")))


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
    machine = machine_of(
        workload, parts=mutant.subject.parts, judged=[property_named(mutant.caught_by)]
    )
    with pytest.raises(AssertionError, match=f"not {mutant.caught_by}"):
        run_state_machine_as_test(machine, settings=HUNT)


@pytest.mark.parametrize(
    "name", ["engine_commits_follow_the_log", "sessions_keep_their_order", "readers_see_prefixes"]
)
def test_unordered_applier_is_found_to_break_what_it_is_known_to_break(name):
    machine = machine_of(workload_of("logical_clock_unordered"), judged=[property_named(name)])
    with pytest.raises(AssertionError, match=f"not {name}"):
        run_state_machine_as_test(machine, settings=HUNT)


def test_machine_lets_transactions_overlap():
    """Without this the machine would have shown nothing."""

    class NeverOverlaps(ApplierMachine):
        def make(self, program):
            return ReferenceApplier(program, workload_of("logical_clock"))

        def teardown(self):
            super().teardown()
            situation = property_named("two_transactions_overlap")
            assert not situation.witness(self.replica.history()), "they overlap"

    with pytest.raises(AssertionError, match="they overlap"):
        run_state_machine_as_test(NeverOverlaps, settings=HUNT)
