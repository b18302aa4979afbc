from __future__ import annotations

from paraply.properties.apply.commit_order import (
    applied_exactly_once,
    applier_reaches_the_end,
    engine_commits_follow_the_log,
    half_a_transaction_comes_again,
    halves,
    replica_crashes_midway,
    saved_positions_are_executed,
    sessions_keep_their_order,
)
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict

LOG = "T1{a} 2<1 session=s1 | T2{b} 3<1 session=s1 | T3{c} 4<1 session=s2 "
BOTH_RUN = "| begun T1@w1 ; begun T2@w2 ; begun T3@w3 "
IN_ORDER = "; engine_committed T1@w1 ; engine_committed T2@w2 ; engine_committed T3@w3 ; stopped"


def verdict(name, history):
    return verdict_of(history, property_named(name))


def test_commits_in_log_order_hold():
    history = parse_history(LOG + BOTH_RUN + IN_ORDER)
    assert engine_commits_follow_the_log(history) == ()
    assert sessions_keep_their_order(history) == ()
    assert verdict("engine_commits_follow_the_log", history) is Verdict.HOLDS
    assert verdict("sessions_keep_their_order", history) is Verdict.HOLDS


def test_later_transaction_that_commits_first_is_reported_once():
    history = parse_history(
        LOG + BOTH_RUN
        + "; engine_committed T3@w3 ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped"
    )  # fmt: skip
    (breach,) = engine_commits_follow_the_log(history)
    assert str(breach) == "r1: T3 committed before T1, which comes first"
    # Both of session s1 kept their order, so nobody's own work went backwards.
    assert sessions_keep_their_order(history) == ()


def test_two_of_one_session_in_the_other_order_are_reported():
    history = parse_history(
        LOG + BOTH_RUN + "; engine_committed T2@w2 ; engine_committed T1@w1 ; stopped"
    )
    (breach,) = sessions_keep_their_order(history)
    assert (breach.earlier, breach.later) == (1, 2)


def test_commit_order_of_a_log_applied_one_by_one_is_unknown():
    history = parse_history(
        LOG + "| begun T1@w1 ; engine_committed T1@w1 ; begun T2@w1 ; engine_committed T2@w1"
    )
    assert verdict("engine_commits_follow_the_log", history) is Verdict.UNKNOWN


def test_members_without_an_applier_are_not_judged():
    # What a group member commits for its own clients is ordered by other rules.
    history = parse_history(LOG + "| engine_committed T2 ; engine_committed T1")
    assert engine_commits_follow_the_log(history) == ()


def test_transaction_committed_again_after_a_crash_is_reported():
    history = parse_history(
        LOG + BOTH_RUN + "; engine_committed T1@w1 ; crashed ; recovered ; begun T1@w1 "
        "; engine_committed T1@w1 ; skipped T2 ; engine_committed T2@w2 ; engine_committed T3@w3"
    )
    assert [str(breach) for breach in applied_exactly_once(history)] == ["r1: T1 committed twice"]
    assert replica_crashes_midway(history)


def test_half_that_is_rolled_back_comes_again_when_the_whole_commits():
    half = '| scheduled T1@w1 ; begun T1@w1 ; rolled_back T1@w1 note="half a transaction" '
    whole = "; scheduled T1@w1 ; begun T1@w1 attempt=2 ; engine_committed T1@w1"
    again, given_up = parse_history(LOG + half + whole), parse_history(LOG + half)
    assert halves(given_up)
    assert half_a_transaction_comes_again(again)
    assert not half_a_transaction_comes_again(given_up)
    assert not halves(parse_history(LOG + BOTH_RUN + "; rolled_back T1@w1 ; engine_committed T2"))


def test_transaction_missing_at_a_good_end_is_lost_and_at_a_crash_is_not():
    run = LOG + BOTH_RUN + "; engine_committed T1@w1 ; engine_committed T2@w2 "
    (breach,) = applied_exactly_once(parse_history(run + "; stopped"))
    assert str(breach) == "r1: T3 was never applied"
    assert applied_exactly_once(parse_history(run + "; crashed")) == ()
    # Who is started again has not come to its end.
    assert applied_exactly_once(parse_history(run + "; stopped ; started ; failed T3@w1")) == ()
    assert applied_exactly_once(parse_history(run + "; stopped ; started ; stopped"))


def test_recording_that_broke_off_is_no_evidence_of_loss():
    run = LOG + BOTH_RUN + "; engine_committed T1@w1 ; stopped"
    assert applied_exactly_once(parse_history("complete=false | " + run)) == ()


def test_position_that_covers_a_transaction_before_it_committed_is_reported():
    run = LOG + BOTH_RUN + "; engine_committed T1@w1 ; position_saved transactions="
    assert saved_positions_are_executed(parse_history(run + "1")) == ()
    (breach,) = saved_positions_are_executed(parse_history(run + "1,2"))
    assert breach.transaction == 2
    assert verdict("saved_positions_are_executed", parse_history(LOG + BOTH_RUN)) is Verdict.UNKNOWN


def test_run_that_ends_with_work_left_is_a_stall():
    given = "| scheduled T1@w1 ; scheduled T2@w2 ; begun T1@w1 ; engine_committed T1@w1 "
    (breach,) = applier_reaches_the_end(parse_history(LOG + given))
    assert str(breach) == "r1: nothing can move; T2 waits for ever"
    assert applier_reaches_the_end(parse_history(LOG + given + "; stopped")) == ()
    assert applier_reaches_the_end(parse_history(LOG + given + "; failed T2@w2")) == ()
    assert applier_reaches_the_end(parse_history("complete=false | " + LOG + given)) == ()


def test_applier_that_was_started_again_has_to_end_again():
    run = LOG + "| started ; scheduled T1@w1 ; stopped ; started ; scheduled T1@w1"
    (breach,) = applier_reaches_the_end(parse_history(run))
    assert breach.waiting == (1,)
    assert applier_reaches_the_end(parse_history(run + " ; stopped")) == ()


def test_crash_ends_the_applier_of_a_group_member_only():
    given = "skipped T1 ; crashed"
    assert applier_reaches_the_end(parse_history(LOG + "| started ; " + given))
    member = LOG + "| started ; view_installed view=1 members=r1,r2 ; " + given
    assert applier_reaches_the_end(parse_history(member)) == ()
    assert applier_reaches_the_end(parse_history(member + " ; started"))
