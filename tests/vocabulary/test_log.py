"""Small facts of the hand-over from logs: keys, tables, transactions, positions."""

from __future__ import annotations

import pytest

from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind, LoggedTransaction, LogPosition
from paraply.vocabulary.schema import Column, TableSchema


def logged(kind=LoggedKind.ROWS, *, start=100, end=140):
    position = LogPosition(file="bin.000001", offset=start)
    return LoggedTransaction(ordinal=1, kind=kind, start=position, end_offset=end)


def test_keys_are_equal_by_value_whatever_is_shown():
    one = ConflictKey(table="d.t", index="PRIMARY", values=("a",), shown="A")
    two = ConflictKey(table="d.t", index="PRIMARY", values=("a",), shown="a")
    assert one == two
    assert hash(one) == hash(two)
    assert one != ConflictKey(table="d.t", index="u", values=("a",))
    assert one != "a"
    assert str(one) == "d.t.PRIMARY(A)"
    assert str(ConflictKey(table="d.t", index="u", values=(1, "b"))) == "d.t.u(1, 'b')"


@pytest.mark.parametrize(("name", "index"), [("id", 0), ("NAME", 1), ("none", None)])
def test_column_is_found_by_name_in_any_case(name, index):
    table = TableSchema(name="d.t", columns=(Column(name="id"), Column(name="Name")))
    assert table.column_index(name) == index


@pytest.mark.parametrize("kind", list(LoggedKind))
def test_all_but_rows_and_empty_groups_are_barriers(kind):
    assert logged(kind).is_barrier is (kind not in {LoggedKind.ROWS, LoggedKind.EMPTY})


@pytest.mark.parametrize(("end", "size"), [(140, 40), (100, 0), (4, 0)])
def test_size_is_that_within_one_file(end, size):
    assert logged(end=end).size_bytes == size


def test_position_and_absence_show_themselves():
    assert str(logged().start) == "bin.000001:100"
    assert (repr(ABSENT), repr(UNKNOWN)) == ("ABSENT", "UNKNOWN")
