"""Every column type: what a writer encodes, the decoder gives back."""

from __future__ import annotations

import struct
import zlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.column_types import ColumnType, WireColumn, column_reader
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.temporal import timestamp_text
from paraply.vocabulary.errors import ParaplyError
from tests.builders import column_specs as spec
from tests.builders.log_reading import changes_of, log_with_rows, round_trip


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("unsigned", [False, True])
@given(data=st.data())
def test_integers_round_trip(width, unsigned, data):
    bits = 8 * width
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    value = data.draw(st.integers(low, high) | st.sampled_from([low, high]))
    assert round_trip(spec.integer(width, unsigned=unsigned), value) == value


@given(st.floats(allow_nan=False))
def test_doubles_round_trip(value):
    assert round_trip(spec.real(8), value) == value


@given(st.floats(width=32, allow_nan=False))
def test_floats_round_trip(value):
    assert round_trip(spec.real(4), value) == value


@given(st.sampled_from([0, 1901, 2155]) | st.integers(1901, 2155))
def test_years_round_trip(value):
    assert round_trip(spec.year(), value) == value


@given(st.data())
def test_decimals_round_trip_exactly(data):
    scale = data.draw(st.integers(0, 30))
    precision = data.draw(st.integers(max(1, scale), 65))
    digits = data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    sign, magnitude = ("-", -digits) if digits < 0 else ("", digits)
    text = f"{magnitude:0{scale + 1}d}"
    value = Decimal(f"{sign}{text[: len(text) - scale]}.{text[len(text) - scale :]}")
    decoded = round_trip(spec.decimal(precision, scale), value)
    assert decoded == value
    assert isinstance(decoded, Decimal)


@given(st.data())
def test_bits_round_trip(data):
    bits = data.draw(st.integers(1, 64))
    value = data.draw(st.integers(0, (1 << bits) - 1))
    assert round_trip(spec.bit(bits), value) == value


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=70))
def test_text_round_trips_in_utf8mb4(value):
    assert round_trip(spec.varchar(1000), value) == value
    assert round_trip(spec.varchar(1000), value[:50]) == value[:50]
    assert round_trip(spec.varchar(255), value[:50]) == value[:50]
    assert round_trip(spec.blob(4, spec.UTF8MB4), value) == value


@given(st.binary(max_size=255))
def test_byte_strings_round_trip(value):
    assert round_trip(spec.varchar(300, spec.BINARY), value) == value
    assert round_trip(spec.blob(1), value) == value
    assert round_trip(spec.geometry(), value) == value
    assert round_trip(spec.vector(), value) == value


@given(st.binary(max_size=8))
def test_binary_columns_get_their_zero_bytes_back(value):
    assert round_trip(spec.binary(8), value) == value.ljust(8, b"\0")


@pytest.mark.parametrize("size", [10, 255, 256, 600, 1020])
def test_char_lengths_over_255_are_told_by_two_bits_of_the_type(size):
    text = "x" * size
    assert round_trip(spec.char(size), text) == text


@pytest.mark.parametrize(
    ("collation", "charset"),
    [
        (8, "latin-1"),
        (28, "gbk"),
        (35, "utf-16-be"),
        (54, "utf-16-be"),
        (60, "utf-32-be"),
        (13, "shift_jis"),
    ],
)
def test_text_is_decoded_by_its_character_set(collation, charset):
    text = "abc" if charset == "latin-1" else "日本"
    assert round_trip(spec.varchar(100, collation, charset), text) == text


def test_latin1_is_the_servers_not_the_standards():
    assert round_trip(spec.varchar(9, spec.LATIN1), b"\x80\x81\xe9") == "€\x81é"


@pytest.mark.parametrize("collation", [None, 3, 9999])
def test_text_of_unknown_character_set_stays_bytes(collation):
    column = spec.varchar(9, collation)
    (change,) = changes_of(
        log_with_rows([column], [["abc"]], metadata=b"" if collation is None else None).data
    )
    assert change.after == (b"abc",)


def test_text_that_is_not_in_its_character_set_stays_bytes():
    assert round_trip(spec.varchar(9), b"\xff\xfe") == b"\xff\xfe"


@given(st.data())
def test_enums_and_sets_round_trip(data):
    count = data.draw(st.sampled_from([1, 3, 8, 9, 17, 25, 33, 64]))
    names = [f"m{number}" for number in range(count)]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True))
    value = ",".join(name for name in names if name in chosen)
    assert round_trip(spec.set_of(*names), value) == value
    many = [f"e{number}" for number in range(count * 10)]
    member = data.draw(st.sampled_from([*many, ""]))
    assert round_trip(spec.enum(*many), member) == member


def test_enum_and_set_without_members_are_numbers():
    columns = [spec.enum("a", "b"), spec.set_of("x", "y")]
    (change,) = changes_of(log_with_rows(columns, [["b", "x,y"]], metadata=b"").data)
    assert change.after == (2, 3)


