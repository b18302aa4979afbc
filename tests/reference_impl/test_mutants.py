"""Every seeded fault is caught by the property it names, and only the fault is."""

from __future__ import annotations

import pytest

from paraply.counterexamples.hunt import hunt
from paraply.exploring.mutation_testing import (
    RUNS_OF_AN_EQUIVALENT,
    original_breaks,
    safety_properties_broken_by,
)
from paraply.properties.registry import Expectation
from paraply.registries import mutant_named, property_named, registered_mutants

MUTANTS_MIN = 40

CAUGHT = [mutant.name for mutant in registered_mutants() if not mutant.survives_because]
# Minimising a run of the composed system takes a minute; test_composed searches without it.
HUNTED = [name for name in CAUGHT if mutant_named(name).of != "composed"]
HUNTED_FOR_LONG = {
    "blocks_leave_holes", "blocks_survive_the_view_change", "broadcast_bypasses_the_queue",
    "departed_member_must_report",
}  # fmt: skip
FIRST_OF_FAMILIES = {
    mutant.family: mutant.name
    for mutant in reversed(registered_mutants())
    if mutant.caught_by and mutant.name not in HUNTED_FOR_LONG
}.values()
EQUIVALENT = [mutant.name for mutant in registered_mutants() if mutant.survives_because]


def test_enough_mutants_are_registered():
    print(f"{len(CAUGHT)} mutants and {len(EQUIVALENT)} equivalent ones")
    assert len(CAUGHT) >= MUTANTS_MIN


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FIRST_OF_FAMILIES else pytest.mark.long(each=1))
        for name in HUNTED
    ],
)
def test_mutant_is_caught_and_its_original_is_not(name):
    mutant = mutant_named(name)
    prop = property_named(mutant.caught_by)
    quarry = hunt(mutant, prop, seed=0)
    assert quarry is not None, f"{name} survives {prop.name}"
    assert prop.violations(quarry.counterexample.history)
    found = original_breaks(mutant, prop, runs=quarry.runs)
    assert found is None, f"the subject without the fault breaks {prop.name}: {found.violations}"


@pytest.mark.long
@pytest.mark.parametrize("name", EQUIVALENT)
def test_equivalent_mutant_is_caught_by_no_safety_property(name):
    broken = safety_properties_broken_by(mutant_named(name), seed=0, runs=RUNS_OF_AN_EQUIVALENT)
    assert broken == ()


@pytest.mark.parametrize("name", [*CAUGHT, *EQUIVALENT])
def test_mutant_says_what_it_is(name):
    mutant = mutant_named(name)
    assert mutant.family
    assert mutant.source
    assert mutant.fault
    assert bool(mutant.caught_by) is not bool(mutant.survives_because)
    if mutant.caught_by:
        assert property_named(mutant.caught_by).expectation is Expectation.ALWAYS
