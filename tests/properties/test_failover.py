"""Start positions and fail-over: each property holds, breaks, and on its edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.gtid.failover import (
    a_replica_changes_its_source,
    a_single_position_exists,
    elected_source_has_what_survivors_have,
    known_positions_are_accepted,
    logs_agree_within_a_domain,
    sources_have_what_follows_their_backup,
    survivors_differ_at_an_election,
    unknown_positions_are_refused,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0 | T3{c} gtid=1-1-1 domain=1 | """
GTIDS = {1: "0-1-1", 2: "0-1-2", 3: "1-1-1"}


def history(*words):
    """Return a history: ``s1:12`` logs and commits T1 and T2 there; other events as they are."""
    events = []
    for word in words:
        member, _, numbers = word.partition(":")
        if numbers.isdigit():
            for one in map(int, numbers):
                events.append(f"flushed T{one}@{member} gtid={GTIDS[one]}")
                events.append(f"engine_committed T{one}@{member}")
        else:
            events.append(word)
    return history_of(LOG + " ; ".join(events))


START = "started @s3 members=s2 gtid_set={}"
REFUSE = 'started @s3 members=s2 gtid_set={} note="1236: {}"'


def test_prefix_of_the_source_has_a_position():
    run = history("s2:12", "s3:1", START.format("0-1-1"))
    assert verdict(run, a_single_position_exists) is Verdict.HOLDS


def test_opposite_order_in_one_domain_has_none():
    # The text: no single place from which to start without losing or duplicating some event.
    run = history("s2:21", "s3:1", START.format("0-1-1"))
    (breach,) = a_single_position_exists(run)
    assert str(breach) == (
        "s3 has T1 and not T2, and s2 logged T2 first, both in domain 0: no position is right"
    )


def test_opposite_order_across_domains_has_a_position_in_each():
    run = history("s2:31", "s3:1", START.format("0-1-1"))
    assert not a_single_position_exists(run)


def test_own_transactions_of_the_replica_have_no_place_to_miss():
    run = history("s2:21", "s3:1", START.format("0-1-2"))
    own = replace(run, transactions=(replace(run.transactions[0], origin="s3"),
                                     *run.transactions[1:]))  # fmt: skip
    assert a_single_position_exists(run)
    assert not a_single_position_exists(own)


def test_refused_start_needs_no_position():
    assert not a_single_position_exists(history("s2:21", "s3:1", REFUSE.format("0-1-1", "no")))


def test_logs_in_one_order_agree_even_if_one_is_longer():
    run = history("s1:123", "s2:12")
    assert verdict(run, logs_agree_within_a_domain) is Verdict.HOLDS


def test_logs_in_two_orders_disagree():
    (breach,) = logs_agree_within_a_domain(history("s1:12", "s2:21"))
    assert str(breach) == "s2 logged T2 before T1, s1 after"


def test_logs_may_differ_in_the_order_of_domains():
    assert not logs_agree_within_a_domain(history("s1:13", "s2:31"))
    assert verdict(history("s1:1", "s2:1"), logs_agree_within_a_domain) is Verdict.UNKNOWN


def test_refusal_of_what_was_logged_is_reported():
    run = history("s2:1", REFUSE.format("0-1-1", "not found"))
    (breach,) = known_positions_are_accepted(run)
    assert str(breach) == (
        "s2 refused s3 at 0-1-1, all of which it has logged, or whose domains are not in its log"
    )


def test_refusal_of_a_domain_that_the_source_does_not_have_is_reported():
    (breach,) = known_positions_are_accepted(history("s2:3", REFUSE.format("0-1-2", "not found")))
    assert breach.position == "0-1-2"


@pytest.mark.parametrize(
    ("position", "reason"), [("0-1-2", "not found"), ("0-1-1", "what follows is purged")]
)
def test_refusal_of_the_unknown_or_the_purged_is_right(position, reason):
    assert not known_positions_are_accepted(history("s2:1", REFUSE.format(position, reason)))


def test_position_of_a_backup_counts_as_known():
    backup = "recovered @s2 gtid_set=0-1-1 transactions=1"
    run = history(backup, START.format("0-1-1"))
    assert verdict(run, known_positions_are_accepted) is Verdict.HOLDS


def test_start_past_the_end_of_the_source_is_reported():
    (breach,) = unknown_positions_are_refused(history("s2:1", START.format("0-1-2")))
    assert str(breach) == "s2 let s3 start at 0-1-2, which it does not have"


