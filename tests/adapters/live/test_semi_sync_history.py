"""Semi-synchronous runs: what was seen, confirmed, lost and promoted, and what is said of it."""

from __future__ import annotations

import paraply.properties.all
from paraply.adapters.live.semi_sync.history import Moment, MomentKind, semi_sync_history
from paraply.adapters.live.source_log import Keys, source_log
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import BYTES, RUN, STATEMENTS, update

assert paraply.properties.all

READ, CONFIRMED, LOST = MomentKind.READ, MomentKind.CONFIRMED, MomentKind.LOST


def read(*numbers, place=None):
    after = len(numbers) if place is None else place
    return Moment(kind=READ, tags=tags(numbers), file="bin.000001", offset=(after + 1) * BYTES)


def tags(numbers):
    return frozenset(100 + one for one in numbers)


def moment(kind, *numbers, note=""):
    return Moment(kind=kind, tags=tags(numbers), note=note)


def promoted(*numbers):
    return Moment(kind=MomentKind.PROMOTED, tags=tags(numbers), member="replica1")


def told(*moments, received=(1, 2), count=3):
    logged = [update(number, number) for number in range(1, count + 1)]
    log = source_log(logged, Keys(STATEMENTS))
    return semi_sync_history(RUN, log, logged, moments, {"replica1": tags(received)}).check()


def verdict(history, name):
    return verdict_of(history, property_named(name))


def test_what_was_received_survives():
    history = told(read(1), read(1, 2), moment(CONFIRMED, 1, 2), moment(LOST), promoted(1, 2))
    for name in (
        "visible_only_after_acknowledgement",
        "confirmed_only_after_acknowledgement",
        "what_was_seen_survives",
        "what_was_confirmed_survives",
        "readers_at_the_source_see_prefixes",
        "snapshots_know_their_place",
    ):
        assert verdict(history, name) is Verdict.HOLDS, name


def test_read_of_what_no_replica_has_is_seen_unacknowledged_and_lost():
    history = told(read(1, 2, 3), moment(LOST), promoted(1, 2))
    assert verdict(history, "visible_only_after_acknowledgement") is Verdict.VIOLATED
    assert verdict(history, "what_was_seen_survives") is Verdict.VIOLATED


def test_abandoned_wait_frees_from_the_promise():
    wait = moment(MomentKind.ABANDONED, 3, note="KILL QUERY")
    history = told(wait, read(1, 2, 3), moment(CONFIRMED, 3), moment(LOST), promoted(1, 2))
    for name in ("visible_only_after_acknowledgement", "what_was_seen_survives",
                 "what_was_confirmed_survives", "waits_are_abandoned_only_for_cause"):  # fmt: skip
        assert verdict(history, name) is Verdict.HOLDS, name


def test_abandoning_without_a_cause_is_found():
    wait = moment(MomentKind.ABANDONED, 3, note="boredom")
    assert verdict(told(wait), "waits_are_abandoned_only_for_cause") is Verdict.VIOLATED


def test_received_and_then_discarded_is_lost_though_acknowledged():
    history = told(
        read(1, 2, 3), moment(CONFIRMED, 3), moment(LOST), promoted(1, 2), received=(1, 2, 3)
    )
    assert verdict(history, "visible_only_after_acknowledgement") is Verdict.HOLDS
    assert verdict(history, "what_was_confirmed_survives") is Verdict.VIOLATED


def test_restart_that_shows_the_waiting_transaction_is_a_phantom():
    history = told(read(1, 2), moment(MomentKind.RESTARTED), read(1, 2, 3), moment(LOST))
    assert verdict(history, "visible_only_after_acknowledgement") is Verdict.VIOLATED
    assert verdict(history, "recovery_decides_by_the_binlog") is Verdict.HOLDS


def test_read_with_a_gap_is_no_prefix():
    history = told(read(2))
    assert verdict(history, "readers_at_the_source_see_prefixes") is Verdict.VIOLATED


def test_read_at_another_place_than_the_server_says_is_misplaced():
    assert verdict(told(read(1, 2, place=1)), "snapshots_know_their_place") is Verdict.VIOLATED


def test_replica_that_comes_back_has_what_it_says():
    crashed = Moment(kind=MomentKind.REPLICA_CRASHED, member="replica1")
    wait = moment(MomentKind.ABANDONED, 3, note="too few replicas")
    back = Moment(kind=MomentKind.REPLICA_BACK, tags=tags((1, 2)), member="replica1")
    history = told(crashed, wait, moment(LOST), back, promoted(1, 2))
    assert verdict(history, "replicas_receive_prefixes") is Verdict.HOLDS


def test_read_has_to_show_what_was_executed_before_it():
    name = "position_covers_only_what_is_applied"
    shown = {
        executed: verdict(told(Moment(kind=READ, tags=tags((1, 2)), executed=executed)), name)
        for executed in ("", gtid(2), gtid(3))
    }
    assert list(shown.values()) == [Verdict.UNKNOWN, Verdict.HOLDS, Verdict.VIOLATED]


def gtid(number):
    return update(number, number).gtid