def test_enum_number_without_a_member_is_malformed():
    column = spec.enum("a").named("e")
    log = log_with_rows([column], [], row_data=b"\0\5")
    with pytest.raises(MalformedError, match="ENUM number 5"):
        changes_of(log.data)


YEARS, MONTHS, DAYS = st.integers(0, 9999), st.integers(0, 12), st.integers(0, 31)
CLOCKS = st.tuples(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
DIGITS = st.integers(0, 6)


def _fraction(data, digits: int) -> str:
    if not digits:
        return ""
    return "." + f"{data.draw(st.integers(0, 10**digits - 1)):0{digits}d}"


@given(st.data(), DIGITS, YEARS, MONTHS, DAYS, CLOCKS)
def test_datetimes_round_trip_zero_dates_included(data, digits, year, month, day, clock):
    text = f"{year:04d}-{month:02d}-{day:02d} {clock[0]:02d}:{clock[1]:02d}:{clock[2]:02d}"
    text += _fraction(data, digits)
    assert round_trip(spec.datetime2(digits), text) == text


@given(st.data(), DIGITS, st.integers(0, 838), CLOCKS, st.booleans())
def test_times_round_trip_negative_ones_included(data, digits, hours, clock, negative):
    text = f"{hours:02d}:{clock[1]:02d}:{clock[2]:02d}{_fraction(data, digits)}"
    if negative and any(character not in "0:." for character in text):
        text = "-" + text
    assert round_trip(spec.time2(digits), text) == text


@given(st.data(), DIGITS, st.integers(1, (1 << 32) - 1))
def test_timestamps_are_utc_text(data, digits, seconds):
    fraction = _fraction(data, digits)
    decoded = round_trip(spec.timestamp2(digits), (seconds, fraction[1:]))
    assert decoded == timestamp_text(seconds) + fraction


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0000-00-00 00:00:00"),
        (1, "1970-01-01 00:00:01"),
        (951_782_400, "2000-02-29 00:00:00"),
        ((1 << 32) - 1, "2106-02-07 06:28:15"),
    ],
)
def test_timestamp_text_is_utc_and_zero_is_the_zero_date(seconds, text):
    assert timestamp_text(seconds) == text


@given(YEARS, MONTHS, DAYS)
def test_dates_round_trip(year, month, day):
    text = f"{year:04d}-{month:02d}-{day:02d}"
    assert round_trip(spec.date(), text) == text


@pytest.mark.parametrize(
    ("code", "width", "number", "text"),
    [
        (11, 3, 8385959, "838:59:59"),
        (11, 3, -10203, "-01:02:03"),
        (12, 8, 20240229235958, "2024-02-29 23:59:58"),
        (12, 8, 0, "0000-00-00 00:00:00"),
        (7, 4, 951_782_400, "2000-02-29 00:00:00"),
    ],
)
def test_temporal_types_of_before_5_6_4_are_read(code, width, number, text):
    assert round_trip(spec.old_temporal(code, width), number) == text


@pytest.mark.parametrize(
    ("first_byte", "stored"),
    [
        (bytes([0x00]), b"plain"),
        (bytes([0x81, 5]), zlib.compress(b"plain")),
        (bytes([0x89, 5]), zlib.compressobj(9, zlib.DEFLATED, -15)),
    ],
)
def test_mariadb_compressed_columns_are_inflated(first_byte, stored):
    if not isinstance(stored, bytes):
        stored = stored.compress(b"plain") + stored.flush()
    for column in (
        WireColumn(kind=ColumnType.BLOB_COMPRESSED, size=2),
        WireColumn(kind=ColumnType.VARCHAR_COMPRESSED, size=3000),
    ):
        data = first_byte + stored
        value, end = column_reader(column)(struct.pack("<H", len(data)) + data, 0)
        assert value == b"plain"
        assert end == 2 + len(data)


@pytest.mark.parametrize("data", [b"\x81\xffabc", b"\x71\1", b"\x85" + b"\xff" * 9])
def test_broken_compressed_column_is_malformed(data):
    reader = column_reader(WireColumn(kind=ColumnType.BLOB_COMPRESSED, size=1))
    with pytest.raises(MalformedError):
        reader(bytes([len(data)]) + data, 0)


@pytest.mark.parametrize(
    ("code", "metadata"),
    [(246, b"\x05\x06"), (246, b"\xff\x00"), (16, b"\x00\x09"), (252, b"\x05"), (18, b"\x07")],
)
def test_metadata_that_cannot_be_is_refused(code, metadata):
    column = spec.ColumnSpec(code=code, metadata=metadata, encode=bytes)
    with pytest.raises(ParaplyError, match="P107"):
        changes_of(log_with_rows([column], [], metadata=b"").data)
