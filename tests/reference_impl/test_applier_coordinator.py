"""The coordinator's decisions, one by one, as the facts on LOGICAL_CLOCK state them."""

from __future__ import annotations

import pytest

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.coordinator import Database, LogicalClock
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionKind


def transaction(number, lc, sn, items="a"):
    return Transaction(
        id=number, write_set=frozenset(items), timestamp=LogicalTimestamp.as_recorded(lc, sn)
    )


def clock(*given, done=()):
    """Return a coordinator that has given out (LC, SN) pairs as transactions 1, 2, 3, ..."""
    coordinator = LogicalClock()
    for number, (lc, sn) in enumerate(given, start=1):
        coordinator.on_dispatched(transaction(number, lc, sn), 1)
    for number in done:
        coordinator.on_done(number)
    return coordinator


def test_transaction_may_start_when_last_committed_equals_the_low_water_mark():
    coordinator = clock((1, 2), (1, 3), (1, 4), done=(1, 2))
    assert coordinator.low_water_mark() == 3
    assert coordinator.may_dispatch(transaction(4, 3, 5))


def test_transaction_may_not_start_one_past_the_low_water_mark():
    coordinator = clock((1, 2), (1, 3), (1, 4), done=(1, 2))
    assert not coordinator.may_dispatch(transaction(4, 4, 5))


def test_low_water_mark_is_a_prefix_and_not_the_highest_number_done():
    # W={b, d} with writers SN 3 and 5: LC=5 must wait for 3 as well.
    coordinator = clock((1, 2), (1, 3), (1, 4), (1, 5), done=(1, 3, 4))
    assert coordinator.low_water_mark() == 2
    assert not coordinator.may_dispatch(transaction(5, 5, 6))


def test_second_transaction_of_a_group_waits_for_the_first_although_ex3_says_parallel():
    # EX3 shows T1 (1,2) and T2 (1,3) in parallel; after a break the mark is undefined until T1 is
    # done, so the real coordinator never runs the first two together.
    assert not clock((1, 2)).may_dispatch(transaction(2, 1, 3))
    assert clock((1, 2), done=(1,)).may_dispatch(transaction(2, 1, 3))


@pytest.mark.parametrize(
    ("lc", "sn", "why"),
    [(1, 9, "a gap"), (0, 4, "LC 0"), (0, 0, "a view change"), (5, 4, "LC above SN"),
     (1, 3, "SN repeated"), (1, 2, "SN falls")],
)  # fmt: skip
def test_group_begins_and_waits_for_all(lc, sn, why):
    coordinator = clock((1, 2), (1, 3), done=(1,))
    assert not coordinator.may_dispatch(transaction(3, lc, sn)), why
    coordinator.on_done(2)
    assert coordinator.may_dispatch(transaction(3, lc, sn)), why


def test_transaction_after_a_view_change_waits_for_it():
    coordinator = clock((1, 2), (0, 0), done=(1,))
    assert not coordinator.may_dispatch(transaction(3, 1, 3))


def test_numbers_start_again_after_a_rotation():
    coordinator = clock((1, 2), (2, 3), done=(1, 2))
    coordinator.on_rotation()
    assert coordinator.may_dispatch(transaction(3, 1, 2))
    coordinator.on_dispatched(transaction(3, 1, 2), 1)
    assert coordinator.last_sequence_number == 2
    assert coordinator.low_water_mark() == 0


def test_transaction_without_a_timestamp_runs_alone():
    coordinator = clock((1, 2))
    assert not coordinator.may_dispatch(Transaction(id=2, write_set=frozenset("b")))


def test_skipped_transaction_counts_as_done():
    coordinator = clock()
    coordinator.on_skipped(transaction(1, 1, 2))
    assert coordinator.low_water_mark() == 2


def test_schemas_stay_with_their_worker_until_it_is_done():
    coordinator = Database()
    first, same, other = (
        transaction(n, 0, 0, items) for n, items in ((1, "a"), (2, "c"), (3, "b"))
    )
    coordinator.on_dispatched(first, 1)
    assert coordinator.workers_for(same, [2]) == []
    assert coordinator.workers_for(other, [2]) == [2]
    coordinator.on_done(1)
    assert coordinator.workers_for(same, [2]) == [2]


def test_transaction_over_two_busy_schemas_waits_for_both_workers():
    coordinator = Database()
    coordinator.on_dispatched(transaction(1, 0, 0, "a"), 1)
    coordinator.on_dispatched(transaction(2, 0, 0, "b"), 2)
    both = transaction(3, 0, 0, "ab")
    assert coordinator.workers_for(both, [3]) == []
    coordinator.on_done(1)
    assert coordinator.workers_for(both, [1, 3]) == []
    coordinator.on_done(2)
    assert coordinator.workers_for(both, [1, 3]) == [1]


def test_barrier_is_alone_by_schema_too():
    coordinator = Database()
    barrier = Transaction(id=2, kind=TransactionKind.DDL)
    coordinator.on_dispatched(transaction(1, 0, 0, "a"), 1)
    assert not coordinator.may_dispatch(barrier)
    coordinator.on_done(1)
    coordinator.on_dispatched(barrier, 1)
    assert not coordinator.may_dispatch(transaction(3, 0, 0, "b"))


def test_only_the_head_of_the_commit_order_queue_may_commit():
    queue = CommitOrderQueue()
    queue.register(1)
    queue.register(2)
    assert (queue.is_turn_of(1), queue.is_turn_of(2)) == (True, False)
    assert queue.is_before(1, 2)
    queue.on_engine_commit(1)
    assert queue.is_turn_of(2)
