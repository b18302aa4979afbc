"""What an unlogged cascade can explain in the replay, and what it cannot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from paraply.properties.logs.row_replay import ROWS_EXIST
from paraply.vocabulary.log import ABSENT, LoggedKind
from paraply.vocabulary.schema import ForeignKey
from paraply.vocabulary.verdict import Verdict
from tests.builders.cascading_rows import FAMILIES, Family, draw_log
from tests.builders.logged import Tables, delete, insert, update
from tests.properties.test_row_replay import findings, replayed

CREATED = [f"CREATE TABLE {name} (i INT)" for name in "pcg"]
ROWS_OF_A_PARENT = [*CREATED, insert("d.p", 1, 0), insert("d.c", 10, 1, 0), delete("d.p", 1, 0)]


def counts(replay):
    result = replay.result()
    return result.before_images_unknown, result.rows_in_doubt


@pytest.mark.parametrize("on_delete", ["CASCADE", "SET NULL"])
def test_row_that_was_never_inserted_is_missing_after_a_cascade_too(on_delete):
    steps = [*ROWS_OF_A_PARENT, delete("d.c", 99, 1, 0)]
    replay = replayed(*steps, tables=Family(on_delete, "RESTRICT").tables())
    assert findings(replay) == [(ROWS_EXIST, 7)]
    assert counts(replay) == (0, 0)
    assert replay.verdict() is Verdict.VIOLATED


def test_cascade_passes_through_a_table_without_rows_in_the_log():
    steps = [insert("d.p", 1, 0), insert("d.g", 20, 10, 0), delete("d.p", 1, 0)]
    steps += [insert("d.g", 20, 11, 0)]
    assert findings(replayed(*steps, tables=Family("CASCADE", "RESTRICT").tables())) == []
    tables = Family("RESTRICT", "CASCADE").tables()
    assert findings(replayed(*steps, tables=tables)) == [("inserted_keys_are_free", 4)]


def test_row_that_was_deleted_is_missing_after_a_cascade_too():
    steps = [*CREATED, insert("d.p", 1, 0), insert("d.c", 9, 1, 0), delete("d.c", 9, 1, 0)]
    steps += [delete("d.p", 1, 0), delete("d.c", 9, 1, 0)]
    replay = replayed(*steps, tables=Family("CASCADE", "RESTRICT").tables())
    assert findings(replay) == [(ROWS_EXIST, 8)]


@pytest.mark.parametrize(("key", "expected"), [("own", [(ROWS_EXIST, 7)]), ("shared", [])])
def test_row_whose_key_a_cascade_may_have_moved_is_in_doubt(key, expected):
    steps = [*CREATED, insert("d.p", 1, 0), insert("d.c", 10, 1, 0), update("d.p", (1, 0), (2, 0))]
    tables = Family("CASCADE", "CASCADE", key).tables()
    replay = replayed(*steps, delete("d.c", 99 if key == "own" else 10, 2, 0), tables=tables)
    assert findings(replay) == expected
    assert counts(replay) == (0, len(expected) == 0)
    again = replayed(*steps, *[delete("d.c", 10, 2, 0)] * 2, tables=tables)
    assert (ROWS_EXIST, 8) in findings(again), "what came later is checked"


def test_row_that_its_own_cascade_deletes_may_be_logged_twice_in_one_transaction():
    itself = ForeignKey(
        name="f", columns=(1,), parent="d.t", parent_columns=("id",), on_delete="CASCADE"
    )
    tables = Tables().add("d.t", "id", "boss", foreign=[itself])
    steps = ["CREATE TABLE t (i INT)", insert("d.t", 1, 1)]
    twice = [delete("d.t", 1, 1), delete("d.t", 1, 1)]
    assert findings(replayed(*steps, twice, tables=tables)) == []
    assert findings(replayed(*steps, *twice, tables=tables)) == [(ROWS_EXIST, 4)]


def test_key_that_is_computed_from_a_foreign_key_may_move():
    tables = Family("SET NULL", "RESTRICT").tables()
    schema = tables.schemas["d.c"]
    generated = replace(schema.columns[0], generated=True)
    tables.schemas["d.c"] = replace(schema, columns=(generated, *schema.columns[1:]))
    replay = replayed(*ROWS_OF_A_PARENT, delete("d.c", 99, 1, 0), tables=tables)
    assert (findings(replay), counts(replay)) == ([], (0, 1))


def test_deleted_row_of_a_table_with_hidden_columns_may_go_on_as_another():
    tables = Family("CASCADE", "RESTRICT").tables()
    tables.schemas["d.c"].has_hidden_columns = True
    replay = replayed(*ROWS_OF_A_PARENT, delete("d.c", 99, 1, 0), tables=tables)
    assert (findings(replay), counts(replay)) == ([], (0, 1))


def test_unknown_foreign_key_may_move_any_row_and_is_named():
    tables = Tables().add("d.p", "id", "v").add("d.c", "id", "p", "v", is_told=False)
    replay = replayed(*ROWS_OF_A_PARENT, delete("d.c", 99, 1, 0), tables=tables)
    assert (findings(replay), counts(replay)) == ([], (0, 1))
    assert [reason.subject for reason in replay.reasons()] == ["d.c"]


def test_row_that_took_its_key_by_default_is_in_doubt():
    steps = ["CREATE TABLE t (i INT)", insert("d.t", ABSENT, "x"), delete("d.t", 5, ABSENT)]
    replay = replayed(*steps, tables=Tables().add("d.t", "id", "note"))
    assert (findings(replay), counts(replay)) == ([], (0, 1))


def test_cascade_of_an_earlier_prepare_leaves_the_doubt_of_a_later_delete():
    xa = {"kind": LoggedKind.XA, "xa_id": "X'61'"}
    steps = [
        insert("d.p", 1, 0), insert("d.p", 2, 0),
        {**xa, "rows": [delete("d.p", 2, 0)]},
        insert("d.c", 10, 1, 0), delete("d.p", 1, 0),
        {**xa, "statements": ("XA COMMIT X'61'",)},
        insert("d.p", 3, 0), insert("d.c", 10, 3, 0),
    ]  # fmt: skip
    replay = replayed(*steps, tables=Family("CASCADE", "RESTRICT").tables())
    assert (findings(replay), counts(replay)) == ([], (0, 1))


# --- against a plain interpreter ------------------------------------------------------------


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_drawn_cascades_explain_no_gap_that_they_cannot_fill(family):
    outcomes = set()
    for seed in range(60):
        rng = random.Random(seed)
        log = draw_log(rng, family)
        tables = family.tables()
        sound = replayed(*CREATED, *log.changes, tables=tables)
        assert findings(sound) == [], seed
        assert sound.result().before_images_unknown == 0, seed
        broken = log.with_gap(rng)
        if broken is None:
            continue
        gapped, at = broken
        replay = replayed(*CREATED, *gapped.changes, tables=tables)
        is_found = (ROWS_EXIST, len(CREATED) + at + 1) in findings(replay)
        is_in_doubt = replay.result().rows_in_doubt > sound.result().rows_in_doubt
        assert replay.result().before_images_unknown == 0, seed
        assert is_found or is_in_doubt, seed
        may_move = family.may_move(gapped.changes[at].table.removeprefix("d."))
        assert is_found or may_move, seed
        outcomes.add(is_found)
    assert outcomes >= {True}
    assert (False in outcomes) == family.may_move("c"), "doubt where a cascade may move rows"
