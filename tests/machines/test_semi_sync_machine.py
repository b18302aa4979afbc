"""The machine of the semi-sync source, in every design, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.semi_sync import SemiSyncMachine
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.registries import mutant_named, property_named, registered_mutants
from tests.machines.hunting import Hunt, assert_breaks, assert_reaches, bound, promises_of
from tests.machines.semi_sync_system import ReferenceServers

HUNT = Hunt(steps=25)

NEEDS_ITS_OWN_SEARCH = {
    # Four replicas must reply in one order between three groups: test_acknowledgements compares
    # the count itself, and test_mutants finds it in random runs.
    "least_slot_is_the_last_smaller",
    # In a story every replica is up again before one is promoted.
    "too_few_replicas_are_asked",
}
MUTANTS = [
    mutant.name
    for mutant in registered_mutants()
    if mutant.family == "semi-sync" and mutant.name not in NEEDS_ITS_OWN_SEARCH
]
LONG_HUNTS = {
    "mutexes_are_not_chained",
    "relay_log_is_discarded_at_restart",
    "stage_mutex_is_taken_before_release",
    "truncation_leaves_one",
}
"""Ten seconds or more each, and found by the search of the reference, too."""
KEPT_OPTIONS = (
    "acknowledgements", "dump_takes_lock_log", "waits_without_replicas", "abandon_by",
    "shutdown_waits",
)  # fmt: skip
"""What a mutant needs of the design; how often things happen is the machine's to say."""
COMMITTED = 8
"""Commits before the story of a mutant that needs a long log."""


def fewer():
    """Return settings for a fifth of the stories that the profile asks for: there are ten tests."""
    return settings(max_examples=settings().max_examples // 5)


@pytest.mark.long
@pytest.mark.parametrize("dialect", SEMI_SYNC.dialects)
def test_no_story_breaks_what_a_design_promises(dialect):
    machine = bound(
        SemiSyncMachine, lambda: ReferenceServers(dialect), promises_of(SEMI_SYNC, dialect)
    )
    run_state_machine_as_test(machine, settings=fewer())


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"acknowledgements": 2},
        {"waits_without_replicas": False, "silent_crashes": True},
        {"shutdown_waits": True, "rotation_waits": True},
    ],
    ids=str,
)
def test_no_story_breaks_the_safe_design_with_other_settings(options):
    machine = bound(
        SemiSyncMachine,
        lambda: ReferenceServers("after_sync", **options),
        promises_of(SEMI_SYNC, "after_sync"),
    )
    run_state_machine_as_test(machine, settings=fewer())


@pytest.mark.long(quick=9)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name in LONG_HUNTS else ())
        for name in MUTANTS
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    workload = mutant.workload
    options = {one: workload.options[one] for one in KEPT_OPTIONS if one in workload.options}
    committed = COMMITTED if workload.transactions > COMMITTED else 0
    servers = mutant.module(ReferenceServers.__module__).ReferenceServers

    def make():
        return servers(workload.dialect, workload.members, committed, **options)

    machine = bound(SemiSyncMachine, make, [property_named(mutant.caught_by)])
    assert_breaks(machine, mutant.caught_by, HUNT)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    "situation",
    ["commit_stages_overlap", "semi_sync_comes_back_on", "source_is_lost_after_a_read",
     "source_recovers_unacknowledged"],
)  # fmt: skip
def test_machine_reaches_what_the_properties_speak_of(situation):
    machine = bound(SemiSyncMachine, ReferenceServers, [])
    assert_reaches(machine, situation, HUNT)
