"""Statements of other SQL modes mean what their rewritten text means in the default mode."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.events import QueryEvent
from paraply.adapters.binlog.schema.sql_tokens import tokenize
from paraply.adapters.binlog.sql_modes import ANSI_QUOTES, NO_BACKSLASH_ESCAPES, in_usual_mode
from paraply.properties.logs.statement_tables import get_statement_tables
from paraply.vocabulary.sql_text import quoted
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.log_reading import event_of

MODES = (0, ANSI_QUOTES, NO_BACKSLASH_ESCAPES, ANSI_QUOTES | NO_BACKSLASH_ESCAPES)
TEXTS = st.text("ab\\\"'`;é %_", min_size=1, max_size=6)
PIECES = st.lists(
    st.tuples(st.sampled_from(("name", "ansi name", "text", "double", "comment", "word")), TEXTS),
    max_size=6,
)


def written(kind, value, mode):
    """Return a piece of a statement as a client in this mode writes it."""
    if kind == "name" or (kind == "ansi name" and not mode & ANSI_QUOTES):
        return quoted(value)
    if kind == "ansi name":
        return '"' + value.replace('"', '""') + '"'
    if kind == "comment":
        return f"/* {value} */"
    if kind == "word":
        return "word"
    mark = '"' if kind == "double" and not mode & ANSI_QUOTES else "'"
    if not mode & NO_BACKSLASH_ESCAPES:
        value = value.replace("\\", "\\\\")
    return mark + value.replace(mark, 2 * mark) + mark


@given(pieces=PIECES, mode=st.sampled_from(MODES), table=TEXTS)
def test_drawn_statements_have_the_tokens_and_tables_of_the_default_mode(pieces, mode, table):
    usual, told = (
        " ".join(
            ["ALTER TABLE", written("ansi name", table, own), "COMMENT"]
            + [written(*piece, own) for piece in pieces]
        )
        for own in (0, mode)
    )
    found = in_usual_mode(told, mode)
    # Numbers are offsets and marks, which may differ.
    assert [(t.kind, t.text) for t in tokenize(found)] == [
        (t.kind, t.text) for t in tokenize(usual)
    ]
    assert get_statement_tables(found, "s").tables == {f"s.{table}".lower()}


@given(text=st.text("ab\\\"'`/*-# \n", max_size=12), mode=st.sampled_from(MODES))
def test_any_text_is_read_and_stays_as_it_is_in_the_default_mode(text, mode):
    assert in_usual_mode(text, mode) == text or mode
    assert in_usual_mode(text, None) == text


@pytest.mark.parametrize(
    ("mode", "sql", "usual"),
    [
        (ANSI_QUOTES, 'DROP TABLE "a`b"', "DROP TABLE `a``b`"),
        (NO_BACKSLASH_ESCAPES, r"CREATE TABLE t (c int COMMENT '\')", None),
        (ANSI_QUOTES, '/*!50000 DROP TABLE "t" */ -- "x', '/*!50000 DROP TABLE `t` */ -- "x'),
        (NO_BACKSLASH_ESCAPES, "SET x = 'open\\", "SET x = 'open\\"),
    ],
)
def test_query_event_gives_the_statement_in_the_default_mode(mode, sql, usual):
    writer = BinlogWriter()
    writer.query(sql.encode(), status=b"\1" + struct.pack("<Q", mode | 1 << 31))
    event = event_of(writer)
    assert isinstance(event, QueryEvent)
    assert event.sql == (usual or sql.replace("\\", "\\\\"))
