"""The database that the harness plays is as strict as an engine: keys, parents, locks, rollback."""

import pytest

from paraply.adapters.conformance.database import Database
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite

T = "CREATE TABLE d.t (id INT PRIMARY KEY, k INT, UNIQUE KEY uk (k))"
P = "CREATE TABLE d.p (id INT PRIMARY KEY)"
C = "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id) {})"


def row(table, before, after):
    operation = Operation.INSERT if before is None else Operation.UPDATE
    if after is None:
        operation = Operation.DELETE
    return RowWrite(table=table, operation=operation, before=before, after=after)


def outcome(database, holder, table, before, after):
    return database.apply(holder, row(table, before, after)).outcome


@pytest.fixture
def database():
    database = Database((T,))
    assert outcome(database, 1, "d.t", None, (1, 10)) is Outcome.OK
    database.engine_commit(1)
    return database


def test_value_of_a_unique_key_is_taken_once(database):
    assert outcome(database, 2, "d.t", None, (2, 10)) is Outcome.DUPLICATE_KEY


def test_null_in_a_unique_key_collides_with_nothing(database):
    assert outcome(database, 2, "d.t", None, (2, None)) is Outcome.OK
    assert outcome(database, 2, "d.t", None, (3, None)) is Outcome.OK


def test_change_of_a_row_that_differs_finds_no_before_image(database):
    assert outcome(database, 2, "d.t", (1, 11), (1, 12)) is Outcome.MISSING_BEFORE_IMAGE
    assert outcome(database, 2, "d.t", (7, 1), None) is Outcome.MISSING_BEFORE_IMAGE


def test_row_of_the_wrong_width_is_an_error(database):
    assert outcome(database, 2, "d.t", None, (1,)) is Outcome.ERROR
    assert outcome(database, 2, "d.none", None, (1,)) is Outcome.ERROR


def test_second_writer_of_a_row_waits_for_the_first(database):
    assert outcome(database, 2, "d.t", (1, 10), (1, 20)) is Outcome.OK
    applied = database.apply(3, row("d.t", (1, 10), (1, 30)))
    assert applied.outcome is Outcome.LOCK_WAIT
    assert applied.holders == {2}
    database.engine_commit(2)
    assert outcome(database, 3, "d.t", (1, 20), (1, 30)) is Outcome.OK


def test_value_set_free_is_locked_until_the_transaction_ends(database):
    assert outcome(database, 2, "d.t", (1, 10), (1, 20)) is Outcome.OK
    assert outcome(database, 3, "d.t", None, (5, 10)) is Outcome.LOCK_WAIT
    database.roll_back(2)
    assert outcome(database, 3, "d.t", None, (5, 10)) is Outcome.DUPLICATE_KEY


def test_rollback_restores_rows_and_keys(database):
    before = database.contents()
    assert outcome(database, 2, "d.t", (1, 10), (4, 40)) is Outcome.OK
    assert outcome(database, 2, "d.t", None, (1, 10)) is Outcome.OK
    assert outcome(database, 2, "d.t", (4, 40), None) is Outcome.OK
    database.roll_back(2)
    assert database.contents() == before
    assert outcome(database, 3, "d.t", (1, 10), None) is Outcome.OK


def test_crash_keeps_what_was_committed_only(database):
    before = database.contents()
    assert outcome(database, 2, "d.t", None, (2, 2)) is Outcome.OK
    database.crash()
    assert database.contents() == before
    assert outcome(database, 3, "d.t", None, (2, 2)) is Outcome.OK


def test_child_without_a_parent_is_refused():
    database = Database((P, C.format("")))
    assert outcome(database, 1, "d.c", None, (1, 5)) is Outcome.MISSING_PARENT
    assert outcome(database, 1, "d.c", None, (1, None)) is Outcome.OK


def test_child_waits_for_the_transaction_that_brings_its_parent():
    database = Database((P, C.format("")))
    assert outcome(database, 1, "d.p", None, (5,)) is Outcome.OK
    assert outcome(database, 2, "d.c", None, (1, 5)) is Outcome.LOCK_WAIT


def test_two_children_of_one_parent_do_not_wait_for_each_other():
    database = Database((P, C.format("")))
    assert outcome(database, 1, "d.p", None, (5,)) is Outcome.OK
    database.engine_commit(1)
    assert outcome(database, 2, "d.c", None, (1, 5)) is Outcome.OK
    assert outcome(database, 3, "d.c", None, (2, 5)) is Outcome.OK
    assert outcome(database, 4, "d.p", (5,), None) is Outcome.LOCK_WAIT


@pytest.mark.parametrize(
    ("action", "left"),
    [("ON DELETE CASCADE", ()), ("ON DELETE SET NULL", ((1, None),))],
)
def test_delete_of_a_parent_acts_on_its_children(action, left):
    database = Database((P, C.format(action)))
    assert outcome(database, 1, "d.p", None, (5,)) is Outcome.OK
    assert outcome(database, 1, "d.c", None, (1, 5)) is Outcome.OK
    assert outcome(database, 1, "d.p", (5,), None) is Outcome.OK
    assert database.contents()["d.c"] == left
    database.roll_back(1)
    assert database.contents() == {"d.c": (), "d.p": ()}


def test_delete_of_a_parent_with_children_is_refused():
    database = Database((P, C.format("")))
    assert outcome(database, 1, "d.p", None, (5,)) is Outcome.OK
    assert outcome(database, 1, "d.c", None, (1, 5)) is Outcome.OK
    assert outcome(database, 1, "d.p", (5,), None) is Outcome.MISSING_PARENT


def test_update_cascades_to_children():
    database = Database((P, C.format("ON UPDATE CASCADE")))
    assert outcome(database, 1, "d.p", None, (5,)) is Outcome.OK
    assert outcome(database, 1, "d.c", None, (1, 5)) is Outcome.OK
    assert outcome(database, 1, "d.p", (5,), (6,)) is Outcome.OK
    assert database.contents()["d.c"] == ((1, 6),)


def test_schema_change_waits_for_rows_under_way(database):
    assert outcome(database, 2, "d.t", None, (2, 2)) is Outcome.OK
    assert database.execute(3, "ALTER TABLE d.t ADD COLUMN w INT").outcome is Outcome.LOCK_WAIT
    database.engine_commit(2)
    assert database.execute(3, "ALTER TABLE d.t ADD COLUMN w INT").outcome is Outcome.OK
    assert database.contents()["d.t"] == ((1, 10, None), (2, 2, None))


def test_unique_key_over_duplicates_changes_nothing():
    database = Database(("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",))
    assert outcome(database, 1, "d.t", None, (1, 5)) is Outcome.OK
    assert outcome(database, 1, "d.t", None, (2, 5)) is Outcome.OK
    database.engine_commit(1)
    statement = "ALTER TABLE d.t ADD UNIQUE KEY uv (v)"
    assert database.execute(2, statement).outcome is Outcome.DUPLICATE_KEY
    assert outcome(database, 2, "d.t", None, (3, 5)) is Outcome.OK


def test_statement_that_is_no_schema_change_is_an_error(database):
    assert database.execute(2, "SELECT 1").outcome is Outcome.ERROR


def test_rows_of_a_table_without_keys_are_locked_together():
    database = Database(("CREATE TABLE d.k (a INT)",))
    assert outcome(database, 1, "d.k", None, (1,)) is Outcome.OK
    assert outcome(database, 2, "d.k", None, (2,)) is Outcome.LOCK_WAIT
