"""The machine of a group, in every safe dialect, and what it finds in faulty groups."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.registries import mutant_named, property_named, registered_properties
from properties.machines.group import GroupMachine
from properties.registry import Expectation
from reference_impl.group.subject import GROUP
from tests.machines.systems import ReferenceGroup
from tests.machines.test_certifier_machine import AREAS, HUNT

DEEPER = settings(HUNT, max_examples=1_500, stateful_step_count=30)


def machine_of(dialect, *, judged=None, **changes):
    """Return a machine class bound to the reference group."""
    known = GROUP.breaks.get(dialect, frozenset())
    properties = judged or [
        prop
        for prop in registered_properties()
        if prop.expectation is Expectation.ALWAYS and prop.area in AREAS and prop.name not in known
    ]

    assert properties

    class Bound(GroupMachine):
        def make(self):
            return ReferenceGroup(dialect, **changes)

    Bound.judged = properties
    return Bound


@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_0", "mysql_8_3", "mysql_8_4"])
def test_no_order_of_events_breaks_the_group(dialect):
    run_state_machine_as_test(machine_of(dialect), settings=settings(stateful_step_count=30))


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
        judged=[property_named(mutant.caught_by)],
        parts=mutant.subject.parts,
        group=mutant.subject.group_class,
    )
    with pytest.raises(AssertionError, match=f"not {mutant.caught_by}"):
        run_state_machine_as_test(machine, settings=DEEPER)
