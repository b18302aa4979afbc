"""The three levels of WL#4648 over hand-written histories: kept, broken, and on the edge."""

from __future__ import annotations

from paraply.properties.apply.consistency_levels import (
    gap_free_states_are_the_sources,
    replica_ends_in_the_sources_state,
    replica_has_a_gap,
    replica_states_existed_on_the_source,
    restart_reaches_the_sources_state,
    restart_repeats_a_transaction,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "T1{a} | T2{b} | T3{a} | scheduled T1 ; scheduled T2 ; scheduled T3 "


def commits(*numbers, log=LOG, end="; stopped"):
    begun = "".join(f"; begun T{n} ; engine_committed T{n} " for n in numbers)
    return history_of(log + begun + end)


def test_states_in_the_order_of_the_log_keep_every_level():
    history = commits(1, 2, 3)
    for check in (replica_states_existed_on_the_source, replica_ends_in_the_sources_state):
        assert check(history) == ()
        assert verdict(history, check) is Verdict.HOLDS
    assert gap_free_states_are_the_sources(history) == ()
    assert verdict(history, gap_free_states_are_the_sources) is Verdict.UNKNOWN


def test_gap_shows_a_state_that_never_existed_without_any_reader():
    history = commits(2, 1, 3)
    (breach,) = replica_states_existed_on_the_source(history)
    assert (breach.seen, breach.missed) == (2, 1)
    assert replica_has_a_gap(history)
    # Most of the time and eventually all is well: the gap closed.
    assert verdict(history, gap_free_states_are_the_sources) is Verdict.HOLDS
    assert replica_ends_in_the_sources_state(history) == ()


def test_older_change_that_comes_last_breaks_the_gap_free_state_and_the_end():
    history = commits(3, 2, 1)
    (breach,) = gap_free_states_are_the_sources(history)
    assert (breach.prefix, breach.item, breach.expected, breach.found) == (3, "a", 3, 1)
    (end,) = replica_ends_in_the_sources_state(history)
    assert str(end) == "r1: stopped with a of T1; the source left T3"


def test_discarded_change_leaves_the_newer_row():
    history = history_of(
        LOG + "; begun T3 ; row_applied T3 ok {a} ; engine_committed T3 ; begun T1 "
        "; row_applied T1 discarded {a} ; engine_committed T1 ; begun T2 ; engine_committed T2 "
        "; stopped"
    )
    assert replica_ends_in_the_sources_state(history) == ()
    assert gap_free_states_are_the_sources(history) == ()


def test_part_of_a_transaction_that_is_visible_is_a_state_of_its_own():
    history = history_of(
        "T1{a b} | scheduled T1 ; begun T1 ; row_applied T1 ok {a} ; row_applied T1 ok {b} "
        "; visible T1 {a} ; engine_committed T1 ; stopped"
    )
    (breach,) = replica_states_existed_on_the_source(history)
    assert (breach.seen_item, breach.missed_item) == ("a", "b")
    assert gap_free_states_are_the_sources(history) == ()
    assert replica_ends_in_the_sources_state(history) == ()


def test_end_is_judged_however_the_run_ended_but_not_in_half_a_history():
    (breach,) = replica_ends_in_the_sources_state(commits(1, 2, end=""))
    assert (breach.ending, breach.item, breach.found) == ("stalled", "a", 1)
    failed = commits(1, 2, end="; failed T3")
    assert [one.ending for one in replica_ends_in_the_sources_state(failed)] == ["failed"]


def test_restart_that_repeats_transactions_is_a_gap_until_all_are_repeated():
    first = "; begun T1 ; engine_committed T1 ; begun T2 ; engine_committed T2 "
    again = "; begun T1 ; engine_committed T1 ; begun T2 ; engine_committed T2 "
    last = "; begun T3 ; engine_committed T3 ; stopped"
    history = history_of(LOG + first + "; crashed ; recovered " + again + last)
    assert restart_repeats_a_transaction(history)
    assert verdict(history, restart_reaches_the_sources_state) is Verdict.HOLDS
    assert gap_free_states_are_the_sources(history) == ()


def test_restart_past_a_lost_transaction_is_reported_and_one_without_a_crash_is_not_judged():
    lost = history_of(
        LOG + "; begun T1 ; engine_committed T1 ; crashed ; recovered transactions=1,2 "
        "; begun T3 ; engine_committed T3 ; stopped"
    )
    (breach,) = restart_reaches_the_sources_state(lost)
    assert (breach.item, breach.expected, breach.found) == ("b", 2, 0)
    assert restart_reaches_the_sources_state(commits(1, 3)) == ()
