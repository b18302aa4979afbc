"""Rules of sequence numbers: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.rules import (
    a_hole_is_logged,
    a_smaller_number_arrives,
    binlog_positions_are_logged,
    gtids_name_one_transaction,
    next_number_is_greatest_seen_plus_one,
    only_smaller_numbers_are_refused,
    only_smaller_numbers_are_warned_of,
    sequences_rise_within_a_domain,
    servers_keep_their_strict_mode,
    smaller_numbers_are_noticed,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-2-1 domain=0 origin=s2
    | T3{c} gtid=0-1-5 domain=0 origin=s1 flags=gtid_seq_no | T4{d} gtid=1-1-1 domain=1 origin=s1
    | """


def history(*words):
    """Return a history of groups logged: ``T1@s1 0-1-1``, or any other event as it is."""
    events = []
    for word in words:
        what, _, gtid = word.partition(" ")
        events.append(f"flushed {what} gtid={gtid}" if what.startswith("T") else word)
    return history_of(LOG + " ; ".join(events))


def test_numbers_with_a_hole_rise():
    run = history("T1@s1 0-1-1", "T3@s1 0-1-5")
    assert verdict(run, sequences_rise_within_a_domain) is Verdict.HOLDS
    assert a_hole_is_logged(run)


def test_equal_number_of_another_server_does_not_rise():
    run = history("T1@s1 0-1-1", "T2@s1 0-2-1")
    (breach,) = sequences_rise_within_a_domain(run)
    assert str(breach) == "s1 logged 0-2-1 after 0-1-1"


def test_equal_numbers_in_two_domains_or_two_logs_are_no_breach():
    assert not sequences_rise_within_a_domain(history("T1@s1 0-1-1", "T4@s1 1-1-1"))
    assert not sequences_rise_within_a_domain(history("T1@s1 0-1-1", "T2@s2 0-2-1"))


def test_smaller_number_without_a_word_is_unnoticed():
    run = history("T1@s1 0-1-1", "T2@s1 0-2-1")
    (breach,) = smaller_numbers_are_noticed(run)
    assert str(breach) == "s1 logged 0-2-1 after 0-1-1 and said nothing"


def test_warning_or_error_notices_a_smaller_number():
    warned = history("T1@s1 0-1-1", 'flushed T2@s1 gtid=0-2-1 note="warning: not above 0-1-1"')
    assert verdict(warned, smaller_numbers_are_noticed) is Verdict.HOLDS
    refused = history("T1@s1 0-1-1", 'failed T2@s1 gtid=0-2-1 note="1950: too small"')
    assert verdict(refused, smaller_numbers_are_noticed) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("words", "is_reached"),
    [
        (("T1@s1 0-1-1", "T2@s1 0-2-1"), True),
        (("T1@s1 0-1-1", "T4@s1 1-1-1"), False),
        (('failed T1@s1 gtid=0-1-1 note="1950: x"',), True),
        (('failed T1@s1 gtid=0-1-1 note="1062: x"',), False),
    ],
)
def test_smaller_number_arrives_where_it_is_logged_or_refused(words, is_reached):
    assert a_smaller_number_arrives(history(*words)) is is_reached


def test_first_number_of_a_domain_is_no_hole():
    assert not a_hole_is_logged(history("T1@s1 0-1-1"))
    assert a_hole_is_logged(history("T3@s1 0-1-5"))


def test_own_number_follows_the_greatest_that_was_replicated():
    run = history("T1@s2 0-1-1", "T2@s2 0-2-2")
    assert verdict(run, next_number_is_greatest_seen_plus_one) is Verdict.HOLDS
    (breach,) = next_number_is_greatest_seen_plus_one(history("T3@s2 0-1-5", "T2@s2 0-2-1"))
    assert str(breach) == "s2 gave T2 0-2-1, having seen 5 in its domain"


def test_number_set_by_the_session_is_free():
    assert not next_number_is_greatest_seen_plus_one(history("T1@s1 0-1-1", "T3@s1 0-1-5"))


def test_counter_stays_when_a_smaller_number_follows():
    # Measured without strict mode: 0-1-101, then a session logs 0-1-50, then the next is 102.
    run = history("T3@s2 0-1-5", "T1@s2 0-1-1", "T2@s2 0-2-6")
    assert not next_number_is_greatest_seen_plus_one(run)


def test_restored_server_counts_on_from_its_backup():
    backup = "recovered @s2 gtid_set=0-1-5 transactions=3"
    assert not next_number_is_greatest_seen_plus_one(history(backup, "T2@s2 0-2-6"))
    assert next_number_is_greatest_seen_plus_one(history(backup, "T2@s2 0-2-1"))


