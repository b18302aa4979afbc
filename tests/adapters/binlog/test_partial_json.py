from __future__ import annotations

import pytest

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.partial_json import (
    DiffOperation,
    JsonDiff,
    PartialJson,
    apply_diffs,
    parse_diffs,
    parse_path,
)
from paraply.vocabulary.log import ABSENT
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, bitmap, encode_image, packed
from tests.builders.json_writer import encode_json
from tests.builders.log_reading import changes_of

REPLACE, INSERT, REMOVE = DiffOperation.REPLACE, DiffOperation.INSERT, DiffOperation.REMOVE
COLUMNS = [spec.integer(4), spec.json_column(), spec.json_column()]


def _diff(operation: int, path: str, value: object = None) -> bytes:
    data = bytes([operation]) + packed(len(path)) + path.encode()
    if operation == REMOVE:
        return data
    document = encode_json(value)
    return data + packed(len(document)) + document


def _update(before, after, partial, *, before_present=None, options=1) -> BinlogWriter:
    writer = BinlogWriter()
    writer.table_map(COLUMNS)
    present = before_present or [True] * 3
    data = encode_image(COLUMNS, before, present) + packed(options)
    data += bitmap(partial) if options else b""
    data += encode_image(COLUMNS, after, [True] * 3)
    writer.rows(39, COLUMNS, [], row_data=data, before_present=present)
    return writer


def test_diffs_are_applied_to_the_before_image():
    before = (1, encode_json({"a": [1, 2], "b": "x"}), encode_json([1]))
    diffs = _diff(REPLACE, "$.a[1]", 5) + _diff(INSERT, "$.aa", True) + _diff(REMOVE, "$.b")
    writer = _update(before, (1, diffs, encode_json([2])), [True, False])
    (change,) = changes_of(writer.data)
    assert change.before == (1, '{"a": [1, 2], "b": "x"}', "[1]")
    assert change.after == (1, '{"a": [1, 5], "aa": true}', "[2]")


def test_diffs_without_their_document_are_kept_as_diffs():
    diffs = _diff(REPLACE, "$.age", 26) + _diff(REMOVE, "$.x")
    writer = _update(
        (1, None, None), (1, diffs, None), [True, False], before_present=[True, False, False]
    )
    (change,) = changes_of(writer.data)
    assert change.before == (1, ABSENT, ABSENT)
    assert change.after == (
        1,
        PartialJson((JsonDiff(REPLACE, "$.age", "26"), JsonDiff(REMOVE, "$.x"))),
        None,
    )


def test_update_without_partial_values_has_no_partial_bits():
    before = (1, encode_json([1]), None)
    writer = _update(before, (2, encode_json([3]), None), [], options=0)
    (change,) = changes_of(writer.data)
    assert change.after == (2, "[3]", None)


def test_unknown_row_options_are_malformed():
    with pytest.raises(MalformedError, match="options 0x2"):
        changes_of(_update((1, None, None), (1, None, None), [False, False], options=2).data)


@pytest.mark.parametrize(
    ("document", "diffs", "result"),
    [
        ([1, 2], [(INSERT, "$[1]", 9)], [1, 9, 2]),
        ([1, 2], [(INSERT, "$[7]", 9)], [1, 2, 9]),
        ([1, 2], [(REMOVE, "$[0]", None)], [2]),
        ({"b": 1}, [(INSERT, "$.a", 2), (INSERT, "$.ab", 3)], {"a": 2, "b": 1, "ab": 3}),
        (1, [(REPLACE, "$", {"new": 1})], {"new": 1}),
        ({"a b": {"c.d": [0]}}, [(REPLACE, '$."a b"."c.d"[0]', 7)], {"a b": {"c.d": [7]}}),
    ],
)
def test_operations_change_what_their_path_names(document, diffs, result):
    assert apply_diffs(document, diffs) == result


def test_inserted_members_stand_where_the_server_stores_them():
    result = apply_diffs({"b": 1, "aa": 2}, [(INSERT, "$.c", 3), (INSERT, "$.a", 4)])
    assert list(result) == ["a", "b", "c", "aa"]


def test_document_before_stays_what_it_was():
    document = {"a": [1]}
    apply_diffs(document, [(REPLACE, "$.a[0]", 2)])
    assert document == {"a": [1]}


@pytest.mark.parametrize(
    ("document", "diff"),
    [
        ({}, (REPLACE, "$.a", 1)),
        ({}, (REMOVE, "$.a", None)),
        ({"a": 1}, (INSERT, "$.a", 1)),
        ([], (REPLACE, "$[0]", 1)),
        (5, (INSERT, "$.a", 1)),
        ({"a": 1}, (REPLACE, "$.a.b.c", 1)),
        ([1], (REMOVE, "$", None)),
    ],
)
def test_diff_that_does_not_fit_is_malformed(document, diff):
    with pytest.raises(MalformedError):
        apply_diffs(document, [diff])


@pytest.mark.parametrize("path", ["", "a", "$x", "$[", "$[a]", "$[-1]", "$.", '$."open', "$[²]"])
def test_paths_that_are_none_are_malformed(path):
    with pytest.raises(MalformedError):
        parse_path(path)


@pytest.mark.parametrize("data", [b"\x03\x01$", b"\x00\xff", _diff(REPLACE, "$.a", 1)[:-1]])
def test_damaged_diffs_are_malformed(data):
    with pytest.raises(MalformedError):
        parse_diffs(data)
