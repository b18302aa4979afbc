"""Waits and repeats that safety does not need, and a shutdown that waits: holds, breaks, edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.saved_positions import restarts_begin_after_the_saved_position
from paraply.properties.certification.trackers import (
    a_transaction_mixes_tables_with_and_without_key,
    complete_write_sets_wait_for_their_writers,
)
from paraply.properties.semi_sync.shutdown import waiting_shutdowns_send_everything
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

A, B, AB = frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"})


def logged(*lines, dialect="writeset", history_size=25_000):
    """Return a source's log of (items, last_committed, flavour); None rotates it."""
    transactions, events, number = [], [], 0
    for one, line in enumerate(lines, start=1):
        if line is None:
            number = 0
            events.append(Event(kind=EventKind.RELAY_ROTATED, member="r1", time=one))
            continue
        items, last_committed, flavour = line
        number += 1
        timestamp = LogicalTimestamp.as_recorded(last_committed, number)
        transactions.append(Transaction(id=one, write_set=items, session="s1", timestamp=timestamp))
        events.append(
            Event(
                kind=EventKind.FLUSHED,
                member="r1",
                time=one,
                transaction=one,
                timestamp=timestamp,
                note=flavour,
            )
        )
    header = HistoryHeader(
        subject="source", dialect=dialect, options={"history_size": history_size}, members=("r1",)
    )
    return History(header=header, transactions=tuple(transactions), events=tuple(events))


FIRST, OTHER = (A, 0, "plain"), (B, 1, "plain")
LOGGED_BY_A_TRIGGER = (frozenset({"a", "a-keyless"}), 0, "mixed")


@pytest.mark.parametrize(
    ("lines", "settings", "found"),
    [
        ([FIRST, (B, 0, "plain")], {}, 0),
        ([FIRST, OTHER], {}, 1),
        ([FIRST, (AB, 1, "plain")], {}, 0),
        ([FIRST, OTHER], {"dialect": "writeset_session"}, 0),
        ([FIRST, OTHER], {"dialect": "commit_order"}, 0),
        ([FIRST, (B, 1, "statement")], {}, 0),
        ([(A, 0, "cascading"), OTHER], {}, 0),
        ([(A, 0, "keyless"), OTHER], {}, 1),
        ([LOGGED_BY_A_TRIGGER, OTHER], {}, 1),
        ([LOGGED_BY_A_TRIGGER, (A, 1, "plain")], {}, 0),
        ([LOGGED_BY_A_TRIGGER, OTHER], {"history_size": 1}, 1),
        ([FIRST, OTHER], {"history_size": 0}, 0),
        ([FIRST, (B, 0, "plain"), (frozenset({"c"}), 2, "plain")], {"history_size": 1}, 0),
        ([FIRST, (B, 0, "plain"), (frozenset({"c"}), 2, "plain")], {"history_size": 2}, 1),
        ([FIRST, None, (B, 0, "plain"), (A, 1, "plain")], {}, 0),
        ([FIRST, None, (B, 0, "plain"), (frozenset({"c"}), 1, "plain")], {}, 0),
        ([FIRST, None, (B, 0, "plain"), (B, 1, "plain"), (A, 2, "plain")], {}, 1),
    ],
)
def test_complete_write_set_waits_for_writers_and_forgotten_ones(lines, settings, found):
    assert len(complete_write_sets_wait_for_their_writers(logged(*lines, **settings))) == found


def test_breach_says_what_is_needed():
    (breach,) = complete_write_sets_wait_for_their_writers(logged(FIRST, OTHER))
    assert str(breach) == (
        "r1 gave T2 last_committed=1; its writers, its session and the write sets kept need 0"
    )


def test_one_transaction_that_could_overtake_nothing_decides_nothing():
    assert verdict(logged(FIRST), complete_write_sets_wait_for_their_writers) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([LOGGED_BY_A_TRIGGER, OTHER], Verdict.HOLDS),
        ([OTHER, LOGGED_BY_A_TRIGGER], Verdict.UNKNOWN),
        ([FIRST, OTHER], Verdict.UNKNOWN),
    ],
)
def test_mixed_transaction_matters_to_a_later_one(lines, expected):
    history = logged(*lines)
    assert verdict(history, a_transaction_mixes_tables_with_and_without_key) is expected


STOP = " ; stopped @source note=shutdown"


def stopping(events, waits=True):
    run = history_of(f"| T1{{a}} | flushed T1 @source ; client_acknowledged T1 @source{events}")
    options = {"shutdown_waits": waits}
    header = replace(run.header, members=("source", "r1"), options=options)
    return replace(run, header=header)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (STOP, 1),
        (f" ; delivered T1 @r1{STOP}", 0),
        (f" ; crashed @r1{STOP}", 0),
        (" ; stopped @source", 0),
    ],
)
def test_waiting_shutdown_ends_when_replicas_have_the_log(events, found):
    assert len(waiting_shutdowns_send_everything(stopping(events))) == found


def test_shutdown_that_does_not_wait_is_not_judged():
    assert verdict(stopping(STOP, waits=False), waiting_shutdowns_send_everything) is (
        Verdict.UNKNOWN
    )
    (breach,) = waiting_shutdowns_send_everything(stopping(STOP))
    assert str(breach) == "the source stopped before r1, which was connected, had received T1"


SAVED = "position_saved transactions=1 ; crashed ; "


def resuming(events, recovery="positions"):
    return history_of(f'options={{"recovery":"{recovery}"}} | T1{{a}} | T2{{b}} | {events}')


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (f"{SAVED}skipped T1 ; scheduled T2", 1),
        (f"{SAVED}scheduled T1 ; scheduled T2", 1),
        (f"{SAVED}scheduled T2", 0),
        ("position_saved transactions=1 ; skipped T1 ; crashed ; scheduled T2", 0),
    ],
)
def test_restart_begins_after_the_saved_position(events, found):
    run = resuming(events)
    assert len(restarts_begin_after_the_saved_position(run)) == found
    assert not restarts_begin_after_the_saved_position(resuming(events, recovery="gtid"))


def test_breach_names_what_is_read_again():
    (breach,) = restarts_begin_after_the_saved_position(resuming(f"{SAVED}skipped T1"))
    assert str(breach) == "r1 read T1 again, which its saved position covers"