def test_gtid_given_twice_is_reported():
    (breach,) = gtids_name_one_transaction(history("T1@s1 0-1-1", "T2@s2 0-1-1"))
    assert str(breach) == "0-1-1 names T1 and T2"


def test_transaction_with_two_gtids_is_reported():
    (breach,) = gtids_name_one_transaction(history("T1@s1 0-1-1", "T1@s2 0-2-1"))
    assert str(breach) == "s2 logged T1 as 0-2-1; it is 0-1-1"


def test_same_gtid_on_two_servers_is_what_gtids_are_for():
    run = history("T1@s1 0-1-1", "T1@s2 0-1-1")
    assert verdict(run, gtids_name_one_transaction) is Verdict.HOLDS
    assert verdict(history("T1@s1 0-1-1"), gtids_name_one_transaction) is Verdict.UNKNOWN


def test_refusal_of_a_number_after_a_hole_is_reported():
    run = history("T1@s1 0-1-1", 'failed T3@s1 gtid=0-1-5 note="1950: not next"')
    (breach,) = only_smaller_numbers_are_refused(run)
    assert str(breach) == "s1 refused 0-1-5 after 0-1-1"


@pytest.mark.parametrize("gtid", ["0-2-1", "0-1-1"])
def test_refusal_of_an_equal_or_smaller_number_is_strict_mode(gtid):
    run = history("T3@s1 0-1-1", f'failed T2@s1 gtid={gtid} note="1950: out of order"')
    assert verdict(run, only_smaller_numbers_are_refused) is Verdict.HOLDS


def test_other_failures_are_no_refusals():
    run = history("T1@s1 0-1-1", 'failed T3@s1 gtid=0-1-5 note="1062: duplicate key"')
    assert not only_smaller_numbers_are_refused(run)


STATED = "position_saved @s1 gtid_set={} note=gtid_binlog_pos"


def test_binlog_position_that_was_never_logged_is_invented():
    (breach,) = binlog_positions_are_logged(history("T1@s1 0-1-1", STATED.format("0-1-2")))
    assert str(breach) == "s1 states 0-1-2 in gtid_binlog_pos and has never logged it"


def test_binlog_position_that_was_logged_or_restored_is_true():
    logged = history("T1@s1 0-1-1", STATED.format("0-1-1"))
    assert verdict(logged, binlog_positions_are_logged) is Verdict.HOLDS
    restored = history("recovered @s1 gtid_set=0-1-9", STATED.format("0-1-9"))
    assert not binlog_positions_are_logged(restored)


def test_slave_position_may_name_what_was_not_logged_here():
    run = history("position_saved @s1 gtid_set=0-1-2 note=gtid_current_pos")
    assert not binlog_positions_are_logged(run)


def test_only_a_smaller_number_is_warned_of():
    smaller = history("T1@s1 0-1-1", 'flushed T2@s1 gtid=0-2-1 note="warning: not above 0-1-1"')
    assert verdict(smaller, only_smaller_numbers_are_warned_of) is Verdict.HOLDS
    backup = 'recovered @s2 gtid_set=0-1-5 ; flushed T2@s2 gtid=0-2-1 note="warning: small"'
    assert not only_smaller_numbers_are_warned_of(history(backup))
    (breach,) = only_smaller_numbers_are_warned_of(
        history("T1@s1 0-1-1", 'flushed T3@s1 gtid=0-1-5 note="warning: small"')
    )
    assert str(breach) == "s1 logged 0-1-5 after 0-1-1: warning: small"


REFUSED = 'failed T2@s1 gtid=0-2-1 note="1950: refused"'
WARNED = 'flushed T2@s1 gtid=0-2-1 note="warning: not above 0-1-1"'


@pytest.mark.parametrize(
    ("dialect", "event", "done"),
    [
        ("strict", REFUSED, ""),
        ("shared_strict", WARNED, "warned of"),
        ("strict", "T2@s1 0-2-1", "logged"),
        ("warning", WARNED, ""),
        ("shared_warning", REFUSED, "refused"),
        ("silent", WARNED, "warned of"),
        ("silent", "T2@s1 0-2-1", ""),
    ],
)
def test_servers_do_what_their_mode_says(dialect, event, done):
    log = f"dialect={dialect} {LOG}"
    first = "flushed T1@s1 gtid=0-1-1 ; "
    second = f"flushed {event.replace(' ', ' gtid=')}" if event[0] == "T" else event
    run = history_of(log + first + second)
    found = [str(one) for one in servers_keep_their_strict_mode(run)]
    assert found == ([f"s1 {done} 0-2-1, against its mode"] if done else [])
