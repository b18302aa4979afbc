"""Properties of the decision: each holds, breaks, and is undecided on the edge."""

from __future__ import annotations

import pytest

from paraply.properties.certification.decisions import (
    ConcurrentWritersCertified,
    DecisionsDiffer,
    ExecutedSetsDiffer,
    GtidGivenTwice,
    RefusedWithoutConflict,
    a_group_comes_to_rest,
    a_transaction_is_refused,
    first_certified_wins,
    gtid_numbers_are_in_range,
    gtids_are_unique,
    members_decide_alike,
    members_execute_the_same,
    only_conflicts_are_refused,
    refusals_are_deserved,
    two_members_certify_one_transaction,
    two_writers_race,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

RACE = """
| T1{a} origin=r1 | T2{a b} origin=r2
| submitted T1@r1 ; submitted T2@r2
; certified T1@r1 positive gtid=g:1 ; certified T2@r1 %s
"""


def test_first_certified_wins_when_the_second_writer_is_refused():
    history = history_of(RACE % "negative")
    assert verdict(history, first_certified_wins) is Verdict.HOLDS


def test_second_writer_certified_without_having_seen_the_first_is_reported():
    history = history_of(RACE % "positive gtid=g:2")
    assert first_certified_wins(history) == [
        ConcurrentWritersCertified(member="r1", winner=1, second=2, items=("a",))
    ]
    assert "T1" in str(first_certified_wins(history)[0])


def test_first_certified_wins_is_unknown_when_no_two_writers_race():
    history = history_of(
        """| T1{a} | T2{a} | submitted T1 ; certified T1 positive gtid=g:1
        ; submitted T2 transactions=1 ; certified T2 positive gtid=g:2"""
    )
    assert not two_writers_race(history)
    assert verdict(history, first_certified_wins) is Verdict.UNKNOWN


def test_writer_that_only_others_certified_is_known_to_a_joiner():
    # r2 joined after T1: it is bound by it all the same.
    history = history_of(
        """| T1{a} | T2{a} | submitted T1 ; submitted T2 ; certified T1@r1 positive gtid=g:1
        ; certified T2@r2 positive gtid=g:2"""
    )
    assert [breach.member for breach in first_certified_wins(history)] == ["r2"]


def test_refusal_is_justified_by_an_unseen_writer():
    history = history_of(RACE % "negative")
    assert verdict(history, only_conflicts_are_refused) is Verdict.HOLDS


def test_refusal_of_a_transaction_that_saw_everything_is_reported():
    history = history_of(
        """| T1{a} | T2{a} | submitted T1 ; certified T1 positive gtid=g:1
        ; submitted T2 transactions=1 ; certified T2 negative"""
    )
    assert only_conflicts_are_refused(history) == [
        RefusedWithoutConflict(member="r1", transaction=2)
    ]
    assert a_transaction_is_refused(history)


def test_refusal_that_a_snapshot_with_a_hole_causes_is_by_design_and_not_deserved():
    # T3 saw T2 but not T1, which T2 had seen: possible where commit order is not kept.
    history = history_of(
        """| T1{b} | T2{a} | T3{a} | submitted T1 ; certified T1 positive gtid=g:1
        ; submitted T2 transactions=1 ; certified T2 positive gtid=g:2
        ; submitted T3 transactions=2 ; certified T3 negative"""
    )
    assert not only_conflicts_are_refused(history)
    assert refusals_are_deserved(history) == [RefusedWithoutConflict(member="r1", transaction=3)]


@pytest.mark.parametrize(
    ("second", "expected"),
    [("negative", Verdict.HOLDS), ("positive gtid=g:2", Verdict.UNKNOWN)],
)
def test_refusal_for_an_unseen_writer_is_deserved(second, expected):
    assert verdict(history_of(RACE % second), refusals_are_deserved) is expected


def test_members_decide_alike_with_different_timestamps():
    history = history_of(
        """| T1{a} | certified T1@r1 positive gtid=g:1 3<2
        ; certified T1@r2 positive gtid=g:1 9<1"""
    )
    assert verdict(history, members_decide_alike) is Verdict.HOLDS


@pytest.mark.parametrize("other", ["negative", "positive gtid=g:2"])
def test_members_that_decide_differently_are_reported(other):
    history = history_of(f"| T1{{a}} | certified T1@r1 positive gtid=g:1 ; certified T1@r2 {other}")
    (breach,) = members_decide_alike(history)
    assert isinstance(breach, DecisionsDiffer)
    assert (breach.member, breach.other_member) == ("r1", "r2")


def test_members_decide_alike_is_unknown_with_one_member():
    history = history_of("| T1{a} | certified T1@r1 positive gtid=g:1")
    assert not two_members_certify_one_transaction(history)
    assert verdict(history, members_decide_alike) is Verdict.UNKNOWN


def test_gtids_are_unique_when_members_give_one_transaction_the_same():
    history = history_of(
        """| T1{a} | T2{b} | certified T1@r1 positive gtid=g:1 ; certified T1@r2 positive gtid=g:1
        ; certified T2@r1 positive gtid=g:2"""
    )
    assert verdict(history, gtids_are_unique) is Verdict.HOLDS


def test_gtid_given_to_two_transactions_on_two_members_is_reported():
    # Bug 103641: the same GTID has different content.
    history = history_of(
        "| T1{a} | T2{b} | certified T1@r1 positive gtid=g:1 ; certified T2@r2 positive gtid=g:1"
    )
    assert gtids_are_unique(history) == [
        GtidGivenTwice(gtid="g:1", transaction=1, other=2, members=("r1", "r2"))
    ]


def test_gtids_are_unique_is_unknown_with_fewer_than_two():
    history = history_of(
        "| T1{a} | T2{b} | certified T1@r1 positive gtid=g:1 ; certified T2@r1 negative"
    )
    assert verdict(history, gtids_are_unique) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("gtid", "is_valid"),
    [("g:0", False), ("g:1", True), (f"g:{2**63 - 2}", True), (f"g:{2**63 - 1}", False),
     ("g:tag:1", True), ("0-1-7", True), ("True", False), ("g:", False), (":1", False),
     ("g:1-2", False)],
)  # fmt: skip
def test_gtid_numbers_are_from_one_to_the_greatest(gtid, is_valid):
    history = history_of(f"| T1{{a}} | certified T1@r1 positive gtid={gtid}")
    expected = Verdict.HOLDS if is_valid else Verdict.VIOLATED
    assert verdict(history, gtid_numbers_are_in_range) is expected


