"""Small counterexamples: they still break the property, and what is said of them is so."""

import pytest

from paraply.counterexamples import hunt
from paraply.counterexamples.hunt import (
    RUNS_BELOW,
    Spotted,
    hunt_subject,
    oracles_of,
    system_of,
)
from paraply.counterexamples.shrinking import (
    Minimality,
    Shrinking,
    Smallest,
    make_small,
    minimality_of,
    shrink_workload,
)
from paraply.properties.search import random_schedules, search
from paraply.properties.shrinking import BreakingRun
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, property_named, subject_named
from paraply.vocabulary.schedule import Exploration, RecordedSchedule

MUTANTS = ("first_item_decides", "looks_past_the_blocked", "low_water_mark_is_highest_done")


def found_in(mutant, prop):
    system = system_of(mutant.subject, mutant.workload)
    found = search(system, prop, random_schedules(7, 3_000))
    assert found is not None
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_smallest_run_breaks_the_same_property_and_is_no_larger(name):
    mutant = mutant_named(name)
    prop = property_named(mutant.caught_by)
    found = found_in(mutant, prop)
    spotted = Spotted.of(mutant.workload, found)
    smallest = make_small(mutant.subject, prop, spotted, seed=7)
    system = system_of(mutant.subject, smallest.workload)
    again = system(RecordedSchedule(smallest.counterexample.choices))
    assert prop.violations(again)
    assert len(again.transactions) <= len(found.history.transactions)
    assert len(again.events) <= len(found.history.events)
    assert smallest.minimality is not None


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_one_minimal_run_cannot_lose_a_choice(name):
    mutant = mutant_named(name)
    prop = property_named(mutant.caught_by)
    spotted = Spotted.of(mutant.workload, found_in(mutant, prop))
    smallest = make_small(mutant.subject, prop, spotted, seed=7)
    if not smallest.minimality.is_one_minimal:
        pytest.fail(f"{name}: {smallest.minimality}")
    system = system_of(mutant.subject, smallest.workload)
    choices = smallest.counterexample.choices
    for place in range(len(choices)):
        shorter = system(RecordedSchedule(choices[:place] + choices[place + 1 :]))
        if prop.violations(shorter):
            mine = smallest.counterexample.history
            size = (len(mine.transactions), len(mine.events))
            assert (len(shorter.transactions), len(shorter.events)) >= size


def test_exhausted_means_that_no_run_below_breaks_it():
    mutant = mutant_named("first_item_decides")
    prop = property_named(mutant.caught_by)
    spotted = Spotted.of(mutant.workload, found_in(mutant, prop))
    smallest = make_small(mutant.subject, prop, spotted, seed=7)
    assert smallest.minimality.is_exhausted
    below = smallest.workload.__class__(
        **{
            **{name: getattr(smallest.workload, name)
               for name in ("rows", "members", "dialect", "options")},
            "transactions": smallest.workload.transactions - 1,
        }
    )  # fmt: skip
    exploration = Exploration()
    assert search(system_of(mutant.subject, below), prop, exploration) is None
    assert exploration.count == smallest.minimality.runs_below


@pytest.mark.long
def test_run_that_can_be_cut_is_not_called_one_minimal():
    mutant = mutant_named("looks_past_the_blocked")
    prop = property_named(mutant.caught_by)
    found = found_in(mutant, prop)
    raw = Smallest(workload=mutant.workload, counterexample=found)
    assert not minimality_of(mutant.subject, raw, prop).is_one_minimal


def test_workers_that_do_not_matter_are_taken_away():
    mutant = mutant_named("looks_past_the_blocked")
    prop = property_named(mutant.caught_by)
    quarry = hunt_subject(mutant.subject, mutant.workload, prop, seed=0)
    before = mutant.subject.options_of(quarry.workload)
    smallest = shrink_workload(
        mutant.subject,
        Smallest(workload=quarry.workload, counterexample=quarry.counterexample),
        prop,
    )
    after = mutant.subject.options_of(smallest.workload)
    assert after["workers"] <= before["workers"]
    assert prop.violations(smallest.counterexample.history)


def test_smaller_workload_is_that_of_a_breaking_random_run():
    mutant = mutant_named("looks_past_the_blocked")
    subject, prop = mutant.subject, property_named(mutant.caught_by)
    found = Spotted.of(mutant.workload, found_in(mutant, prop))
    work = Shrinking(subject, oracles_of(subject, prop))
    smaller = work.drawn_in_smaller_workloads(found, seed=7)
    before, after = subject.settings_of(found.workload), subject.settings_of(smaller.workload)
    assert after["transactions"] == before["transactions"]
    assert after["rows"] < before["rows"]
    assert all(after[name] <= before[name] for name in before)
    system = system_of(subject, smaller.workload)
    histories = {
        BreakingRun.of(schedule.choices, history): history
        for schedule in random_schedules(7, RUNS_BELOW)
        for history in [system(schedule)]
    }
    assert prop.violations(histories[smaller.run])


def test_words_tell_apart_what_is_known():
    known = Minimality(is_one_minimal=True, runs_below=312, is_exhausted=True)
    assert str(known) == "one-minimal; with a transaction less no run breaks it: all 312 made"
    unknown = Minimality(is_one_minimal=False, runs_below=9, is_exhausted=False)
    assert str(unknown).startswith("not shown to be one-minimal; 9 runs")


def test_large_number_of_an_option_is_halved_not_counted_down(monkeypatch):
    subject, prop = subject_named("source"), property_named("last_committed_is_minimal")
    large = Workload(dialect="commit_order", options={"history_size": 25_000})
    found = hunt_subject(subject, large, prop, seed=0)
    tried = set()

    def noted(subject, workload):
        tried.add(workload.options["history_size"])
        return system_of(subject, workload)

    monkeypatch.setattr(hunt, "system_of", noted)
    smallest = shrink_workload(
        subject, Smallest(workload=found.workload, counterexample=found.counterexample), prop
    )
    assert smallest.workload.options["history_size"] == 0
    assert len(tried) < 20
    assert min(tried) == 0
