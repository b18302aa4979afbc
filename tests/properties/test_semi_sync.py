from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import pytest

from paraply.properties.registry import property_named, registered_properties, verdict_of
from paraply.properties.semi_sync.promises import (
    commit_stages_overlap,
    commits_reach_their_end,
    confirmed_only_after_acknowledgement,
    gtids_are_not_given_twice,
    readers_at_the_source_see_prefixes,
    recovery_decides_by_the_binlog,
    replicas_are_never_ahead,
    replicas_receive_prefixes,
    returned_sources_have_nothing_extra,
    semi_sync_comes_back_on,
    snapshots_know_their_place,
    source_is_refused_only_with_reason,
    stages_follow_the_binary_log,
    steps_run_out,
    visible_only_after_acknowledgement,
    waits_are_abandoned_only_for_cause,
    what_was_confirmed_survives,
    what_was_seen_survives,
)
from paraply.properties.semi_sync.watch import ABANDON_REASONS, ReplicaSeen, Watch
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict
from tests.properties.answers import stored

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


def test_prepared_transactions_that_are_never_logged_are_a_stall():
    run = history("started @source ; prepared T1@source")
    (breach,) = commits_reach_their_end(run)
    assert breach.waiting == (1, 2)
    prop = next(one for one in registered_properties() if one.name == "commits_reach_their_end")
    assert prop.applies_to(run)
    assert not prop.applies_to(history("begun T1@source ; prepared T1@source"))


def test_stop_on_a_clock_leaves_no_client_waiting():
    clock = '{"round_trip_us":100}'
    stopped = history(T1, "stopped @source", options=clock)
    assert len(commits_reach_their_end(stopped)) == 1
    answers = "client_acknowledged T1@source ; client_acknowledged T2@source ; "
    assert not commits_reach_their_end(history(T1, answers, "stopped @source", options=clock))


TOLD = "client_acknowledged T1@source ; "
BOTH = "flushed T1@source ; flushed T2@source ; synced T1@source ; synced T2@source ; "


def test_client_may_be_told_only_after_enough_replicas_have_it():
    assert not confirmed_only_after_acknowledgement(history(T1, COMMIT, ACK, TOLD))
    (breach,) = confirmed_only_after_acknowledgement(history(T1, COMMIT, TOLD, ACK))
    assert "was told that it committed when no replica had it" in str(breach)
    given_up = "wait_abandoned T1@source note=time-out ; "
    assert not confirmed_only_after_acknowledgement(history(T1, given_up, COMMIT, TOLD))


def test_delivery_counts_as_having_before_the_acknowledgement_is_heard():
    assert not visible_only_after_acknowledgement(history(T1, "delivered T1@r1 ; ", COMMIT, READ))


@pytest.mark.parametrize("reason", [r for r in ABANDON_REASONS if r.startswith(("KILL", "shut"))])
def test_reason_on_the_list_that_asks_for_nothing_is_a_cause(reason):
    assert not waits_are_abandoned_only_for_cause(
        history(T1, f'wait_abandoned T1@source note="{reason}" ; ', COMMIT)
    )


def test_reason_that_is_not_on_the_list_is_no_cause():
    (breach,) = waits_are_abandoned_only_for_cause(
        history(T1, 'wait_abandoned T1@source note="felt like it" ; ')
    )
    assert str(breach) == "the wait of T1 was given up (felt like it) without cause"


def test_time_out_of_what_was_acknowledged_is_no_cause():
    late = "wait_abandoned T1@source note=time-out ; "
    assert not waits_are_abandoned_only_for_cause(history(T1, "delivered T1@r1 ; ", late))
    assert waits_are_abandoned_only_for_cause(history(T1, ACK, late))


@pytest.mark.parametrize(
    ("kept", "acknowledges"), [("", False), (" transactions=1", False), ("", True)]
)
def test_acknowledgement_ends_with_the_loss_of_what_it_reported(kept, acknowledges):
    again = "" if kept else "delivered T1@r1 ; "
    back = f"crashed @r1 ; recovered @r1{kept} ; {again}" + (ACK if acknowledges else "")
    killed = 'wait_abandoned T1@source note="KILL CONNECTION" ; '
    found = waits_are_abandoned_only_for_cause(history(T1, ACK, back, killed))
    assert bool(found) is bool(kept or acknowledges)


def test_asynchronous_needs_a_time_out_before_it_and_ends_when_a_replica_caught_up():
    out = "wait_abandoned T1@source note=time-out ; "
    off = "wait_abandoned T2@source note=asynchronous ; "
    second = "flushed T2@source ; synced T2@source ; "
    assert not waits_are_abandoned_only_for_cause(history(T1, out, second, off))
    assert waits_are_abandoned_only_for_cause(history(T1, second, off))
    assert waits_are_abandoned_only_for_cause(history(T1, out, ACK, second, off))
    by_hand = 'wait_abandoned T1@source note="switched off" ; '
    assert not waits_are_abandoned_only_for_cause(history(T1, by_hand, ACK, second, off))
    restarted = "crashed @source ; recovered @source transactions=1,2 ; "
    assert waits_are_abandoned_only_for_cause(history(T1, out, second, restarted, off))


