"""Actions of the composed system that commute: either order gives the same run to every judge.

Sleep sets leave out one of two orders, so these pairs are what exhaustive scopes rest on.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest

from paraply.counterexamples.hunt import properties_of
from paraply.reference_impl.composed.commuting import PARTS
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.group.commuting import SleepSet, Touched
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, property_named, registered_mutants
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule

MUTANTS = [mutant.name for mutant in registered_mutants() if mutant.of == COMPOSED.name]
PAIRS = 12
MIXED = [
    Workload(transactions=6, members=3, options={"broadcasts": 6, "joins": 2, "departures": 2}),
    Workload(rows=2, options={"joins": 2, "departures": 2, "after_commit": True}),
    Workload(rows=2, dialect="mysql_8_4", options={"absent": 1, "single_primary": True}),
    Workload(members=3, options={"one_commit_order": False, "acknowledgements": 2}),
]


@contextmanager
def chosen_by(subject, choose):
    """Let runs of a subject choose actions so."""
    # A mutant is a copy of the room.
    names = subject.simulate.__func__.__globals__
    run = names["ComposedRun"]
    names["ComposedRun"] = type("Chosen", (run,), {"choose": choose})
    try:
        yield run
    finally:
        names["ComposedRun"] = run


def recorded(subject, workload, seed):
    """Return a random run, and for each action its name, what was possible, and choices within."""
    schedule, taken = SeededSchedule(seed), []

    def choose(self, actions):
        starts.append(len(schedule.choices))
        touched = {one.name: self.touched(one) for one in actions}
        action = original.choose(self, actions)
        ends.append(len(schedule.choices))
        taken.append((action.name, touched))
        return action

    starts, ends = [], []
    with chosen_by(subject, choose) as original:
        history = subject.run(schedule, workload)
    starts.append(len(schedule.choices))
    inner = [schedule.choices[end:start] for end, start in zip(ends, starts[1:], strict=True)]
    return history, [(*one, choices) for one, choices in zip(taken, inner, strict=True)]


def replayed(subject, workload, script):
    """Return the run of named actions, and what was possible before each."""
    offered, names = [], iter([name for name, _, _ in script])

    def choose(self, actions):
        offered.append({one.name for one in actions})
        name = next(names)
        found = [one for one in actions if one.name == name]
        if not found:
            raise LookupError(name)
        return found[0]

    choices = [choice for _, _, inner in script for choice in inner]
    with chosen_by(subject, choose):
        return subject.run(RecordedSchedule(choices, strict=True), workload), offered


def commuting(script):
    """Return the places of actions that may be taken before the one before them."""
    return [
        place
        for place, ((name, touched, _), (after, _, _)) in enumerate(pairwise(script))
        if after in touched and touched[name].commutes_with(touched[after])
    ]


def by_action(history, swapped=None):
    """Return the events of each action; of two of them in the other order."""
    found = [[] for _ in range(history.events[-1].time + 1)]
    for event in history.events:
        found[event.time].append(event._replace(time=0))
    if swapped is not None:
        # The first action follows what the start records.
        first = swapped + 1
        found[first : first + 2] = found[first + 1], found[first]
    return found


def swaps(subject, workload, seed):
    """Yield pairs of runs with one pair of commuting actions in either order."""
    history, script = recorded(subject, workload, seed)
    places = commuting(script)
    for place in Random(seed).sample(places, min(PAIRS, len(places))):
        other = [*script[:place], script[place + 1], script[place], *script[place + 2 :]]
        yield place, script, history, *replayed(subject, workload, other)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("workload", MIXED, ids=range(len(MIXED)))
def test_two_orders_give_the_same_events_and_possibilities(workload):
    count = 0
    for seed in range(5):
        for place, script, history, other, offered in swaps(COMPOSED, workload, seed):
            names = [name for name, _, _ in script[place : place + 2]]
            assert by_action(other, place) == by_action(history), names
            assert other.transactions == history.transactions
            before = [set(touched) for _, touched, _ in script]
            del before[place + 1], offered[place + 1]
            assert offered == before, names
            count += 1
    assert count > 20


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("kind", ["sends", "commits", "ends"])
def test_pairs_that_do_not_commute_are_noticed(kind, monkeypatch):
    """That what an action touches is needed: without it, an order fails or gives other events."""
    monkeypatch.setitem(PARTS, kind, ("", ""))

    def is_noticed(seed):
        try:
            return any(
                by_action(other, place) != by_action(history)
                for place, _, history, other, _ in swaps(COMPOSED, MIXED[1], seed)
            )
        except (LookupError, ParaplyError):
            return True

    assert any(is_noticed(seed) for seed in range(20))


@pytest.mark.long(each=8)
@pytest.mark.parametrize("name", MUTANTS)
def test_no_judge_prefers_an_order(name):
    """In runs with breaches, for every property: what breaks, and whether its situation occurs."""
    mutant = mutant_named(name)
    subject, workload = mutant.subject, mutant.workload
    prop = property_named(mutant.caught_by)
    seed = next(
        seed
        for seed in range(3_000)
        if prop.violations(subject.run(SeededSchedule(seed), workload))
    )
    judges = properties_of(subject)

    def judged(history):
        return {
            one.name: (bool(one.violations(history)), one.witness(history))
            for one in judges
            if one.applies_to(history)
        }

    for place, _, history, other, _ in swaps(subject, workload, seed):
        # A mutant's actions may reach further than those of the system.
        if by_action(other, place) == by_action(history):
            assert judged(other) == judged(history)


def test_actions_commute_unless_one_writes_what_the_other_uses():
    read, write = Touched.of(reads=["a"], writes=["b"]), Touched.of(writes=["a"])
    assert read.commutes_with(read) is False
    assert read.commutes_with(Touched.of(reads=["a"]))
    assert not read.commutes_with(write)
    assert not write.commutes_with(read)


def test_action_sleeps_until_one_that_does_not_commute_with_it():
    sleeping, read = SleepSet(), Touched.of(reads=["a"])
    sleeping.follow({"early": read}, Touched.of(writes=["b"]))
    sleeping.follow({}, read)
    assert sleeping.awake(["late", "early"]) == [0]
    sleeping.follow({}, Touched.of(writes=["a"]))
    assert sleeping.awake(["late", "early"]) == [0, 1]
