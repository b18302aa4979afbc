"""What a log shows against a schema, or does not show, never leaves a verdict that holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.dump_age import DumpMoment
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.reporting.audit.advice import next_steps
from paraply.reporting.terminal import render_terminal
from paraply.vocabulary.verdict import Verdict
from tests.auditing.in_parts.auditing import differences
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata

COLUMNS = [
    spec.integer(4).named("id", nullable=False),
    spec.integer(4).named("a"),
]


class Log:
    """A log of MySQL in which the last transaction may overlap the one before."""

    def __init__(self):
        self.writer = BinlogWriter()
        self.number = 0

    def _begin(self, overlaps):
        self.number += 1
        before = self.number - 1 - overlaps
        self.writer.gtid(self.number, last_committed=before, sequence_number=self.number)

    def ddl(self, sql):
        self._begin(False)
        self.writer.query(sql)
        return self

    def rows(self, table, code, row, *, overlaps=False, metadata=b""):
        self._begin(overlaps)
        self.writer.query("BEGIN")
        self.writer.table_map(COLUMNS, table=table, metadata=metadata)
        self.writer.rows(code, COLUMNS, [row])
        self.writer.xid(self.number)
        return self

    def insert(self, table, *row, **options):
        return self.rows(table, 30, row, **options)

    def delete(self, table, *row, **options):
        return self.rows(table, 32, row, **options)

    def audited(self, tmp_path, schema=None, at=DumpMoment.UNKNOWN):
        path = str(self.writer.save(tmp_path / "bin.000001"))
        if schema is not None:
            (tmp_path / "schema.sql").write_text(f"CREATE DATABASE test; USE test; {schema}")
            schema = str(tmp_path / "schema.sql")
        request = AuditRequest(files=(path,), schema=schema, schema_at=at, engine="readable")
        return audit(request)


def overlapping(log, table="t"):
    """Add two rows that are ordered, and two that share nothing and may overlap."""
    log.insert(table, 1, 1).delete(table, 1, 1)
    return log.insert(table, 2, 2).insert(table, 3, 3, overlaps=True)


T = "CREATE TABLE t (id int PRIMARY KEY, a int)"


def test_table_known_from_its_creation_holds(tmp_path):
    assert overlapping(Log().ddl(T)).audited(tmp_path).verdict is Verdict.HOLDS


def test_table_known_from_a_dump_holds(tmp_path):
    assert overlapping(Log()).audited(tmp_path, T + ";").verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t DROP INDEX gone",
        "ALTER TABLE t MODIFY a int AFTER id",
        "ALTER TABLE t DROP COLUMN gone",
        "RENAME TABLE u TO t",
    ],
)
def test_dump_that_is_newer_than_a_statement_of_the_log_is_not_believed(tmp_path, statement):
    now = "CREATE TABLE t (id int PRIMARY KEY, a int, KEY k (a));"
    result = overlapping(Log()).ddl(statement).audited(tmp_path, now)
    assert result.verdict is Verdict.UNKNOWN
    assert any("may be newer" in text for text in result.assumptions)


@pytest.mark.parametrize(
    ("statement", "now"),
    [
        ("ADD INDEX k (a)", "id int PRIMARY KEY, a int, KEY k (a)"),
        ("ADD UNIQUE k (a)", "id int PRIMARY KEY, a int, UNIQUE KEY k (a)"),
        ("MODIFY a int NOT NULL", "id int PRIMARY KEY, a int NOT NULL"),
        ("ADD COLUMN b text", "id int PRIMARY KEY, a int, b text"),
        (
            "ADD COLUMN b int AFTER id, ADD UNIQUE u (a)",
            "id int PRIMARY KEY, b int, a int, UNIQUE KEY u (a)",
        ),
        ("CHANGE a b bigint", "id int PRIMARY KEY, b bigint"),
        ("RENAME COLUMN a TO b", "id int PRIMARY KEY, b int"),
    ],
)  # fmt: skip
def test_dump_of_today_is_read_backwards(tmp_path, statement, now):
    result = (
        overlapping(Log())
        .ddl(f"ALTER TABLE t {statement}")
        .audited(tmp_path, f"CREATE TABLE t ({now});")
    )
    assert result.verdict is Verdict.HOLDS
    # An unsafe pair before the ALTER is found with the key of then.
    log = Log().insert("t", 1, 1).delete("t", 1, 1, overlaps=True)
    result = log.ddl(f"ALTER TABLE t {statement}").audited(tmp_path, f"CREATE TABLE t ({now});")
    assert result.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "statements",
    [
        # Without a name it would be another key of the same column, named a_2.
        ["ADD UNIQUE (a)"],
        # Each changes the dump, and both together bring it back.
        ["MODIFY a int FIRST", "MODIFY id int FIRST"],
        ["DROP COLUMN id, ADD COLUMN id int", "DROP COLUMN a, ADD COLUMN a int"],
        ["ALTER a SET DEFAULT NULL"],
    ],
)
def test_dump_of_before_or_of_after_is_not_believed_of_before(tmp_path, statements):
    log = overlapping(Log())
    for statement in statements:
        log.ddl(f"ALTER TABLE t {statement}")
    now = "CREATE TABLE t (id int NOT NULL, a int, PRIMARY KEY (id), UNIQUE KEY a (a));"
    assert log.audited(tmp_path, now).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "statement", ["ALTER a SET DEFAULT 5", "ADD COLUMN b int", "MODIFY a bigint", "DROP INDEX a"]
)
def test_dump_that_no_statement_may_have_made_is_of_before(tmp_path, statement):
    log = overlapping(Log()).ddl(f"ALTER TABLE t {statement}")
    dump = "CREATE TABLE t (id int(11) NOT NULL, a int(11), PRIMARY KEY (id), UNIQUE KEY a (a));"
    assert log.audited(tmp_path, dump).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "statements",
    [
        ["ALTER TABLE t ADD UNIQUE (a)"],
        ["ALTER TABLE t MODIFY a int FIRST", "ALTER TABLE t MODIFY id int FIRST"],
        ["ALTER TABLE t DROP COLUMN a, ADD COLUMN a int"],
        ["ALTER TABLE t ALTER a SET DEFAULT NULL"],
        ["RENAME TABLE t TO x, u TO t, x TO u"],
        ["DROP TABLE t", "CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE KEY a (a))"],
    ],
)
def test_dump_of_the_beginning_is_believed_if_its_giver_says_so(tmp_path, statements):
    log = overlapping(Log())
    for statement in statements:
        log.ddl(statement)
    dump = "CREATE TABLE u (id int); CREATE TABLE t (id int NOT NULL, a int, PRIMARY KEY (id), "
    dump += "UNIQUE KEY a (a));"
    assert log.audited(tmp_path, dump).verdict is Verdict.UNKNOWN
    result = log.audited(tmp_path, dump, DumpMoment.BEGIN)
    assert result.verdict is Verdict.HOLDS
    assert any("is taken to show the tables as they were" in one for one in result.assumptions)


@pytest.mark.parametrize("moment", [DumpMoment.BEGIN, DumpMoment.END])
@pytest.mark.parametrize(
    "statement", ["ALTER TABLE t DROP INDEX gone", "ALTER TABLE t DROP COLUMN gone"]
)
def test_giver_is_not_believed_whom_the_log_contradicts(tmp_path, statement, moment):
    now = "CREATE TABLE t (id int PRIMARY KEY, a int, KEY k (a), UNIQUE KEY gone (a));"
    now = now if "INDEX" in statement and moment is DumpMoment.END else now.replace("gone", "u")
    result = overlapping(Log()).ddl(statement).audited(tmp_path, now, moment)
    assert result.verdict is Verdict.UNKNOWN
    assert any("test.t" in one for one in result.assumptions)
    taken = any("is taken to show the tables" in one for one in result.assumptions)
    assert taken is (moment is DumpMoment.END)


def test_dump_of_the_end_is_read_backwards_where_the_beginning_is_possible_too(tmp_path):
    log = overlapping(Log()).ddl("ALTER TABLE t ADD UNIQUE (a)")
    dump = "CREATE TABLE t (id int NOT NULL, a int, PRIMARY KEY (id), UNIQUE KEY a (a));"
    assert log.audited(tmp_path, dump).verdict is Verdict.UNKNOWN
    assert log.audited(tmp_path, dump, DumpMoment.END).verdict is Verdict.HOLDS
    # Before the ALTER, two rows may have had one value.
    log = Log().insert("t", 1, 1).insert("t", 2, 1, overlaps=True)
    log.delete("t", 2, 1).ddl("ALTER TABLE t ADD UNIQUE (a)")
    assert log.audited(tmp_path, dump, DumpMoment.BEGIN).verdict is Verdict.VIOLATED
    assert log.audited(tmp_path, dump, DumpMoment.END).verdict is not Verdict.VIOLATED


def test_dump_of_today_says_how_a_table_is_after_what_cannot_be_undone(tmp_path):
    now = "CREATE TABLE t (id int PRIMARY KEY, a int);"
    log = Log().ddl("ALTER TABLE t DROP COLUMN id, ADD COLUMN id int FIRST")
    result = overlapping(log).audited(tmp_path, now)
    assert result.verdict is Verdict.HOLDS
    assert any("test.t (1 of 2)" in text for text in result.assumptions)


def test_moment_of_a_dump_is_one_for_all_its_tables(tmp_path):
    # Table u is of before its ALTER, and t of after an earlier one: there is no such moment.
    then = "CREATE TABLE u (id int PRIMARY KEY, a int);"
    now = "CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE KEY k (a));"
    log = (
        overlapping(Log())
        .ddl("ALTER TABLE u ADD COLUMN b int")
        .ddl("ALTER TABLE t ADD UNIQUE k (a)")
    )
    result = log.audited(tmp_path, then + now)
    assert result.verdict is Verdict.UNKNOWN
    assert any("not taken from it: test.t, test.u" in text for text in result.assumptions)


@pytest.mark.parametrize(
    "statement",
    ["ADD INDEX k (a)", "DROP INDEX old", "RENAME INDEX old TO k", "ADD INDEX old2 (a, id)"],
)
def test_dump_that_a_statement_about_an_index_changes_is_believed(tmp_path, statement):
    dump = "CREATE TABLE t (id int PRIMARY KEY, a int, KEY old (a));"
    result = overlapping(Log()).ddl(f"ALTER TABLE t {statement}").audited(tmp_path, dump)
    assert result.verdict is Verdict.HOLDS


def test_dump_is_believed_if_rows_before_a_modify_without_effect_show_the_column(tmp_path):
    log = overlapping(Log()).ddl("ALTER TABLE t MODIFY a int COMMENT 'x'")
    assert log.audited(tmp_path, T + ";").verdict is Verdict.HOLDS


@pytest.mark.parametrize("default", ["2", "(1 + 1)"])
def test_rows_between_two_alters_show_nothing_of_those_before(tmp_path, default):
    # The dropped column may have been the first one.
    log = overlapping(Log()).ddl("ALTER TABLE t DROP COLUMN a, ADD COLUMN a int")
    log.insert("t", 9, 9).ddl(f"ALTER TABLE t ALTER a SET DEFAULT {default}")
    now = f"CREATE TABLE t (id int NOT NULL, a int DEFAULT {default}, PRIMARY KEY (id));"
    assert log.audited(tmp_path, now).verdict is Verdict.UNKNOWN


def test_tables_of_a_newer_dump_that_no_statement_changes_are_believed(tmp_path):
    now = f"{T}; CREATE TABLE u (id int PRIMARY KEY);"
    log = overlapping(Log()).ddl("ALTER TABLE u ADD PRIMARY KEY (id)")
    result = log.audited(tmp_path, now)
    assert result.verdict is Verdict.HOLDS
    assert any("test.u (1 of 2)" in text for text in result.assumptions)


def test_create_if_not_exists_of_a_late_log_is_not_believed(tmp_path):
    log = overlapping(Log().ddl(T.replace("TABLE", "TABLE IF NOT EXISTS")))
    assert log.audited(tmp_path).verdict is Verdict.UNKNOWN


def test_full_metadata_does_not_show_foreign_keys(tmp_path):
    metadata = optional_metadata(COLUMNS, primary_key=[0])
    log = Log().insert("p", 1, 1, metadata=metadata).delete("p", 1, 1, metadata=metadata)
    log.insert("p", 2, 2, metadata=metadata)
    log.insert("c", 3, 2, metadata=metadata, overlaps=True)
    result = log.audited(tmp_path)
    assert result.verdict is Verdict.UNKNOWN
    assert any("foreign keys" in reason.reason for reason in result.unknown_because)


def test_waiting_for_a_row_lock_of_a_parent_is_counted_and_no_conflict(tmp_path):
    log = Log().ddl("CREATE TABLE p (id int PRIMARY KEY, a int)")
    log.ddl("CREATE TABLE c (id int PRIMARY KEY, a int, FOREIGN KEY (a) REFERENCES p (id))")
    log.insert("p", 1, 1).delete("p", 1, 1).insert("p", 2, 2)
    log._begin(False)
    log.writer.query("BEGIN")
    log.writer.table_map(COLUMNS, table="p")
    log.writer.rows(31, COLUMNS, [(2, 2), (2, 3)])
    log.writer.xid(log.number)
    result = log.insert("c", 9, 2, overlaps=True).audited(tmp_path)
    assert result.verdict is Verdict.HOLDS
    assert result.may_wait == 1
    assert "1 pair may wait for each other's row locks" in render_terminal(
        result, width=100, colour=False, details=False
    )


KEYLESS = "CREATE TABLE t (id int, a int)"


@pytest.mark.parametrize(
    ("first", "second", "verdict", "may_wait"),
    [
        (("delete", 1), ("delete", 2), Verdict.HOLDS, 1),
        (("delete", 1), ("insert", 2), Verdict.HOLDS, 1),
        (("insert", 2), ("delete", 1), Verdict.HOLDS, 1),
        (("insert", 1), ("insert", 1), Verdict.HOLDS, 0),
        # Two copies of the row may have been there, or one of them: the log does not say which.
        (("delete", 1), ("delete", 1), Verdict.UNKNOWN, 0),
        (("insert", 1), ("delete", 1), Verdict.UNKNOWN, 0),
        (("delete", 1), ("insert", 1), Verdict.UNKNOWN, 0),
    ],
)
def test_rows_without_a_key_meet_if_equal_in_all_columns(
    tmp_path, first, second, verdict, may_wait
):
    # Rows with a key, in order, so that there is evidence for a verdict that holds.
    log = Log().ddl(T.replace("TABLE t", "TABLE u")).insert("u", 1, 1).delete("u", 1, 1)
    log.ddl(KEYLESS).insert("t", 1, 1).insert("t", 1, 1).insert("t", 2, 2)
    for (kind, row), overlaps in ((first, False), (second, True)):
        getattr(log, kind)("t", row, row, overlaps=overlaps)
    result = log.audited(tmp_path)
    assert result.verdict is verdict
    assert result.may_wait == may_wait


def test_key_is_proposed_where_its_rows_would_wait_less(tmp_path):
    log = Log().ddl(KEYLESS)
    for row in range(12):
        log.insert("t", row, row)
    for row in range(12):
        log.delete("t", row, row, overlaps=row > 0)
    steps = next_steps(log.audited(tmp_path))
    assert any("A PRIMARY KEY on test.t would raise the limit" in step for step in steps)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("engine", ["readable", "auto"])
def test_dump_of_today_in_parts(engine, tmp_path):
    log = Log()
    for number in range(8):
        log.insert("t", number, 1).delete("t", number, 1, overlaps=number % 2 > 0)
        log.ddl(f"ALTER TABLE t ADD UNIQUE k{number} (a)")
    keys = "".join(f", UNIQUE KEY k{number} (a)" for number in range(8))
    log.audited(tmp_path, f"CREATE TABLE t (id int PRIMARY KEY, a int{keys});")
    request = AuditRequest(
        files=(str(tmp_path / "bin.000001"),), schema=str(tmp_path / "schema.sql"), engine=engine
    )
    sizes = PartSizes(block_bytes=500, part_blocks=1, approach_blocks=1)
    whole, parts = audit(request), audit_in_parts(request, sizes=sizes)
    assert parts.parts > 4
    assert whole.verdict is Verdict.VIOLATED
    assert any("test.t (9 of 9)" in text for text in whole.assumptions)
    assert differences(whole, replace(parts.result, engine=whole.engine)) == []
