"""Searching and shrinking, on a system that breaks when it picks 2 after 1."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from paraply.properties.registry import Expectation, Property, Violation
from paraply.properties.search import random_schedules, search
from paraply.properties.shrinking import ReadableOracle, cuts, shrink
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Exploration, RecordedSchedule
from paraply.vocabulary.timestamps import LogicalTime


@dataclass(frozen=True)
class TwoAfterOne(Violation):
    """It picked 2 right after 1."""


def system(schedule):
    picked = [schedule.choose(3, "step") for _ in range(schedule.choose(9, "steps"))]
    return History(
        events=tuple(
            Event(EventKind.STARTED, LogicalTime(number), note=str(pick))
            for number, pick in enumerate(picked)
        )
    )


def check(history):
    notes = "".join(event.note for event in history.events)
    return [TwoAfterOne()] if "12" in notes else []


PROPERTY = Property(
    name="never_two_after_one",
    meaning="",
    source="",
    expectation=Expectation.ALWAYS,
    check=check,
    witness=lambda history: True,
)


def test_search_finds_and_the_choices_replay_it():
    found = search(system, PROPERTY, random_schedules(seed=0, runs_max=500))
    assert found is not None
    assert system(RecordedSchedule(found.choices)) == found.history
    assert found.violations == (TwoAfterOne(),)


def test_shrinking_ends_at_the_two_steps_that_matter():
    found = search(system, PROPERTY, random_schedules(seed=0, runs_max=500))
    smallest = shrink(ReadableOracle(system, PROPERTY), found)
    assert smallest.choices == (2, 1, 2)
    assert [event.note for event in smallest.history.events] == ["1", "2"]


def test_exhaustive_search_says_whether_it_saw_everything():
    exploration = Exploration(runs_max=100)
    assert search(system_of_one_step, PROPERTY, exploration) is None
    assert exploration.is_complete
    exploration = Exploration(runs_max=3)
    assert search(system, PROPERTY, exploration) is None
    assert not exploration.is_complete


def system_of_one_step(schedule):
    pick = schedule.choose(3, "step")
    return History(events=(Event(EventKind.STARTED, LogicalTime(1), note=str(pick)),))


def test_search_that_finds_nothing_returns_none():
    assert search(system_of_one_step, PROPERTY, random_schedules(seed=0, runs_max=50)) is None


def test_random_schedules_begin_with_any_of_them():
    def seeds(*first):
        return [schedule.seed for schedule in random_schedules(2, 5, *first)]

    assert seeds(3) == seeds()[3:] + seeds()[:3]
    assert seeds(0) == seeds()


def test_random_schedules_differ_from_each_other_and_between_seeds():
    def picked(seed):
        return [
            tuple(schedule.choose(1000, "step") for _ in range(5))
            for schedule in random_schedules(seed=seed, runs_max=20)
        ]

    assert len({*picked(0), *picked(1)}) == 40
    assert picked(0) == picked(0)


@pytest.mark.parametrize("seed", range(50))
def test_cuts_give_every_shorter_program_once(seed):
    chance = random.Random(seed)
    choices = tuple(chance.randrange(2) for _ in range(chance.randint(1, 9)))
    for length in range(1, len(choices) + 1):
        cut = [edit.of(choices) for edit in cuts(choices, length)]
        every = {choices[:at] + choices[at + length :] for at in range(len(choices) - length + 1)}
        assert len(cut) == len(set(cut))
        assert set(cut) == every
