from __future__ import annotations

import pytest

from paraply.properties.apply.parallel_apply import (
    conflicting_transactions_are_applied,
    no_conflicting_parallel_apply,
    rows_apply_as_logged,
    starts_respect_last_committed,
    two_transactions_overlap,
)
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict

APART = """
T1{a} 2<1 | T2{b} 3<1 | T3{a} 4<2
| scheduled T1@w1 ; scheduled T2@w2 ; begun T1@w1 ; begun T2@w2
; row_applied T1@w1 {a} ok ; row_applied T2@w2 {b} ok
; engine_committed T1@w1 ; scheduled T3@w1 ; begun T3@w1 ; row_applied T3@w1 {a} ok
; engine_committed T2@w2 ; engine_committed T3@w1 ; stopped
"""


def verdict(name, history):
    return verdict_of(history, property_named(name))


def test_conflicting_transaction_that_waits_for_the_earlier_one_is_fine():
    history = parse_history(APART)
    assert no_conflicting_parallel_apply(history) == ()
    assert two_transactions_overlap(history)
    assert conflicting_transactions_are_applied(history)
    assert verdict("no_conflicting_parallel_apply", history) is Verdict.HOLDS


def test_row_changed_before_its_earlier_writer_committed_is_reported_with_the_row():
    history = parse_history(
        """
        T1{a} 2<1 | T2{a b} 3<1
        | scheduled T1@w1 ; scheduled T2@w2 ; begun T1@w1 ; begun T2@w2
        ; row_applied T2@w2 {a} ok ; row_applied T2@w2 {b} ok ; engine_committed T2@w2
        ; row_applied T1@w1 {a} ok ; engine_committed T1@w1 ; stopped
        """
    )
    (breach,) = no_conflicting_parallel_apply(history)
    assert str(breach) == "r1: T2 changed a before T1 had committed"


def test_conflicting_attempt_that_is_rolled_back_is_no_violation():
    # An optimistic applier: T2 touches the row too early, loses, and does it again in its turn.
    history = parse_history(
        """
        T1{a} 2<1 | T2{a} 3<1
        | scheduled T1@w1 ; scheduled T2@w2 ; begun T1@w1 ; begun T2@w2
        ; row_applied T2@w2 {a} ok ; rolled_back T2@w2 ; row_applied T1@w1 {a} ok
        ; engine_committed T1@w1 ; begun T2#2@w2 ; row_applied T2#2@w2 {a} ok
        ; engine_committed T2#2@w2 ; stopped
        """
    )
    assert no_conflicting_parallel_apply(history) == ()


def test_attempt_that_a_crash_ended_is_not_judged_by_its_touches():
    history = parse_history(
        """
        T1{a} 2<1 | T2{a} 3<2
        | begun T1@w1 ; begun T2@w2 ; row_applied T2@w2 {a} ok ; crashed ; recovered
        ; begun T1@w1 ; row_applied T1@w1 {a} ok ; engine_committed T1@w1
        ; begun T2@w1 ; row_applied T2@w1 {a} ok ; engine_committed T2@w1 ; stopped
        """
    )
    assert no_conflicting_parallel_apply(history) == ()


def test_transaction_without_write_set_beside_another_is_reported_without_a_row():
    history = parse_history(
        """
        T1{a} 2<1 | T2:ddl 3<2
        | begun T1@w1 ; begun T2@w2 ; row_applied T1@w1 {a} ok
        ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped
        """
    )
    (breach,) = no_conflicting_parallel_apply(history)
    assert (breach.earlier, breach.later, breach.item) == (1, 2, None)


def test_transaction_that_follows_a_barrier_too_early_is_reported():
    history = parse_history(
        """
        T1:ddl 2<1 | T2{a} 3<2
        | begun T1@w1 ; begun T2@w2 ; row_applied T2@w2 {a} ok
        ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped
        """
    )
    assert [breach.earlier for breach in no_conflicting_parallel_apply(history)] == [1]


def test_one_worker_says_nothing_about_parallel_apply():
    history = parse_history(
        """
        T1{a} 2<1 | T2{a} 3<2
        | begun T1@w1 ; row_applied T1@w1 {a} ok ; engine_committed T1@w1
        ; begun T2@w1 ; row_applied T2@w1 {a} ok ; engine_committed T2@w1 ; stopped
        """
    )
    assert verdict("no_conflicting_parallel_apply", history) is Verdict.UNKNOWN


def test_start_on_exactly_last_committed_is_fine_and_one_below_is_reported():
    history = parse_history(APART)
    assert starts_respect_last_committed(history) == ()
    early = parse_history(APART.replace("T3{a} 4<2", "T3{a} 4<3"))
    (breach,) = starts_respect_last_committed(early)
    assert (breach.transaction, breach.missing, breach.missing_number) == (3, 2, 3)


def test_numbers_of_an_older_clock_run_are_not_waited_for():
    history = parse_history(
        """
        T1{a} 3<2 | T2{b} 2<1 clock=1 | T3{c} 4<3 clock=1
        | begun T1@w1 ; begun T2@w2 ; engine_committed T2@w2 ; begun T3@w2
        ; engine_committed T1@w1 ; engine_committed T3@w2 ; stopped
        """
    )
    assert starts_respect_last_committed(history) == ()


@pytest.mark.parametrize("outcome", ["missing_before_image", "duplicate_key", "missing_parent"])
def test_row_change_that_does_not_find_its_row_is_reported(outcome):
    history = parse_history(
        f"T1{{a}} 2<1 | begun T1@w1 ; row_applied T1@w1 {{a}} {outcome} ; failed T1@w1"
    )
    (breach,) = rows_apply_as_logged(history)
    assert breach.items == ("a",)
    assert outcome.replace("_", " ") in str(breach)


@pytest.mark.parametrize("outcome", ["ok", "lock_wait"])
def test_row_change_that_waits_or_succeeds_is_no_breach(outcome):
    history = parse_history(
        f"T1{{a}} 2<1 | T2{{a}} 3<2 | begun T1@w1 ; row_applied T1@w1 {{a}} {outcome} other=2"
    )
    assert rows_apply_as_logged(history) == ()
    expected = Verdict.HOLDS if outcome == "ok" else Verdict.UNKNOWN
    assert verdict("rows_apply_as_logged", history) is expected


def test_overlap_of_transactions_without_a_common_row_is_no_conflict():
    apart = "begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; engine_committed T2@w2"
    situation = property_named("conflicting_transactions_are_applied")
    assert not situation.evidence(parse_history(f"T1{{a}} | T2{{b}} | {apart}")).decided
    assert situation.evidence(parse_history(f"T1{{a}} | T2{{a}} | {apart}")).decided


def test_conflict_says_nothing_where_no_two_transactions_overlapped():
    history = parse_history(
        """
        T1{a} 2<1 | T2{b} 3<2
        | begun T1@w1 ; row_applied T1@w1 {a} ok ; engine_committed T1@w1
        ; begun T2@w1 ; row_applied T2@w1 {b} ok ; engine_committed T2@w1 ; stopped
        """
    )
    assert not two_transactions_overlap(history)
    assert not conflicting_transactions_are_applied(history)
