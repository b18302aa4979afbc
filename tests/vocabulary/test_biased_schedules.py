"""Biased schedules: reproducible, replayable, and rich in overlap."""

from __future__ import annotations

import random
from collections import Counter
from random import Random

import pytest

from paraply.exploring.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.properties.apply.parallel_apply import two_transactions_overlap
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.biased_schedules import (
    MixedSchedule,
    Plain,
    Priorities,
    Repeating,
    Starving,
)
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule

NAMES = ["worker 1 applying", "worker 2 applying", "dispatch"]


@pytest.mark.parametrize("seed", range(12))
def test_choices_of_a_biased_run_replay_it(seed):
    subject, workload = subject_named("applier"), Workload(transactions=3)
    schedule = MixedSchedule(seed)
    history = subject.run(schedule, workload)
    assert subject.run(MixedSchedule(seed), workload) == history
    again = subject.run(RecordedSchedule(schedule.choices, strict=True), workload)
    assert again.events == history.events


def test_nothing_to_choose_from_is_refused_and_one_option_is_no_question():
    schedule = MixedSchedule(1)
    with pytest.raises(ValueError, match="nothing to choose from"):
        schedule.choose([], "step")
    assert schedule.choose(["only"], "step") == "only"
    assert schedule.choices == []


@pytest.mark.parametrize("kind", [Starving, Priorities, Repeating, Plain])
def test_every_bias_takes_every_option_at_last(kind):
    taken = Counter()
    for seed in range(40):
        bias = kind(Random(seed).random)
        taken.update(bias.pick(NAMES, "step", made) for made in range(50))
    assert set(taken) == {0, 1, 2}


def test_starved_step_is_rare():
    shares = []
    for seed in range(30):
        bias = Starving(Random(seed).random)
        counts = Counter(bias.pick(NAMES, "step", made) for made in range(400))
        shares.append(min(counts[at] for at in range(3)) / 400)
    assert min(shares) < 0.05


@pytest.mark.long
def test_drawn_runs_overlap_more_often_than_uniform_ones():
    subject = subject_named("applier")
    choices = random.Random(5)
    uniform = sum(
        two_transactions_overlap(subject.run(SeededSchedule(seed), Workload()))
        for seed in range(150)
    )
    drawn = sum(
        two_transactions_overlap(
            subject.run(
                drawn_schedule(choices.randrange(SEEDS)),
                drawn_workload(subject, "logical_clock", choices),
            )
        )
        for _ in range(150)
    )
    print(f"{uniform} and {drawn} of 150 runs overlap")
    assert drawn > 3 * uniform
