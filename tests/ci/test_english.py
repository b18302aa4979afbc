"""The check of the English: bad sentences are found, clean ones and code are not."""

from __future__ import annotations

import pytest

from ci import english
from ci.english import (
    LIMITS,
    Limit,
    Prose,
    banned_hits,
    docstring_prose,
    linted_hits,
    markdown_prose,
    over_the_limit,
    report,
)


def hits(text, *, is_generated=False):
    prose, words = markdown_prose(text, is_generated=is_generated)
    found = Prose("docs", "page.md", prose, words)
    return [*banned_hits(found), *linted_hits([found])]


@pytest.mark.long
@pytest.mark.parametrize("sentence", [
    "A table whose keys nobody told is unknown.",
    "The log tells which transaction comes first.",
    "The worker is told to stop.",
    "Blows fall on any pair of servers.",
    "The two replicas cannot be told apart.",
    "Each is caught red-handed.",
    "A replica then waits for ever.",
    "Teh applier commits.",
    "This is a very unique applier.",
    f"The applier {'really ' * 40}commits.",
])  # fmt: skip
def test_bad_sentence_is_found_on_its_line(sentence):
    found = hits(f"# Title\n\n{sentence}\n")
    assert found
    assert {hit.line for hit in found} == {3}


@pytest.mark.long
@pytest.mark.parametrize("text", [
    "The audit detects a forged log and reports both transactions.",
    "Run `nobody tells`, then read [the page](nobody-told.md).",
    "```\nnobody tells\n```",
    "Example:\n\n    nobody tells\n",
    "<!-- generated: table -->\n| nobody |\n<!-- end -->",
    "Each applier reads EDN histories. " * 20,
])  # fmt: skip
def test_clean_sentence_and_code_are_not(text):
    assert hits(text) == []


@pytest.mark.long
def test_table_rows_count_where_they_are_written_by_hand():
    row = "| nobody | a |\n"
    assert hits(row)
    assert hits(row, is_generated=True) == []
    assert markdown_prose(f"one two\n{row}", is_generated=True)[1] == 2


def test_docstrings_are_checked_at_their_lines_and_other_texts_are_not():
    prose, words = docstring_prose(
        'NAME = "nobody"\n"""Nobody reads this."""\n\n\ndef f():\n    """Return one."""\n'
    )
    assert words == 5
    (hit,) = banned_hits(Prose("docstrings", "m.py", prose, words))
    assert (hit.line, hit.what) == (2, "“Nobody”")


def test_limit_is_broken_by_hits_and_by_words():
    assert over_the_limit("docs", 1, 1_000, Limit(1, 1_000)) == []
    assert len(over_the_limit("docs", 2, 1_000, Limit(1, 1_000))) == 1
    assert len(over_the_limit("docs", 0, 1_001, Limit(1, 1_000))) == 1


def test_markdown_has_a_limit_of_its_own(monkeypatch):
    monkeypatch.setattr(english, "MARKDOWN_WORDS_MAX", 3)
    areas = {area: ([], 2) for area in LIMITS}
    assert report(areas)[1] == ["Markdown has 4 words; at most 3"]


@pytest.mark.long
def test_help_and_errors_are_read_from_the_program():
    assert any("--schema" in text or "schema" in text for _, text in english.help_texts())
    assert len(dict(english.error_texts())) > 50
