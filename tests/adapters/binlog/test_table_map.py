from __future__ import annotations

import pytest

from paraply.adapters.binlog.events import TableMapEvent
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schema import KeyPart, SchemaSource
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata, packed
from tests.builders.log_reading import event_of, events_of

COLUMNS = [
    spec.integer(8, unsigned=True).named("id", nullable=False),
    spec.varchar(400).named("name"),
    spec.enum("a", "ü").named("e"),
    spec.year().named("y"),
    spec.blob().named("raw"),
    spec.decimal(10, 2).named("price", unsigned=True),
    spec.char(10, spec.LATIN1).named("code", visible=False),
    spec.set_of("s").named("s"),
]


def _table(columns, *, version: str = "8.0.36", **options) -> TableMap:
    writer = BinlogWriter(server_version=version)
    writer.table_map(columns, **options)
    event = event_of(writer)
    assert isinstance(event, TableMapEvent)
    return event.table


def test_full_metadata_becomes_a_schema_with_its_primary_key():
    schema = _table(COLUMNS, metadata=optional_metadata(COLUMNS, primary_key=[0])).table_schema()
    assert schema.name == "test.t"
    assert schema.keys_known
    assert not schema.keys_complete
    assert schema.sources == {SchemaSource.TABLE_MAP}
    (key,) = schema.unique_keys
    assert (key.name, key.parts) == ("PRIMARY", (KeyPart(column=0),))
    assert [column.name for column in schema.columns] == [column.name for column in COLUMNS]
    assert [column.type_name for column in schema.columns] == [
        "bigint unsigned", "varchar", "enum", "year", "blob", "decimal unsigned", "char", "set",
    ]  # fmt: skip
    assert [column.collation for column in schema.columns][:2] == ["", "utf8mb4_general_ci"]
    assert schema.columns[1].length == 100
    assert schema.columns[4].collation == "binary"
    assert schema.columns[6].length == 10
    assert not schema.columns[6].visible
    assert [column.nullable for column in schema.columns] == [False] + [True] * 7


def test_prefixes_of_the_primary_key_are_kept():
    metadata = optional_metadata(COLUMNS, primary_key=[1, 0], prefixes=[10, 0])
    table = _table(COLUMNS, metadata=metadata)
    assert table.primary_key == (KeyPart(column=1, prefix_length=10), KeyPart(column=0))


def test_minimal_metadata_knows_no_keys_and_no_names():
    table = _table(COLUMNS, metadata=optional_metadata(COLUMNS, full=False))
    schema = table.table_schema()
    assert not schema.keys_known
    assert not table.has_names
    assert [column.name for column in schema.columns][:2] == ["@1", "@2"]
    assert schema.columns[0].unsigned
    assert table.columns[2].members == ()


def test_full_metadata_without_primary_key_knows_no_keys():
    table = _table(COLUMNS, metadata=optional_metadata(COLUMNS))
    assert table.has_names
    assert table.primary_key is None
    assert not table.table_schema().keys_known


def test_no_metadata_leaves_signedness_and_character_sets_unknown():
    table = _table(COLUMNS)
    assert {column.unsigned for column in table.columns} == {None}
    assert {column.collation for column in table.columns} == {None}


def test_default_character_set_has_exceptions_by_text_column():
    columns = [spec.varchar(9).named(name) for name in "abc"]
    metadata = b"\2" + packed(3) + packed(45) + packed(1) + packed(8)
    table = _table(columns, metadata=metadata)
    assert [column.collation for column in table.columns] == [45, 8, 45]


@pytest.mark.parametrize(
    ("version", "special"), [("9.7.4", spec.vector()), ("10.11.19-MariaDB", spec.geometry())]
)
def test_each_server_counts_another_type_among_text(version, special):
    columns = [special, spec.varchar(9)]
    metadata = b"\3" + packed(2) + packed(63) + packed(45)
    table = _table(columns, version=version, metadata=metadata)
    assert table.columns[1].collation == 45


def test_year_has_a_signedness_bit():
    columns = [spec.year(), spec.integer(1, unsigned=True), spec.real(8)]
    table = _table(columns, metadata=b"\1\1\xc0")
    assert [column.unsigned for column in table.columns] == [True, True, False]


def test_unknown_metadata_fields_are_skipped():
    table = _table(COLUMNS, metadata=b"\x63\x03abc" + optional_metadata(COLUMNS, primary_key=[0]))
    assert table.primary_key == (KeyPart(column=0),)


@pytest.mark.parametrize(
    "metadata",
    [
        b"\1",  # no length
        b"\1\x05\0",  # a value past the end
        b"\1\0",  # no bits
        b"\x08\1\x63",  # a key over column 99
        b"\x02\x03\x2d\x09\x08",  # a character set for text column 9
        b"\4\2\1a",  # one name for eight columns
        b"\x0c\0",  # no visibility
    ],
)
def test_metadata_that_does_not_fit_is_a_user_error(metadata):
    with pytest.raises(ParaplyError, match="P107"):
        _table(COLUMNS, metadata=metadata)


@pytest.mark.parametrize("code", [0, 20, 144, 243])
def test_unknown_column_type_leaves_the_log_readable(code):
    unknown = spec.ColumnSpec(code=code, encode=bytes)
    table = _table([spec.integer(4), unknown, spec.integer(4)])
    assert table.undecodable
    assert table.column_count == 3


def test_too_many_columns_are_refused_before_anything_is_built():
    writer = BinlogWriter()
    body = (70).to_bytes(6, "little") + b"\0\0\1a\0\1b\0" + packed(1 << 40)
    writer.event(19, body)
    with pytest.raises(ParaplyError, match="columns"):
        events_of(writer.data)


def test_equal_definitions_are_one_object_and_others_are_not():
    writer = BinlogWriter()
    writer.table_map(COLUMNS, table_id=1)
    writer.table_map(COLUMNS, table_id=2)
    writer.table_map(COLUMNS, table_id=2, table="u")
    first, second, third = (event.table for event in events_of(writer.data)[1:])
    assert first is second
    assert first is not third