def test_too_few_replicas_must_have_been_seen_to_go():
    left = 'wait_abandoned T1@source note="too few replicas" ; '
    option = '{"waits_without_replicas":false}'
    gone = "crashed @r1 ; crashed @r2 ; "
    silent = 'crashed @r1 note="without a word" ; crashed @r2 ; '
    assert not waits_are_abandoned_only_for_cause(history(T1, gone, left, options=option))
    assert waits_are_abandoned_only_for_cause(history(T1, silent, left, options=option))
    assert waits_are_abandoned_only_for_cause(history(T1, gone, left))
    back = "recovered @r2 ; "
    assert waits_are_abandoned_only_for_cause(history(T1, gone, back, left, options=option))


def test_reader_at_the_source_must_see_a_prefix_of_the_log():
    seen = history(BOTH, COMMIT, READ)
    assert not readers_at_the_source_see_prefixes(seen)
    second = "engine_committed T2@source ; read @source session=c [b=T2] ; "
    (breach,) = readers_at_the_source_see_prefixes(history(BOTH, second))
    assert (breach.transaction, breach.missing) == (2, 1)
    nothing_yet = history(BOTH, "read @source session=c [] ; ")
    prop = property_named("readers_at_the_source_see_prefixes")
    assert verdict_of(nothing_yet, prop) is Verdict.UNKNOWN
    assert verdict_of(seen, prop) is Verdict.HOLDS


@pytest.mark.parametrize(("position", "is_wrong"), [("1", False), ("0", True), ("2", True)])
def test_snapshot_must_be_given_the_place_of_what_it_shows(position, is_wrong):
    read = f"read @source session=c [a=T1] position={position} ; "
    assert bool(snapshots_know_their_place(history(BOTH, COMMIT, read))) is is_wrong
    assert not snapshots_know_their_place(history(BOTH, COMMIT, READ))


def test_gtid_may_be_given_again_only_if_nobody_has_the_first():
    first = "flushed T1@source gtid=s:1 ; "
    again = "crashed @source ; recovered @source ; flushed T2@source gtid=s:1 ; "
    assert not gtids_are_not_given_twice(history(first, again))
    (breach,) = gtids_are_not_given_twice(history(first, "delivered T1@r1 ; ", again))
    assert (breach.earlier, breach.later) == (1, 2)
    kept = "crashed @source ; recovered @source transactions=1 ; flushed T2@source gtid=s:1 ; "
    assert gtids_are_not_given_twice(history(first, kept))


def test_recovery_that_loses_what_a_replica_has_leaves_it_ahead():
    crash = "crashed @source ; recovered @source transactions={} ; "
    assert not replicas_are_never_ahead(history(T1, ACK, crash.format(1)))
    lost = history(T1, ACK, "crashed @source ; recovered @source ; ")
    (breach,) = replicas_are_never_ahead(lost)
    assert str(breach) == "r1 has T1, which the source lost when it recovered"
    assert recovery_decides_by_the_binlog(lost)


FAILED_OVER = "crashed @source note=lost ; read @r1 session=promoted {} ; "


def test_old_source_may_come_back_only_without_extra_transactions():
    back = "recovered @source transactions=1 note=rejoins ; "
    good = history(T1, ACK, FAILED_OVER.format("[a=T1]"), back)
    assert not returned_sources_have_nothing_extra(good)
    (breach,) = returned_sources_have_nothing_extra(history(T1, FAILED_OVER.format("[]"), back))
    assert str(breach) == "the old source came back with T1, which the new one lacks"
    prop = property_named("returned_sources_have_nothing_extra")
    assert verdict_of(history(T1), prop) is Verdict.UNKNOWN


def test_refusal_needs_an_engine_that_has_more():
    refused = "stopped @source note=refused ; "
    over = FAILED_OVER.format("[]")
    assert source_is_refused_only_with_reason(history(T1, over, refused))
    assert not source_is_refused_only_with_reason(history(T1, COMMIT, over, refused))
    keeps_its_tail = history(T1, over, refused, options='{"truncates":false}')
    assert not source_is_refused_only_with_reason(keeps_its_tail)


def test_truncation_of_what_the_engine_has_is_a_breach():
    back = "recovered @source note=rejoins ; "
    run = history(T1, ACK, COMMIT, FAILED_OVER.format("[a=T1]"), back)
    assert recovery_decides_by_the_binlog(run)
    assert not recovery_decides_by_the_binlog(history(T1, FAILED_OVER.format("[]"), back))


