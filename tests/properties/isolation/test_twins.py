"""The compiled search for cycles finds what the readable one finds."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paraply.properties.isolation.compiled.cycles import CompiledSearch, edges_of_versions
from paraply.properties.isolation.compiled.kernels import answered, strong_parts
from paraply.properties.isolation.compiled.sessions import kept_guarantees
from paraply.properties.isolation.cycles import CyclePhenomenon, kind_of_cycle
from paraply.properties.isolation.judging import judge, readable_search, search_for, versions_of
from paraply.properties.isolation.phenomena import PHENOMENA
from paraply.properties.isolation.sessions import session_guarantees
from paraply.properties.isolation.versions import Kind
from paraply.vocabulary.client_history import DataType
from tests.properties.isolation.notation import lists, registers
from tests.properties.isolation.strategies import VERSIONED, database_histories, recorded_histories

SHAPES = [one.cycle for one in PHENOMENA if one.cycle is not None]

HISTORIES = st.one_of(
    st.sampled_from(VERSIONED).flatmap(lambda one: database_histories(one, lag_max=3)),
    st.sampled_from(VERSIONED).flatmap(lambda one: recorded_histories(one, transactions_max=7)),
)


def check_cycle(cycle, shape, versions):
    """The steps are dependencies of the history, form a circle, and have the shape."""
    first = cycle.steps[0]
    assert first.kind & shape.anchor
    assert all(step.kind & shape.path for step in cycle.steps[1:])
    for step, following in zip(cycle.steps, (*cycle.steps[1:], first), strict=True):
        assert step.target == following.source
        if not shape.may_repeat_rw:
            assert not step.kind & following.kind & Kind.RW
    data = {step for step in cycle.steps if step.kind < Kind.SESSION}
    assert data <= {*versions.dependencies(), *versions.unread}


@pytest.mark.long
def test_both_searches_find_the_same_parts_and_lengths():
    reached = Counter()

    @settings(max_examples=80)
    @given(history=HISTORIES)
    @example(history=lists("ax1 ay1", "ax2 ay2", "rx12 ry21"))
    @example(history=registers("wx1 ry2", "wy2 rx1"))
    @example(history=registers("wx1", "wy2", "rx1 ry", "rx ry2"))
    def check(history):
        versions, compiled = versions_of(history), CompiledSearch()
        for shape in SHAPES:
            for with_unread in (False, True):
                plain = readable_search(versions, shape, with_unread=with_unread)
                fast = compiled(versions, shape, with_unread=with_unread)
                assert [len(one.steps) for one in plain] == [len(one.steps) for one in fast]
                for cycle in (*plain, *fast):
                    check_cycle(cycle, shape, versions)
                    reached[kind_of_cycle(cycle.steps)] += 1

    check()
    assert all(reached[which] for which in CyclePhenomenon)


@settings(max_examples=50)
@given(history=HISTORIES)
def test_arrays_hold_the_dependencies_that_are_yielded(history):
    versions = versions_of(history)
    edges = edges_of_versions(versions)
    assert sorted(edges[place] for place in range(len(edges))) == sorted(versions.dependencies())
    kinds = 0
    for one in versions.dependencies():
        kinds |= one.kind
    assert versions.kinds() == kinds


def test_reachability_is_answered_for_more_pairs_than_a_word_has_bits():
    import numpy as np

    # A line of 100 transactions: the later is reached from the earlier, never the other way.
    source, target = np.arange(99), np.arange(1, 100)
    part = strong_parts(100, source, target)
    order = np.argsort(-part[source], kind="stable")
    begin, goal = np.repeat(np.arange(100), 2), np.tile([0, 99], 100)
    found = answered(source[order], target[order], part, begin, goal)
    assert found.tolist() == [bool(begin[pair] <= goal[pair]) for pair in range(len(begin))]


def test_search_that_is_cut_short_says_so(monkeypatch):
    monkeypatch.setattr("paraply.properties.isolation.compiled.cycles.SCANS_PER_EDGE_MAX", 0)
    ring = [f"w{chr(97 + one)}1 r{chr(97 + (one + 1) % 6)}1" for one in range(6)]
    result = judge(registers(*ring), search=CompiledSearch())
    (breach,) = result.finding("G1c").breaches
    assert len(breach.transactions) == 6
    assert not breach.is_shortest
    assert str(breach).endswith("in a circle (a shorter one may exist)")
    (breach,) = judge(registers(*ring)).finding("G1c").breaches
    assert breach.is_shortest


def test_large_histories_are_searched_by_the_kernels(monkeypatch):
    small = lists("ax1", "rx1")
    assert search_for(small) is readable_search
    monkeypatch.setattr("paraply.properties.isolation.judging.READABLE_MAX", 1)
    assert isinstance(search_for(small), CompiledSearch)
    assert [one.verdict for one in judge(small).findings] == [
        one.verdict for one in judge(small, search=readable_search).findings
    ]


@pytest.mark.long
def test_guarantees_are_told_on_arrays_as_they_are_one_by_one():
    reached = Counter()

    @settings(max_examples=80)
    @given(history=HISTORIES)
    @example(history=lists("A: ax1", "A: ax2"))
    def check(history):
        versions = versions_of(history)
        plain, fast = session_guarantees(versions), kept_guarantees(versions)
        reached[fast is None] += 1
        if fast is None:
            return
        assert fast == plain

    check()
    assert reached[True] > 5
    assert reached[False] > 5


def test_guarantees_that_are_plainly_kept_need_no_second_look():
    @settings(max_examples=30)
    @given(history=database_histories(DataType.LIST))
    def check(history):
        assert kept_guarantees(versions_of(history)) is not None

    check()
