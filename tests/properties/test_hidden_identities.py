"""The replay where an image does not show the key that names its row."""

from __future__ import annotations

import pytest

from paraply.vocabulary.log import ABSENT
from tests.builders.logged import Tables, delete, insert, update
from tests.properties.test_row_replay import findings, replayed


def test_minimal_insert_of_a_row_that_another_key_would_name_is_not_guessed():
    tables = Tables().add("d.t", "name", "number", primary=(), unique=(0, 1))
    replay = replayed(
        "CREATE TABLE t (i INT)",
        insert("d.t", ABSENT, 3),
        update("d.t", ("of its default", ABSENT), (ABSENT, 4)),
        tables=tables,
    )
    assert findings(replay) == []


def test_minimal_insert_whose_second_key_took_its_default_is_not_guessed():
    tables = Tables().add("d.t", "name", "number", "note", primary=(), unique=(0, 1, 2))
    steps = ("CREATE TABLE t (i INT)", insert("d.t", None, ABSENT, "x"))
    assert findings(replayed(*steps, delete("d.t", None, 3, "x"), tables=tables)) == []


@pytest.mark.parametrize(
    "unfollowed",
    [
        delete("d.t", ABSENT, 1, "x"),
        update("d.t", (ABSENT, 1, "x"), (ABSENT, 3, "x")),
    ],
)
def test_row_whose_key_is_not_shown_may_be_any(unfollowed):
    """MariaDB 11.8 shows generated columns in inserts alone."""
    tables = Tables().add("d.t", "made", "number", "note", primary=(), unique=(0, 1))
    steps = ["CREATE TABLE t (i INT)", insert("d.t", 7, 1, "x"), unfollowed]
    followed = replayed(*steps, insert("d.t", 7, 2, "y"), tables=tables)
    assert findings(followed) == []
    again = insert("d.t", 7, 4, "y")
    followed = replayed(*steps, insert("d.t", 7, 2, "y"), again, tables=tables)
    assert findings(followed) == [("inserted_keys_are_free", 5)], "what came later is checked"
