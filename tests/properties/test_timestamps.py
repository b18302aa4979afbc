"""Properties of last_committed and sequence_number: each holds, breaks, and has an edge."""

from __future__ import annotations

import pytest

from paraply.properties.certification.timestamps import (
    a_local_writer_comes_between,
    barriers_are_ordered_with_all,
    collections_skip_at_most_one_number,
    conflicting_transactions_are_ordered,
    independent_transactions_may_overlap,
    last_committed_is_below_sequence_number,
    last_committed_is_minimal,
    sequence_numbers_are_contiguous,
    sequence_numbers_increase,
    timestamps_keep_session_order,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def certified(*transactions, before=""):
    """One member certifies transactions given as ``items timestamp``, such as ``a b 2<1``.

    No items: no write set. No timestamp: local. ``collect:a`` purges, ``fence`` is (0, 0).
    """
    listed, events = [], [before] if before else []
    for words in transactions:
        if words.startswith("collect:"):
            events.append(f"garbage_collected @r1 {{{words.removeprefix('collect:')}}}")
            continue
        number = len(listed) + 1
        *items, last = words.split()
        timestamp = last if "<" in last else ""
        items = items if timestamp else [*items, last]
        kind = "" if items else ":no_write_set"
        write_set = "{" + " ".join(items) + "}" if items else ""
        listed.append(f"| T{number}{kind}{write_set}")
        events.append(f"certified T{number}@r1 positive gtid=g:{number} {timestamp}")
    return history_of(" ".join(listed) + " | " + " ; ".join(events))


def test_well_formed_timestamps_hold():
    assert verdict(certified("a 2<1", "b 3<1"), last_committed_is_below_sequence_number) is (
        Verdict.HOLDS
    )


def test_transaction_that_waits_for_itself_is_reported():
    # EX6 with the sentence on garbage collection taken word by word: LC 4, SN 4.
    (breach,) = last_committed_is_below_sequence_number(certified("a 2<1", "b 4<4"))
    assert (breach.transaction, str(breach.timestamp)) == (2, "4<4")


def test_zero_zero_is_well_formed():
    assert not last_committed_is_below_sequence_number(certified("a 0<0", "b 3<1"))


def test_rising_sequence_numbers_hold():
    assert verdict(certified("a 2<1", "b 3<1"), sequence_numbers_increase) is Verdict.HOLDS


def test_sequence_number_that_comes_again_is_reported():
    (breach,) = sequence_numbers_increase(certified("a 2<1", "b 2<1"))
    assert breach.numbers == (2, 2)


def test_sequence_numbers_may_begin_again_after_zero_zero():
    assert not sequence_numbers_increase(certified("a 7<1", "b 0<0", "c 2<1"))


def test_dependent_transaction_that_waits_holds():
    history = certified("a 2<1", "a b 3<2")
    assert verdict(history, conflicting_transactions_are_ordered) is Verdict.HOLDS


def test_ex5_dependent_transaction_that_does_not_wait_is_reported():
    (breach,) = conflicting_transactions_are_ordered(certified("a 2<1", "b 3<1", "a 4<1"))
    assert (breach.earlier, breach.later) == (1, 3)


def test_prefix_counts_and_not_the_parent_alone():
    # last_committed 3 covers the writer with sequence number 2 as well.
    assert not conflicting_transactions_are_ordered(certified("a 2<1", "b 3<1", "a b 4<3"))


def test_writer_that_has_committed_needs_no_waiting():
    # The trace of server1 in the servers' own test: remote a, local a, remote a with (1, 4).
    history = history_of(
        """| T1{a} | T2{a} | T3{a} | certified T1@r1 positive gtid=g:1 3<2
        ; engine_committed T1@r1 ; certified T2@r1 positive gtid=g:2
        ; engine_committed T2@r1 ; certified T3@r1 positive gtid=g:3 4<1"""
    )
    assert not conflicting_transactions_are_ordered(history)
    assert a_local_writer_comes_between(history)


def test_committing_at_the_source_orders_nothing_on_the_replica():
    history = history_of(
        """| T1{a} | T2{a} | flushed T1 1<0 ; engine_committed T1 ; flushed T2 2<0
        ; flushed T2 3<1"""
    )
    assert not conflicting_transactions_are_ordered(
        history_of("| T1{a} | T2{a} | flushed T1 1<0 ; engine_committed T1 ; flushed T2 2<1")
    )
    # last_committed 0 makes the coordinator wait for all; 1 below the writer does not.
    worse = history_of(
        """| T1{b} | T2{a} | T3{a} | flushed T1 1<0 ; flushed T2 2<1 ; engine_committed T2
        ; flushed T3 3<1"""
    )
    assert [breach.later for breach in conflicting_transactions_are_ordered(worse)] == [3]
    assert len(history.events) == 4


def test_ex4_barrier_that_waits_for_all_holds():
    history = certified("2<1", "a 3<2", "b 4<2", "5<4", "a 6<5")
    assert verdict(history, barriers_are_ordered_with_all) is Verdict.HOLDS


def test_ex4_read_literally_lets_the_fourth_transaction_overlap():
    breaches = barriers_are_ordered_with_all(certified("2<1", "a 3<2", "b 4<2", "5<2", "a 6<5"))
    assert [(one.earlier, one.later) for one in breaches] == [(2, 4), (3, 4)]


def test_barriers_are_unknown_where_there_is_none():
    assert verdict(certified("a 2<1", "b 3<1"), barriers_are_ordered_with_all) is Verdict.UNKNOWN


def test_minimal_last_committed_holds():
    history = certified("a 2<1", "b 3<1", "a c 4<2")
    assert verdict(history, last_committed_is_minimal) is Verdict.HOLDS
    assert independent_transactions_may_overlap(history)


def test_transaction_that_waits_for_more_than_it_needs_is_reported():
    (breach,) = last_committed_is_minimal(certified("a 2<1", "b 3<1", "a c 4<3"))
    assert (breach.transaction, breach.needed) == (3, 2)


def test_window_after_a_collection_is_no_waste_whether_it_burns_a_number_or_not():
    assert not last_committed_is_minimal(certified("a 2<1", "b 3<1", "collect:a", "c 4<3"))
    assert not last_committed_is_minimal(certified("a 2<1", "b 3<1", "collect:a", "c 5<4"))
    assert last_committed_is_minimal(certified("a 2<1", "b 3<1", "collect:a", "c 4<3", "d 5<4"))


def test_contiguous_numbers_hold():
    assert verdict(certified("a 2<1", "b 3<1"), sequence_numbers_are_contiguous) is Verdict.HOLDS


def test_burned_number_is_reported():
    (breach,) = sequence_numbers_are_contiguous(certified("a 2<1", "collect:a", "b 4<3"))
    assert breach.numbers == (2, 4)


def test_numbers_of_two_binary_logs_are_not_compared():
    history = history_of("| T1{a} | T2{b} | flushed T1 7<6 ; relay_rotated ; flushed T2 1<0")
    assert not sequence_numbers_are_contiguous(history)
    (breach,) = sequence_numbers_are_contiguous(
        history_of("| T1{a} | T2{b} | flushed T1 7<6 ; relay_rotated ; flushed T2 2<1")
    )
    assert breach.numbers == (0, 2)
    assert not sequence_numbers_increase(history)


def test_session_in_order_holds():
    history = history_of("| T1{a} session=s1 | T2{b} session=s1 | flushed T1 1<0 ; flushed T2 2<1")
    assert verdict(history, timestamps_keep_session_order) is Verdict.HOLDS


def test_session_whose_transactions_may_overlap_is_reported():
    history = history_of(
        """| T1{a} session=s2 | T2{b} session=s1 | T3{c} session=s1
        | flushed T1 1<0 ; flushed T2 2<1 ; flushed T3 3<1"""
    )
    assert [breach.later for breach in timestamps_keep_session_order(history)] == [3]


def test_sessions_are_unknown_with_one_transaction_each():
    history = history_of("| T1{a} session=s1 | T2{b} session=s2 | flushed T1 1<0 ; flushed T2 2<1")
    assert verdict(history, timestamps_keep_session_order) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("numbers", "is_wrong"),
    [(("2<1", "3<1"), False), (("2<1", "4<3"), False), (("2<1", "5<3"), True)],
)
def test_collection_skips_at_most_one_number(numbers, is_wrong):
    first, second = numbers
    run = certified(f"a {first}", "collect:a", f"b {second}")
    assert [str(one) for one in collections_skip_at_most_one_number(run)] == is_wrong * [
        "r1 numbers T2 5 after 2, with 1 collections between"
    ]
    assert verdict(run, collections_skip_at_most_one_number) is (
        Verdict.VIOLATED if is_wrong else Verdict.HOLDS
    )


def test_gap_without_a_collection_between_is_reported():
    run = certified("a 2<1", "collect:a", "b 3<2", "c 5<2")
    assert len(collections_skip_at_most_one_number(run)) == 1
