"""Slices of logs: initial rows, borders, reasons, recorded metadata, pseudonyms."""

from __future__ import annotations

import random

import pytest

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.conformance.messages import transaction_message
from paraply.adapters.conformance.own_logs.cases import own_cases, own_log
from paraply.adapters.conformance.own_logs.definitions import create_table
from paraply.adapters.conformance.own_logs.pseudonyms import Names, Pseudonyms
from paraply.adapters.conformance.own_logs.reading import OwnLogs, Tally, read_slices
from paraply.adapters.conformance.own_logs.slices import Slice
from paraply.adapters.conformance.own_logs.steps import ROWS_MAX, Step, Unusable
from paraply.adapters.conformance.source import EntryKind
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.case_logs import write_case_log

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.varchar(80).named("name")]
METADATA = optional_metadata(COLUMNS, primary_key=[0])
INSERT, UPDATE, DELETE = 30, 31, 32


class Log:
    """Transactions of table ``test.t`` in one file."""

    def __init__(self) -> None:
        self.writer = BinlogWriter()
        self.number = 0

    def begin(self) -> None:
        self.number += 1
        self.writer.gtid(self.number, last_committed=self.number - 1, sequence_number=self.number)

    def rows(self, code, *images, metadata=METADATA, **options) -> None:
        self.begin()
        self.writer.query("BEGIN")
        self.writer.table_map(COLUMNS, metadata=metadata)
        self.writer.rows(code, COLUMNS, images, **options)
        self.writer.xid(self.number)

    def statement(self, sql) -> None:
        self.begin()
        self.writer.query(sql)

    def slices(self, tmp_path, size=12, schema=None):
        tally = Tally()
        path = self.writer.save(tmp_path / "bin.000001")
        logs = OwnLogs(files=(str(path),), schema=schema)
        found = list(read_slices(logs, size, tally))
        return found, {reason: count for reason, count in tally.unusable.items() if count}


def test_row_changed_before_it_is_inserted_is_an_initial_row(tmp_path):
    log = Log()
    log.rows(UPDATE, (1, "a"), (1, "b"))
    log.rows(INSERT, (2, "c"))
    log.rows(DELETE, (2, "c"))
    log.rows(DELETE, (1, "b"))
    (only,), unusable = log.slices(tmp_path)
    assert only.initial == (("test.t", (1, "a")),)
    assert unusable == {}
    made = own_log(only, None, False, 0)
    assert [entry.kind for entry in made.entries[:2]] == [EntryKind.TRANSACTION, EntryKind.DRAIN]
    assert made.database.contents() == {"test.t": ()}


def test_slices_are_bounded_and_begin_with_the_rows_of_the_slice_before(tmp_path):
    log = Log()
    for number in range(5):
        log.rows(INSERT, (number, "x"))
    for number in range(5):
        log.rows(UPDATE, (number, "x"), (number, "y"))
    found, _ = log.slices(tmp_path, size=4)
    assert [len(one.steps) for one in found] == [4, 4, 2]
    assert [(one.first, one.last) for one in found] == [(1, 4), (5, 8), (9, 10)]
    # The second slice inserts row 4 itself and updates rows 0 to 2.
    assert [image for _, image in found[1].initial] == [(0, "x"), (1, "x"), (2, "x")]


def test_change_that_does_not_fit_the_rows_begins_a_slice(tmp_path):
    log = Log()
    log.rows(INSERT, (1, "a"))
    log.statement("UPDATE t SET name = 'b'")
    log.rows(UPDATE, (1, "b"), (1, "c"))
    found, unusable = log.slices(tmp_path)
    assert [one.initial for one in found] == [(), (("test.t", (1, "b")),)]
    assert unusable == {Unusable.STATEMENT: 1}


def test_create_table_is_in_a_slice_and_another_schema_change_cuts(tmp_path):
    log = Log()
    log.statement("CREATE TABLE test.t (id INT PRIMARY KEY, name VARCHAR(20))")
    log.rows(INSERT, (1, "a"))
    log.statement("TRUNCATE TABLE test.t")
    log.rows(INSERT, (1, "a"))
    found, unusable = log.slices(tmp_path)
    assert found[0].tables == ()
    assert [step.creates for step in found[0].steps] == [True, False]
    assert len(found) == 2
    assert unusable == {Unusable.DDL: 1}