def test_losing_as_many_replicas_as_acknowledge_voids_the_promise():
    both = "crashed @source note=lost ; crashed @r1 note=lost ; read @r2 session=promoted [] ; "
    assert not what_was_seen_survives(history(T1, ACK, COMMIT, READ, both))
    two = '{"acknowledgements":2}'
    acknowledged = "acknowledged T1@r1 ; acknowledged T1@r2 ; "
    run = history(T1, acknowledged, COMMIT, READ, both, options=two)
    assert what_was_seen_survives(run)


SENT = "delivered T1@r1 ; "
CAME_BACK = "crashed @r1 ; recovered @r1{} ; "


def test_each_step_that_is_taken_once_runs_out():
    run = history(T1, SENT, "delivered T1@r2 ; ", ACK, COMMIT, CAME_BACK.format(" transactions=1"))
    assert verdict_of(run, property_named("steps_run_out")) is Verdict.HOLDS
    unsent = history(T1, ACK, COMMIT)
    assert verdict_of(unsent, property_named("steps_run_out")) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (CAME_BACK.format("") + SENT, "T1 was delivered on r1 again"),
        ("flushed T1@source", "T1 was flushed on source again"),
        ("synced T1@source", "T1 was synced on source again"),
        (COMMIT, "T1 was engine committed on source again"),
    ],
)
def test_step_that_is_taken_again_is_told(step, told):
    (breach,) = steps_run_out(history(T1, SENT, ACK, COMMIT, step))
    assert str(breach).startswith(told)


def test_acknowledgement_that_is_heard_again_is_no_step():
    assert not steps_run_out(history(T1, SENT, ACK, COMMIT, ACK, "engine_committed T1@r1"))


def test_shutdown_is_no_end_of_the_run():
    assert commits_reach_their_end(history(T1, "stopped @source note=shutdown ; "))


def test_semi_sync_comes_back_with_a_replica_that_caught_up_and_another_group():
    out = "wait_abandoned T1@source note=time-out ; "
    assert semi_sync_comes_back_on(history(T1, out, ACK, "flushed T2@source"))
    assert not semi_sync_comes_back_on(history(T1, out, "flushed T2@source"))
    assert not semi_sync_comes_back_on(history(T1, ACK, "flushed T2@source"))


def test_acknowledgement_before_anything_is_logged_catches_nobody_up():
    early = history("acknowledged T1@r1 ; ", T1, COMMIT)
    (breach,) = replicas_are_never_ahead(early)
    assert breach.transaction == 1


def test_recovered_source_remembers_how_far_its_engine_had_committed():
    both = T1 + "flushed T2@source ; synced T2@source ; " + ACK
    recovered = "recovered @source transactions=1,2 ; "
    second = "engine_committed T2@source ; "
    assert not stages_follow_the_binary_log(history(both, COMMIT, LOST, recovered, second))
    for events in ((second, LOST, recovered, COMMIT), (LOST, recovered, second, COMMIT)):
        (breach,) = stages_follow_the_binary_log(history(both, *events))
        assert (breach.earlier, breach.later) == (1, 2)


PARTS = 64


@cache
def seen():
    return [one for one in stored() if EventKind.FLUSHED in one.kinds]


def watched(watch, events):
    return [str(one) for event in events for one in watch.follow(event)]


@pytest.mark.long(quick=PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_copy_of_a_watch_is_equal_and_independent(part):
    assert seen()[part::PARTS]
    for history in seen()[part::PARTS]:
        assert_copies_are_independent(history)


def assert_copies_are_independent(history):
    whole = watched(Watch.of(history), history.events)
    for at in range(len(history.events)):
        watch, twin = Watch.of(history), Watch.of(history)
        found = watched(watch, history.events[:at])
        twin = watch.fork()
        assert twin.name() == watch.name()
        assert [one.name() for one in twin.replicas.values()] == [
            one.name() for one in watch.replicas.values()
        ]
        assert found + watched(twin, history.events[at:]) == whole
        # The copy's steps changed nothing of the first.
        assert found + watched(watch, history.events[at:]) == whole


def test_name_of_a_watch_tells_each_of_its_fields():
    empty, names = Watch(source="s"), set()
    settings = {"source", "required", "is_synced", "waits_without_replicas", "truncates"}
    other = {
        "log": [1], "synced": {1}, "stages": {EventKind.FLUSHED: 1}, "committed": {1},
        "abandoned": {1}, "seen": {1: None}, "confirmed": {1: None}, "gtids": {"g:1": 1},
        "is_off": True, "is_switched_off": True, "lost_replicas": 1, "kept": {1},
    }  # fmt: skip
    assert {one.name for one in fields(Watch)} == settings | {"replicas"} | other.keys()
    for name, value in other.items():
        names.add(replace(empty, **{name: value}).name())
    assert len(names | {empty.name()}) == len(other) + 1
    seen = {"having": {1}, "had": {1}, "heard": {1}, "is_missed": True, "is_down": True}
    assert {one.name for one in fields(ReplicaSeen)} == seen.keys()
    states = {ReplicaSeen(**{name: value}).name() for name, value in seen.items()}
    assert len(states | {ReplicaSeen().name()}) == len(seen) + 1
