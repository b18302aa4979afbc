"""Sets: what each anomaly looks like, and what is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.isolation.objects import judge_objects, levels_of_objects
from paraply.properties.isolation.sets import Outcome, element_outcomes
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.notation import sets

FOUND = {
    "lost element": (
        sets("A@m1: +x1", "B@m1: rx", "C@m2: rx"),
        "T1 added 1 to x and was confirmed; in the end T2 at m1 and T3 at m2 read x without it",
    ),
    "vanished element": (
        sets("+x1", "+x2 info", "rx12", "rx1"),
        "T3 read x with 2 of T2; in the end T4 read x without it",
    ),
    "duplicate element": (
        sets("+x1", "rx11"), "T2 read x with 1 twice, written only once",
    ),
    "G1a": (sets("+x1 fail", "rx1"), "T2 read x with 1 of T1, and T1 was aborted"),
    "garbage": (sets("+x1", "rx17"), "T2 read x with 7, which nobody wrote"),
    "internal": (sets("+x1 rx"), "T1 wrote x = 1 and then read [] there"),
    "G-single": (
        sets("+x1 +x2 +y3", "rx12 ry", "rx12 ry3"),
        "T2 read x with 1 of T1; T2 read y without 3 of T1: so T1 < T2 < T1, in a circle",
    ),
    "final reads": (
        sets("A@m1: +x1", "B@m1: rx1", "C@m2: rx"),
        "in the end T2 at m1 read x with [1] and T3 at m2 with [] instead",
    ),
    "stale read": (
        sets("+x1", "+x2", "rx1", "rx12"),
        "T2 wrote 2 to x and had ended when T3 was invoked, which read [1] there",
    ),
    "monotonic reads": (
        sets("+x1", "B@m1: rx1", "B@m2: rx", "B@m2: rx1"),
        "in session B T2 read x=[1] at m1, and after it T3 read x=[] at m2: an older version",
    ),
    "monotonic reads at one server": (
        sets("+x1", "B@m1: rx1", "B@m1: rx", "B@m1: rx1"),
        "in session B T2 read x=[1] at m1, and after it T3 read x=[] at m1: an older version",
    ),
    "prefix": (
        sets("+x1", "+x2", "rx2", "rx12", log=(1, 2)),
        "T3 saw x of T2 but not x of T1, which the log has before it: no prefix of the log shows "
        "this",
    ),
    "monotonic prefix": (
        sets("+x1", "B: rx1", "B: rx", "B: rx1", log=(1,)),
        "T2 of session B showed the log up to T1; then T3 of that session missed x of T1",
    ),
}  # fmt: skip
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
    "each read shows what had ended": sets("+x1", "rx1", "+x2 +y1", "rx12 ry1"),
    "an addition that runs may be seen": sets("+x1", "rx1", "rx1", at=[(1, 9), (2, 4), (10, 11)]),
    "an addition that runs may be missed": sets("+x1", "rx", "rx1", at=[(1, 5), (2, 4), (6, 7)]),
    "an unknown outcome may be seen": sets("+x1 info", "+x2", "rx12"),
    "an unknown outcome may be missed": sets("+x1 info", "+x2", "rx2"),
    "an aborted addition is absent": sets("+x1 fail", "+x2", "rx2"),
    "an own addition is seen": sets("rx +x1 rx1", "rx1"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_history_without_anomaly_has_no_breach(name):
    findings = found_in(CLEAN[name])
    assert not [one.breaches for one in findings.values() if one.breaches]
    assert findings["lost element"].verdict is Verdict.HOLDS


def test_element_that_one_server_has_is_not_lost_but_servers_differ():
    findings = found_in(FOUND["final reads"][0])
    assert findings["lost element"].verdict is Verdict.HOLDS
    assert findings["stale read"].verdict is Verdict.VIOLATED


def test_server_that_is_gone_before_the_end_has_no_final_read():
    # m1 showed the element and is lost; the writes and reads after that are of m2.
    history = sets("A@m1: +x1", "B@m1: rx1", "A@m2: +y2", "C@m2: rx ry2")
    findings = found_in(history)
    assert [str(one) for one in findings["lost element"].breaches] == [
        "T1 added 1 to x and was confirmed; in the end T4 at m2 read x without it"
    ]
    assert findings["final reads"].verdict is Verdict.UNKNOWN


def test_set_that_was_left_early_is_judged_by_its_own_last_reads():
    history = sets("A@m1: +x1", "B@m1: rx", "A@m1: +y2", "C@m1: ry2")
    assert found_in(history)["lost element"].verdict is Verdict.VIOLATED


def test_servers_may_differ_in_an_element_of_unknown_outcome():
    history = sets("+y1", "A@m1: +x1 info", "+x2", "B@m1: rx12", "C@m2: rx2")
    assert found_in(history)["final reads"].verdict is Verdict.HOLDS


def test_writers_of_one_transaction_are_seen_together_or_not_at_all():
    history = sets("+x1 +x2 +y3", "rx12 ry", "rx12 ry3", log=(1,))
    assert [str(one) for one in found_in(history)["prefix"].breaches] == [
        "T2 saw x of T1 but not y of T1, which the log has before it: no prefix of the log shows "
        "this"
    ]


def test_old_snapshot_of_a_writer_is_a_prefix_and_a_snapshot_after_itself_is_not():
    old = sets("+x1", "+x2", "rx1 +x3 rx13", "rx123", log=(1, 2, 3))
    assert found_in(old)["prefix"].verdict is Verdict.HOLDS
    after = sets("+x1", "+x2", "rx12 +x3", "rx123", log=(1, 3, 2))
    assert found_in(after)["prefix"].verdict is Verdict.VIOLATED


def test_reads_of_one_set_in_one_transaction_that_differ_are_skewed():
    (breach,) = found_in(sets("+x1", "rx rx1"))["G-single"].breaches
    assert "T2 read x with 1 of T1; T2 read x without 1 of T1" in str(breach)


@pytest.mark.parametrize(
    ("history", "label", "reason"),
    [
        (sets("+x1"), "lost element", "1 of 1 confirmed elements have no final read"),
        (sets("rx", "+x1", at=[(1, 5), (2, 4)]), "lost element",
         "1 of 1 confirmed elements have no final read"),
        (sets("rx"), "lost element", "no element was confirmed"),
        (sets("+x1"), "garbage", "no set was read"),
        (sets("+x1", "rx1"), "vanished element",
         "no unconfirmed element was read that has a final read"),
        (sets("+x1", "A@m1: rx1"), "final reads",
         "no two servers were read after all confirmed writes"),
        (sets("+x1", "A@m1: rx1", "A@m2: rx1"), "monotonic reads at one server",
         "no session returned to a key at one server"),
        (sets("+x1", "rx1"), "prefix", "the order of the source's log is not known"),
        (replace(sets("+x1", "rx"), has_times=False), "stale read",
         "the history does not say what was over before what began"),
        (replace(sets("+x1", "rx"), has_times=False), "lost element",
         "1 of 1 confirmed elements have no final read"),
    ],
)  # fmt: skip
def test_without_its_situation_a_finding_is_unknown(history, label, reason):
    finding = found_in(history)[label]
    assert (finding.verdict, finding.reason) == (Verdict.UNKNOWN, reason)


def test_outcomes_of_elements():
    history = sets(
        "+x1 +x2", "+x3 info", "+x4 info", "+x5 fail", "+y1", "rx1 ry1", "rx134", "rx13", "+y2",
        "+z1", at=[(n, n) for n in (1, 2, 3, 4, 9, 6, 7, 8, 10, 11)],
    )  # fmt: skip
    assert element_outcomes(history) == {
        Outcome.STABLE: 2, Outcome.LOST: 1, Outcome.VANISHED: 1, Outcome.SEEN: 1,
        Outcome.NEVER_READ: 2,
    }  # fmt: skip
    assert element_outcomes(sets("+x1 info", "rx")) == {Outcome.ABSENT: 1}


def test_element_added_twice_is_refused():
    with pytest.raises(ParaplyError, match="the value 1 is written to x twice"):
        judge_objects(sets("+x1", "+x1"))


def test_levels_are_refuted_by_their_phenomena_and_unknown_otherwise():
    history, _ = FOUND["G1a"]
    found = levels_of_objects(judge_objects(history), history.data_type)
    levels = {one.level.name: one for one in found}
    assert levels["read-uncommitted"].verdict is Verdict.UNKNOWN
    assert levels["read-uncommitted"].because == ("a set shows no order of versions",)
    assert levels["read-committed"].verdict is Verdict.VIOLATED
    assert levels["read-committed"].because == ("G1a",)
    monotonic = sets("+x1", "A: rx1", "A: rx1")
    found = levels_of_objects(judge_objects(monotonic), monotonic.data_type)
    assert [one.level.name for one in found if one.verdict is Verdict.HOLDS] == ["monotonic-reads"]
