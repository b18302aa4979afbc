"""Definitions by time against the truth: drawn tables, ALTERs and moments of the dump."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.schema import changes
from paraply.adapters.binlog.schema.lessons import Statement
from paraply.adapters.binlog.schema.match import same_keys
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.auditing import dump_age
from paraply.auditing.dump_age import DumpMoment, date_tables
from paraply.vocabulary.schema import Column, SchemaSource, TableSchema

NAMES = "abcde"
TYPES = ("int", "bigint", "int NOT NULL", "int NOT NULL DEFAULT 2", "bigint DEFAULT 1",
         "bigint DEFAULT 2",
         "varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
         "varchar(9) CHARACTER SET latin1 COLLATE latin1_swedish_ci")  # fmt: skip
name, type_name = st.sampled_from(NAMES), st.sampled_from(TYPES)
place = st.sampled_from(("", "", " FIRST", " AFTER a"))
actions = st.one_of(
    st.builds("ADD COLUMN {} {}{}".format, name, type_name, place),
    st.builds("ADD COLUMN {} {} UNIQUE".format, name, type_name),
    st.builds("DROP COLUMN {}".format, name),
    st.builds("DROP COLUMN {0}, ADD COLUMN {0} {1}".format, name, type_name),
    st.builds("RENAME COLUMN {} TO {}".format, name, name),
    st.builds("MODIFY {} {}{}".format, name, type_name, place),
    st.builds("CHANGE {} {} {}".format, name, name, type_name),
    st.builds("ADD UNIQUE k{} ({})".format, name, name),
    st.builds("ADD UNIQUE ({})".format, name),
    st.builds("ADD INDEX k{} ({})".format, name, name),
    st.builds("DROP INDEX k{}".format, name),
    st.builds("RENAME INDEX k{} TO k{}".format, name, name),
    st.builds("ADD FOREIGN KEY ({}) REFERENCES p (id)".format, name),
    st.builds("CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin".format),
    st.just("DEFAULT CHARACTER SET latin1"),
    st.just("COMMENT 'x'"),
    st.builds("ALTER {} SET DEFAULT {}".format, name, st.sampled_from(("1", "2", "NULL"))),
    st.builds("ALTER {} DROP DEFAULT".format, name),
)
tables = st.builds(
    "CREATE TABLE {{}} (id int{}, a {}, b {}{})".format,
    st.sampled_from((" PRIMARY KEY", " PRIMARY KEY", "")), type_name, type_name,
    st.sampled_from(("", ", UNIQUE kb (b)", ", UNIQUE ka (a, b)")),
)  # fmt: skip
stories = st.tuples(
    tables, tables,
    st.lists(
        st.tuples(st.sampled_from("tu"), st.lists(actions, min_size=1, max_size=2).map(", ".join)),
        max_size=5,
    ),
    st.integers(0, 5), st.sets(st.integers(0, 5)),
)  # fmt: skip


def dumped(draft):
    """Return the definition as a server prints it."""
    lines = []
    for each in draft.columns:
        column = each.column
        size = f"({column.length})" if column.length else ""
        text = f"`{column.name}` {column.type_name}{size}"
        if column.charset:
            text += f" CHARACTER SET {column.charset} COLLATE {column.collation}"
        text += "" if column.nullable else " NOT NULL"
        if not column.omitted_is_null:
            text += f" DEFAULT {column.omitted_value}"
        elif column.nullable:
            text += " DEFAULT NULL"
        lines.append(text)
    # Servers print unique keys first.
    for key in sorted(draft.keys, key=lambda key: (key.name != "PRIMARY", not key.is_unique)):
        parts = ", ".join(
            f"`{part.column.name}`" + (f"({size})" if size else "") for part, size in key.parts
        )
        word = "UNIQUE KEY" if key.is_unique else "KEY"
        lines.append(
            f"PRIMARY KEY ({parts})" if key.name == "PRIMARY" else f"{word} `{key.name}` ({parts})"
        )
    for key in draft.foreign_keys:
        parts = ", ".join(f"`{each.column.name}`" for each in key.columns)
        lines.append(f"CONSTRAINT `{key.name}` FOREIGN KEY ({parts}) REFERENCES p (id)")
    charset, collation = draft.options.charset, draft.options.collation
    options = f" DEFAULT CHARSET={charset}" if charset else ""
    options += f" COLLATE={collation}" if collation else ""
    return f"CREATE TABLE `{draft.name.partition('.')[2]}` ({', '.join(lines)}){options};"


def table_map(draft):
    """Return what a table map with minimal metadata tells."""
    columns = tuple(
        Column(name=f"@{number}", type_name=each.column.type_name)
        for number, each in enumerate(draft.columns, start=1)
    )
    return TableSchema(name=draft.name, columns=columns, sources={SchemaSource.TABLE_MAP})


def told(story):
    """Return the dump, the lessons of the log, and the true definitions by table; None if void."""
    first, second, alters, moment, silent = story

    def both():
        return "\n".join(dumped(registry.draft(each)) for each in names)

    registry = SchemaRegistry()
    for table, sql in (("t", first), ("u", second)):
        registry.observe_statement("CREATE DATABASE d CHARACTER SET utf8mb4")
        registry.observe_statement(sql.format(table), "d")
    names = ("d.t", "d.u")
    truth = {each: [registry.draft(each)] for each in names}
    dumps = [both()]
    lessons = [table_map(registry.draft(each)) for each in names if 0 not in silent]
    for number, (table, text) in enumerate(alters, start=1):
        sql, changed = f"ALTER TABLE {table} {text}", f"d.{table}"
        trial = registry.draft(changed)
        try:
            changes.alter(trial, changes_of(sql), "d")
        except changes.Contradiction:
            continue
        # Where a key is unclear, there is no truth to print.
        if not trial.columns or any(key.beyond for key in trial.keys):
            continue
        registry.observe_statement(sql, "d")
        truth[changed].append(registry.draft(changed))
        lessons.append(Statement(sql=sql, default_schema="d", where=""))
        if number not in silent:
            lessons.extend(table_map(registry.draft(each)) for each in names)
        dumps.append(both())
    dump = f"CREATE DATABASE d; USE d;\n{dumps[min(moment, len(dumps) - 1)]}"
    return dump, lessons, truth


def changes_of(sql):
    return dump_age.parse_statement(sql)


def with_doubts(truth, told):
    """Return the truth without the defaults that are not told: any value serves for those."""
    truth = truth.copy()
    for one, other in zip(truth.columns, told.columns, strict=False):
        if not other.column.omitted_is_null:
            one.column = replace(one.column, omitted_is_null=False)
    return truth


def told_numbers_are_true(told, truth):
    """Return whether each number that an insert is told to leave is the one that it leaves."""
    return all(
        one.column.omitted_value in (None, other.column.omitted_value)
        for one, other in zip(told.columns, truth.columns, strict=True)
    )


def mistakes(story, reached=None, moment=DumpMoment.UNKNOWN):
    """Return tables and times at which a definition is told that was another."""
    dump, lessons, truth = told(story)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.sql"
        path.write_text(dump)
        dated = date_tables(str(path), lessons, truth, moment)
    found = []
    for table in dated:
        states = table.states if len(table.states) > 1 else [None] * len(truth[table.name])
        assert len(states) == len(truth[table.name]) or table.states == (None,) or states
        for time, (state, then) in enumerate(zip(states, truth[table.name], strict=False)):
            if reached is not None:
                reached["known" if state is not None else "unknown"] += 1
            if state is not None and not (
                same_keys(state, with_doubts(then, state)) and told_numbers_are_true(state, then)
            ):
                found.append((table.name, time))
    return found


@pytest.mark.long
def test_who_knows_that_a_dump_is_of_the_end_is_told_more_and_nothing_else():
    unknown, end = Counter(), Counter()

    @settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
    @given(stories)
    def check(story):
        at_the_end = (*story[:3], len(story[2]), story[4])
        assert mistakes(at_the_end, unknown) == []
        assert mistakes(at_the_end, end, DumpMoment.END) == []

    check()
    assert end["known"] > unknown["known"]


@pytest.mark.long
def test_no_definition_is_told_that_was_another():
    reached = Counter()

    @settings(max_examples=1_500, suppress_health_check=[HealthCheck.too_slow])
    @given(stories)
    def check(story):
        assert mistakes(story, reached) == []

    check()
    # Half as many, give or take a tenth.
    assert reached["known"] > reached["unknown"] / 3


CARELESS = {
    "what was dropped was nothing": lambda draft, statement: draft.copy(),
    "a column lies outside of keys": None,
    "one moment refutes nothing": None,
    "a default is as today's": None,
}
SELDOM_SEEN = "a default is as today's"


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=pytest.mark.long(each=1)) if what == SELDOM_SEEN else what
        for what in CARELESS
    ],
)
def test_careless_dating_is_caught(what, monkeypatch):
    if what == "a column lies outside of keys":
        monkeypatch.setattr(changes, "_is_key_part", lambda *_, **__: False)
    elif what == "one moment refutes nothing":
        monkeypatch.setattr(dump_age, "mismatch", lambda *_: "")
        monkeypatch.setattr(dump_age, "_agreed", lambda runs: tuple(runs[0]))
    elif what == "a default is as today's":
        monkeypatch.setattr(dump_age, "_with_common_defaults", lambda drafts: drafts[0])
    else:
        monkeypatch.setattr(dump_age, "undone", CARELESS[what])
    limits = settings(
        phases=[Phase.generate], max_examples=4_000, derandomize=True, database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    assert find(stories, mistakes, settings=limits)