def _unusable_logs():
    def statement(log):
        log.statement("DELETE FROM t")

    def xa(log):
        log.begin()
        log.writer.query("XA START X'61',X'',1")
        log.writer.table_map(COLUMNS, metadata=METADATA)
        log.writer.rows(INSERT, COLUMNS, [(1, "a")])
        log.writer.query("XA END X'61',X'',1")
        log.writer.query("XA PREPARE X'61',X'',1")

    def partial(log):
        log.rows(
            UPDATE, (1, "a"), (1, "b"), before_present=[True, False], after_present=[False, True]
        )

    def without_keys(log):
        log.rows(INSERT, (1, "a"), metadata=b"")

    def large(log):
        log.rows(INSERT, *((number, "a") for number in range(ROWS_MAX + 1)))

    def cut(log):
        log.begin()
        log.writer.query("BEGIN")
        log.writer.table_map(COLUMNS, metadata=METADATA)
        log.writer.rows(INSERT, COLUMNS, [(1, "a")])

    def schema_change(log):
        log.statement("ALTER TABLE test.t ADD COLUMN x INT")

    def contradictory(log):
        log.rows(INSERT, (1, "a"), (1, "b"))

    return [
        (statement, Unusable.STATEMENT),
        (xa, Unusable.XA),
        (partial, Unusable.PARTIAL),
        (without_keys, Unusable.NO_SCHEMA),
        (large, Unusable.LARGE),
        (cut, Unusable.CUT),
        (schema_change, Unusable.DDL),
        (contradictory, Unusable.CONTRADICTORY),
    ]


@pytest.mark.parametrize(
    ("write", "reason"), _unusable_logs(), ids=[reason.name for _, reason in _unusable_logs()]
)
def test_unusable_transaction_is_counted_and_alone_it_is_an_error(tmp_path, write, reason):
    log = Log()
    write(log)
    assert log.slices(tmp_path) == ([], {reason: 1})
    with pytest.raises(ParaplyError) as raised:
        own_cases(OwnLogs(files=(str(tmp_path / "bin.000001"),)), 12)
    assert raised.value.error.code == "P638"
    assert reason.what in raised.value.text
    assert "bin.000001" in raised.value.where


def test_tables_with_foreign_keys_are_counted(tmp_path):
    schema = tmp_path / "s.sql"
    schema.write_text(
        "USE test; CREATE TABLE p (id INT PRIMARY KEY);\n"
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), "
        "FOREIGN KEY (id) REFERENCES p (id));\n"
    )
    log = Log()
    log.rows(INSERT, (1, "a"), metadata=b"")
    assert log.slices(tmp_path, schema=str(schema)) == ([], {Unusable.FOREIGN_KEY: 1})


def test_tables_of_a_dump_that_the_log_contradicts_are_taken_from_the_log(tmp_path):
    schema = tmp_path / "s.sql"
    schema.write_text("USE test; CREATE TABLE t (id INT, a INT, b INT, PRIMARY KEY (id, a));\n")
    log = Log()
    log.rows(INSERT, (1, "a"))
    ((only,), unusable) = log.slices(tmp_path, schema=str(schema))
    assert [column.name for column in only.tables[0].columns] == ["id", "name"]
    assert unusable == {}


def test_recorded_metadata_is_kept(tmp_path):
    (case,) = cases_named(["C-sparse-01"])
    files, schema = write_case_log(log_for(case, 0), tmp_path)
    own = own_cases(OwnLogs(files=tuple(files), schema=schema), 12)
    (recorded,) = [one for one in own.cases if one.id.endswith("-recorded")]
    stamps = [one.timestamp for one in recorded.log(0).transactions]
    assert stamps == [one.timestamp for one in log_for(case, 0).transactions]


def test_recorded_metadata_that_lets_conflicts_overlap_makes_no_case(tmp_path):
    log = Log()
    log.rows(INSERT, (1, "a"))
    log.writer.gtid(2, last_committed=0, sequence_number=2)
    log.writer.query("BEGIN")
    log.writer.table_map(COLUMNS, metadata=METADATA)
    log.writer.rows(DELETE, COLUMNS, [(1, "a")])
    log.writer.xid(2)
    path = log.writer.save(tmp_path / "bin.000001")
    own = own_cases(OwnLogs(files=(str(path),)), 12)
    assert [one.id for one in own.cases] == ["U-1-12-restamped"]
    assert own.unsafe == 1


# Pseudonyms

SCHEMAS = (
    "CREATE TABLE shop.orders (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE {0} NOT NULL, "
    "PRIMARY KEY (name))",
    "CREATE TABLE shop.orders (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE {0} NOT NULL, "
    "UNIQUE KEY secret_key (name(2)), PRIMARY KEY (name(3)))",
)
SPELLINGS = ("abc", "ABC", "Abc", "abc ", "äbc", "abd", "ab", "AB ", "xyz", "xyZ", "b", "bcd")
COLLATIONS = ("utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs")


