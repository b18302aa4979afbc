"""The source's dependency trackers, rule by rule."""

from __future__ import annotations

import pytest

from paraply.reference_impl.certification.trackers import (
    CommitOrderTracker,
    TrackedTransaction,
    WritesetSessionTracker,
    WritesetTracker,
)


def run(tracker, transaction):
    """Execute, flush and commit; return (last_committed, sequence_number)."""
    tracker.on_statement_prepared(transaction)
    timestamp = tracker.on_flushed(transaction)
    tracker.on_engine_commit(transaction)
    return timestamp.last_committed, timestamp.sequence_number


def wrote(*items, **facts):
    return TrackedTransaction(items=frozenset(items), **facts)


def test_commit_order_overlapping_lock_intervals_may_run_together():
    tracker = CommitOrderTracker()
    first, second = wrote("a"), wrote("b")
    tracker.on_statement_prepared(first)
    tracker.on_statement_prepared(second)
    assert [tracker.on_flushed(one).last_committed for one in (first, second)] == [0, 0]


def test_commit_order_last_statement_begins_the_interval():
    tracker = CommitOrderTracker()
    late = wrote("b")
    tracker.on_statement_prepared(late)
    assert run(tracker, wrote("a")) == (0, 1)
    tracker.on_statement_prepared(late)
    assert tracker.on_flushed(late).last_committed == 1


def test_commit_order_blocking_transaction_is_waited_for():
    tracker = CommitOrderTracker()
    run(tracker, wrote("x"))
    repair, late = wrote(is_blocking=True), wrote("b")
    tracker.on_statement_prepared(repair)
    tracker.on_flushed(repair)
    tracker.on_statement_prepared(late)
    assert tracker.on_flushed(late).last_committed == 2


def test_rotation_counts_from_one_and_loses_old_parents():
    tracker = CommitOrderTracker()
    run(tracker, wrote("a"))
    tracker.on_rotation()
    assert run(tracker, wrote("a")) == (0, 1)
    assert run(tracker, wrote("a")) == (1, 2)


def test_writeset_lowers_the_parent_to_the_last_writer():
    tracker = WritesetTracker()
    assert [run(tracker, wrote(item)) for item in "abab"] == [(0, 1), (0, 2), (1, 3), (2, 4)]


def test_writeset_history_of_exactly_the_size_is_kept():
    tracker = WritesetTracker(history_size_max=2)
    assert [run(tracker, wrote(item)) for item in "ab"] == [(0, 1), (0, 2)]
    assert tracker.history.start == 0


def test_writeset_over_capacity_forgets_and_the_next_waits_for_it():
    tracker = WritesetTracker(history_size_max=2)
    assert [run(tracker, wrote(item)) for item in "abc"] == [(0, 1), (0, 2), (0, 3)]
    assert tracker.history.start == 3
    assert run(tracker, wrote("a")) == (3, 4)


@pytest.mark.parametrize(
    "unusable",
    [
        {"is_create_select": True},
        {"logs_rows": False},
        {"has_related_foreign_keys": True},
    ],
)
def test_writeset_transaction_it_cannot_use_is_a_barrier(unusable):
    tracker = WritesetTracker()
    run(tracker, wrote("a"))
    run(tracker, wrote("b"))
    assert run(tracker, wrote("c", **unusable)) == (2, 3)
    assert run(tracker, wrote("d")) == (3, 4)


def test_writeset_transaction_without_items_is_unusable_unless_it_is_empty():
    tracker = WritesetTracker()
    run(tracker, wrote("a"))
    assert run(tracker, wrote()) == (1, 2)
    assert tracker.history.start == 2
    assert run(tracker, wrote(is_empty=True)) == (2, 3)
    assert tracker.history.start == 2


def test_writeset_missing_keys_keep_the_commit_order_parent_and_the_history():
    tracker = WritesetTracker()
    run(tracker, wrote("a"))
    run(tracker, wrote("b"))
    assert run(tracker, wrote("c", has_missing_keys=True)) == (2, 3)
    assert run(tracker, wrote("a")) == (1, 4)
    assert run(tracker, wrote("c")) == (3, 5)


def test_writeset_rotation_forgets():
    tracker = WritesetTracker()
    run(tracker, wrote("a"))
    tracker.on_rotation()
    assert not tracker.history.writers
    assert run(tracker, wrote("a")) == (0, 1)


def test_writeset_session_keeps_the_order_of_a_session():
    tracker = WritesetSessionTracker()
    assert run(tracker, wrote("a", session=1)) == (0, 1)
    assert run(tracker, wrote("b", session=2)) == (0, 2)
    assert run(tracker, wrote("c", session=1)) == (1, 3)
    tracker.on_rotation()
    assert run(tracker, wrote("d", session=1)) == (0, 1)
