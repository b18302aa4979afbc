"""Minimising by kernels finds, choice by choice, what the readable reference finds alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.counterexamples.hunt import oracles_of, system_of
from paraply.mining.campaign import run_campaign
from paraply.mining.clusters import MinimiseTask, clusters_of, is_confirmed, replayed
from paraply.mining.compiled import columns as C
from paraply.mining.compiled import oracle as compiled
from paraply.mining.compiled.composed import columns as composed
from paraply.mining.compiled.oracle import CompiledOracle, CompiledOracles, Place
from paraply.mining.compiled.twins import twin_of
from paraply.mining.engines import InProcess
from paraply.mining.systems import systems_of
from paraply.properties.registry import property_named
from paraply.properties.shrinking import (
    UNCHANGED,
    BreakingRun,
    Edit,
    ReadableOracle,
    Simplifications,
    shrink_run,
)
from paraply.vocabulary.programs import encode_program
from paraply.vocabulary.schedule import RecordedSchedule
from tests.mining.campaigns import small_plan

MUTANTS = C.FAULTS[1:]
COMPOSED = composed.FAULTS[1:]
QUICK = (
    "composed_unlocks_when_sent",
    "composed_client_reads_without_lock",
    "composed_commit_does_not_wait",
)
"""Mutants whose breaches the reference, too, minimises in seconds."""
WITHOUT_VIEWS = {"joins": "0", "departures": "0"}
SEEDS, WITNESSES = 4_000, 2
"""Runs made of each mutant and workload, and how many that break a property are shrunk."""
WORKLOADS = ({}, {"transactions": "6", "rows": "4", "reads": "0"}, {"stamps": "mysql_8_4"})


def one_system(mutant, words=None):
    given = WITHOUT_VIEWS if mutant in COMPOSED else {}
    return systems_of([], [mutant], {**given, **(words or {})})[0]


def readable(system, prop):
    return ReadableOracle(system_of(system.runner, system.workload), property_named(prop))


def both(system, prop):
    mine = readable(system, prop)
    oracle = CompiledOracles(system, prop)(system.workload, mine)
    assert isinstance(oracle, CompiledOracle)
    return oracle, readable(system, prop)


def witnesses(system):
    """Yield, for each property that some seed breaks, it and a few programs that do."""
    twin = twin_of(system)
    verdicts, _, _ = twin.run_many(twin.settings, 0, SEEDS)
    for bit, prop in enumerate(twin.judged):
        seeds = (seed for seed in range(SEEDS) if verdicts[seed] >> bit & 1)
        for seed in islice(seeds, WITNESSES):
            yield prop, twin.run_fast(twin.settings, seed=seed).choices


def run_of(system, choices):
    history = system.runner.run(RecordedSchedule(choices), system.workload)
    return BreakingRun.of(choices, history)


@pytest.mark.long
def test_kernels_list_the_simplifications_of_every_program():
    dice = Random(5)
    for length in (*range(40), 150, 1_000):
        for most in (1, 2, 5):
            program = tuple(dice.randrange(most) for _ in range(length))
            for count in (0, 7, 20_000):
                expected = list(Simplifications(program, count))
                listed = compiled.listed_edits(
                    Simplifications(program, count), np.array(program, np.int64)
                )
                assert list(map(tuple, listed.tolist())) == expected


@pytest.mark.long
@pytest.mark.parametrize("words", WORKLOADS, ids=range(len(WORKLOADS)))
@pytest.mark.parametrize("mutant", MUTANTS)
def test_shrinking_by_kernels_ends_at_the_run_that_the_reference_ends_at(mutant, words):
    system = one_system(mutant, words)
    shrunk = 0
    for prop, choices in witnesses(system):
        fast, slow = both(system, prop)
        run = run_of(system, choices)
        smallest = shrink_run(fast, run)
        assert smallest == shrink_run(slow, run)
        assert fast.counterexample(smallest, 1) == slow.counterexample(smallest, 1)
        shrunk += smallest.size < run.size
    # Stamps of 8.4 leave no gap to wait for.
    assert shrunk or (mutant == "gap_is_waited_for" and words == WORKLOADS[2])


@pytest.mark.long
@pytest.mark.parametrize("mutant", COMPOSED)
def test_shrinking_of_composed_runs_takes_the_steps_that_the_reference_takes(mutant):
    system = one_system(mutant, {"block_size": "2", "absent": "1", "members": "3"})
    prop, choices = next(witnesses(system))
    run = run_of(system, choices)
    fast, slow = both(system, prop)
    smallest = shrink_run(fast, run, runs_max=150)
    assert smallest.size < run.size
    assert smallest == shrink_run(slow, run, runs_max=150)
    assert fast.counterexample(smallest, 1) == slow.counterexample(smallest, 1)


@pytest.mark.long(quick=10)
@pytest.mark.parametrize("mutant", [*MUTANTS, *COMPOSED])
def test_no_single_edit_of_what_kernels_shrank_is_a_smaller_breach_to_the_reference(mutant):
    system = one_system(mutant)
    # A run of the reference takes milliseconds.
    for prop, choices in islice(witnesses(system), 1 if mutant in COMPOSED else None):
        run = run_of(system, choices)
        smallest = shrink_run(both(system, prop)[0], run, runs_max=20_000)
        oracle = readable(system, prop)
        assert oracle.edited(smallest.choices, [UNCHANGED])[1] == smallest
        removals = [Edit(place, 1) for place in range(len(smallest.choices))]
        lowered = [
            Edit(place, 1, lower)
            for place, choice in enumerate(smallest.choices)
            for lower in {0, choice // 2, choice - 1} - {choice, -1}
        ]
        tried = oracle.edited(smallest.choices, removals + lowered, below=smallest.size)
        assert tried == (len(removals) + len(lowered), None)


@pytest.mark.long
def test_whole_minimising_gives_the_same_files_by_kernels_and_by_the_reference(tmp_path):
    plan = small_plan(histories=3000, batch=3000, subjects=(), mutants=MUTANTS, is_fast=True)
    found = clusters_of(run_campaign(plan, str(tmp_path), InProcess()), most=1)
    assert {cluster.system for cluster in found} == set(range(len(MUTANTS)))
    for cluster in found:
        fast = MinimiseTask(plan=plan, make_small=smallest_of_system)(cluster)
        slow = MinimiseTask(plan=replace(plan, is_fast=False), make_small=smallest_of_system)(
            cluster
        )
        assert replace(fast, seconds=0) == replace(slow, seconds=0)
        assert fast.is_confirmed
        assert fast.minimality.startswith("one-minimal")


@pytest.mark.long
def test_whole_minimising_of_composed_breaches_gives_what_the_reference_gives(tmp_path):
    plan = replace(
        small_plan(histories=500, batch=500, subjects=(), is_fast=True),
        systems=tuple(map(one_system, QUICK)),
    )
    found = clusters_of(run_campaign(plan, str(tmp_path), InProcess()), most=1)
    assert {cluster.system for cluster in found} == set(range(len(QUICK)))
    for cluster in found:
        fast, slow = (
            MinimiseTask(plan=one, make_small=smallest_of_system)(cluster)
            for one in (plan, replace(plan, is_fast=False))
        )
        # The reference enumerates fewer orders of steps.
        assert replace(fast, seconds=0, minimality="") == replace(slow, seconds=0, minimality="")


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("mutant", COMPOSED)
def test_minimised_composed_breach_is_confirmed_and_repeatable(mutant):
    system = one_system(mutant)
    (goal,) = system.goals
    choices = next(choices for prop, choices in witnesses(system) if prop == goal)
    prop, program = property_named(goal), encode_program(choices)
    small, again = (
        smallest_of_system(
            system, prop, program, run=0, seed=0, faster=CompiledOracles(system, goal)
        )
        for _ in range(2)
    )
    assert small == again
    assert is_confirmed(small.system, prop, small.counterexample, 0)
    assert small.minimality.is_one_minimal
    assert small.system.workload.transactions < system.workload.transactions
    options, least = system.options_at(0), small.system.options_at(0)
    for option in system.runner.options:
        assert least[option.name] in (option.default, *range(options[option.name] + 1))


@pytest.mark.long(quick=5)
@pytest.mark.parametrize("runs_max", [1, 56, 57, 58, 400])
def test_enumerations_make_the_same_runs_and_end_alike(runs_max):
    for mutant in MUTANTS:
        system = one_system(mutant, {"transactions": "2"})
        for prop in ("no_conflicting_parallel_apply", "applier_reaches_the_end"):
            fast, slow = both(system, prop)
            assert fast.enumerated(runs_max) == slow.enumerated(runs_max)


def test_enumerated_breach_of_the_composed_system_is_one_that_the_reference_replays():
    small = {"transactions": "2", "rows": "1", "reads": "0", "broadcasts": "0", "alterations": "0"}
    system = one_system(QUICK[0], {**small, "members": "1", "barriers": "false"})
    fast, slow = both(system, "rows_stay_locked_until_the_end")
    found = fast.enumerated(2_000)
    assert slow.edited(found.run.choices, [UNCHANGED]) == (1, found.run)


def test_enumeration_of_the_composed_system_is_complete():
    small = {"transactions": "1", "rows": "1", "reads": "1", "broadcasts": "0", "alterations": "0"}
    system = one_system(QUICK[0], {**small, "workers": "1", "barriers": "false"})
    fast, _ = both(system, "rows_stay_locked_until_the_end")
    whole = fast.enumerated(100_000)
    assert whole.run is None
    assert whole.is_complete
    assert not fast.enumerated(whole.runs - 1).is_complete


@pytest.mark.parametrize("mutant", COMPOSED)
def test_enumeration_repeats_no_attempt_at_a_locked_row_and_misses_no_breach(mutant):
    small = {"transactions": "2", "rows": "2", "reads": "0", "broadcasts": "0", "alterations": "0"}
    system = one_system(mutant, {**small, "members": "1", "barriers": "false"})
    twin = twin_of(system)
    verdicts, _, _ = twin.run_many(twin.settings, 0, SEEDS)
    for bit, prop in enumerate(twin.judged):
        whole = both(system, prop)[0].enumerated(2_000)
        if (twin.settings[C.P_JUDGED] & verdicts >> bit & 1).any():
            assert whole.run
        assert whole.run or whole.is_complete


def test_enumeration_that_is_just_large_enough_is_complete():
    small = {"transactions": "2", "rows": "1", "workers": "2", "reads": "0", "sessions": "1"}
    quiet = {"barriers": "false", "rotations": "0", "collections": "0"}
    system = one_system("last_committed_off_by_one", {**small, **quiet})
    fast, slow = both(system, "engine_commits_follow_the_log")
    whole = fast.enumerated(2_000)
    assert whole.is_complete
    for runs in (whole.runs - 1, whole.runs):
        assert fast.enumerated(runs) == slow.enumerated(runs)
        assert fast.enumerated(runs).is_complete == (runs == whole.runs)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_draws_are_those_of_the_random_schedules(mutant):
    system = one_system(mutant)
    answers = []
    for prop in C.JUDGED:
        fast, slow = both(system, prop)
        for first in (0, 41):
            answers.append(fast.drawn(3, 60, first))
            assert answers[-1] == slow.drawn(3, 60, first)
    assert len(answers) == 2 * len(C.JUDGED)
    assert any(run for _, run in answers)


@pytest.mark.long(quick=6)
@pytest.mark.parametrize("words", [{"one_commit_order": "false"}, {"after_commit": "true"}])
@pytest.mark.parametrize("mutant", QUICK)
def test_composed_properties_are_judged_where_they_are_not_promised(mutant, words):
    system = one_system(mutant, words)
    for prop in composed.JUDGED:
        fast, slow = both(system, prop)
        assert fast.drawn(3, 12) == slow.drawn(3, 12)


class Asked(SimpleNamespace):
    """Stands in for the readable oracle and notes that it was asked."""

    def edited(self, program, edits, below=None):
        return "edited"

    def drawn(self, seed, runs_max, first=0):
        return "drawn"

    def enumerated(self, runs_max):
        return "enumerated"


def test_runs_that_outgrow_the_kernels_are_left_to_the_reference(monkeypatch):
    system = one_system("last_committed_off_by_one")
    twin = twin_of(system)
    room = twin.new_room()
    oracle = CompiledOracle(twin, "no_conflicting_parallel_apply", Place.of(room), Asked())
    assert oracle.edited((0,) * C.CHOICES_MAX, [UNCHANGED]) == "edited"
    assert oracle.edited((1, 2), []) == (0, None)

    def outgrown(*arguments):
        room.outcome[0] = C.OVERFLOWN
        return 1

    monkeypatch.setattr(compiled, "run_edits", outgrown)
    monkeypatch.setattr(compiled, "run_draws", outgrown)
    monkeypatch.setattr(compiled, "run_all", lambda *arguments: (outgrown(), False))
    assert oracle.edited((1, 2), [UNCHANGED]) == "edited"
    assert (oracle.drawn(0, 2), oracle.enumerated(2)) == ("drawn", "enumerated")


def test_run_that_asks_for_more_than_was_drawn_is_left_to_the_reference(monkeypatch):
    system = one_system("gap_is_waited_for")
    monkeypatch.setattr(compiled, "DRAWN_MAX", 8)
    monkeypatch.setattr(compiled, "draws", compiled.draws.__wrapped__)
    twin = twin_of(system)
    place = Place.of(twin.new_room())
    oracle = CompiledOracle(twin, "no_conflicting_parallel_apply", place, Asked())
    assert oracle.drawn(0, 5) == "drawn"


def test_workloads_and_properties_that_the_kernels_do_not_know_keep_their_oracle():
    (database,) = systems_of(["applier:database"], [], {})
    system = one_system("last_committed_off_by_one")
    mine = readable(system, "rows_apply_as_logged")
    oracles = CompiledOracles(system, "rows_apply_as_logged")
    assert CompiledOracles(database, "rows_apply_as_logged")(database.workload, mine) is mine
    assert CompiledOracles(system, "readers_see_prefixes")(system.workload, mine) is mine
    assert oracles(replace(system.workload, rows=C.ROWS_MAX + 1), mine) is mine
    assert oracles(system.workload, mine) is not mine


def test_oracle_of_a_workload_is_made_once():
    system = one_system("last_committed_off_by_one")
    ask = oracles_of(system.runner, property_named("rows_apply_as_logged"))
    assert ask(system.workload) is ask(replace(system.workload))


def test_specimen_of_a_campaign_replays_to_the_run_that_was_judged(tmp_path):
    plan = small_plan(histories=400, batch=400, subjects=(), mutants=MUTANTS[:1], is_fast=True)
    (system,) = plan.systems
    for cluster in clusters_of(run_campaign(plan, str(tmp_path), InProcess())):
        found = replayed(
            system, property_named(cluster.prop), cluster.specimen.program, cluster.specimen.run
        )
        fast, _ = both(system, cluster.prop)
        tried, run = fast.edited(found.choices, [UNCHANGED])
        assert (tried, run) == (1, BreakingRun.of(found.choices, found.history))