def test_refusal_past_the_end_is_right():
    run = history("s2:1", REFUSE.format("0-1-2", "not in the binary log"))
    assert verdict(run, unknown_positions_are_refused) is Verdict.HOLDS


def test_domain_that_the_source_does_not_know_yet_may_be_asked_for():
    run = history("s2:3", START.format("0-1-2"))
    assert verdict(run, unknown_positions_are_refused) is Verdict.UNKNOWN


def test_number_in_a_hole_cannot_be_told_from_a_logged_one():
    # Facts on MariaDB 2: the server compares numbers, so a number in a hole passes.
    assert not unknown_positions_are_refused(history("s2:2", START.format("0-1-1")))


@pytest.mark.parametrize(
    ("second", "is_reached"),
    [
        ("started @s3 members=s2 gtid_set=0-1-1", True),
        ("started @s3 members=s1 gtid_set=0-1-1", False),
        ("started @s3 members=s2", False),
        ('started @s3 members=s2 gtid_set=0-1-1 note="1236: no"', False),
    ],
)
def test_replica_changes_its_source_with_a_position_and_without_refusal(second, is_reached):
    run = history("started @s3 members=s1", second)
    assert a_replica_changes_its_source(run) is is_reached


LOST, ELECTED = 'crashed @s1 note="lost for good"', "started @s2 note=elected"


def test_survivor_that_is_elected_without_what_another_has_is_reported():
    run = history("s1:13", "s2:1", "s3:3", LOST, ELECTED)
    (breach,) = elected_source_has_what_survivors_have(run)
    assert str(breach) == "s2 was elected without T3, which s3 has"


def test_survivor_that_never_had_anything_may_be_elected_if_nobody_had_more():
    assert not elected_source_has_what_survivors_have(history("s1:1", LOST, ELECTED))
    (breach,) = elected_source_has_what_survivors_have(history("s1:1", "s3:1", LOST, ELECTED))
    assert str(breach) == "s2 was elected without T1, which s3 has"


def test_survivor_that_catches_up_first_may_be_elected():
    run = history("s1:13", "s2:1", "s3:3", LOST, "s2:3", ELECTED)
    assert verdict(run, elected_source_has_what_survivors_have) is Verdict.HOLDS
    assert survivors_differ_at_an_election(run)


def test_what_only_the_lost_source_had_is_nobodys_fault():
    run = history("s1:123", "s2:1", "s3:1", LOST, ELECTED)
    assert verdict(run, elected_source_has_what_survivors_have) is Verdict.UNKNOWN
    assert not survivors_differ_at_an_election(run)


def test_crash_of_a_server_that_comes_back_is_no_loss():
    run = history("s2:1", "s3:3", "crashed @s1", ELECTED)
    assert not elected_source_has_what_survivors_have(run)


BACKUP = "recovered @s2 gtid_set=0-1-1"
ASKS, IS_REFUSED = 'started @s3 members=s2 gtid_set="{}"', ' note="1236: it is purged"'


@pytest.mark.parametrize(
    ("asked", "is_refused", "is_right"),
    [
        ("0-1-1", False, True),
        ("0-1-1", True, False),
        ("0-1-2", False, True),
        ("0-1-2", True, False),
        ("", False, False),
        ("", True, True),
        ("1-1-1", False, False),
        ("0-3-9", False, True),
        ("0-3-9", True, True),
    ],
)
def test_backup_is_where_a_sources_log_begins(asked, is_refused, is_right):
    after = "flushed T2@s2 gtid=0-1-2"
    run = history(BACKUP, after, ASKS.format(asked) + (IS_REFUSED if is_refused else ""))
    breaches = sources_have_what_follows_their_backup(run)
    assert bool(breaches) is not is_right
    for one in breaches:
        done = "refused" if is_refused else "accepted"
        where = asked or "the empty position"
        assert str(one) == f"s2, whose log follows (0-1-1), {done} s3 at {where}"


def test_refusal_for_another_reason_says_nothing_about_a_backup():
    refused = history(BACKUP, ASKS.format("") + ' note="1236: 1-9-9 is not in the binary log"')
    assert verdict(refused, sources_have_what_follows_their_backup) is Verdict.UNKNOWN


def test_recovery_from_a_crash_is_no_backup():
    run = history("crashed @s2", BACKUP, ASKS.format(""))
    assert verdict(run, sources_have_what_follows_their_backup) is Verdict.HOLDS
    refused = history("crashed @s2", BACKUP, ASKS.format("") + IS_REFUSED)
    assert verdict(refused, sources_have_what_follows_their_backup) is Verdict.VIOLATED
