"""Blamed rows are exactly the guilty ones, whatever else is suspected."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paraply.properties.two_logs.blame import ROWS_MAX, blame
from paraply.properties.two_logs.judgement import Judgement, Level

KEYS = st.frozensets(st.integers(0, 30), max_size=12)


def judge_of(guilty, suspects, reached=Level.BATCHES):
    """A judge that reaches a level once the guilty rows are left out."""

    def judge_without(keys):
        level = reached if guilty <= keys else Level.PER_KEY
        return Judgement(level=level, suspects=dict.fromkeys(suspects - keys, 1))

    return judge_without


def blamed(guilty, suspects, reached=Level.BATCHES):
    judge_without = judge_of(guilty, suspects, reached)
    return blame(judge_without, judge_without(frozenset()))


@given(KEYS.filter(bool), KEYS, st.sampled_from([Level.ATOMIC, Level.BATCHES, Level.PREFIX]))
def test_guilty_rows_are_found_among_suspects(guilty, others, reached):
    found = blamed(guilty, guilty | others, reached)
    assert found.judgement.level is reached
    if found.is_minimal:
        assert frozenset(found.keys) == guilty
    assert guilty <= frozenset(found.keys) <= guilty | others


@given(st.integers(1, 3))
@example(0)
def test_as_many_rows_as_allowed_are_blamed_and_no_more(more):
    guilty = frozenset(range(ROWS_MAX + more))
    found = blamed(guilty, guilty)
    assert (found is None) == (more > 0)


@given(KEYS.filter(bool), KEYS)
def test_nothing_is_blamed_where_it_does_not_help_or_is_not_needed(guilty, others):
    hidden = frozenset({-1})
    assert blamed(hidden, guilty | others) is None
    assert blamed(frozenset(), others) is None


@given(KEYS.filter(bool))
def test_rows_that_come_to_light_one_after_the_other_are_blamed_together(guilty):
    order = sorted(guilty)[:5]

    def judge_without(keys):
        left = [key for key in order if key not in keys]
        level = Level.PER_KEY if left else Level.PREFIX
        return Judgement(level=level, suspects={left[0]: 1} if left else {})

    found = blame(judge_without, judge_without(frozenset()))
    assert found.keys == tuple(order)
    assert found.is_minimal


@pytest.mark.parametrize("named", ["suspects", "conceded", "found", "differing"])
@pytest.mark.parametrize("level", [Level.PER_KEY, Level.BATCHES])
def test_rows_are_suspected_wherever_a_judgement_names_them(named, level):
    guilty = frozenset({1, 2})

    def judge_without(keys):
        left = guilty - keys
        reached = level if left else Level.PREFIX
        return Judgement(level=reached, **{named: dict.fromkeys(left, 1)})

    found = blame(judge_without, judge_without(frozenset()))
    if level is Level.BATCHES and named != "conceded":
        assert found is None
    else:
        assert frozenset(found.keys) == guilty
