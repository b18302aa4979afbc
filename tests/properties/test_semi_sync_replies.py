"""Replies to a semi-sync source, and its bar: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.acknowledgements import (
    a_commit_waits_for_nothing,
    acknowledgements_follow_receipt,
    acknowledgements_take_a_round_trip,
    barred_sources_take_no_clients,
    nothing_waits_while_semi_sync_is_off,
    receipts_are_heard,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

HEAD = "members=source,r1 {}| T1{{}} | T2{{}} | "
T1 = "flushed T1@source ; synced T1@source ; delivered T1@r1 ; "
HEARD = "acknowledged T1@r1 ; "


def history(*events, head=""):
    return history_of(HEAD.format(head) + "".join(events).removesuffix(" ; "))


def test_reply_of_a_replica_that_has_it_holds():
    assert verdict(history(T1, HEARD), acknowledgements_follow_receipt) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "why"),
    [
        (T1 + "acknowledged T2@r1", "which had not received it"),
        (T1 + "crashed @r1 ; " + HEARD, "which was down"),
        (T1 + "stopped @source note=shutdown ; " + HEARD, "and was down"),
        (T1 + "crashed @r1 ; recovered @r1 ; " + HEARD, "which had not received it"),
        (
            T1 + "delivered T2@r1 ; " + HEARD,
            "which has transactions that the source lacks",
        ),
    ],
)
def test_reply_that_no_connected_replica_sent_is_reported(events, why):
    (breach,) = acknowledgements_follow_receipt(history(events))
    assert str(breach).endswith(why)


def test_servers_that_return_are_heard():
    replica = history(T1, "crashed @r1 ; recovered @r1 transactions=1 ; ", HEARD)
    source = history(T1, "crashed @source ; recovered @source transactions=1 ; ", HEARD)
    assert not acknowledgements_follow_receipt(replica)
    assert not acknowledgements_follow_receipt(source)


BARRED = "crashed @source ; recovered @source note=barred transactions=1 ; "


@pytest.mark.parametrize("client", ["prepared T2@source", 'read @source session=c ["r1"=T1]'])
def test_barred_source_takes_clients_after_the_acknowledgement(client):
    assert verdict(history(T1, BARRED, HEARD, client), barred_sources_take_no_clients) is (
        Verdict.HOLDS
    )
    (breach,) = barred_sources_take_no_clients(history(T1, BARRED, client))
    assert "had acknowledged T1, which it had recovered" in str(breach)


def test_bar_needs_a_log():
    run = history(T1, "crashed @source ; recovered @source note=barred ; prepared T2@source")
    assert verdict(run, barred_sources_take_no_clients) is Verdict.UNKNOWN


@pytest.mark.parametrize(("time", "is_early"), [(109, True), (110, False)])
def test_reply_needs_a_round_trip(time, is_early):
    run = history(
        f"synced T1@source time=10 ; acknowledged T1@r1 time={time}",
        head='options={"round_trip_us":100} ',
    )
    found = acknowledgements_take_a_round_trip(run)
    assert bool(found) is is_early
    for breach in found:
        assert "99 us after its sync; a round trip takes 100 us" in str(breach)


OFF = "wait_abandoned T1@source note=time-out time=10 ; "
UNWAITED = "wait_abandoned T2@source note=asynchronous"
LATER = "flushed T2@source ; synced T2@source ; "


def test_wait_that_ends_later_by_a_time_out_had_begun_while_off():
    run = history(T1, OFF, LATER, "wait_abandoned T2@source note=time-out")
    assert not a_commit_waits_for_nothing(run)
    assert a_commit_waits_for_nothing(history(T1, OFF, LATER, UNWAITED))
    (breach,) = nothing_waits_while_semi_sync_is_off(run)
    assert str(breach) == "T2 waited until time-out, though semi-sync was off"


@pytest.mark.parametrize(
    "events",
    [
        OFF + LATER + UNWAITED,
        OFF + "wait_abandoned T2@source note=time-out time=10",
        OFF + HEARD + LATER + "wait_abandoned T2@source note=time-out",
    ],
)
def test_wait_in_the_same_step_or_when_on_again_or_that_never_began_holds(events):
    assert not nothing_waits_while_semi_sync_is_off(history(T1, events))


REST = 'stopped @source note="at rest"'


def test_source_at_rest_has_heard_of_all_receipts():
    assert verdict(history(T1, HEARD, REST), receipts_are_heard) is Verdict.HOLDS
    (breach,) = receipts_are_heard(history(T1, "acknowledged T2@r1 ; ", REST))
    assert str(breach) == "the source is at rest and has not heard that r1 received T1"


def test_second_receipt_is_heard_again():
    lost = T1 + HEARD + "crashed @r1 ; recovered @r1 ; delivered T1@r1 ; "
    assert verdict(history(lost, HEARD, REST), receipts_are_heard) is Verdict.HOLDS
    assert len(receipts_are_heard(history(lost, REST))) == 1


@pytest.mark.parametrize(
    "ending",
    ["", "stopped @source note=shutdown", f"crashed @r1 ; {REST}", f"delivered T2@r1 ; {REST}"],
)
def test_receipt_of_a_busy_source_or_of_a_replica_without_connection_need_not_be_heard(ending):
    run = history(T1, "acknowledged T2@r1 ; ", ending)
    assert verdict(run, receipts_are_heard) is Verdict.UNKNOWN
