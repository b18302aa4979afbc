from __future__ import annotations

import pytest

from properties.registry import property_named, verdict_of
from properties.semi_sync import (
    commit_stages_overlap,
    commits_reach_their_end,
    recovery_decides_by_the_binlog,
    replicas_are_never_ahead,
    replicas_receive_prefixes,
    stages_follow_the_binary_log,
    visible_only_after_acknowledgement,
    what_was_confirmed_survives,
    what_was_seen_survives,
)
from vocabulary.notation_parser import parse_history
from vocabulary.verdict import Verdict

START = "members=source,r1,r2 | T1{a} | T2{b} | "
T1 = "flushed T1@source ; synced T1@source ; "
ACK = "acknowledged T1@r1 ; "
COMMIT = "engine_committed T1@source ; "
READ = "read @source session=c [a=T1] ; "
LOST = "crashed @source ; "


def history(*events, options=""):
    text = START if not options else START.replace(" |", f" options={options} |", 1)
    return parse_history((text + "".join(events)).rstrip("; "))


def test_read_after_the_acknowledgement_is_fine_and_before_it_is_not():
    assert not visible_only_after_acknowledgement(history(T1, ACK, COMMIT, READ))
    (breach,) = visible_only_after_acknowledgement(history(T1, COMMIT, READ, ACK))
    assert str(breach) == "a reader saw T1 on the source when no replica had it; 1 must"


def test_one_acknowledgement_of_two_required_is_too_few():
    (breach,) = visible_only_after_acknowledgement(
        history(T1, ACK, COMMIT, READ, options='{"acknowledgements":2}')
    )
    assert (breach.acknowledged_by, breach.required) == (("r1",), 2)


def test_same_replica_acknowledging_twice_counts_once():
    twice = history(T1, ACK, ACK, COMMIT, READ, options='{"acknowledgements":2}')
    assert visible_only_after_acknowledgement(twice)


def test_abandoned_wait_frees_its_transaction_from_the_promise():
    assert not visible_only_after_acknowledgement(
        history(T1, "wait_abandoned T1@source ; ", COMMIT, READ)
    )


def test_engine_commit_that_nobody_saw_is_no_phantom():
    run = history(T1, COMMIT, ACK, READ)
    assert not visible_only_after_acknowledgement(run)
    unseen = history(T1, ACK, COMMIT)
    verdict = verdict_of(unseen, property_named("visible_only_after_acknowledgement"))
    assert verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("kept", "lost"), [("[a=T1]", False), ("[]", True)])
def test_what_was_read_must_be_on_the_promoted_replica(kept, lost):
    run = history(T1, ACK, COMMIT, READ, LOST, f"read @r1 session=promoted {kept}")
    assert bool(what_was_seen_survives(run)) is lost


def test_what_was_confirmed_must_be_on_the_promoted_replica():
    told = "client_acknowledged T1@source ; "
    run = history(T1, ACK, COMMIT, told, LOST, "read @r1 session=promoted []")
    (breach,) = what_was_confirmed_survives(run)
    assert "was told" in str(breach)
    assert not what_was_seen_survives(run)
    abandoned = history(
        T1, "wait_abandoned T1@source ; ", COMMIT, told, LOST, "read @r1 session=promoted []"
    )
    assert not what_was_confirmed_survives(abandoned)


def test_engine_commits_must_follow_the_flush_order():
    both = "flushed T1@source group=1 ; flushed T2@source group=2 ; "
    good = history(both, "engine_committed T1@source ; engine_committed T2@source")
    assert not stages_follow_the_binary_log(good)
    assert commit_stages_overlap(good)
    (breach,) = stages_follow_the_binary_log(
        history(both, "engine_committed T2@source ; engine_committed T1@source")
    )
    assert (breach.earlier, breach.later) == (1, 2)


def test_one_group_alone_does_not_overlap():
    assert not commit_stages_overlap(
        history("flushed T1@source group=1 ; flushed T2@source group=1 ; ", COMMIT)
    )


def test_recovery_must_keep_the_synced_and_only_those():
    crash = "crashed @source ; recovered @source transactions=1 ; "
    kept = history(T1, crash, COMMIT, "stopped @source")
    assert not recovery_decides_by_the_binlog(kept)
    (dropped,) = recovery_decides_by_the_binlog(history(T1, crash, "stopped @source"))
    assert str(dropped).startswith("recovery dropped T1")
    unlogged = history(T1, crash, COMMIT, "engine_committed T2@source ; stopped @source")
    assert [breach.was_kept for breach in recovery_decides_by_the_binlog(unlogged)] == [True]


def test_replica_that_receives_before_the_sync_is_ahead():
    run = history("flushed T1@source ; acknowledged T1@r1 ; synced T1@source")
    assert [breach.member for breach in replicas_are_never_ahead(run)] == ["r1"]
    assert not replicas_are_never_ahead(history(T1, ACK))


def test_replica_that_misses_one_in_between_is_reported():
    both = T1 + "flushed T2@source ; synced T2@source ; "
    assert not replicas_receive_prefixes(history(both, ACK, "acknowledged T2@r1"))
    (breach,) = replicas_receive_prefixes(history(both, "acknowledged T2@r1"))
    assert breach.missing == 1


def test_replica_that_lost_its_relay_log_receives_again():
    both = T1 + "flushed T2@source ; synced T2@source ; "
    again = "crashed @r1 ; recovered @r1 ; acknowledged T1@r1 ; acknowledged T2@r1"
    assert not replicas_receive_prefixes(history(both, ACK, again))


def test_run_without_an_end_is_a_stall_that_names_the_waiting_clients():
    (breach,) = commits_reach_their_end(history(T1, ACK, COMMIT, "client_acknowledged T1@source"))
    assert breach.waiting == (2,)
    assert not commits_reach_their_end(history(T1, "stopped @source"))
