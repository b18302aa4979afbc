"""Statements that end too early, or lack a word, are read without an exception."""

from __future__ import annotations

import random
import re

import pytest

from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.properties.logs.statement_tables import get_statement_tables
from tests.oracle.schema_statements import Statements

COLUMNS = ("id", "a", "b", "c")
WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
ALTERS = (
    "ALTER TABLE t ADD CONSTRAINT c UNIQUE (a), ENGINE = InnoDB, DROP FOREIGN KEY f",
    "ALTER TABLE t ADD a INT, ADD KEY k (a), RENAME COLUMN a TO b, RENAME TO x.u",
    "CREATE TABLE u (a INT PRIMARY KEY, FOREIGN KEY (a) REFERENCES t (id)) SELECT * FROM t",
    "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
    "RENAME TABLE t TO u, u TO x.v",
    "TRUNCATE TABLE t",
    "DROP INDEX k ON t",
)


def damaged(text):
    """Yield every beginning of a statement, and the statement without each of its words."""
    words = WORDS.findall(text)
    for place in range(len(words)):
        yield "".join(words[:place])
        yield "".join(words[:place] + words[place + 1 :])


def read(statement):
    registry = SchemaRegistry()
    registry.observe_statement("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT)", "d")
    for text in (statement, statement):
        get_statement_tables(text, "d")
        registry.observe_statement(text, "d")


@pytest.mark.parametrize("text", ALTERS)
def test_damaged_statement_is_read(text):
    for statement in damaged(text):
        read(statement)


@pytest.mark.long(each=1, quick=13)
@pytest.mark.parametrize("is_mariadb", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_damaged_drawn_statement_is_read(seed, is_mariadb):
    source = Statements(
        random.Random(seed),
        is_mariadb,
        lambda _: COLUMNS,
        lambda _: [f"`{one}`" for one in COLUMNS],
    )
    for _ in range(10):
        for statement in damaged(source.draw()):
            read(statement)
