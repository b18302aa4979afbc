"""Counters: bounds of each read, lost increments, and reads that go back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.isolation.counters import LoggedIncrement, judge_logged_increments
from paraply.properties.isolation.objects import judge_objects
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.notation import counters

FOUND = {
    "stale read": (
        counters("+x1", "+x2", "rx1", "rx3"),
        "T3 read x = 1: increments of 3 were confirmed when it was invoked",
    ),
    "counter too high": (
        counters("+x1", "+x1 fail", "rx2", "+x1", "rx2"),
        "T3 read x = 2: increments of at most 1 had begun when it ended, aborted ones left out",
    ),
    "lost increment": (
        counters("A@m1: +x1", "+x1", "B@m1: rx1", "C@m2: rx0"),
        "increments of 2 to x were confirmed; in the end T3 at m1 and T4 at m2 read at most 1",
    ),
    "final reads": (
        counters("+x1", "A@m1: rx1", "A@m2: rx0"),
        "in the end T2 at m1 read x with [1] and T3 at m2 with [0] instead",
    ),
    "monotonic reads": (
        counters("+x1", "B@m1: rx1", "B@m2: rx0", "B@m2: rx1"),
        "in session B T2 read x=1 at m1, and after it T3 read x=0 at m2: an older version",
    ),
    "monotonic reads at one server": (
        counters("+x1", "B@m1: rx1", "B@m1: rx0", "B@m1: rx1"),
        "in session B T2 read x=1 at m1, and after it T3 read x=0 at m1: an older version",
    ),
    "prefix": (
        counters("+x1", "+y1", "rx0 ry1", log=(1, 2)),
        "T3 saw y of T2 but not x of T1, which the log has before it: no prefix of the log shows "
        "this",
    ),
    "monotonic prefix": (
        counters("+x1", "+y1", "B: rx0 ry1", "B: ry0", log=(2, 1)),
        "T3 of session B showed the log up to T2; then T4 of that session missed y of T2",
    ),
}
"""By phenomenon: a history that has it, and the sentence."""


def found_in(history):
    return {one.phenomenon.label: one for one in judge_objects(history)}


@pytest.mark.parametrize("label", FOUND)
def test_anomaly_is_found_and_told(label):
    history, sentence = FOUND[label]
    finding = found_in(history)[label]
    assert finding.verdict is Verdict.VIOLATED
    assert [str(one) for one in finding.breaches] == [sentence]


CLEAN = {
    "each read shows the sum": counters("rx0", "+x1", "rx1", "+x2 +y1", "rx3 ry1"),
    "an increment that runs may count": counters(
        "+x1", "rx1", "rx1", at=[(1, 9), (2, 4), (10, 11)]
    ),
    "an increment that runs may be missed": counters(
        "+x1", "rx0", "rx1", at=[(1, 5), (2, 4), (6, 7)]
    ),
    "an unknown outcome may count": counters("+x1 info", "+x1", "rx2"),
    "an unknown outcome may be missed": counters("+x1 info", "+x1", "rx1"),
    "an aborted increment does not count": counters("+x1 fail", "+x1", "rx1"),
    "own increments count from then on": counters("+x1", "rx1 +x1 rx2 +x1 rx3", "rx3"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_history_without_anomaly_has_no_breach(name):
    findings = found_in(CLEAN[name])
    assert not [one.breaches for one in findings.values() if one.breaches]
    assert findings["lost increment"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("text", "label"), [("rx1 +x1", "stale read"), ("rx1 +x1 rx1", "stale read"),
                        ("rx3 +x1", "counter too high")],
)  # fmt: skip
def test_own_increments_move_both_bounds(text, label):
    # Two increments had ended, and the reader adds a third.
    assert found_in(counters("+x1", "+x1", text))[label].verdict is Verdict.VIOLATED


def test_log_names_the_transaction_that_a_stale_read_missed():
    history = counters("+x1", "+x1", "+y1", "rx1", "rx2", log=(2, 3, 1))
    (breach,) = found_in(history)["stale read"].breaches
    assert str(breach) == (
        "T4 read x = 1, and missed T1: increments of 2 were confirmed when it was invoked"
    )


def test_increments_of_one_transaction_are_seen_together():
    history = counters("+x1 +x1", "rx1", "rx2", log=(1,))
    assert found_in(history)["stale read"].verdict is Verdict.VIOLATED
    # A log of whole transactions has no state with half of one.
    assert found_in(history)["prefix"].verdict is Verdict.VIOLATED
    split = counters("+x1 +y1", "rx1 ry0", "rx1 ry1", log=(1,))
    assert found_in(split)["prefix"].verdict is Verdict.VIOLATED


def test_servers_may_differ_by_an_increment_of_unknown_outcome():
    history = counters("+x1 info", "+x1", "A@m1: rx2", "A@m2: rx1")
    finding = found_in(history)["final reads"]
    assert finding.verdict is Verdict.UNKNOWN
    assert found_in(history)["lost increment"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("history", "label", "reason"),
    [
        (counters("+x1"), "lost increment", "1 of 1 counters have no final read"),
        (counters("rx0"), "lost increment", "no increment was confirmed"),
        (counters("rx0"), "stale read",
         "no read came after an increment of its counter had ended"),
        (counters("+x1"), "counter too high", "no counter was read"),
        (counters("+x1", "A: rx1"), "monotonic reads", "no session returned to a key"),
        (counters("+x1", "rx1"), "prefix", "the order of the source's log is not known"),
        (replace(counters("+x1", "rx0"), has_times=False), "stale read",
         "the history does not say what was over before what began"),
        (replace(counters("+x1", "rx5"), has_times=False), "counter too high",
         "the history does not say what was over before what began"),
    ],
)  # fmt: skip
def test_without_its_situation_a_finding_is_unknown(history, label, reason):
    finding = found_in(history)[label]
    assert (finding.verdict, finding.reason) == (Verdict.UNKNOWN, reason)


def logged(*rows):
    return judge_logged_increments(LoggedIncrement(*row) for row in rows)


def test_logged_increments_form_a_chain_for_each_counter():
    chain = (("T1", "x", 0, 1), ("T2", "y", 0, 1), ("T3", "x", 1, 3))
    assert logged(*chain).verdict is Verdict.HOLDS
    assert logged(*chain[:2]).verdict is Verdict.UNKNOWN
    (breach,) = logged(*chain, ("T4", "x", 1, 2)).breaches
    assert str(breach) == "T3 left x = 3 in the log, and T4 after it incremented 1"
