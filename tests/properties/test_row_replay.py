"""before_images_match, rows_exist and inserted_keys_are_free."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.properties.logs.replay_state import ReplayState
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind, RowChange
from paraply.vocabulary.schema import ForeignKey, KeyPart, UniqueKey
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import Tables, delete, insert, transaction, update

TABLES = Tables().add("d.t", "id", "email", "note", unique=(1,))


def replayed(*steps, tables=TABLES, **options) -> RowReplay:
    """Replay one transaction per step: a row, a list of rows, a DDL text or a transaction."""
    replay = RowReplay(tables, **options)
    for ordinal, step in enumerate(steps, start=1):
        if isinstance(step, str):
            txn = transaction(ordinal, kind=LoggedKind.DDL, statements=(step,))
        elif isinstance(step, dict):
            txn = transaction(ordinal, **step)
        else:
            txn = transaction(ordinal, rows=step if isinstance(step, list) else [step])
        replay.observe(txn)
    return replay


def findings(replay: RowReplay) -> list[tuple[str, int]]:
    return [(f.property, f.transaction.ordinal) for f in replay.result().findings]


def test_rows_that_fit_are_found():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, "a", "x"), (1, "a", "y")),
        delete("d.t", 1, "a", "y"),
        insert("d.t", 1, "a", "z"),
    )
    assert findings(replay) == []
    assert replay.verdict() is Verdict.HOLDS
    result = replay.result()
    assert (result.before_images_found, result.before_images_unknown) == (2, 0)
    assert (result.final_rows, result.tables) == (1, {"d.t": 1})


def test_row_from_before_the_log_is_adopted_and_then_checked():
    replay = replayed(
        update("d.t", (1, "a", "x"), (1, "a", "y")),
        update("d.t", (1, "a", "WRONG"), (1, "a", "z")),
    )
    assert findings(replay) == [("before_images_match", 2)]
    result = replay.result()
    assert (result.before_images_unknown, result.before_images_missing) == (1, 1)
    assert replay.verdict() is Verdict.VIOLATED


def test_row_deleted_twice_is_missing():
    replay = replayed(
        insert("d.t", 1, "a", "x"), delete("d.t", 1, "a", "x"), delete("d.t", 1, "a", "x")
    )
    assert findings(replay) == [("rows_exist", 3)]


def test_row_of_a_table_born_in_the_log_must_have_been_inserted():
    assert findings(replayed("CREATE TABLE t (i INT)", delete("d.t", 1, "a", "x"))) == [
        ("rows_exist", 2)
    ]
    assert findings(replayed("ALTER TABLE t ENGINE=InnoDB", delete("d.t", 1, "a", "x"))) == []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t ENABLE KEYS",
        "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
        "ALTER TABLE t ENGINE = InnoDB, COMMENT 'x, DROP COLUMN y'",
        "ALTER TABLE t ADD INDEX k (note), ALGORITHM=INPLACE",
        "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (note) REFERENCES p (id)",
        "ALTER TABLE p ADD FOREIGN KEY (id) REFERENCES t (id)",
        "CREATE INDEX k ON t (note)",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
        "CREATE VIEW v AS SELECT * FROM t",
    ],
)
def test_statement_that_changes_no_row_hides_no_missing_event(statement):
    steps = (insert("d.t", 1, "a", "x"), statement, delete("d.t", 2, "b", "y"))
    replay = replayed("CREATE TABLE t (i INT)", *steps)
    assert findings(replay) == [("rows_exist", 4)]
    assert replay.verdict() is Verdict.VIOLATED


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t DROP PRIMARY KEY",
        "ALTER TABLE t ADD UNIQUE k (note)",
        "ALTER TABLE t ADD CONSTRAINT k UNIQUE (note)",
        "ALTER TABLE t ADD COLUMN `key` INT FIRST",
        "ALTER TABLE t ENABLE KEYS, MODIFY note TEXT",
        "ALTER TABLE t ENGINE=BLACKHOLE",
        "ALTER TABLE t TRUNCATE PARTITION p",
        "CREATE UNIQUE INDEX k ON t (note)",
        "DROP INDEX k ON t",
    ],
)
def test_statement_that_may_change_rows_or_keys_makes_older_rows_unknown(statement):
    steps = (insert("d.t", 1, "a", "x"), statement, delete("d.t", 2, "b", "y"))
    assert findings(replayed("CREATE TABLE t (i INT)", *steps)) == []


def test_sequence_has_one_row_that_each_advance_replaces():
    tables = Tables()
    tables.add("d.s", "next", "minimum", primary=())
    schema = tables.schemas["d.s"]
    tables.schemas["d.s"] = replace(schema, unique_keys=(UniqueKey(name="SEQUENCE", parts=()),))
    advances = [insert("d.s", number, 1) for number in (1, 1001, 2001)]
    replay = replayed(*advances, tables=tables)
    assert findings(replay) == []
    assert replay.result().tables == {"d.s": 1}


def test_key_that_a_minimal_insert_leaves_to_its_default_is_not_guessed():
    replay = replayed(
        "CREATE TABLE t (i INT)",
        insert("d.t", ABSENT, "a", "x"),
        update("d.t", (0, "a", "x"), (0, "b", "x")),
        delete("d.t", 5, "c", "y"),
    )
    assert findings(replay) == []


def test_row_whose_key_took_its_default_may_be_one_that_was_deleted():
    steps = ("CREATE TABLE t (i INT)", insert("d.t", 0, "a", "x"), delete("d.t", 0, "a", "x"))
    hidden = insert("d.t", ABSENT, "b", "x")
    replay = replayed(*steps, hidden, delete("d.t", 0, ABSENT, ABSENT))
    assert findings(replay) == []
    # A row that was deleted after the hidden insert stays deleted.
    again = delete("d.t", 0, ABSENT, ABSENT)
    late = replayed(*steps, hidden, again, again)
    assert findings(late) == [("rows_exist", 6)]


def test_keyless_looking_minimal_insert_leaves_no_table_known():
    tables = Tables().add("d.t", "id", "note")
    replay = replayed(
        "CREATE TABLE t (i INT)",
        insert("d.t", ABSENT, "x"),
        delete("d.t", 1, ABSENT),
        tables=tables,
    )
    assert findings(replay) == []
    assert replay.result().rows_without_key == 1


def test_cascade_may_explain_anything_in_a_table_with_unknown_foreign_keys():
    tables = Tables().add("d.t", "id", "v", is_told=False).add("d.p", "id", "v")
    alone = replayed(insert("d.t", 1, "a"), insert("d.t", 1, "b"), tables=tables)
    assert findings(alone) == [("inserted_keys_are_free", 2)]
    steps = (insert("d.t", 1, "a"), delete("d.p", 7, "x"), insert("d.t", 1, "b"))
    beside = replayed(*steps, tables=tables)
    assert findings(beside) == []
    assert beside.verdict() is Verdict.UNKNOWN
    assert [reason.subject for reason in beside.reasons()] == ["d.t"]
    # What its own update changes cannot be a cascade, and what is not checked does not cascade.
    own = (insert("d.t", 1, "a"), update("d.t", (1, "a"), (1, "b")), insert("d.t", 1, "c"))
    assert findings(replayed(*own, tables=tables)) == [("inserted_keys_are_free", 3)]
    unchecked = (insert("d.t", 1, "a"), replace(delete("d.p", 7, "x"), unchecked=True))
    again = replayed(*unchecked, insert("d.t", 1, "b"), tables=tables)
    assert findings(again) == [("inserted_keys_are_free", 3)]


def test_primary_key_inserted_twice_is_a_duplicate():
    replay = replayed(insert("d.t", 1, "a", "x"), insert("d.t", 1, "b", "x"))
    assert findings(replay) == [("inserted_keys_are_free", 2)]
    assert replay.result().duplicate_keys == 1


def test_unique_key_held_by_another_row_is_a_duplicate():
    replay = replayed(insert("d.t", 1, "a", "x"), insert("d.t", 2, "a", "x"))
    assert findings(replay) == [("inserted_keys_are_free", 2)]
    assert replay.result().findings[0].key == "uk1('a')"


def test_unique_key_freed_by_an_update_or_a_delete_may_be_taken():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, "a", "x"), (1, "b", "x")),
        insert("d.t", 2, "a", "x"),
        delete("d.t", 1, "b", "x"),
        insert("d.t", 3, "b", "x"),
    )
    assert findings(replay) == []


def test_null_in_a_unique_key_never_collides():
    assert findings(replayed(insert("d.t", 1, None, "x"), insert("d.t", 2, None, "x"))) == []


def test_update_onto_a_taken_primary_key_is_a_duplicate():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        insert("d.t", 2, "b", "x"),
        update("d.t", (1, "a", "x"), (2, "a", "x")),
    )
    assert ("inserted_keys_are_free", 3) in findings(replay)


def test_primary_key_that_moves_leaves_its_old_place_free():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, "a", "x"), (2, "a", "x")),
        insert("d.t", 1, "b", "x"),
        update("d.t", (2, "a", "x"), (2, "a", "y")),
    )
    assert findings(replay) == []


# minimal and partial images


def test_minimal_images_are_compared_as_far_as_they_go():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, ABSENT, ABSENT), (ABSENT, ABSENT, "y")),
        update("d.t", (1, "a", "y"), (1, "a", "z")),
        update("d.t", (1, ABSENT, "WRONG"), (ABSENT, ABSENT, "z")),
    )
    assert findings(replay) == [("before_images_match", 4)]


def test_minimal_image_keeps_the_unique_key_it_does_not_record():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, ABSENT, ABSENT), (ABSENT, ABSENT, "y")),
        insert("d.t", 2, "a", "x"),
    )
    assert findings(replay) == [("inserted_keys_are_free", 3)]


def test_unique_key_of_which_a_minimal_image_moves_one_part_is_held_no_longer():
    tables = Tables().add("d.t", "id", "group", "note")
    pair = UniqueKey(name="pair", parts=(KeyPart(column=1), KeyPart(column=2)))
    schema = tables.schemas["d.t"]
    tables.schemas["d.t"] = replace(schema, unique_keys=(*schema.unique_keys, pair))
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, "a", ABSENT), (ABSENT, "b", ABSENT)),
        insert("d.t", 2, "a", "x"),
        tables=tables,
    )
    assert findings(replay) == []


def test_minimal_image_that_sets_a_unique_key_to_null_frees_it():
    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, ABSENT, ABSENT), (ABSENT, None, ABSENT)),
        insert("d.t", 2, "a", "x"),
    )
    assert findings(replay) == []


def test_value_the_input_does_not_show_is_forgotten_until_the_next_image_shows_it():
    known = insert("d.t", 1, "a", "old")
    unseen = update("d.t", (1, "a", "old"), (1, "a", UNKNOWN))
    assert findings(replayed(known, unseen, update("d.t", (1, "a", "new"), (1, "a", "z")))) == []
    # The other columns stay known, and so is the value once it is shown.
    assert findings(replayed(known, unseen, update("d.t", (1, "b", "new"), (1, "b", "z")))) == [
        ("before_images_match", 3)
    ]
    shown = update("d.t", (1, "a", "new"), (1, "a", "z"))
    assert findings(replayed(known, unseen, shown, delete("d.t", 1, "a", "new"))) == [
        ("before_images_match", 4)
    ]


def test_value_that_only_says_how_it_changed_matches_anything():
    @dataclass(frozen=True)
    class Diff:
        path: str

    replay = replayed(
        insert("d.t", 1, "a", "x"),
        update("d.t", (1, "a", "x"), (1, "a", Diff("$.a"))),
        update("d.t", (1, "a", "whatever"), (1, "a", "y")),
    )
    assert findings(replay) == []


# DDL, statements, XA


@pytest.mark.parametrize(
    "ddl", ["TRUNCATE t", "DROP TABLE t", "ALTER TABLE t DROP x", "DROP DATABASE d"]
)
def test_ddl_resets_the_rows_of_its_table(ddl):
    replay = replayed(insert("d.t", 1, "a", "x"), ddl, insert("d.t", 1, "a", "x"))
    assert findings(replay) == []


def test_ddl_of_another_table_resets_nothing():
    replay = replayed(
        insert("d.t", 1, "a", "x"), "ALTER TABLE u DROP x", insert("d.t", 1, "a", "x")
    )
    assert findings(replay) == [("inserted_keys_are_free", 3)]


def test_create_table_if_not_exists_resets_nothing():
    replay = replayed(
        insert("d.t", 1, "a", "x"), "CREATE TABLE IF NOT EXISTS t (i INT)", insert("d.t", 1, "a", 1)
    )
    assert findings(replay) == [("inserted_keys_are_free", 3)]


def test_statement_based_change_makes_everything_unknown():
    statement = {"kind": LoggedKind.STATEMENT, "statements": ("DELETE FROM t",)}
    replay = replayed(insert("d.t", 1, "a", "x"), statement, insert("d.t", 1, "a", "x"))
    assert findings(replay) == []
    assert replay.verdict() is Verdict.UNKNOWN


def test_rolled_back_transaction_makes_its_tables_unknown():
    undone = {"rows": [insert("d.t", 1, "a", "x")], "flags": frozenset({"rolled_back"})}
    assert findings(replayed(undone, insert("d.t", 1, "a", "x"))) == []


XA = {"kind": LoggedKind.XA, "xa_id": "X'61'"}
XA_COMMIT = {**XA, "statements": ("XA COMMIT X'61'",)}
XA_ROLLBACK = {**XA, "statements": ("XA ROLLBACK X'61'",)}


def test_rows_of_an_xa_transaction_count_from_its_xa_commit_on():
    prepare = {**XA, "rows": [insert("d.t", 1, "a", "x")]}
    assert replayed(prepare).result().final_rows == 0
    committed = replayed(prepare, XA_COMMIT, insert("d.t", 1, "a", "x"))
    assert findings(committed) == [("inserted_keys_are_free", 3)]
    assert committed.result().final_rows == 1


def test_rolled_back_xa_transaction_leaves_the_rows_as_they_were():
    prepare = {**XA, "rows": [update("d.t", (1, "a", "x"), (1, "a", "y"))]}
    before = insert("d.t", 1, "a", "x")
    kept = replayed(before, prepare, XA_ROLLBACK, delete("d.t", 1, "a", "x"))
    assert findings(kept) == []
    assert kept.result().before_images_found == 1
    lost = replayed(before, prepare, XA_ROLLBACK, delete("d.t", 1, "a", "y"))
    assert findings(lost) == [("before_images_match", 4)]


def test_fault_in_prepared_rows_is_told_of_the_prepare():
    prepare = {**XA, "rows": [insert("d.t", 1, "a", "x")]}
    assert findings(replayed(insert("d.t", 1, "b", "x"), prepare, XA_COMMIT)) == [
        ("inserted_keys_are_free", 2)
    ]


def test_end_of_an_xa_transaction_that_was_prepared_before_the_log_changes_nothing_known():
    replay = replayed(insert("d.t", 1, "a", "x"), XA_COMMIT, insert("d.t", 1, "a", "x"))
    assert findings(replay) == [("inserted_keys_are_free", 3)]


@pytest.mark.parametrize("bounds", [{"transactions_max": 1}, {"bytes_max": 300}])
def test_forgotten_prepare_makes_all_rows_unknown_at_its_end(monkeypatch, bounds):
    monkeypatch.setattr(
        "paraply.properties.logs.row_replay.PreparedXa", lambda: PreparedXa(**bounds)
    )
    other = {**XA, "xa_id": "X'62'", "rows": [insert("d.t", 2, "b", "x")]}
    prepare = {**XA, "rows": [insert("d.t", 1, "a", "x")]}
    replay = replayed(
        "TRUNCATE d.t", prepare, other, XA_COMMIT, update("d.t", (1, 0, 0), (1, 0, 1))
    )
    assert findings(replay) == []
    assert replay.result().before_images_unknown == 1


def test_xa_transaction_in_one_phase_is_never_rolled_back():
    flags = frozenset({"one_phase_xa"})
    whole = {"kind": LoggedKind.XA, "xa_id": "X'61'", "flags": flags}
    replay = replayed({**whole, "rows": [insert("d.t", 1, "a", "x")]}, insert("d.t", 1, "a", "x"))
    assert findings(replay) == [("inserted_keys_are_free", 2)]


# foreign keys that cascade


def family(**actions) -> Tables:
    foreign = ForeignKey(name="f", columns=(1,), parent="d.p", parent_columns=("id",), **actions)
    return Tables().add("d.p", "id", "name").add("d.c", "id", "p", foreign=[foreign])


CHILD_GONE = [
    insert("d.p", 1, "x"),
    insert("d.c", 10, 1),
    delete("d.p", 1, "x"),
    insert("d.c", 10, 2),
]


def test_child_of_a_cascading_parent_is_forgiven_and_counted():
    replay = replayed(*CHILD_GONE, tables=family(on_delete="CASCADE"))
    assert findings(replay) == []
    assert replay.result().rows_in_doubt == 1


def test_child_of_a_restricting_parent_is_not_forgiven():
    replay = replayed(*CHILD_GONE, tables=family())
    assert findings(replay) == [("inserted_keys_are_free", 4)]


def test_child_of_a_parent_whose_keys_are_unknown_is_forgiven():
    tables = family(on_delete="CASCADE").add("d.p", "id", "name", primary=(), is_told=False)
    assert findings(replayed(*CHILD_GONE, tables=tables)) == []
    tables = family().add("d.p", "id", "name", primary=(), is_told=False)
    assert findings(replayed(*CHILD_GONE, tables=tables)) == [("inserted_keys_are_free", 4)]


def test_child_written_after_the_cascade_is_checked_again():
    steps = [*CHILD_GONE, insert("d.c", 10, 3)]
    replay = replayed(*steps, tables=family(on_delete="CASCADE"))
    assert findings(replay) == [("inserted_keys_are_free", 5)]


def test_update_that_leaves_the_referenced_column_alone_casts_no_doubt():
    steps = [
        insert("d.p", 1, "x"),
        insert("d.c", 10, 1),
        update("d.p", (1, "x"), (1, "y")),
        insert("d.c", 10, 1),
    ]
    assert findings(replayed(*steps, tables=family(on_update="CASCADE"))) == [
        ("inserted_keys_are_free", 4)
    ]
    steps[2] = update("d.p", (1, "x"), (2, "x"))
    assert findings(replayed(*steps, tables=family(on_update="CASCADE"))) == []


# what is not known


def test_table_without_any_key_is_counted_apart():
    tables = Tables().add("d.k", "a", primary=())
    replay = replayed(insert("d.k", 1), insert("d.k", 1), tables=tables)
    assert replay.result().rows_without_key == 2
    assert replay.verdict() is Verdict.UNKNOWN


def test_table_with_unknown_keys_is_unknown_and_named():
    replay = replayed(insert("d.other", 1), insert("d.t", 1, "a", "x"))
    (reason,) = replay.reasons()
    assert reason.subject == "d.other"
    assert replay.verdict() is Verdict.UNKNOWN


def test_log_without_rows_says_nothing():
    assert replayed("CREATE TABLE t (i INT)").verdict() is None


def test_forgotten_row_counts_as_never_seen():
    steps = [insert("d.t", n, f"e{n}", "x") for n in range(20)] + [insert("d.t", 0, "e0", "x")]
    assert findings(replayed(*steps)) == [("inserted_keys_are_free", 21)]
    forgetful = replayed("CREATE TABLE t (i INT)", *steps, rows_max=5)
    assert findings(forgetful) == []
    assert forgetful.result().rows_forgotten == 16


def test_findings_past_the_limit_are_counted_and_still_break_the_verdict():
    steps = [insert("d.t", 1, "a", "x")] * 9
    replay = replayed(*steps, findings_max=0)
    assert replay.result().findings_dropped == 8
    assert replay.verdict() is Verdict.VIOLATED


def test_state_does_not_grow_with_the_log():
    replay = replayed(rows_max=50)
    for n in range(2_000):
        replay.observe(transaction(n + 1, rows=[insert("d.t", n, f"e{n}", "x" * 100)]))
    state = replay._state
    assert len(state._rows) == 50
    assert len(state._owners) == 50
    assert sys.getsizeof(state._rows) < 20_000


# --- against a database that is a plain dictionary ------------------------------------------


@st.composite
def histories(draw):
    """A truthful log of a table with a primary and a unique key, and one line of it broken."""
    rows: dict[int, tuple] = {}
    log = []
    for _ in range(draw(st.integers(1, 12))):
        number = draw(st.integers(0, 3))
        free = [e for e in ("a", "b", None) if e is None or e not in {r[1] for r in rows.values()}]
        after = (number, draw(st.sampled_from(free)), draw(st.integers(0, 2)))
        if number not in rows:
            log.append(insert("d.t", *after))
            rows[number] = after
        elif draw(st.booleans()):
            keep = (number, rows[number][1], after[2]) if draw(st.booleans()) else after
            log.append(update("d.t", rows[number], keep))
            rows[number] = keep
        else:
            log.append(delete("d.t", *rows.pop(number)))
    return log, rows


@pytest.mark.long
@given(histories())
def test_truthful_log_has_no_finding_and_leaves_the_true_rows(history):
    log, rows = history
    replay = replayed("CREATE TABLE t (i INT)", *log)
    assert findings(replay) == []
    assert replay.result().final_rows == len(rows)


@given(histories(), st.data())
def test_log_that_repeats_an_insert_or_delete_is_caught(history, data):
    log, _ = history
    at = data.draw(st.integers(0, len(log) - 1))
    if log[at].before is not None and log[at].before == log[at].after:
        return  # Repeating an update that changes nothing breaks nothing.
    broken = [*log[: at + 1], log[at], *log[at + 1 :]]
    assert findings(replayed("CREATE TABLE t (i INT)", *broken))


# --- mutants of the replay ------------------------------------------------------------------


def ignores_before_images(monkeypatch):
    monkeypatch.setattr(
        "paraply.properties.logs.row_replay.columns_agree", lambda known, image: True
    )


def checks_the_primary_key_only(monkeypatch):
    monkeypatch.setattr(ReplayState, "find_owner", lambda *arguments: None)


def digs_no_graves(monkeypatch):
    real = ReplayState.put

    def put(self, identity, row):
        if row.columns is not None:
            real(self, identity, row)
        else:
            self._rows.pop(identity, None)

    monkeypatch.setattr(ReplayState, "put", put)


def forgets_that_ddl_resets(monkeypatch):
    monkeypatch.setattr(ReplayState, "reset", lambda *arguments, **named: None)


def takes_a_missing_column_for_null(monkeypatch):
    monkeypatch.setattr(RowChange, "whole_after", property(lambda row: row.after))


MUTANTS = [
    (ignores_before_images, test_row_from_before_the_log_is_adopted_and_then_checked),
    (checks_the_primary_key_only, test_unique_key_held_by_another_row_is_a_duplicate),
    (digs_no_graves, test_row_deleted_twice_is_missing),
    (forgets_that_ddl_resets, test_rolled_back_transaction_makes_its_tables_unknown),
    (takes_a_missing_column_for_null, test_minimal_images_are_compared_as_far_as_they_go),
]


@pytest.mark.parametrize(("mutate", "catches"), MUTANTS, ids=lambda entry: entry.__name__)
def test_mutant_of_the_replay_is_caught(mutate, catches, monkeypatch):
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        catches()


def test_cascade_that_is_logged_before_the_delete_that_causes_it_fits():
    # MySQL 9.7, found by tests/oracle: a row that refers to itself, ON DELETE SET NULL.
    itself = ForeignKey(name="f", columns=(1,), parent="d.t", parent_columns=("id",))
    rows = [update("d.t", (1, 1), (1, None)), delete("d.t", 1, 1)]
    for foreign, expected in (((itself,), []), ((), [("before_images_match", 2)])):
        tables = Tables().add("d.t", "id", "boss", foreign=foreign)
        assert findings(replayed(insert("d.t", 1, 1), rows, tables=tables)) == expected
