"""Readers of a replica, among them the five histories that tell checkers apart.

T1 writes x and T2 writes y, in this order in the source's log. Black-box checkers cannot tell B (a
fault of the applier) from E (a legal stale read); with the log's order given the two differ.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.readers.replica_reads import (
    final_state_is_the_sources,
    reader_sees_the_middle,
    readers_see_prefixes,
    reads_never_go_back,
)
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict

LOG = "T1{x} 2<1 session=s1 | T2{y} 3<1 session=s2 "


def broken(history):
    return {
        prop.__name__
        for prop in (readers_see_prefixes, reads_never_go_back)
        if prop(parse_history(history))
    }


@pytest.mark.parametrize(
    ("reads", "breaks"),
    [
        pytest.param(
            "| read @r1 session=c1 [x=T1 y=T0] ; read @r2 session=c2 [x=T0 y=T2]",
            {"readers_see_prefixes"}, id="A: two readers disagree on the order",
        ),
        pytest.param(
            "| read session=c1 [x=T0 y=T2]", {"readers_see_prefixes"},
            id="B: T2 is shown without T1",
        ),
        pytest.param(
            "| read session=c1 [x=T0 y=T2]", {"readers_see_prefixes"},
            id="C: the same, one source session",
        ),
        pytest.param(
            "| read session=c1 [x=T1 y=T0] ; read session=c1 [x=T0 y=T0]",
            {"reads_never_go_back"}, id="D: a session goes back",
        ),
        pytest.param(
            "| read session=c1 [x=T0 y=T0] ; read session=c1 [x=T0 y=T0]", set(),
            id="E: a stale read is legal",
        ),
    ],
)  # fmt: skip
def test_history_is_decided_by_the_order_of_the_log(reads, breaks, request):
    log = LOG.replace("s2", "s1") if request.node.callspec.id.startswith("C") else LOG
    assert broken(log + reads) == breaks


def test_state_that_never_existed_is_told_with_both_transactions():
    (breach,) = readers_see_prefixes(parse_history(LOG + "| read [x=T0 y=T2]"))
    assert str(breach) == (
        "r1: a reader saw y of T2 but not x of T1, which comes first: the source never was so"
    )


def test_reads_that_each_fit_a_prefix_but_not_a_growing_one_are_reported():
    # The first read looks at y only, so it says that T1 must be there too.
    history = parse_history(LOG + "| read [y=T2] ; read [x=T0]")
    assert readers_see_prefixes(history) == ()
    (breach,) = reads_never_go_back(history)
    assert (breach.missed, breach.shown_before) == (1, 2)


def test_reads_on_two_replicas_are_not_compared():
    assert broken(LOG + "| read @r1 [x=T1 y=T2] ; read @r2 [x=T0 y=T0]") == set()


def test_reader_that_sees_all_or_nothing_shows_little():
    assert not reader_sees_the_middle(parse_history(LOG + "| read [x=T0 y=T0] ; read [x=T1 y=T2]"))
    assert reader_sees_the_middle(parse_history(LOG + "| read [x=T1 y=T0]"))
    nothing = parse_history(LOG + "| read [x=T0 y=T0]")
    assert verdict_of(nothing, property_named("readers_see_prefixes")) is Verdict.UNKNOWN


def test_final_state_is_judged_only_after_a_good_end():
    read = "| read session=auditor [x=T1 y=T0] "
    assert final_state_is_the_sources(parse_history(LOG + read)) == ()
    (breach,) = final_state_is_the_sources(parse_history(LOG + read + "; stopped"))
    assert (breach.item, breach.expected, breach.found) == ("y", 2, 0)
    good = parse_history(LOG + "| read [x=T1 y=T2] ; stopped")
    assert final_state_is_the_sources(good) == ()
    assert verdict_of(good, property_named("final_state_is_the_sources")) is Verdict.HOLDS


def test_replica_that_was_stopped_and_goes_on_is_not_at_its_end():
    behind = LOG + "| read [x=T1 y=T0] ; stopped"
    assert final_state_is_the_sources(parse_history(behind))
    assert not final_state_is_the_sources(parse_history(behind + " ; started"))
    broke_off = replace(parse_history(behind), is_complete=False)
    assert not final_state_is_the_sources(broke_off)
    again = parse_history(behind + " ; started ; read [x=T1 y=T0] ; stopped")
    assert [breach.item for breach in final_state_is_the_sources(again)] == ["y"]
