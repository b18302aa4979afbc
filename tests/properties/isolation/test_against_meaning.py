"""Verdicts against the operational meaning of the levels: every order of a few transactions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paraply.properties.isolation.judging import judge
from paraply.vocabulary.client_history import AccessKind, DataType
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.notation import lists, registers
from tests.properties.isolation.oracles import (
    is_serializable,
    is_snapshot_isolated,
    precedence,
    shows_prefixes,
)
from tests.properties.isolation.strategies import VERSIONED, database_histories, recorded_histories

LEVELS = {
    "serializable": (is_serializable, {}),
    "snapshot-isolation": (is_snapshot_isolated, {}),
    "strong-session-serializable": (is_serializable, {"session": True}),
    "strict-serializable": (is_serializable, {"session": True, "realtime": True}),
    "strong-session-snapshot-isolation": (is_snapshot_isolated, {"session": True}),
    "strong-snapshot-isolation": (is_snapshot_isolated, {"session": True, "realtime": True}),
}


EXPLAINED = {
    DataType.LIST: lists("A: rx", "A: ax1", "A: rx1"),
    DataType.REGISTER: registers("A: rx", "A: wx1", "A: rx1"),
}
NOT_EXPLAINED = {
    DataType.LIST: lists("A: ax1 ay1", "A: rx1 ry"),
    DataType.REGISTER: registers("A: wx1 wy1", "A: rx1 ry"),
}


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("data_type", VERSIONED, ids=lambda one: one.value)
def test_level_is_refuted_exactly_where_no_order_explains_the_history(level, data_type):
    meaning, orders = LEVELS[level]
    reached = Counter()

    @settings(max_examples=60)
    @given(history=recorded_histories(data_type))
    @example(history=EXPLAINED[data_type])
    @example(history=NOT_EXPLAINED[data_type])
    def check(history):
        verdict = judge(history).level(level).verdict
        reached[verdict] += 1
        if verdict is not Verdict.UNKNOWN:
            explained = meaning(history, precedence(history, **orders))
            assert explained == (verdict is Verdict.HOLDS)

    check()
    assert reached[Verdict.HOLDS]
    assert reached[Verdict.VIOLATED]


@pytest.mark.long
@pytest.mark.parametrize("data_type", VERSIONED, ids=lambda one: one.value)
def test_prefix_is_refuted_exactly_where_some_state_of_the_log_is_missing(data_type):
    reached = Counter()

    @settings(max_examples=60)
    @given(history=recorded_histories(data_type), data=st.data())
    def check(history, data):
        writers = [
            one.number
            for one in history.transactions
            if any(access.kind is not AccessKind.READ for access in one.accesses)
        ]
        logged = replace(history, log=tuple(data.draw(st.permutations(writers))))
        verdict = judge(logged).level("prefix").verdict
        reached[verdict] += 1
        if verdict is not Verdict.UNKNOWN:
            assert shows_prefixes(logged) == (verdict is Verdict.HOLDS)

    check()
    assert reached[Verdict.HOLDS]
    assert reached[Verdict.VIOLATED]


@pytest.mark.long
@settings(max_examples=60)
@given(history=st.sampled_from(VERSIONED).flatmap(database_histories))
def test_serial_database_is_never_flagged(history):
    result = judge(history)
    assert not [one for one in result.findings if one.verdict is Verdict.VIOLATED]
    assert not [one for one in result.levels if one.verdict is Verdict.VIOLATED]


def test_serial_database_is_mostly_decided():
    # So that "never flagged" is not the silence of a checker that decides nothing.
    decided = Counter()

    @settings(max_examples=30)
    @given(history=database_histories(DataType.LIST))
    def check(history):
        for one in judge(history).levels:
            decided[one.level.name] += one.verdict is Verdict.HOLDS

    check()
    assert decided["strict-serializable"] > 5
    assert decided["monotonic-prefix"] > 5
    assert all(decided[name] for name in ("read-your-writes", "writes-follow-reads"))
