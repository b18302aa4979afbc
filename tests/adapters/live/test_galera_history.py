"""A cluster's logs as a history: what members that agree, and members that do not, are judged."""

from __future__ import annotations

import paraply.properties.all
from paraply.adapters.live.galera.history import cluster_history, reference_of
from paraply.adapters.live.galera.log import Committed, ProviderLog, SentWriteSet
from paraply.adapters.live.galera.windows import NOTHING_SEEN, SeenInside, seen_inside
from paraply.adapters.live.observed import CutOff, Member
from paraply.adapters.live.source_log import Keys
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import BYTES, RUN, STATEMENTS, final, snapshot, update

assert paraply.properties.all

LOG = [update(1, 1, domain=7), update(2, 2, domain=7), update(3, 1, domain=7)]
STATE = {1: 3, 2: 2}


def member(name, log=LOG, **fields):
    fields.setdefault("final", final(3, STATE))
    return Member(name=name, log=log, **fields)


def told(*members):
    history, unknown = cluster_history(RUN, members, Keys(STATEMENTS), SeenInside())
    return history.check(), unknown


def verdict(history, name):
    return verdict_of(history, property_named(name))


def test_members_with_one_log_agree():
    history, unknown = told(member("m1"), member("m2"), member("m3"))
    assert unknown == 0
    for name in (
        "members_decide_alike", "gtids_are_unique", "replica_logs_domains_in_order",
        "no_event_is_lost", "final_state_is_the_sources", "tables_end_as_the_sources",
    ):  # fmt: skip
        assert verdict(history, name) is Verdict.HOLDS, name


def test_one_transaction_under_two_gtids_is_decided_differently():
    other = [LOG[0], update(2, 2, domain=7, gtid="7-1-99"), LOG[2]]
    history, _ = told(member("m1"), member("m2", other))
    assert verdict(history, "members_decide_alike") is Verdict.VIOLATED


def test_one_gtid_for_two_transactions_is_found():
    other = [update(2, 2, place=1, gtid="7-1-1"), update(1, 1, place=2, gtid="7-1-2"), LOG[2]]
    history, _ = told(member("m1"), member("m2", other))
    assert verdict(history, "gtids_are_unique") is Verdict.VIOLATED


def test_logs_in_two_orders_are_found():
    other = [update(2, 2, place=1, domain=7), update(1, 1, place=2, domain=7), LOG[2]]
    history, _ = told(member("m1"), member("m2", other))
    assert verdict(history, "replica_logs_domains_in_order") is Verdict.VIOLATED


def test_snapshot_of_a_member_that_is_behind_holds():
    behind = member("m2", snapshots=[snapshot(1, {1: 1, 2: 0}), snapshot(2, {1: 1, 2: 2})])
    history, _ = told(member("m1"), behind)
    assert verdict(history, "domains_are_read_in_order") is Verdict.HOLDS


def test_member_without_its_log_is_judged_by_its_data():
    history, unknown = told(member("m1"), member("m2", (), has_log=False))
    assert unknown == 0
    assert verdict(history, "no_event_is_lost") is Verdict.HOLDS
    assert verdict(history, "final_state_is_the_sources") is Verdict.HOLDS


def test_member_without_its_log_that_lacks_data_has_lost_it():
    lacking = member("m2", (), has_log=False, final=final(3, {1: 1, 2: 2}, missing={3}))
    history, _ = told(member("m1"), lacking)
    assert verdict(history, "no_event_is_lost") is Verdict.VIOLATED
    assert verdict(history, "final_state_is_the_sources") is Verdict.VIOLATED


def test_longest_log_is_the_reference_and_what_it_lacks_is_counted():
    short, stranger = LOG[:2], [LOG[0], update(9, 2, domain=7)]
    assert reference_of([member("m1", short), member("m2", LOG)]) is LOG
    _, unknown = told(member("m1"), member("m2", stranger))
    assert unknown == 1


def test_one_member_alone_decides_alike_with_nobody():
    history, _ = told(member("m1"))
    assert verdict(history, "members_decide_alike") is Verdict.UNKNOWN


