"""Minimising behind the kernels finds, choice by choice, what the reference finds alone."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from mining.campaign import run_campaign
from mining.clusters import MinimiseTask, clusters_of
from mining.compiled import columns as C
from mining.compiled.applier import Scratch, settings_of
from mining.compiled.filtered import FRACTIONS, NOTHING, FilteredSubject, filtered
from mining.engines import InProcess
from mining.systems import systems_of
from paraply.shrinking import make_small
from properties.registry import property_named
from tests.mining.campaigns import small_plan
from vocabulary.schedule import ExhaustiveSchedule, RecordedSchedule, SeededSchedule

MUTANTS = ("last_committed_off_by_one", "gap_is_waited_for")


def one_system(mutant):
    return systems_of([], [mutant], {})[0]


def test_minimising_behind_the_kernels_finds_what_the_reference_finds(tmp_path):
    plan = small_plan(histories=120, batch=120, subjects=(), mutants=MUTANTS)
    found = clusters_of(run_campaign(plan, str(tmp_path), InProcess()))
    # The most frequent of each mutant.
    clusters = list({cluster.system: cluster for cluster in reversed(found)}.values())
    assert len(clusters) == 2
    for cluster in clusters:
        plain = MinimiseTask(plan=plan, make_small=make_small)(cluster)
        fast = MinimiseTask(plan=replace(plan, is_fast=True), make_small=make_small)(cluster)
        assert (fast.choices, fast.workload) == (plain.choices, plain.workload)
        assert fast.history == plain.history
        assert fast.is_confirmed


@pytest.mark.parametrize("mutant", MUTANTS)
def test_random_schedules_are_filtered_by_the_run_they_make(mutant):
    system = one_system(mutant)
    settings, scratch = settings_of(system), Scratch()
    judges = [property_named(name) for name in C.JUDGED]
    verdicts = set()
    for seed in range(150):
        draw = Random(seed).random
        fractions = [int(draw() * (1 << C.FRACTION_BITS)) for _ in range(FRACTIONS)]
        verdict = scratch.run(settings, fractions, are_fractions=True)
        history = system.runner.run(SeededSchedule(seed), system.workload)
        broken = sum(1 << bit for bit, prop in enumerate(judges) if prop.violations(history))
        assert verdict == broken
        verdicts.add(verdict)
    assert len(verdicts) > 1


def test_filtered_run_is_the_reference_run_or_nothing():
    system = one_system("last_committed_off_by_one")
    prop = property_named("no_conflicting_parallel_apply")
    subject = FilteredSubject(system, prop.name)
    kept = 0
    for seed in range(80):
        plain = system.runner.run(SeededSchedule(seed), system.workload)
        through = subject.run(SeededSchedule(seed), system.workload)
        assert through in (plain, NOTHING)
        assert (through == plain) == bool(prop.violations(plain))
        kept += through == plain
    assert 0 < kept < 80


def test_schedules_that_the_kernels_cannot_follow_go_to_the_reference():
    system = one_system("last_committed_off_by_one")
    subject = FilteredSubject(system, "no_conflicting_parallel_apply")
    assert subject.run(ExhaustiveSchedule([], [], None), system.workload) != NOTHING
    long = RecordedSchedule([0] * (C.CHOICES_MAX + 1))
    assert subject.run(long, system.workload) != NOTHING


def test_systems_and_properties_that_the_kernels_do_not_know_are_not_filtered():
    (database,) = systems_of(["applier:database"], [], {})
    assert filtered(database, "rows_apply_as_logged") is database.runner
    system = one_system("last_committed_off_by_one")
    assert filtered(system, "readers_see_prefixes") is system.runner
    assert filtered(system, "rows_apply_as_logged").options == system.runner.options
