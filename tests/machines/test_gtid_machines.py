"""The machines of positions and of fail-over, and what they find in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.gtid import FailoverMachine, PositionMachine
from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS
from paraply.reference_impl.mariadb_gtid.topology_subject import GTID_TOPOLOGY
from paraply.registries import mutant_named, property_named
from tests.machines import gtid_systems
from tests.machines.hunting import Hunt, assert_breaks, assert_reaches, bound, promises_of

STEPS = settings(max_examples=40, stateful_step_count=40)
HUNT = Hunt(steps=40)


def position_machine(dialect, *, systems=gtid_systems, judged=None):
    return bound(
        PositionMachine,
        lambda domains: systems.ReferenceReplica(domains, dialect),
        judged or promises_of(GTID_POSITIONS, dialect),
    )


def failover_machine(dialect, *, systems=gtid_systems, judged=None):
    return bound(
        FailoverMachine,
        lambda topology: systems.ReferenceServers(topology, dialect),
        judged or promises_of(GTID_TOPOLOGY, dialect),
    )


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["table", "binlog", "single_row"])
def test_no_crash_between_any_two_steps_parts_position_and_data(dialect):
    run_state_machine_as_test(position_machine(dialect), settings=STEPS)


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["strict", "silent"])
def test_no_order_of_events_breaks_source_replicas_or_ring(dialect):
    run_state_machine_as_test(failover_machine(dialect), settings=STEPS)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "position_row_commits_before",
        "cleanup_deletes_the_newest_row",
        "recovery_commits_the_unlogged",
        "sub_ids_follow_execution",
    ],
)
def test_machine_finds_the_fault_of_a_mutant_of_positions(name):
    mutant = mutant_named(name)
    machine = position_machine(
        mutant.workload.dialect, systems=mutant.module(gtid_systems.__name__),
        judged=[property_named(mutant.caught_by)],
    )  # fmt: skip
    assert_breaks(machine, mutant.caught_by, HUNT)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "start_includes_the_gtid_asked_for",
        "start_is_one_group_late",
        "binlog_state_is_lost_in_a_crash",
        "own_transactions_come_back",
        "half_written_group_counts",
        "purged_start_is_accepted",
        "first_file_left_is_taken_for_purged",
        "purge_takes_a_file_in_use",
    ],
)
def test_machine_finds_the_fault_of_a_mutant_of_topologies(name):
    mutant = mutant_named(name)
    machine = failover_machine(
        mutant.workload.dialect, systems=mutant.module(gtid_systems.__name__),
        judged=[property_named(mutant.caught_by)],
    )  # fmt: skip
    assert_breaks(machine, mutant.caught_by, HUNT)


@pytest.mark.long
@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("binlog_unsynced", "no_event_is_applied_twice"),
        ("relay_log_info", "position_covers_all_that_is_applied"),
    ],
)
def test_unsafe_method_is_found_to_break_what_it_is_known_to_break(dialect, name):
    machine = position_machine(dialect, judged=[property_named(name)])
    assert_breaks(machine, name, HUNT)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("machine", "situation"),
    [
        (position_machine("table"), "one_group_has_two_of_a_domain"),
        (position_machine("table"), "crash_finds_a_transaction_half_done"),
        pytest.param(
            failover_machine("strict"), "a_replica_changes_its_source", marks=pytest.mark.nightly
        ),
        (failover_machine("strict"), "a_hole_is_logged"),
        (failover_machine("strict"), "purges_leave_what_replicas_read"),
        (failover_machine("strict"), "sources_have_what_follows_their_purge"),
    ],
)
def test_machine_reaches_the_interesting_situation(machine, situation):
    assert_reaches(machine, situation, HUNT)
