"""The EDN reader: what histories are made of, and every way in which a file can be wrong."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.elle.edn import DEPTH_MAX, MALFORMED_EDN, read_edn
from paraply.vocabulary.errors import ParaplyError


def values(text):
    return [value for _, value in read_edn(text, name="h.edn")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true false", True),
        ("-12", -12),
        ("7N", 7),
        ("1.5 ", 1.5),
        ("2e3M", 2000.0),
        (":ok", ":ok"),
        (":jepsen/op", ":jepsen/op"),
        ("x", "x"),
        ("-", "-"),
        ('"a\\"b\\n\\u0041"', 'a"b\nA'),
        ("\\newline", "\n"),
        ("\\x", "x"),
        ("\\u0042", "B"),
        ("{:a 1, :b nil}", {":a": 1, ":b": None}),
        ("#{1 2}", frozenset({1, 2})),
        ('#inst "2026-01-01"', "2026-01-01"),
        ("#jepsen.history.Op{:index 3}", {":index": 3}),
        ("#_ gone 4", 4),
        ("#_ #tag gone 4", 4),
        ("#tag #_ gone 4", 4),
        ("#_ #_ gone gone 4", 4),
        ("; a remark\n5", 5),
        ("{:value [[:r x [1 2]] (3)]}", {":value": ((":r", "x", (1, 2)), (3,))}),
    ],
)
def test_value_is_read(text, value):
    assert values(text)[0] == value


def test_operations_of_one_vector_come_one_by_one_with_their_lines():
    text = '; all of them\n[{:a "x\ny"}\n #_ {:b 2} {:c 3}\n\n [1]]'
    assert list(read_edn(text)) == [(2, {":a": "x\ny"}), (4, {":c": 3}), (6, (1,))]
    assert list(read_edn("{:a 1}\n{:b 2}")) == [(1, {":a": 1}), (2, {":b": 2})]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("{:a 1", 1, "the { of line 1 is never closed"),
        ("\n[{:a 1}", 2, "the [ of line 2 is never closed"),
        ("{:a 1]", 1, "a ] closes the { of line 1"),
        ("1\n)", 2, "a ) closes nothing"),
        ("{:a}", 1, "a map has a key without a value"),
        ("{{} 1}", 1, "a map or set is used as a key"),
        ('\n"never', 2, "a text is never closed"),
        ('"\\q"', 1, "\\q in a text means nothing"),
        ("1/2", 1, "'1/2' is no number"),
        ("12x", 1, "'12x' is no number"),
        ("9" * 5000, 1, "a number of 5000 characters"),
        ("[" * (DEPTH_MAX + 1), 1, f"it is nested deeper than {DEPTH_MAX}"),
        ("#tag", 1, "it ends after a tag"),
        ("[##NaN]", 1, "##NaN is no tag"),
        ("{:a #tag}", 1, "a tag stands before nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, line, reason):
    with pytest.raises(ParaplyError) as caught:
        values(text)
    assert caught.value.error is MALFORMED_EDN
    assert caught.value.where == f"h.edn:{line}"
    assert reason in caught.value.text


@given(st.text(alphabet='[](){}#_";:\\ax1. \n', max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(ParaplyError):
        values(text)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.sampled_from([":a", ":b/c"])
)


def written(value):
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{' '.join(map(written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(k)} {written(v)}" for k, v in value.items()) + "}"
    return str(value)


@given(
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from([":k", 1, "sym"]), inner, max_size=3),
        ),
        max_leaves=12,
    )
)
def test_written_value_reads_back_equal(value):
    assert values(f"{{:value {written(value)}}}") == [{":value": value}]
