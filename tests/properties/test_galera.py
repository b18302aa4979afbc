"""What Galera promises of write sets: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.apply.parallel_apply import starts_respect_last_committed
from paraply.properties.group.galera import (
    a_write_set_runs_beside_an_unseen_one,
    senders_saw_writers_of_other_members,
    write_sets_depend_on_earlier_writers,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.log import Operation
from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp
from paraply.vocabulary.transactions import ISOLATED, RowWrite, Transaction, TransactionId
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import verdict


def write_set(number, items, *, depends=0, seen=0, origin="m1", flags=(), rows=()):
    """Return transaction ``number``, whose seqno is ten times that."""
    return Transaction(
        id=TransactionId(number),
        origin=origin,
        write_set=frozenset(items),
        timestamp=LogicalTimestamp.as_recorded(depends, 10 * number),
        snapshot_version=seen,
        flags=frozenset(flags),
        rows=rows,
    )


def history(*transactions, events=()):
    return History(
        header=HistoryHeader(members=("m1", "m2")), transactions=transactions, events=events
    ).check()


@pytest.mark.parametrize(
    ("depends", "expected"),
    [(9, Verdict.VIOLATED), (10, Verdict.HOLDS), (15, Verdict.HOLDS)],
)
def test_depends_seqno_covers_the_last_writer_of_a_row(depends, expected):
    run = history(write_set(1, "a"), write_set(2, "ab", depends=depends))
    assert verdict(run, write_sets_depend_on_earlier_writers) is expected


def test_only_the_last_writer_of_each_row_is_named_with_the_row():
    run = history(write_set(1, "a"), write_set(2, "a", depends=10), write_set(3, "ab", depends=10))
    (breach,) = write_sets_depend_on_earlier_writers(run)
    assert str(breach) == (
        "T3 writes a and has depends_seqno 10: it may start before T2 (seqno 20) is done"
    )


def test_write_sets_of_different_rows_say_nothing():
    run = history(write_set(1, "a"), write_set(2, "b"))
    assert verdict(run, write_sets_depend_on_earlier_writers) is Verdict.UNKNOWN


def test_isolated_change_must_follow_all_before_it():
    earlier = [write_set(1, "a"), write_set(2, "a", depends=10)]
    early = history(*earlier, write_set(3, "t", depends=10, flags=[ISOLATED]))
    (breach,) = write_sets_depend_on_earlier_writers(early)
    assert (breach.earlier, breach.later, breach.item) == (2, 3, None)
    in_turn = history(*earlier, write_set(3, "t", depends=20, flags=[ISOLATED]))
    assert verdict(in_turn, write_sets_depend_on_earlier_writers) is Verdict.HOLDS


def test_transaction_without_numbers_is_passed_over():
    plain = Transaction(id=TransactionId(1), write_set=frozenset("a"))
    run = history(plain, write_set(2, "a"))
    assert verdict(run, write_sets_depend_on_earlier_writers) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("seen", "origin", "expected"),
    [
        (1, "m2", Verdict.HOLDS),
        (0, "m2", Verdict.VIOLATED),
        # Its own member's locks ordered the two.
        (0, "m1", Verdict.UNKNOWN),
    ],
)
def test_sender_has_seen_what_another_member_wrote_to_its_row(seen, origin, expected):
    run = history(write_set(1, "a"), write_set(2, "a", depends=10, seen=seen, origin=origin))
    assert verdict(run, senders_saw_writers_of_other_members) is expected


def test_writer_of_another_member_counts_also_behind_one_of_its_own():
    run = history(
        write_set(1, "a", origin="m1"),
        write_set(2, "a", depends=10, seen=0, origin="m1"),
        write_set(3, "a", depends=20, seen=2, origin="m2"),
        write_set(4, "a", depends=30, seen=2, origin="m1"),
    )
    (breach,) = senders_saw_writers_of_other_members(run)
    assert (breach.earlier, breach.later) == (3, 4)


def test_table_without_a_key_is_no_row():
    row = RowWrite(table="k", operation=Operation.UPDATE, before=(1,), after=(2,))
    run = history(
        write_set(1, ["k"], rows=(row,)),
        write_set(2, ["k"], depends=10, seen=0, origin="m2", rows=(row,)),
    )
    assert verdict(run, senders_saw_writers_of_other_members) is Verdict.UNKNOWN
    # What must wait is another matter: the order of such tables is kept as a whole.
    assert verdict(run, write_sets_depend_on_earlier_writers) is Verdict.HOLDS


@pytest.mark.parametrize(("begins", "expected"), [(4, Verdict.HOLDS), (1, Verdict.VIOLATED)])
def test_applier_waits_for_depends_seqno(begins, expected):
    """The third write set depends on the second, and runs beside the first."""
    kinds = [
        (EventKind.BEGUN, 1), (EventKind.BEGUN, 2), (EventKind.ENGINE_COMMITTED, 1),
        (EventKind.ENGINE_COMMITTED, 2), (EventKind.BEGUN, 4), (EventKind.ENGINE_COMMITTED, 3),
        (EventKind.ENGINE_COMMITTED, 4),
    ]  # fmt: skip
    kinds.insert(begins, (EventKind.BEGUN, 3))
    run = history(
        *(write_set(n, "abcd"[n - 1], depends=20 if n > 2 else 0) for n in (1, 2, 3, 4)),
        events=tuple(
            Event(kind=kind, time=LogicalTime(at), member="m2", transaction=TransactionId(one))
            for at, (kind, one) in enumerate(kinds, start=1)
        ),
    )
    assert verdict(run, starts_respect_last_committed) is expected


@pytest.mark.parametrize(
    ("depends", "seen", "expected"),
    [(10, 1, True), (19, 1, True), (20, 1, False), (10, 2, False)],
)
def test_write_set_runs_beside_what_its_sender_had_not_seen(depends, seen, expected):
    run = history(
        write_set(1, "a"), write_set(2, "b", depends=10, seen=1),
        write_set(3, "a", depends=depends, seen=seen, origin="m2"),
    )  # fmt: skip
    assert bool(a_write_set_runs_beside_an_unseen_one(run)) is expected
