from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.events import RowsEvent
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import ABSENT, Operation
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.log_reading import changes_of, event_of, events_of, log_with_rows

COLUMNS = [
    spec.integer(4).named("id", nullable=False),
    spec.varchar(300).named("name"),
    spec.integer(8, unsigned=True).named("count"),
    spec.datetime2(3).named("at"),
]
OLD = (1, "old", 5, "2024-01-01 00:00:00.000")
NEW = (1, "new", None, "2024-01-01 00:00:00.001")


@pytest.mark.parametrize("code", [20, 23, 30, 166, 169])
def test_inserts_of_every_version_have_an_after_image(code):
    changes = changes_of(log_with_rows(COLUMNS, [OLD, NEW], code=code).data)
    assert [(change.operation, change.before, change.after) for change in changes] == [
        (Operation.INSERT, None, OLD),
        (Operation.INSERT, None, NEW),
    ]
    assert {change.table for change in changes} == {"test.t"}


@pytest.mark.parametrize("code", [21, 24, 31, 167, 170])
def test_updates_of_every_version_have_both_images(code):
    (change,) = changes_of(log_with_rows(COLUMNS, [OLD, NEW], code=code).data)
    assert (change.operation, change.before, change.after) == (Operation.UPDATE, OLD, NEW)


@pytest.mark.parametrize("code", [22, 25, 32, 168, 171])
def test_deletes_of_every_version_have_a_before_image(code):
    (change,) = changes_of(log_with_rows(COLUMNS, [OLD], code=code).data)
    assert (change.operation, change.before, change.after) == (Operation.DELETE, OLD, None)


def test_position_of_a_row_is_its_event():
    log = log_with_rows(COLUMNS, [OLD])
    (change,) = changes_of(log.data)
    assert change.position.offset == event_of(log).header.offset


def test_columns_outside_the_image_are_absent_not_null():
    log = log_with_rows(
        COLUMNS,
        [OLD, NEW],
        code=31,
        before_present=[True, False, False, False],
        after_present=[False, True, True, False],
    )
    (change,) = changes_of(log.data)
    assert change.before == (1, ABSENT, ABSENT, ABSENT)
    assert change.after == (ABSENT, "new", None, ABSENT)


def test_extra_data_of_version_2_is_skipped():
    (change,) = changes_of(log_with_rows(COLUMNS, [OLD], extra=b"\1\x05\0abc").data)
    assert change.after == OLD


@pytest.mark.long
@given(st.data())
def test_rows_of_many_columns_with_nulls_and_absences_round_trip(data):
    """Plans are made per pattern of NULLs: mixed patterns in one event must not mix values."""
    palette = [
        (spec.integer(4), st.integers(-5, 5)),
        (spec.integer(1, unsigned=True), st.integers(0, 255)),
        (spec.real(8), st.sampled_from([0.5, -2.0])),
        (spec.varchar(20), st.sampled_from(["", "a", "é"])),
        (spec.datetime2(0), st.just("2024-05-06 07:08:09")),
        (spec.integer(3), st.integers(-5, 5)),
    ]
    chosen = data.draw(st.lists(st.sampled_from(palette), min_size=1, max_size=12))
    columns = [column.named(f"c{number}") for number, (column, _) in enumerate(chosen)]
    present = data.draw(
        st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)).filter(any)
    )
    rows = data.draw(
        st.lists(st.tuples(*(st.none() | values for _, values in chosen)), min_size=1, max_size=5)
    )
    changes = changes_of(log_with_rows(columns, rows, before_present=present).data)
    assert [change.after for change in changes] == [
        tuple(value if there else ABSENT for value, there in zip(row, present, strict=True))
        for row in rows
    ]


def test_wide_table_uses_more_than_one_byte_of_bits():
    columns = [spec.integer(1).named(f"c{number}") for number in range(300)]
    row = tuple(None if number % 3 else number % 100 for number in range(300))
    (change,) = changes_of(log_with_rows(columns, [row]).data)
    assert change.after == row


@pytest.mark.parametrize("cut", range(1, 20))
def test_row_that_ends_too_early_is_malformed(cut):
    row = b"\0" + (5).to_bytes(4, "little") + b"\x99" * 7 + b"\x05\x00hello"
    log = log_with_rows([COLUMNS[0], COLUMNS[3], COLUMNS[1]], [], row_data=row[:-cut])
    if cut == len(row):
        assert changes_of(log.data) == []
    else:
        with pytest.raises(MalformedError):
            changes_of(log.data)


def test_row_of_no_columns_cannot_loop():
    log = log_with_rows(COLUMNS, [], row_data=b"xyz", before_present=[False] * 4)
    with pytest.raises(MalformedError, match="no bytes"):
        changes_of(log.data)


def test_column_count_that_is_not_the_tables_is_a_user_error():
    writer = BinlogWriter()
    writer.table_map(COLUMNS)
    writer.rows(30, COLUMNS[:3], [OLD[:3]])
    with pytest.raises(ParaplyError, match="3 columns"):
        events_of(writer.data)


def test_rows_without_table_map_have_no_table():
    writer = BinlogWriter()
    writer.rows(30, COLUMNS, [OLD])
    event = event_of(writer)
    assert isinstance(event, RowsEvent)
    assert event.table is None


def test_table_map_ends_with_its_statement():
    writer = BinlogWriter()
    writer.table_map(COLUMNS, metadata=optional_metadata(COLUMNS))
    writer.rows(30, COLUMNS, [OLD], ends_statement=False)
    writer.rows(30, COLUMNS, [OLD])
    writer.rows(30, COLUMNS, [OLD])
    tables = [event.table for event in events_of(writer.data) if isinstance(event, RowsEvent)]
    assert [table is not None for table in tables] == [True, True, False]


def test_compressed_rows_that_lie_about_their_length_are_a_user_error():
    writer = BinlogWriter(checksum=False)
    writer.table_map(COLUMNS)
    offset = writer.rows(166, COLUMNS, [OLD])
    # The wrapped rows follow table id, flags, column count and one byte of bits.
    length_at = offset + 19 + 6 + 2 + 1 + 1 + 1
    writer.data[length_at] ^= 0x7F
    with pytest.raises(ParaplyError, match="claims"):
        events_of(writer.data)
