"""The machines of trackers, gap-free positions and retries, and the applier's with WL#4648."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.applier import ApplierMachine
from paraply.properties.machines.gap_free import GapFreeMachine
from paraply.properties.machines.retries import RetriesMachine
from paraply.properties.machines.trackers import TrackerMachine
from paraply.reference_impl.certification.retries import CERTIFIER_RETRIES
from paraply.reference_impl.mariadb_gtid.gap_free_subject import GAP_FREE
from paraply.reference_impl.source_subject import SOURCE_TRACKERS
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.registries import mutant_named, property_named
from tests.machines import gap_free_system, retries_system, tracker_system, wl4648_system
from tests.machines.applier_system import workload_of
from tests.machines.hunting import Hunt, assert_breaks, assert_reaches, bound, promises_of

STEPS = settings(max_examples=40, stateful_step_count=30)
HUNT = Hunt(steps=30)


def tracker_machine(dialect, *, systems=tracker_system, judged=None, flavours=True):
    return bound(
        TrackerMachine,
        lambda size: systems.ReferenceSource(dialect, size, flavours=flavours),
        judged or promises_of(SOURCE_TRACKERS, dialect),
    )


def gap_free_machine(dialect, *, systems=gap_free_system, judged=None):
    judges = judged or promises_of(GAP_FREE, dialect)
    return bound(GapFreeMachine, lambda: systems.ReferenceServers(dialect), judges)


def retries_machine(dialect, *, systems=retries_system, judged=None):
    judges = judged or promises_of(CERTIFIER_RETRIES, dialect)
    return bound(RetriesMachine, lambda: systems.ReferenceChannel(dialect), judges)


def scheme_machine(dialect, *, systems=wl4648_system, judged=None, **options):
    workload = workload_of(dialect, **options)
    judges = judged or promises_of(WL4648, dialect)
    return bound(ApplierMachine, lambda program: systems.ReferenceScheme(program, workload), judges)


SAFE = [
    *(pytest.param(tracker_machine, one, id=one) for one in SOURCE_TRACKERS.dialects),
    *(pytest.param(gap_free_machine, one, id=one) for one in GAP_FREE.dialects),
    *(pytest.param(retries_machine, one, id=one) for one in CERTIFIER_RETRIES.dialects),
    *(pytest.param(scheme_machine, one, id=one) for one in WL4648.dialects),
]


@pytest.mark.long
@pytest.mark.parametrize(("machine", "dialect"), SAFE)
def test_no_order_of_steps_breaks_what_a_dialect_promises(machine, dialect):
    run_state_machine_as_test(machine(dialect), settings=STEPS)


MUTANTS = {
    tracker_machine: ["cascades_are_ignored", "missing_keys_are_ignored", "sessions_are_forgotten",
                      "full_history_leaves_no_trace"],
    gap_free_machine: ["empty_transaction_gets_a_new_gtid", "filtered_transaction_is_dropped",
                       "executed_set_is_lost_at_restart", "purge_asks_no_replica"],
    retries_machine: ["executed_gtid_is_certified", "retry_is_refused"],
    scheme_machine: ["graph_has_one_edge_per_job", "workers_pop_the_tail",
                     "watermark_is_highest_committed", "last_row_is_not_handed_out"],
}  # fmt: skip
SYSTEMS = {
    tracker_machine: tracker_system,
    gap_free_machine: gap_free_system,
    retries_machine: retries_system,
    scheme_machine: wl4648_system,
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("machine", "name"), [(machine, name) for machine, names in MUTANTS.items() for name in names]
)
def test_machine_finds_the_fault_of_a_mutant(machine, name):
    mutant = mutant_named(name)
    dialect = mutant.subject.dialect_of(mutant.workload)
    faulty = machine(
        dialect,
        systems=mutant.module(SYSTEMS[machine].__name__),
        judged=[property_named(mutant.caught_by)],
    )
    assert_breaks(faulty, mutant.caught_by, HUNT)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("machine", "situation"),
    [
        (tracker_machine("writeset"), "conflicting_transactions_follow_each_other"),
        (gap_free_machine("filters_drop"), "executed_set_has_a_hole"),
        (scheme_machine("c3"), "two_transactions_overlap"),
    ],
)
def test_machine_reaches_the_interesting_situation(machine, situation):
    assert_reaches(machine, situation, HUNT)
