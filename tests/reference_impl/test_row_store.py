from __future__ import annotations

from paraply.reference_impl.applier.row_store import RowStore
from paraply.vocabulary.events import Observation, Outcome
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite


def insert(item, value):
    return RowWrite(table="d.t", operation=Operation.INSERT, after=(item, value))


def update(item, old, new):
    return RowWrite(table="d.t", operation=Operation.UPDATE, before=(item, old), after=(item, new))


def delete(item, old):
    return RowWrite(table="d.t", operation=Operation.DELETE, before=(item, old))


def committed(*rows):
    store = RowStore("ab")
    for number, row in enumerate(rows, start=1):
        assert store.apply(number, row).outcome is Outcome.OK
        store.engine_commit(number)
    return store


def test_change_is_seen_by_readers_only_after_the_engine_commit():
    store = RowStore("ab")
    store.apply(1, insert("a", 7))
    assert store.snapshot() == (Observation("a", 0), Observation("b", 0))
    store.engine_commit(1)
    assert store.snapshot() == (Observation("a", 1), Observation("b", 0))


def test_transaction_sees_its_own_changes():
    store = RowStore()
    store.apply(1, insert("a", 7))
    assert store.apply(1, update("a", 7, 8)).outcome is Outcome.OK
    assert store.apply(1, delete("a", 8)).outcome is Outcome.OK
    assert store.apply(1, insert("a", 9)).outcome is Outcome.OK


def test_update_of_a_row_that_is_not_there_misses_its_before_image():
    assert RowStore().apply(1, update("a", 1, 2)).outcome is Outcome.MISSING_BEFORE_IMAGE
    assert committed(insert("a", 1)).apply(2, update("a", 5, 6)).outcome is (
        Outcome.MISSING_BEFORE_IMAGE
    )
    gone = committed(insert("a", 1), delete("a", 1))
    assert gone.apply(3, delete("a", 1)).outcome is Outcome.MISSING_BEFORE_IMAGE


def test_insert_of_a_key_that_is_taken_is_a_duplicate_and_of_a_freed_one_is_not():
    assert committed(insert("a", 1)).apply(2, insert("a", 2)).outcome is Outcome.DUPLICATE_KEY
    assert committed(insert("a", 1), delete("a", 1)).apply(3, insert("a", 3)).outcome is Outcome.OK


def test_row_of_another_transaction_is_waited_for_until_it_ends():
    for end in (RowStore.engine_commit, RowStore.roll_back):
        store = RowStore()
        store.apply(1, insert("a", 1))
        assert store.apply(2, insert("a", 2)) == (Outcome.LOCK_WAIT, 1)
        end(store, 1)
        assert store.apply(2, insert("a", 2)).outcome is not Outcome.LOCK_WAIT


def test_rollback_leaves_nothing_and_a_crash_leaves_what_was_committed():
    store = committed(insert("a", 1))
    store.apply(2, update("a", 1, 2))
    store.roll_back(2)
    assert store.committed("a") == (1, 1)
    store.apply(3, update("a", 1, 3))
    store.crash()
    assert store.committed("a") == (1, 1)
    assert not store.holders
