"""Conflict keys that tie child and parent, and what cascades reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.vocabulary.log import ABSENT, Operation, table_of
from paraply.vocabulary.schema import Column, KeyPart, TableSchema, UniqueKey
from tests.builders.key_cases import (
    conflict,
    delete,
    insert,
    keyed,
    may_conflict,
    registry_of,
    update,
)
from tests.builders.key_pairs import (
    both,
    cascade_frees_values,
    cascade_hits_child,
    chain,
    family,
    restrict_release,
    two_level_cascade,
)


def test_child_insert_waits_for_a_change_of_the_locked_parent_row_and_does_not_conflict():
    one, two = both(family(), update("parent", (7, "x"), (7, "y")), insert("child", 1, 7))
    assert not conflict(one, two)
    assert {key.index for key in one.keys & two.locked_keys} == {"PRIMARY"}


def test_child_delete_does_not_conflict_with_an_update_of_the_parent_beside_its_key():
    one, two = both(family(), update("parent", (7, "x"), (7, "y")), delete("child", 1, 7))
    assert not conflict(one, two)


def test_child_delete_conflicts_with_the_delete_of_its_parent():
    assert restrict_release() == {("d.parent", "REFERENCES(id)")}


def test_child_moved_to_another_parent_is_tied_to_both():
    move, old, new = both(
        family(), update("child", (1, 7), (1, 8)), delete("parent", 7, "x"), insert("parent", 8, "")
    )
    assert conflict(move, old)
    assert conflict(move, new)


INDEXED = "CREATE TABLE child (id int{}, pid int, v int, w int, {}FOREIGN KEY (pid) REFERENCES {})"


@pytest.mark.parametrize(
    ("primary", "index", "after", "is_checked_again"),
    [
        (" PRIMARY KEY", "", (1, 7, 2, 0), False),
        (" PRIMARY KEY", "", (2, 7, 1, 0), True),
        (" PRIMARY KEY", "KEY (pid, v), ", (1, 7, 2, 0), True),
        (" PRIMARY KEY", "KEY (v, pid), ", (1, 7, 2, 0), False),
        (" PRIMARY KEY", "UNIQUE (v), ", (1, 7, 2, 0), False),
        (" NOT NULL", "UNIQUE (id), ", (2, 7, 1, 0), True),
        ("", "PRIMARY KEY (pid, id), ", (1, 7, 2, 0), False),
        ("", "PRIMARY KEY (pid, id), ", (2, 7, 1, 0), True),
        ("", "", (2, 7, 1, 0), False),
    ],
)
def test_child_that_keeps_its_parent_is_tied_if_the_row_moves_in_an_index(
    primary, index, after, is_checked_again
):
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, name varchar(9))",
        INDEXED.format(primary, index, "parent (id)"),
    )
    one, two = both(registry, update("child", (1, 7, 1, 0), after), delete("parent", 7, "x"))
    assert bool(conflict(one, two)) is is_checked_again
    # Who deletes the parent of a row that stays does not check, or is of a later version.
    assert {key for key in one.shared_keys if key in two.keys} <= one.uncertain_keys


@pytest.mark.parametrize(
    ("change", "index", "is_certain"),
    [
        (delete("child", 1, 7), "REFERENCES(id)", False),
        (insert("child", 1, 7), "MOVED REFERENCES(id)", True),
        (update("child", (1, 7), (1, 7)), "MOVED REFERENCES(id)", True),
    ],
)
@pytest.mark.parametrize("moved", [((7, "x"), (8, "x")), ((8, "x"), (7, "x"))])
def test_child_that_is_found_before_and_after_its_parent_moves_need_not_conflict(
    moved, change, index, is_certain
):
    one, two = both(family("ON UPDATE CASCADE"), change, update("parent", *moved))
    certain = (one.keys | one.shared_keys) - one.uncertain_keys
    certain &= (two.keys | two.shared_keys) - two.uncertain_keys
    assert ("d.parent", index) in conflict(one, two)
    assert {key.index for key in certain} == ({index} if is_certain else set())


@pytest.mark.parametrize("is_mariadb", [True, False])
def test_check_of_an_unchanged_foreign_key_is_certain_in_mariadb_alone(is_mariadb):
    """MySQL checks it before 9.6 and not since."""
    registry = family("ON UPDATE CASCADE")
    if is_mariadb:
        registry.note_mariadb()
    coming, moving = both(registry, insert("parent", 7, "x"), update("child", (1, 7), (2, 7)))
    (met,) = coming.keys & moving.shared_keys
    assert met.index == "NEW REFERENCES(id)"
    assert (met in moving.uncertain_keys) is not is_mariadb


def test_child_that_keeps_its_parent_is_tied_under_cascade():
    assert cascade_hits_child() == {("d.parent", "REFERENCES(id)")}


def test_null_reference_ties_to_no_parent():
    one, two = both(family(), insert("child", 1, None), delete("parent", 7, "x"))
    assert not one.shared_keys | one.reached_tables
    assert not conflict(one, two)


def test_foreign_key_of_two_columns_in_another_order_meets_the_primary_key_of_the_parent():
    registry = registry_of(
        "CREATE TABLE parent (a int, b int, PRIMARY KEY (a, b))",
        "CREATE TABLE child (id int PRIMARY KEY, x int, y int,"
        " FOREIGN KEY (y, x) REFERENCES parent (b, a))",
    )
    one, two, other = both(
        registry, insert("parent", 1, 2), insert("child", 9, 1, 2), insert("child", 9, 2, 1)
    )
    assert conflict(one, two) == {("d.parent", "NEW REFERENCES(b,a)")}
    assert {key.index for key in one.keys & two.locked_keys} == {"PRIMARY"}
    assert not conflict(one, other)


def test_text_reference_is_folded_by_the_collation_of_the_parent():
    registry = registry_of(
        "CREATE TABLE parent (k varchar(9) COLLATE latin1_swedish_ci PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, k varchar(20) COLLATE latin1_swedish_ci,"
        " FOREIGN KEY (k) REFERENCES parent (k))",
    )
    one, two = both(registry, insert("parent", "É".encode("latin1")), insert("child", 1, "é"))
    assert conflict(one, two) == {("d.parent", "NEW REFERENCES(k)")}


def test_unknown_parent_is_reached_instead_of_keyed():
    registry = registry_of(
        "CREATE TABLE child (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES parent (id))"
    )
    one, two, three = both(
        registry, insert("child", 1, 7), insert("parent", 7), insert("child", 2, None)
    )
    assert may_conflict(one, two) == {"d.parent"}
    assert not three.reached_tables


def test_minimal_delete_of_a_child_reaches_its_parent():
    one, two = both(family(), delete("child", 1, ABSENT), delete("parent", 7, "x"))
    assert may_conflict(one, two) == {"d.parent"}


def test_self_reference_ties_a_row_to_another_of_the_same_table():
    registry = registry_of(
        "CREATE TABLE staff (id int PRIMARY KEY, boss int,"
        " FOREIGN KEY (boss) REFERENCES staff (id))"
    )
    boss, one, two = both(
        registry, insert("staff", 1, None), insert("staff", 2, 1), insert("staff", 3, 1)
    )
    assert conflict(boss, one)
    assert not conflict(one, two)


def test_inline_reference_is_assumed_and_its_key_uncertain():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent (id))",
    )
    txn = keyed(registry, insert("child", 1, 7))
    assert txn.shared_keys
    assert txn.shared_keys <= txn.uncertain_keys


def test_cascade_of_two_levels_reaches_the_lowest_table():
    assert two_level_cascade() == {"d.c"}


def test_two_cascades_into_one_table_do_not_conflict():
    one, two = both(chain("CASCADE", "CASCADE"), delete("a", 7), delete("a", 8))
    assert one.reached_tables == two.reached_tables == {"d.c"}
    assert not conflict(one, two)
    assert not may_conflict(one, two)


def test_cascade_reaches_a_table_that_restricts_it():
    # The row of c must be gone before the cascade deletes the row of b that it refers to.
    one, two = both(chain("CASCADE", "RESTRICT"), delete("c", 1, 5), delete("a", 7))
    assert may_conflict(one, two) == {"d.c"}


def test_set_null_reaches_nothing_below_columns_it_leaves_alone():
    txn = keyed(chain("SET NULL", "CASCADE"), delete("a", 7))
    assert {table_of(name) for name in txn.reached_tables} == {"d.b"}


def test_row_that_lost_its_parent_to_set_null_may_conflict_with_the_delete_that_took_it():
    # Its later images carry NULL: it shares no key with the delete, and depends on it.
    one, two, gone = both(
        chain("SET NULL", "CASCADE"),
        delete("a", 7),
        update("b", (5, None), (5, 8)),
        delete("b", 5, None),
    )
    assert not conflict(one, two)
    assert may_conflict(one, two) == {"d.b"}
    # A delete finds its row by the primary key, whatever the row refers to.
    assert not may_conflict(one, gone)


def test_update_of_the_parent_beside_its_key_cascades_nothing():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, v int)",
        "CREATE TABLE child (k int PRIMARY KEY, pid int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    )
    txn = keyed(registry, update("parent", (1, 0), (1, 1)))
    assert not txn.reached_tables
    assert {key.index for key in txn.keys} == {"PRIMARY"}


def test_cascaded_delete_that_frees_natural_keys_reaches_the_child():
    assert cascade_frees_values() == {"d.child"}


def test_cascaded_delete_of_keys_that_contain_the_reference_reaches_nothing():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (pid int, line int, PRIMARY KEY (pid, line),"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    one, two, other = both(
        registry, delete("parent", 7), insert("child", 7, 1), insert("child", 8, 1)
    )
    assert not one.reached_tables
    assert conflict(one, two)
    assert not conflict(one, other)


def test_generated_values_freed_by_a_cascade_are_an_assumption_that_is_printed():
    registry = chain("CASCADE", "CASCADE")
    keyed(registry, delete("a", 7))
    assert any("AUTO_INCREMENT values of d.b" in text for text in registry.assumptions)


def test_cycles_of_cascades_end():
    registry = registry_of(
        "CREATE TABLE a (id int PRIMARY KEY, b int)",
        "CREATE TABLE b (id int PRIMARY KEY, a int,"
        " FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE)",
        "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id) ON DELETE CASCADE",
    )
    reached = keyed(registry, delete("a", 1, 2)).reached_tables
    assert {"d.a", "d.b"} <= reached


STAFF = (
    "CREATE TABLE staff (id int PRIMARY KEY, boss int, v int,"
    " FOREIGN KEY (boss) REFERENCES staff (id) ON DELETE CASCADE)",
)
TWO_PARENTS = (
    "CREATE TABLE p (id int PRIMARY KEY)",
    "CREATE TABLE q (id int PRIMARY KEY, v int)",
    "CREATE TABLE c (id int PRIMARY KEY, pid int, qid int,"
    " FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE,"
    " FOREIGN KEY (qid) REFERENCES q (id))",
)


def test_cascade_of_a_self_reference_reaches_rows_further_down():
    boss, deep = both(
        registry_of(*STAFF), delete("staff", 1, None, 0), update("staff", (3, 2, 0), (3, 2, 1))
    )
    assert may_conflict(boss, deep) == {"d.staff"}


def test_cascade_into_a_table_that_another_parent_restricts_meets_the_delete_of_that_parent():
    one, two, beside = both(
        registry_of(*TWO_PARENTS), delete("p", 7), delete("q", 8, 0), update("q", (8, 0), (8, 1))
    )
    assert may_conflict(one, two) == {"d.q"}
    assert not may_conflict(one, beside)


@pytest.mark.parametrize(("action", "forbids"), [("RESTRICT", True), ("CASCADE", False)])
def test_two_cascades_meet_where_one_takes_the_children_that_forbid_the_other(action, forbids):
    """MariaDB 10.11: the delete of row 8 fails until that of row 7 has taken the row of c."""
    registry = registry_of(
        "CREATE TABLE a (id int PRIMARY KEY)",
        "CREATE TABLE b (id int PRIMARY KEY, aid int, FOREIGN KEY (aid) REFERENCES a (id)"
        " ON DELETE CASCADE)",
        "CREATE TABLE c (id int AUTO_INCREMENT PRIMARY KEY, aid int, bid int,"
        " FOREIGN KEY (aid) REFERENCES a (id) ON DELETE CASCADE,"
        f" FOREIGN KEY (bid) REFERENCES b (id) ON DELETE {action})",
    )
    met = may_conflict(*both(registry, delete("a", 7), delete("a", 8)))
    assert ("d.b" in met) is forbids


def test_cascaded_delete_meets_new_unique_values_and_no_other_change_of_another_row():
    one, taken, beside = both(
        registry_of(*TWO_PARENTS),
        delete("p", 7),
        insert("c", 1, 8, 8),
        delete("c", 2, 8, 8),
    )
    assert may_conflict(one, taken) == {"d.c"}
    assert not may_conflict(one, beside)


def unchecked(row):
    return replace(row, unchecked=True)


GONE, COMES = {("d.parent", "REFERENCES(id)")}, {("d.parent", "NEW REFERENCES(id)")}


@pytest.mark.parametrize("rule", ["", "ON DELETE CASCADE"])
@pytest.mark.parametrize(
    ("parent", "child", "tie"),
    [
        (delete("parent", 7, "x"), delete("child", 1, 7), GONE),
        (delete("parent", 7, "x"), insert("child", 1, 7), GONE),
        (insert("parent", 7, "x"), insert("child", 1, 7), COMES),
        # Only an orphan can be deleted before its parent is there.
        (insert("parent", 7, "x"), delete("child", 1, 7), set()),
        (update("parent", (8, "x"), (7, "x")), insert("child", 1, 7), COMES),
        (update("parent", (8, "x"), (7, "x")), delete("child", 1, 7), set()),
        (update("parent", (7, "x"), (8, "x")), delete("child", 1, 7), GONE),
    ],
)
def test_unchecked_change_meets_only_a_checked_one_that_looks_at_it(rule, parent, child, tie):
    is_found_by_child = tie and child.operation is Operation.INSERT
    for pair, expected in (
        ((parent, child), tie),
        ((unchecked(parent), child), COMES if is_found_by_child else set()),
        ((parent, unchecked(child)), tie if tie == GONE else set()),
        ((unchecked(parent), unchecked(child)), set()),
    ):
        one, two = both(family(rule), *pair)
        assert conflict(one, two) == expected
        # An unchecked parent that is replaced was there all the time for a child.
        doubted = {"NEW REFERENCES(id)"} if pair[0].unchecked else set()
        assert {key.index for key in one.uncertain_keys} == doubted
        assert not two.uncertain_keys


def test_hidden_value_of_a_child_that_keeps_its_parent_meets_only_parents_that_go():
    child = delete("child", 1, ABSENT)
    for parent, meets in (
        (delete("parent", 7, "x"), True),
        (update("parent", (7, "x"), (8, "x")), True),
        (insert("parent", 7, "x"), False),
        (update("parent", (7, "x"), (7, "y")), False),
    ):
        one, two = both(family(""), child, parent)
        assert bool(may_conflict(one, two)) is meets


def test_child_that_follows_its_parent_to_a_new_value_meets_the_update():
    moved = update("parent", (8, "x"), (7, "x"))
    one, two = both(family("ON UPDATE CASCADE"), moved, delete("child", 1, 7))
    assert conflict(one, two) == GONE


def test_parent_that_shares_its_value_may_allow_a_childs_or_another_parents_delete():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, code int, KEY (code))",
        "CREATE TABLE child (id int PRIMARY KEY, code int,"
        " FOREIGN KEY (code) REFERENCES parent (code))",
    )
    one, two = both(registry, insert("parent", 2, 7), delete("parent", 1, 7))
    assert conflict(one, two) == {("d.parent", "REFERENCES(code)")}


@pytest.mark.parametrize(("action", "is_certain"), [("SET NULL", False), ("CASCADE", True)])
def test_row_found_by_its_primary_key_may_be_moved_after_its_parent_is_gone(action, is_certain):
    rule = f"ON DELETE {action}"
    one, two = both(family(rule), update("child", (1, 7), (1, 8)), delete("parent", 7, "x"))
    assert conflict(one, two) == GONE
    certain = {key for key in one.shared_keys - one.uncertain_keys if key in two.keys}
    assert bool(certain) is is_certain


def test_unchecked_delete_of_a_parent_cascades_nothing():
    txn = keyed(chain("CASCADE", "CASCADE"), unchecked(delete("a", 7)))
    assert not txn.reached_tables


def test_table_of_which_no_definition_is_known_may_refer_to_any_other():
    registry = registry_of("CREATE TABLE p (id int PRIMARY KEY)")
    registry.observe_table_map(
        TableSchema(
            name="d.m",
            columns=(Column(name="id", type_name="int"), Column(name="pid", type_name="int")),
            unique_keys=(UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),)),),
            keys_known=True,
        )
    )
    known, other, mapped = both(registry, delete("p", 7), delete("p", 8), insert("m", 1, 7))
    assert mapped.reached_tables & known.aspects
    assert not known.reached_tables & other.aspects


def test_respelled_value_of_a_parent_cascades():
    registry = registry_of(
        "CREATE TABLE parent (k varchar(9) COLLATE latin1_swedish_ci PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, k varchar(9) COLLATE latin1_swedish_ci, v int,"
        " FOREIGN KEY (k) REFERENCES parent (k) ON UPDATE CASCADE)",
    )
    one, two = both(
        registry, update("parent", ("a",), ("A",)), update("child", (1, "a", 0), (1, "a", 1))
    )
    assert ("d.parent", "MOVED REFERENCES(k)") in conflict(one, two)


@pytest.mark.parametrize("index", ["", "KEY (k), ", "KEY (k, v), "])
@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [("varchar(9) COLLATE latin1_swedish_ci", "A", "a "), ("double", 0.0, -0.0)],
)
def test_respelled_value_of_a_child_needs_its_parent(kind, one, other, index):
    # The server compares bytes, in the index that it makes itself where none is declared, too.
    registry = registry_of(
        f"CREATE TABLE parent (id int PRIMARY KEY, k {kind}, UNIQUE (k))",
        f"CREATE TABLE child (id int PRIMARY KEY, v int, k {kind}, {index}"
        "FOREIGN KEY (k) REFERENCES parent (k))",
    )
    respelled, appears = both(
        registry, update("child", (1, 0, one), (1, 0, other)), insert("parent", 7, one)
    )
    assert conflict(respelled, appears) == {("d.parent", "NEW REFERENCES(k)")}
    kept, appears = both(
        registry, update("child", (1, 0, one), (1, 0, one)), insert("parent", 7, one)
    )
    assert not conflict(kept, appears)


@pytest.mark.parametrize("unique", ["UNIQUE k ((x + 1))", "g int AS (x) STORED, UNIQUE k (g)"])
def test_cascaded_delete_meets_new_values_of_keys_that_no_column_names(unique):
    registry = registry_of(
        "CREATE TABLE p (id int PRIMARY KEY)",
        f"CREATE TABLE c (id int PRIMARY KEY, pid int, x int, {unique},"
        " FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE)",
    )
    one, two = both(registry, delete("p", 7), update("c", (1, 8, 1, 1), (1, 8, 2, 2)))
    assert may_conflict(one, two) == {"d.c"}


def test_names_of_tables_meet_in_any_case():
    registry = registry_of(*(sql.replace("TABLE q", "TABLE Q") for sql in TWO_PARENTS))
    one, two = both(registry, delete("p", 7), delete("q", 8, 0))
    assert may_conflict(one, two) == {"d.q"}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("", "certain"),
        ("ON DELETE CASCADE", "certain"),
        ("ON DELETE SET NULL", "uncertain"),
        ("ON DELETE SET NULL ON UPDATE CASCADE", "nothing"),
    ],
)
def test_deletes_of_a_parent_and_a_child_that_set_null_leaves_do_not_conflict(rule, expected):
    # Found by tests/oracle: the child's row is found by its primary key in either order.
    one, two = both(family(rule), delete("parent", 7, "x"), delete("child", 1, 7))
    found = one.keys & two.shared_keys
    uncertain = found & (one.uncertain_keys | two.uncertain_keys)
    assert expected == ("nothing" if not found else "uncertain" if uncertain else "certain")
    changed, beside = both(family(rule), delete("parent", 7, "x"), insert("child", 1, 7))
    assert conflict(changed, beside)
