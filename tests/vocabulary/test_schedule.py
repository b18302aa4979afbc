"""Schedules: four ways to pick, one record of what was picked."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import (
    DrawnSchedule,
    Exploration,
    RecordedSchedule,
    SeededSchedule,
)


def walk(schedule, depth=3):
    """A subject whose number of options depends on what was picked before."""
    picked = []
    for step in range(depth):
        options = ["stay", "go"] if not picked or picked[-1] == "go" else ["stay", "go", "wait"]
        picked.append(schedule.choose(options, f"step {step}"))
    return tuple(picked)


@given(seed=st.integers())
def test_seeded_schedule_with_the_same_seed_picks_the_same(seed):
    assert walk(SeededSchedule(seed), 20) == walk(SeededSchedule(seed), 20)


def test_seeded_schedule_picks_are_pinned_across_versions():
    schedule = SeededSchedule(7)
    assert [schedule.choose(10) for _ in range(8)] == [3, 1, 6, 0, 5, 3, 0, 5]


def test_seeded_schedule_reaches_every_option():
    schedule = SeededSchedule(1)
    assert {schedule.choose("abc") for _ in range(100)} == set("abc")


@pytest.mark.parametrize(
    "schedule",
    [
        SeededSchedule(0),
        RecordedSchedule([]),
        DrawnSchedule(lambda count, label: 0),
        next(iter(Exploration())),
    ],
    ids=lambda schedule: type(schedule).__name__,
)
def test_any_schedule_answers_one_option_unrecorded_and_refuses_none(schedule):
    assert schedule.choose(["only"]) == "only"
    assert schedule.choices == []
    with pytest.raises(ValueError, match="nothing to choose from for a worker"):
        schedule.choose([], "a worker")
    with pytest.raises(ValueError, match=r"nothing to choose from$"):
        schedule.choose(0)


@given(seed=st.integers(0, 2**32))
def test_recorded_schedule_replays_what_a_seed_picked(seed):
    seeded = SeededSchedule(seed)
    story = walk(seeded, 10)
    recorded = RecordedSchedule(seeded.choices, strict=True)
    assert walk(recorded, 10) == story
    assert recorded.choices == seeded.choices
    assert recorded.is_faithful


def test_recorded_schedule_takes_first_option_when_choices_run_out():
    recorded = RecordedSchedule([1])
    assert walk(recorded) == ("go", "stay", "stay")
    assert recorded.is_exhausted
    assert not recorded.is_faithful
    assert recorded.choices == [1, 0, 0]


def test_recorded_schedule_with_choices_left_over_is_not_faithful():
    recorded = RecordedSchedule([0, 0, 0, 1])
    walk(recorded)
    assert not recorded.is_exhausted
    assert not recorded.is_faithful


def test_recorded_schedule_takes_choice_out_of_range_modulo_unless_strict():
    lenient = RecordedSchedule([5, 0, 0])
    assert walk(lenient)[0] == "go"
    assert not lenient.is_faithful
    with pytest.raises(ParaplyError, match=r"P501 choice 1 .* option 5 of 2 for step 0"):
        walk(RecordedSchedule([5], strict=True))


@given(data=st.data())
def test_drawn_schedule_hands_questions_to_hypothesis_and_replays(data):
    drawn = DrawnSchedule(lambda count, label: data.draw(st.integers(0, count - 1), label=label))
    story = walk(drawn)
    assert walk(RecordedSchedule(drawn.choices, strict=True)) == story


def test_drawn_schedule_refuses_index_outside_the_options():
    with pytest.raises(ValueError, match="drew 2 of 2 options for step 0"):
        walk(DrawnSchedule(lambda count, label: 2))


def test_exploration_runs_every_sequence_once_in_order():
    exploration = Exploration()
    stories = [walk(schedule) for schedule in exploration]
    expected = [
        story
        for story in product(["stay", "go", "wait"], repeat=3)
        if story[0] != "wait" and not any(a == "go" and b == "wait" for a, b in pairwise(story))
    ]
    assert len(stories) == len(set(stories)) == exploration.count
    assert set(stories) == set(expected)
    assert exploration.is_complete
    assert exploration.skipped == 0


def test_exploration_can_be_iterated_again():
    exploration = Exploration()
    assert [walk(s) for s in exploration] == [walk(s) for s in exploration]


def test_exploration_without_any_choice_is_one_complete_run():
    exploration = Exploration()
    assert [schedule.choose(["x"]) for schedule in exploration] == ["x"]
    assert exploration.is_complete


def test_exploration_of_prefixes_together_is_the_whole():
    whole = [walk(schedule) for schedule in Exploration()]
    parts = [walk(schedule) for first in range(2) for schedule in Exploration(prefix=[first])]
    assert parts == whole


def test_exploration_of_prefix_that_is_no_option_is_refused():
    with pytest.raises(ParaplyError, match="P501"):
        list(map(walk, Exploration(prefix=[2])))


@pytest.mark.parametrize(("bound", "runs", "complete"), [(3, 3, False), (100, 100, True)])
def test_exploration_bounded_by_runs_is_complete_only_if_all_fit(bound, runs, complete):
    exploration = Exploration(runs_max=bound)
    for schedule in exploration:
        schedule.choose(10)
        schedule.choose(10)
    assert (exploration.count, exploration.is_complete) == (runs, complete)


def test_exploration_bounded_by_choices_branches_only_before_the_bound():
    exploration = Exploration(choices_max=2)
    stories = [tuple(schedule.choose(2) for _ in range(4)) for schedule in exploration]
    assert stories == [(a, b, 0, 0) for a in range(2) for b in range(2)]
    assert not exploration.is_complete


def test_exploration_bound_that_no_run_reaches_leaves_it_complete():
    exploration = Exploration(choices_max=3)
    assert len([walk(schedule) for schedule in exploration]) > 8
    assert exploration.is_complete


def test_skip_subtree_prunes_runs_that_share_the_prefix():
    exploration = Exploration()
    seen = []
    for schedule in exploration:
        first = schedule.choose(3)
        if first == 1:
            schedule.skip_subtree()
            schedule.skip_subtree()
            continue
        seen.append((first, schedule.choose(2)))
    assert seen == [(0, 0), (0, 1), (2, 0), (2, 1)]
    assert (exploration.count, exploration.skipped, exploration.is_complete) == (5, 1, True)


def test_enumeration_takes_only_the_indices_that_a_question_names():
    exploration = Exploration()
    found = [(run.choose_among(5, [1, 3]), run.choose(2)) for run in exploration]
    assert found == [(1, 0), (1, 1), (3, 0), (3, 1)]
    assert (exploration.count, exploration.is_complete) == (4, True)


def test_skip_subtree_ignores_choices_made_after_it():
    exploration = Exploration()
    for schedule in exploration:
        schedule.choose(2)
        schedule.skip_subtree()
        schedule.choose(5)
    assert exploration.count == 2


def test_skip_subtree_before_any_choice_ends_the_exploration():
    exploration = Exploration()
    for schedule in exploration:
        schedule.skip_subtree()
        schedule.choose(5)
    assert exploration.count == 1
    assert exploration.is_complete


def test_subject_that_changes_its_options_between_runs_is_reported():
    options = iter([2, 3, 3])
    with pytest.raises(ParaplyError, match="P502 choice 1 offered 3 options for x, but 2 when"):
        [schedule.choose(next(options), "x") for schedule in Exploration()]


def test_subject_that_stops_asking_between_runs_is_reported():
    asked = iter([2, 1])
    with pytest.raises(ParaplyError, match="P502 choice 1 offered 0 options, but 2 when"):
        [schedule.choose(next(asked)) for schedule in Exploration()]


def test_exploration_counts_all_interleavings_of_two_threads():
    def interleave(schedule):
        left, right, order = 3, 3, ""
        while left or right:
            thread = schedule.choose([t for t, n in (("l", left), ("r", right)) if n])
            left, right = left - (thread == "l"), right - (thread == "r")
            order += thread
        return order

    # C(6, 3): each order once.
    assert len({interleave(schedule) for schedule in Exploration()}) == 20
