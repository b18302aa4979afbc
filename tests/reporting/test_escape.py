from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paraply.reporting.escape import ascii_escaped, shortened, visible
from tests.builders.audit_situations import HOSTILE


def hidden(text):
    return [
        c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 100 %", "plain text, 100 %"),
        ("Ærøskøbing 渋谷", "Ærøskøbing 渋谷"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x9b31m", "\\x9b31m"),
        ("half a pair \ud800", "half a pair \\ud800"),
        ("\U000e0001tag", "\\U000e0001tag"),
    ],
)
def test_hidden_character_is_spelled_out(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_shown_text_hides_nothing_and_stays_as_it_is_when_shown_again(text):
    shown = visible(text)
    assert hidden(shown) == []
    assert visible(shown) == shown


def test_odd_spaces_are_shown_as_they_are():
    assert visible("a\u00a0b") == "a\u00a0b"


@given(st.text())
@example("\x7f")
def test_escaped_json_parses_to_the_same_value_and_hides_nothing(text):
    written = ascii_escaped(json.dumps({"key": text}, ensure_ascii=False))
    assert json.loads(written) == {"key": text}
    assert hidden(written) == []


def test_long_text_is_cut_and_says_how_much_is_missing():
    assert shortened("x" * 1_234, 10) == "xxxxxxxxxx… (1,224 more characters)"


def test_text_of_exactly_the_limit_is_not_cut():
    assert shortened("x" * 10, 10) == "x" * 10


def test_the_hostile_text_of_the_builders_is_hostile():
    assert len(hidden(HOSTILE)) >= 6