def test_gtid_numbers_are_unknown_where_none_is_given():
    history = history_of("| T1{a} | certified T1@r1 negative")
    assert verdict(history, gtid_numbers_are_in_range) is Verdict.UNKNOWN


AT_REST = """
| T1{a} | T2{b} | engine_committed T1@r1 ; engine_committed T2@r1 ; engine_committed T1@r2 %s
; stopped @r1 ; stopped @r2
"""


def test_members_execute_the_same_at_rest():
    history = history_of(AT_REST % "; engine_committed T2@r2")
    assert verdict(history, members_execute_the_same) is Verdict.HOLDS


def test_member_at_rest_without_a_transaction_is_reported():
    (breach,) = members_execute_the_same(history_of(AT_REST % ""))
    assert breach == ExecutedSetsDiffer(
        member="r1", other_member="r2", only_here=(2,), only_there=()
    )


def test_members_still_at_work_are_not_compared():
    history = history_of("| T1{a} | engine_committed T1@r1 ; stopped @r1 ; delivered T1@r2")
    assert not a_group_comes_to_rest(history)
    assert verdict(history, members_execute_the_same) is Verdict.UNKNOWN


def test_member_that_left_in_good_order_is_not_compared():
    history = history_of(
        """| T1{a} | view_installed @r1 view=1 members=r1,r2
        ; view_installed @r2 view=1 members=r1,r2 ; stopped @r2
        ; view_installed @r1 view=2 members=r1 ; engine_committed T1@r1
        ; stopped @r1"""
    )
    assert not members_execute_the_same(history)