def test_confirmed_transactions_that_all_have_survive():
    confirmed = member("m1", confirmed=[101, 103]), member("m2", confirmed=[102]), member("m3")
    history, _ = told(*confirmed)
    assert verdict(history, "what_a_group_confirmed_survives") is Verdict.HOLDS
    assert verdict(history, "members_cut_off_confirm_nothing") is Verdict.UNKNOWN


def test_confirmed_transaction_that_no_log_has_is_lost():
    history, _ = told(member("m1"), member("m2"), member("m3", confirmed=[103, 150, 151]))
    breaches = property_named("what_a_group_confirmed_survives").violations(history)
    assert {(one.transaction, one.member) for one in breaches} == {
        (lost, name) for lost in (4, 5) for name in ("m1", "m2", "m3")
    }


def test_member_that_was_cut_off_had_a_view_of_its_own_at_that_place_of_its_log():
    cut = CutOff(file="bin.000001", offset=3 * BYTES)
    history, _ = told(member("m1"), member("m2", confirmed=[101, 102, 103], cut_off=cut))
    assert verdict(history, "members_cut_off_confirm_nothing") is Verdict.HOLDS
    story = [
        (event.kind.value, event.transaction or event.members)
        for event in history.events
        if event.member == "m2" and event.kind in (
            EventKind.VIEW_INSTALLED, EventKind.CLIENT_ACKNOWLEDGED
        )
    ]  # fmt: skip
    assert story == [
        ("view_installed", ("m1", "m2")),
        ("client_acknowledged", 1),
        ("client_acknowledged", 2),
        ("view_installed", ("m2",)),
        ("view_installed", ("m1", "m2")),
        ("client_acknowledged", 3),
    ]


def test_confirmation_of_a_member_that_was_cut_off_is_found():
    cut = CutOff(file="bin.000001", offset=3 * BYTES, confirmed=frozenset({150}))
    history, _ = told(member("m1"), member("m2", confirmed=[101, 150], cut_off=cut))
    for name in ("members_cut_off_confirm_nothing", "what_a_group_confirmed_survives"):
        assert verdict(history, name) is Verdict.VIOLATED


# What error logs add

SENT = {1: (18, 17), 2: (18, 17), 3: (21, 20)}
"""Transaction -> last_seen and depends_seqno; seqnos begin at 20, and the third needs the first."""


def inside(members, begun):
    """Return what the logs tell where m2's appliers begin, and commit at 30, 40 and 50."""
    sent = [SentWriteSet(seqno=19 + n, last_seen=s, depends=d) for n, (s, d) in SENT.items()]
    own = [Committed(seqno=19 + n, thread=5, begun=None, place=n) for n in SENT]
    applied = [
        Committed(seqno=19 + n, thread=n, begun=at, place=20 + 10 * n) for n, at in begun.items()
    ]
    return seen_inside(
        members, {"m1": ProviderLog(sent=sent, committed=own), "m2": ProviderLog(committed=applied)}
    )


def told_inside(begun):
    members = [member("m1"), member("m2")]
    seen = inside(members, begun)
    history, _ = cluster_history(RUN, members, Keys(STATEMENTS), seen)
    return history.check(), seen


def test_appliers_that_overlap_in_order_hold():
    history, seen = told_inside({1: 10, 2: 11, 3: 35})
    assert (seen.begun, seen.overlapping) == (3, 2)
    for name in (
        "no_conflicting_parallel_apply", "starts_respect_last_committed",
        "write_sets_depend_on_earlier_writers", "members_decide_alike",
        "replica_logs_domains_in_order", "final_state_is_the_sources",
    ):  # fmt: skip
        assert verdict(history, name) is Verdict.HOLDS, name


def test_applier_that_begins_before_what_it_depends_on_is_found():
    history, _ = told_inside({1: 10, 2: 11, 3: 25})
    assert verdict(history, "no_conflicting_parallel_apply") is Verdict.VIOLATED
    assert verdict(history, "starts_respect_last_committed") is Verdict.VIOLATED


def test_appliers_one_after_the_other_say_nothing_of_parallel_apply():
    history, seen = told_inside({1: 10, 2: 31, 3: 41})
    assert seen.overlapping == 0
    for name in NOTHING_SEEN:
        assert verdict(history, name) is Verdict.UNKNOWN
