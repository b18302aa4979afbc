"""The machine of a group, in every safe dialect, and what it finds in faulty groups."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.group import GroupMachine
from paraply.reference_impl.group.subject import GROUP
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.events import EventKind
from tests.machines.hunting import Hunt, assert_breaks, bound, judged_at_the_end, promises_of
from tests.machines.systems import ReferenceGroup

HUNT = Hunt(steps=30)


def machine_of(dialect, *, group=ReferenceGroup, judged=None):
    """Return a machine class bound to the reference group."""
    return bound(GroupMachine, lambda: group(dialect), judged or promises_of(GROUP, dialect))


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_0", "mysql_8_3", "mysql_8_4", "mysql_9_7"])
def test_no_order_of_events_breaks_the_group(dialect):
    machine = judged_at_the_end(machine_of(dialect))
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=30))


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "empty_set_counts_as_first",
        "messages_are_counted_not_members",
        "snapshot_is_what_was_certified",
        "joiner_numbers_from_executed",
        "joiner_starts_before_recovery_is_done",
        "recovery_stops_before_the_view_change",
        "round_purges_everything",
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    machine = machine_of(
        mutant.workload.dialect or "wl8440",
        group=mutant.module("tests.machines.systems").ReferenceGroup,
        judged=[property_named(mutant.caught_by)],
    )
    assert_breaks(machine, mutant.caught_by, HUNT)


def test_story_is_judged_before_its_end():
    story = machine_of("wl8440", judged=[NOTHING_IS_SUBMITTED])()
    story.nothing_is_broken_so_far()
    story.client_writes("r1", ("a",))
    with pytest.raises(AssertionError, match="not nothing_is_submitted"):
        story.nothing_is_broken_so_far()


NOTHING_IS_SUBMITTED = replace(
    property_named("first_certified_wins"),
    name="nothing_is_submitted",
    check=lambda history: list(history.events_of(EventKind.SUBMITTED)),
)
