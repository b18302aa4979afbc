"""Readers of replicas and one order of transactions: what a checker without the log can find."""

from __future__ import annotations

import pytest

from paraply.properties.readers.isolation import (
    reader_misses_a_later_version,
    replica_reads_fit_one_order,
)
from paraply.properties.readers.replica_reads import readers_see_prefixes
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "T1{x} 2<1 | T2{y} 3<1 "
DEPENDENT = "T1{x y} 2<1 | T2{x} 3<2 "


@pytest.mark.parametrize(
    ("history", "fits", "is_prefix"),
    [
        pytest.param(LOG + "| read [x=T1 y=T0]", True, True, id="stale, and legal"),
        pytest.param(LOG + "| read [x=T0 y=T2]", True, False, id="a gap that no reader can tell"),
        pytest.param(
            LOG + "| read @r1 [x=T1 y=T0] ; read @r2 [x=T0 y=T2]", False, False, id="long fork"
        ),
        pytest.param(DEPENDENT + "| read [x=T2 y=T0]", False, False, id="read skew"),
        pytest.param(DEPENDENT + "| read [x=T1 y=T0]", False, False, id="part of a transaction"),
        pytest.param(
            LOG + "| read @r1 [x=T1 y=T2] ; read @r1 [x=T0 y=T0]",
            True,
            True,
            id="backwards: each is a prefix",
        ),
    ],
)
def test_gap_is_a_breach_only_where_dependencies_give_it_away(history, fits, is_prefix):
    history = history_of(history)
    assert (verdict(history, replica_reads_fit_one_order) is Verdict.HOLDS) == fits
    assert (not readers_see_prefixes(history)) == is_prefix
    assert reader_misses_a_later_version(history)


def test_reader_who_saw_everything_shows_nothing():
    history = history_of(LOG + "| read [x=T1 y=T2]")
    assert verdict(history, replica_reads_fit_one_order) is Verdict.UNKNOWN
    assert not reader_misses_a_later_version(history)


def test_circle_is_told_step_by_step():
    history = history_of(LOG + "| read @r1 [x=T1 y=T0] ; read @r2 [x=T0 y=T2]")
    (breach,) = replica_reads_fit_one_order(history)
    assert sorted(breach.steps) == [
        "read 1 at r1 did not see y of T2",
        "read 1 at r1 saw x of T1",
        "read 2 at r2 did not see x of T1",
        "read 2 at r2 saw y of T2",
    ]


def test_circle_through_an_overwriting_is_told():
    history = history_of("T1{x y} 2<1 | T2{x z} 3<2 | T3{x} 4<3 | read [x=T3 y=T0 z=T0]")
    steps = [step for one in replica_reads_fit_one_order(history) for step in one.steps]
    assert "read 1 at r1 saw x of T3" in steps
    assert any(step.startswith("T2 wrote x before T3") for step in steps)


def test_version_that_the_log_does_not_have_is_passed_over():
    # A row of which the history lists no writer: another property speaks of such a state.
    history = history_of(LOG + "| read [x=T2 y=T0]")
    assert replica_reads_fit_one_order(history) == ()
