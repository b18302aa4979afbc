from __future__ import annotations

import json
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.json_binary import DEPTH_MAX, JsonOpaque, decode_json, json_text
from tests.builders import column_specs as spec
from tests.builders.json_writer import encode_json
from tests.builders.log_reading import round_trip

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=25,
)


@pytest.mark.long
@given(DOCUMENTS)
def test_documents_round_trip(document):
    assert decode_json(encode_json(document)) == document


@pytest.mark.long
@given(DOCUMENTS)
def test_printed_documents_are_the_same_json(document):
    text = round_trip(spec.json_column(), encode_json(document))
    assert json.loads(text) == document


@pytest.mark.parametrize(
    "document", [["x" * 70_000, 1, 65_536, -40_000], {"k" * 9: list(range(30_000))}]
)
def test_large_containers_inline_four_byte_numbers(document):
    data = encode_json(document)
    assert data[0] in (1, 3)
    assert decode_json(data) == document


def test_empty_value_is_json_null():
    assert round_trip(spec.json_column(), b"") == "null"


def test_text_looks_as_the_server_prints_it():
    document = {"a": 1, "b": [1.5, True, None, 'q"\n'], "c": {}, "d": 1e20}
    assert json_text(document) == '{"a": 1, "b": [1.5, true, null, "q\\"\\n"], "c": {}, "d": 1e20}'


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (246, b"\x0a\x03" + bytes.fromhex("7ffffff3fe a7".replace(" ", "")), "-12.344"),
        (10, struct.pack("<q", ((2024 * 13 + 1) << 5 | 2) << 17 << 24), '"2024-01-02"'),
        (
            12,
            struct.pack(
                "<q", ((((2024 * 13 + 1) << 5 | 2) << 17 | 3 << 12 | 4 << 6 | 5) << 24) + 67
            ),
            '"2024-01-02 03:04:05.000067"',
        ),
        (11, struct.pack("<q", -((1 << 12 | 2 << 6 | 3) << 24) - 500_000), '"-01:02:03.500000"'),
        (15, b"foo", '"base64:type15:Zm9v"'),
    ],
)
def test_values_that_json_lacks_are_printed_like_the_server_does(kind, data, text):
    decoded = decode_json(encode_json([(kind, data)]))
    assert decoded == [JsonOpaque(kind, data)]
    assert json_text(decoded) == f"[{text}]"


@pytest.mark.parametrize(
    "data",
    [
        b"\x0d",  # an unknown type
        b"\x04\x07",  # an unknown literal
        b"\x02\xff\xff\x04\x00",  # a count past the end
        b"\x00\x01\x00\xff\xff" + bytes(9),  # a size past the end
        b"\x0c\xff\xff\xff\xff\xff\x01",  # a length that never ends
        b"\x0f\x0a\x08abc",  # an opaque value cut short
        b"\x0b\x00",  # a double cut short
    ],
)
def test_damaged_documents_are_malformed(data):
    with pytest.raises(MalformedError):
        decode_json(data)


def test_array_that_contains_itself_is_malformed():
    # One entry, of type small array, whose offset is the array's own start.
    with pytest.raises(MalformedError):
        decode_json(b"\x02" + struct.pack("<HHBH", 1, 7, 2, 0))


def test_values_that_share_bytes_cannot_blow_up():
    text = b"\x0c" and bytes([0xE8, 0x07]) + b"x" * 1000  # a string of 1000 bytes
    count = 5000
    data_at = 4 + 3 * count
    entries = (b"\x0c" + struct.pack("<H", data_at)) * count
    data = b"\x02" + struct.pack("<HH", count, data_at + len(text)) + entries + text
    tracemalloc.start()
    try:
        with pytest.raises(MalformedError, match="overlap"):
            decode_json(data)
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_nesting_is_allowed_to_the_servers_limit_only():
    document: object = []
    for _ in range(DEPTH_MAX - 1):
        document = [document]
    assert decode_json(encode_json(document)) == document
    with pytest.raises(MalformedError, match="deeper"):
        decode_json(encode_json([document]))
