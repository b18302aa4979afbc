"""Row changes and commits of members: each property holds, breaks, and on its edge."""

from __future__ import annotations

from dataclasses import replace

from paraply.properties.group.row_changes import (
    members_answer_when_others_have_it,
    members_commit_as_flushed,
    members_start_as_they_stamped,
    own_commits_wait_for_other_members,
    rows_stay_locked_until_the_end,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{x} origin=r1 | T2{x} origin=r2 | T3{x} origin=r1 | "
STARTS = " ; ".join(f"started @{member}" for member in ("r1", "r2"))
VIEWS = " ; ".join(f"view_installed @{member} view=1 members=r1,r2" for member in ("r1", "r2"))
OWN = "certified T1@r1 positive ; certified T3@r1 positive"
CHANGE = {n: f"row_applied T{n}@r1 ok items=x" for n in (1, 2, 3)}


def history(*events):
    return history_of(f"{LOG}{STARTS} ; {VIEWS} ; {OWN} ; {' ; '.join(events)}")


def waiting(*events, acknowledgements=1):
    run = history(*events)
    options = {"acknowledgements": acknowledgements}
    return replace(run, header=replace(run.header, options=options))


def test_row_that_is_changed_after_the_commit_of_its_holder_was_locked():
    run = history(CHANGE[1], "engine_committed T1@r1", CHANGE[2])
    assert verdict(run, rows_stay_locked_until_the_end) is Verdict.HOLDS


def test_row_that_is_changed_before_the_commit_of_its_holder_is_reported():
    (breach,) = rows_stay_locked_until_the_end(history(CHANGE[1], CHANGE[2]))
    assert str(breach) == "r1: T2 changed x, which T1 had changed and not yet committed"


def test_rollback_and_crash_free_rows_and_clients_alone_say_nothing():
    run = history(CHANGE[1], "rolled_back T1@r1", CHANGE[2], "crashed @r1", CHANGE[3])
    assert rows_stay_locked_until_the_end(run) == []
    assert verdict(history(CHANGE[1]), rows_stay_locked_until_the_end) is Verdict.UNKNOWN


def stamped(*events):
    return history_of(
        "| T1{x} origin=r2 | T2{x} origin=r2 | started @r1 ; certified T1@r1 positive 1<2 ; "
        f"certified T2@r1 positive 2<3 ; {' ; '.join(events)}"
    )


def test_worker_that_begins_after_its_last_committed_holds():
    run = stamped("begun T1@r1", "engine_committed T1@r1", "begun T2@r1")
    assert verdict(run, members_start_as_they_stamped) is Verdict.HOLDS


def test_worker_that_begins_before_its_last_committed_is_reported():
    (breach,) = members_start_as_they_stamped(stamped("begun T1@r1", "begun T2@r1"))
    assert str(breach) == "r1 gave T2 2<3 and began it before T1 had committed"


def test_skipped_transaction_is_done_and_a_first_one_waits_for_nothing():
    assert members_start_as_they_stamped(stamped("skipped T1@r1", "begun T2@r1")) == []
    assert verdict(stamped("begun T1@r1"), members_start_as_they_stamped) is Verdict.UNKNOWN


def test_own_commit_after_an_acknowledgement_holds():
    run = waiting("acknowledged T1@r2", "engine_committed T1@r1")
    assert verdict(run, own_commits_wait_for_other_members) is Verdict.HOLDS


def test_own_commit_without_an_acknowledgement_is_reported():
    (breach,) = own_commits_wait_for_other_members(waiting("engine_committed T1@r1"))
    assert str(breach) == "r1 committed T1 of its own when no other member had it; 1 must"


def test_acknowledgement_of_a_crashed_member_does_not_count_and_is_not_needed():
    run = waiting("acknowledged T1@r2", "crashed @r2", "engine_committed T1@r1")
    assert verdict(run, own_commits_wait_for_other_members) is Verdict.UNKNOWN


def test_answer_after_an_acknowledgement_holds_though_the_commit_was_before():
    run = waiting("engine_committed T1@r1", "acknowledged T1@r2", "client_acknowledged T1@r1")
    assert verdict(run, members_answer_when_others_have_it) is Verdict.HOLDS


def test_answer_without_an_acknowledgement_is_reported():
    run = waiting("engine_committed T1@r1", "client_acknowledged T1@r1")
    (breach,) = members_answer_when_others_have_it(run)
    assert str(breach) == "r1 answered the client of T1 when no other member had it; 1 must"


def test_commits_in_the_order_of_the_binary_log_hold():
    run = history("flushed T1@r1", "flushed T3@r1", "engine_committed T1@r1")
    assert verdict(run, members_commit_as_flushed) is Verdict.HOLDS


def test_commit_out_of_the_order_of_the_binary_log_is_reported():
    run = history("flushed T1@r1", "flushed T3@r1", "engine_committed T3@r1")
    (breach,) = members_commit_as_flushed(run)
    assert str(breach) == "r1 committed T3 of its own; next in its binary log was T1"


def test_commit_that_is_not_in_the_binary_log_is_reported():
    run = history("flushed T1@r1", "engine_committed T1@r1", "engine_committed T3@r1")
    (breach,) = members_commit_as_flushed(run)
    assert str(breach) == "r1 committed T3 of its own; next in its binary log was nothing"