def keys_of(one: Slice):
    """Return each inserted row's keys, by the definitions of the slice."""
    registry = SchemaRegistry()
    for table in one.tables:
        registry.observe_statement(create_table(table))
    keys = KeyBuilder(registry)
    return [keys.keys_of(row.table, row.after) for step in one.steps for row in step.rows]


def slice_of(statement, images):
    registry = SchemaRegistry()
    registry.observe_statement(statement)
    (table,) = registry.tables()
    rows = tuple(
        RowWrite(table=table.name, operation=Operation.INSERT, after=image) for image in images
    )
    step = Step(rows=rows, tables=(table,))
    return Slice(first=1, last=1, tables=(table,), initial=(), steps=(step,))


def pattern(values):
    """Return for each value the first place of an equal one."""
    return [values.index(value) for value in values]


@pytest.mark.parametrize("collation", COLLATIONS)
@pytest.mark.parametrize("schema", SCHEMAS, ids=["whole", "prefixes"])
@pytest.mark.parametrize("seed", range(3))
def test_pseudonyms_of_text_are_equal_in_keys_exactly_where_the_text_is(collation, schema, seed):
    texts = random.Random(seed).sample(SPELLINGS, len(SPELLINGS))
    one = slice_of(schema.format(collation), [(text,) for text in texts])
    other = Pseudonyms(Names(), seed).of_slice(one)
    before, after = keys_of(one), keys_of(other)
    for place in range(len(before[0])):
        assert pattern([keys[place] for keys in after]) == pattern([keys[place] for keys in before])
    values = [row.after[0] for row in other.steps[0].rows]
    assert len(set(values)) == len(texts)
    assert not set(values) & set(texts)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("TINYINT", range(-128, 128)),
        ("INT UNSIGNED", (1, 2, 4_000_000_000)),
        ("DECIMAL(10,2)", ("1.00", "2.50")),
        ("DOUBLE", (1.5, 2.5)),
        ("DATE", ("2024-01-02", "2024-01-03")),
        ("DATETIME(3)", ("2024-01-02 00:00:00.001", "2024-01-02 00:00:00.002")),
        ("TIME", ("01:02:03", "-01:02:03")),
        ("YEAR", (1999, 2000)),
        ("ENUM('red','blue')", ("red", "blue")),
        ("VARBINARY(20)", (b"a", b"a ", b"A")),
        ("UUID", (b"0123456789abcdef", b"0123456789abcdeg")),
    ],
)
def test_pseudonyms_of_other_types_stay_different(kind, values):
    one = slice_of(
        f"CREATE TABLE shop.orders (v {kind}, PRIMARY KEY (v))", [(value,) for value in values]
    )
    other = Pseudonyms(Names(), 1).of_slice(one)
    assert len({keys[0] for keys in keys_of(other)}) == len(values)
    assert other.tables[0].name == "d1.t1"
    assert other == Pseudonyms(Names(), 1).of_slice(one)
    if kind != "TINYINT":
        drawn = {row.after for step in other.steps for row in step.rows}
        assert drawn != {
            row.after for s in Pseudonyms(Names(), 2).of_slice(one).steps for row in s.rows
        }


def test_nothing_of_the_users_is_sent(tmp_path):
    schema = tmp_path / "s.sql"
    schema.write_text(
        "CREATE TABLE secretdb.secrettable (secretcol INT PRIMARY KEY, "
        "secretname VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, "
        "UNIQUE KEY secretkey (secretname));\n"
    )
    log = Log()
    log.begin()
    log.writer.query("BEGIN")
    log.writer.table_map(COLUMNS, schema="secretdb", table="secrettable")
    log.writer.rows(INSERT, COLUMNS, [(77_077_077, "secretvalue")], ends_statement=False)
    log.writer.rows(UPDATE, COLUMNS, [(77_077_077, "secretvalue"), (77_077_078, None)])
    log.writer.xid(1)
    path = str(log.writer.save(tmp_path / "bin.000001"))
    own = own_cases(OwnLogs(files=(path,), schema=str(schema)), 12)
    assert len(own.cases) == 2
    for case in own.cases:
        for seed in range(6):
            made = case.log(seed)
            said = [transaction_message(entry) for entry in made.entries if entry.transaction]
            text = repr((said, made.source_schema, made.database.contents())).lower()
            assert "secret" not in text
            assert "77077" not in text
            assert "None" in repr(said)
    kept = own_cases(OwnLogs(files=(path,), schema=str(schema)), 12, keep_values=True)
    assert "secretvalue" in repr(kept.cases[0].log(0).transactions)
