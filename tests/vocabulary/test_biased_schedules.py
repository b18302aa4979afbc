"""Biased schedules: reproducible, replayable, and rich in overlap."""

from __future__ import annotations

import random
from collections import Counter
from random import Random

import pytest

from paraply.mining.drawing import (
    SEEDS,
    Drawing,
    drawn_schedule,
    drawn_schedules,
    drawn_value,
    drawn_workload,
)
from paraply.properties.apply.parallel_apply import two_transactions_overlap
from paraply.reference_impl.choices import Writes
from paraply.reference_impl.step import Step
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.biased_schedules import (
    WAITS_MAX,
    Abreast,
    MixedSchedule,
    Placing,
    Plain,
    Priorities,
    Repeating,
    Starving,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.transactions import TransactionKind

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


@pytest.mark.parametrize("kind", [Starving, Priorities, Abreast, Repeating, Plain])
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


def test_plain_transactions_write_rows_that_no_recent_one_wrote():
    names = ["('c',)", "('a', 'b', 'c')", "('a',)", "()"]
    after = Counter()
    for seed in range(200):
        bias = Plain(Random(seed).random)
        bias.pick(["('c',)"], "writes", 0)
        after[names[bias.pick(names, "writes", 1)]] += 1
    assert after["('a',)"] > 0.7 * 200
    assert after["('c',)"] > 0


def test_a_kind_that_is_offered_seldom_is_often_taken():
    rows = [Writes(TransactionKind.ROWS, (row,)) for row in "abcdefgh"]
    plain = [*rows, Writes(TransactionKind.NO_WRITE_SET, ())]
    taken = Counter()
    for seed in range(200):
        schedule = MixedSchedule(seed)
        schedule.choose(plain, "writes")
        chosen = schedule.choose([*plain, Writes(TransactionKind.DDL, ())], "writes")
        taken[chosen.kind] += 1
    assert taken[TransactionKind.DDL] > 200 / 4
    assert taken[TransactionKind.NO_WRITE_SET] < 200 / 4 < taken[TransactionKind.ROWS]


def test_a_worker_keeps_its_name_in_every_stage_and_on_every_member():
    acted = Counter()
    names = ["r1 worker 1 applying", "r1 worker 2 assigned", "r1 worker 1 finished"]
    bias = Abreast(Random(1).random)
    for made in range(400):
        acted[names[bias.pick(names, "step", made)]] += 1
    assert 150 < acted[names[1]] < 250


FAULTS = ["r1 crashes", "work"]


def test_a_fault_waits_for_its_state_and_no_longer_than_long_enough():
    waited, placed = [], 0
    for seed in range(200):
        placing = Placing(Random(seed).random)
        for made in range(WAITS_MAX + 1):
            index, free = placing.sort(FAULTS, ["r1", ""], made)
            assert index in (-1, 0)
            assert 1 in free
            placed += index == 0
            if index == 0 or 0 in free:
                waited.append(made)
                break
    assert len(waited) == 200
    assert min(waited) == 0
    assert max(waited) > WAITS_MAX / 2
    assert 0 < placed < 200


def test_a_fault_is_placed_in_each_state_alike():
    begun = Event(EventKind.BEGUN, 1, transaction=1)
    busy, idle = 0, 0
    for seed in range(3000):
        placing = Placing(Random(seed).random)
        placing.sort(FAULTS, ["r1", ""], 0)
        idle += placing.sort(FAULTS, ["r1", ""], 0)[0] == 0
        placing.follow([begun])
        busy += placing.sort(FAULTS, ["r1", ""], 0)[0] == 0
    assert 0.8 < busy / idle < 1.25


def test_states_of_logs_are_drawn_once_one_is_seen():
    prepared = Event(EventKind.PREPARED, 1, transaction=1)
    flushed = Event(EventKind.FLUSHED, 1, transaction=1)
    logged = 0
    for seed in range(300):
        placing = Placing(Random(seed).random)
        placing.sort(FAULTS, ["r1", ""], 0)
        placing.follow([prepared, flushed])
        logged += any(placing.sort(FAULTS, ["r1", ""], 0)[0] == 0 for _ in range(9))
    # One of ten states.
    assert 15 < logged < 60


LEAVING = [
    Step("r1 crashes", lambda: None, "r1"),
    Step("r2 leaves", lambda: None, "r2"),
]


def test_faults_do_not_wait_where_nothing_else_may_happen():
    for seed in range(50):
        assert drawn_schedule(seed).choose(LEAVING, "step") in LEAVING


def test_seldom_chosen_options_get_their_turn_for_a_fault_that_is_placed():
    """Otherwise a fault that waits for its state does not get one."""
    shares = {True: Counter(), False: Counter()}
    for seed in range(600):
        schedule = MixedSchedule(seed)
        places = schedule._placing is not None
        turn = schedule.choose_seldom(8, LEAVING, "what kind")
        assert schedule.choices == [7] if turn else schedule.choices[0] < 7
        shares[places][turn] += 1
        if turn:
            assert schedule.choose(LEAVING, "step") in LEAVING
    # Each of two waits for one of six states, and is placed at once in every second run.
    assert 0.1 < shares[True][True] / shares[True].total() < 0.3
    assert 0.08 < shares[False][True] / shares[False].total() < 0.18


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("subject", ["wl4648", "gtid_positions", "semi_sync", "group", "composed"])
def test_a_run_with_placed_faults_repeats_by_seed_and_by_choices(subject):
    drawing = Drawing(subject=subject_named(subject), given=Workload())
    for seed in range(8):
        schedule = drawn_schedule(seed)
        history = drawing.run(schedule)
        assert drawing.run(drawn_schedule(seed)) == history
        recorded = RecordedSchedule(schedule.choices, strict=True)
        again = drawing.subject.run(recorded, drawing.workload(seed))
        assert again.events == history.events
        assert recorded.is_faithful


ONE_AT_A_TIME = {
    ("mariadb_parallel", "none"),
    ("wl4648", "p3"),
    ("wl4648", "p3_serializable"),
}
"""One transaction at a time, by design."""
MERGED_INTO_ONE_JOB = {("wl4648", "c4_c1"), ("wl4648", "c4_c2")}
"""C4 merges neighbours into one job, so that few jobs are left that could overlap."""
APPLIERS = [
    (subject, dialect)
    for subject in map(subject_named, ("applier", "gtid_positions", "mariadb_parallel", "wl4648"))
    for dialect in subject.dialects
]
DRAWN_RUNS = 60


@pytest.mark.long
@pytest.mark.parametrize(
    ("subject", "dialect"), APPLIERS, ids=lambda one: getattr(one, "name", one)
)
def test_half_of_the_default_runs_overlap(subject, dialect):
    choices = random.Random(f"{subject.name} {dialect} 5")
    found = sum(
        two_transactions_overlap(
            subject.run(
                drawn_schedule(choices.randrange(SEEDS)), drawn_workload(subject, dialect, choices)
            )
        )
        for _ in range(DRAWN_RUNS)
    )
    print(f"{found} of {DRAWN_RUNS} runs overlap")
    if (subject.name, dialect) in ONE_AT_A_TIME:
        assert found == 0
    elif (subject.name, dialect) in MERGED_INTO_ONE_JOB:
        assert found > DRAWN_RUNS / 5
    else:
        assert found >= DRAWN_RUNS / 2


def test_small_histories_are_drawn_beside_large_ones():
    choices = random.Random(3)
    (option,) = (one for one in subject_named("source").options if one.name == "history_size")
    drawn = [int(drawn_value(option, choices)) for _ in range(200)]
    assert sum(one <= 10 for one in drawn) > 20
    assert sum(one > 1_000 for one in drawn) > 20


def test_half_of_the_runs_of_explore_overlap():
    """``paraply explore applier``, without options."""
    subject = subject_named("applier")
    found = sum(
        two_transactions_overlap(subject.run(one, Workload())) for one in drawn_schedules(0, 500)
    )
    assert found >= 500 / 2
