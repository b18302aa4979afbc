"""Every mutant of certification and its neighbours is caught by the property it names."""

from __future__ import annotations

import pytest

import properties.certification
import properties.garbage_collection
import properties.timestamps
import properties.view_change  # noqa: F401
import reference_impl.subjects  # noqa: F401
from paraply.hunt import hunt, system_of
from properties.registry import Expectation, property_named, registered_properties, verdict_over
from properties.search import random_schedules
from reference_impl.mutants import Mutant, mutant_named, register_mutant, registered_mutants
from reference_impl.mutations import (
    certification,
    garbage_collection,
    timestamps,
    trackers,
    view_changes,
)
from reference_impl.subject import subject_named
from vocabulary.errors import ParaplyError
from vocabulary.schedule import RecordedSchedule
from vocabulary.verdict import Verdict

FAMILIES = {
    module.FAMILY
    for module in (certification, garbage_collection, timestamps, trackers, view_changes)
}
MUTANTS = [mutant for mutant in registered_mutants() if mutant.family in FAMILIES]
CAUGHT = [mutant for mutant in MUTANTS if not mutant.survives_because]
EQUIVALENT = [mutant for mutant in MUTANTS if mutant.survives_because]
CONTROL_RUNS = 60
"""Runs of the original in a mutant's scope: enough to reach the situation, cheap for 60."""


def name_of(mutant: Mutant) -> str:
    return mutant.name


def test_there_are_mutants_of_every_family():
    assert len(CAUGHT) >= 40
    assert {mutant.family for mutant in CAUGHT} == FAMILIES


@pytest.mark.parametrize("mutant", CAUGHT, ids=name_of)
def test_mutant_is_caught_by_the_property_it_names(mutant):
    quarry = hunt(mutant, property_named(mutant.caught_by))
    assert quarry is not None, f"{mutant.name} survived"
    # What was found replays from its choices alone.
    found = quarry.counterexample
    replayed = mutant.subject.run(RecordedSchedule(found.choices), quarry.workload)
    assert replayed.events == found.history.events
    assert property_named(mutant.caught_by).violations(replayed) == found.violations


@pytest.mark.parametrize("mutant", CAUGHT, ids=name_of)
def test_original_keeps_what_the_mutant_breaks(mutant):
    original = subject_named(mutant.subject.name)
    prop = property_named(mutant.caught_by)
    dialect = original.dialect_of(mutant.workload)
    assert mutant.caught_by not in original.breaks.get(dialect, frozenset())
    system = system_of(original, mutant.workload)
    histories = [system(schedule) for schedule in random_schedules(0, CONTROL_RUNS)]
    assert verdict_over(histories, prop) is not Verdict.VIOLATED


@pytest.mark.parametrize("mutant", EQUIVALENT, ids=name_of)
def test_equivalent_mutant_breaks_no_safety_property(mutant):
    known = mutant.subject.breaks.get(mutant.subject.dialect_of(mutant.workload), frozenset())
    system = system_of(mutant.subject, mutant.workload)
    histories = [system(schedule) for schedule in random_schedules(0, 1_000)]
    for prop in registered_properties():
        if prop.expectation is Expectation.ALWAYS and prop.is_safety and prop.name not in known:
            assert verdict_over(histories, prop) is not Verdict.VIOLATED, prop.name


def test_mutant_is_registered_once():
    with pytest.raises(ValueError, match="registered twice"):
        register_mutant(MUTANTS[0])


def test_unknown_mutant_names_the_command_that_lists_them():
    with pytest.raises(ParaplyError, match="P408") as raised:
        mutant_named("does_everything_right")
    assert "paraply list mutants" in raised.value.remedy
