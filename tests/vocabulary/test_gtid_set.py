"""GTID sets against plain sets of (source, number), as text and as bytes."""

from __future__ import annotations

import struct
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GTID_NUMBER_MAX, Gtid, GtidSet, GtidSource
from paraply.vocabulary.gtid_set_binary import decode_gtid_set, encode_gtid_set
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set
from paraply.vocabulary.intervals import IntervalSet

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
B = "55778904-0299-11f1-b1b8-4ef0c4956feb"
SOURCES = [GtidSource(uuid, tag) for uuid, tag in product([A, B], ["", "blue", "green"])]

gtids = st.builds(Gtid, st.sampled_from(SOURCES), st.integers(1, 12))
naive_sets = st.frozensets(gtids, max_size=30)


@pytest.mark.long
@given(naive_sets, naive_sets)
def test_operations_agree_with_plain_sets(a, b):
    one, two = GtidSet.of(a), GtidSet.of(b)
    assert one | two == GtidSet.of(a | b)
    assert one & two == GtidSet.of(a & b)
    assert one - two == GtidSet.of(a - b)
    assert (one <= two, one < two, one >= two, one > two) == (a <= b, a < b, a >= b, a > b)
    assert (one == two, one.isdisjoint(two)) == (a == b, a.isdisjoint(b))
    assert (len(one), bool(one)) == (len(a), bool(a))
    assert hash(one | two) == hash(two | one)


@given(naive_sets, gtids)
def test_one_gtid_is_looked_up_and_added_as_in_plain_sets(a, gtid):
    one = GtidSet.of(a)
    assert (gtid in one) == (gtid in a)
    assert one.add(gtid) == GtidSet.of(a | {gtid})


@given(naive_sets)
def test_intervals_are_the_gtids(a):
    one = GtidSet.of(a)
    found = {Gtid(i.source, n) for i in one for n in range(i.first, i.last + 1)}
    assert found == a
    assert len(list(one)) == one.interval_count
    assert set(one.sources) == {gtid.source for gtid in a}


@given(naive_sets, st.sampled_from([",", ",\n", " , "]))
def test_set_round_trips_as_text(a, separator):
    one = GtidSet.of(a)
    assert parse_gtid_set(one.format(separator)) == one
    assert parse_gtid_set(str(one)) == one


@given(naive_sets)
def test_set_round_trips_as_bytes(a):
    one = GtidSet.of(a)
    assert decode_gtid_set(encode_gtid_set(one)) == one
    assert decode_gtid_set(encode_gtid_set(one, with_tags=True)) == one
    untagged = {gtid for gtid in a if not gtid.source.tag}
    assert decode_gtid_set(encode_gtid_set(one, with_tags=False)) == GtidSet.of(untagged)


@given(gtids)
def test_gtid_round_trips_as_text(gtid):
    assert parse_gtid(str(gtid)) == gtid


def test_set_is_printed_as_the_server_prints_it():
    text = f"{B}:3,{A}:green:7,{A}:1-3:2-5:9,{A}:blue:4"
    one = parse_gtid_set(text)
    assert one.format() == f"{A}:1-5:9:blue:4:green:7,\n{B}:3"
    assert repr(one) == f"<GtidSet {A}:1-5:9:blue:4:green:7,{B}:3>"


@pytest.mark.parametrize(
    "text",
    [
        f"{A}:1-3:Blue:4,{B}:1",
        f"\n {A} : 1 - 3 : blue : 4 ,\n{B}:1\n",
        f",,{A}:3:2:1-2,,{B}:1,{A}:BLUE:4,",
        f"{A.replace('-', '').upper()}:1-3:blue:4,{{{B}}}:1",
    ],
)
def test_every_spelling_that_the_server_reads_is_the_same_set(text):
    assert str(parse_gtid_set(text)) == f"{A}:1-3:blue:4,{B}:1"


@pytest.mark.parametrize("text", ["", " \n", ",", " , ,"])
def test_nothing_is_the_empty_set(text):
    assert parse_gtid_set(text) == EMPTY_GTID_SET
    assert str(EMPTY_GTID_SET) == ""


def test_numbers_reach_from_one_to_the_last():
    one = parse_gtid_set(f"{A}:1-{GTID_NUMBER_MAX}")
    assert one.count == GTID_NUMBER_MAX
    assert decode_gtid_set(encode_gtid_set(one)) == one
    assert (one | parse_gtid_set(f"{B}:1-{GTID_NUMBER_MAX}")).count == 2 * GTID_NUMBER_MAX


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "expected a UUID at character 1"),
        (f"{A[:-1]}:1", "expected a UUID at character 1"),
        (f"{A}0:1", "expected a UUID at character 1"),
        (f"{{{A}:1", "expected a UUID at character 1"),
        (f"{A}}}:1", "expected a UUID at character 1"),
        ("3e11fa47-71ca11e19e33c80aa9429562:1", "expected a UUID at character 1"),
        (f"{A}", "expected ':' and a number at character 37"),
        (f"{A}:", "expected a number, or a tag of at most 32 characters at character 38"),
        (f"{A}:0", r"outside \[1, 2\*\*63-2\] at character 38"),
        (f"{A}:1-{2**63 - 1}", "outside .* at character 38"),
        (f"{A}:1-{10**30}", "expected ':' or ','"),
        (f"{A}:5-3", "ends before it starts at character 38"),
        (f"{A}:1-", "expected ':' or ',' at character 39"),
        (f"{A}:1-2-3", "expected ':' or ',' at character 41"),
        (f"{A}:1 {B}:1", "expected ':' or ',' at character 40"),
        (f"{A}:blue", "expected ':' and a number at character 42"),
        (f"{A}:blue:green:1", "expected a number, or a tag .* at character 43"),
        (f"{A}:{'x' * 33}:1", "a tag of at most 32 characters at character 38"),
        (f"{A}:1,{B}:1:-4", r"P001 my.cnf:3: '\.\.\..*' is not a GTID set: .*at character 79"),
    ],
)
def test_what_is_no_gtid_set_is_refused_with_reason_and_place(text, reason):
    with pytest.raises(ParaplyError, match=reason):
        parse_gtid_set(text, where="my.cnf:3")


@pytest.mark.parametrize("text", ["", f"{A}:1-2", f"{A}:1,{B}:1"])
def test_none_or_several_gtids_are_no_single_gtid(text):
    with pytest.raises(ParaplyError, match="expected exactly one GTID"):
        parse_gtid(text)


@given(st.text(alphabet=f"{A}:,- \nbluexyz019", max_size=60))
def test_any_text_is_a_set_or_a_clean_refusal(text):
    try:
        one = parse_gtid_set(f"{A}:{text}")
    except ParaplyError:
        return
    assert parse_gtid_set(str(one)) == one


@pytest.mark.parametrize("number", [0, GTID_NUMBER_MAX + 1])
def test_gtid_outside_the_range_is_refused(number):
    with pytest.raises(ValueError, match="a GTID's number lies in"):
        Gtid(SOURCES[0], number)
    with pytest.raises(ValueError, match="must lie in"):
        GtidSet({SOURCES[0]: IntervalSet([(number, number)])})


def test_other_things_are_neither_equal_nor_inside():
    assert EMPTY_GTID_SET != ""
    assert f"{A}:1" not in parse_gtid_set(f"{A}:1")


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        ("0000000000000000", ""),
        # PREVIOUS_GTIDS bodies of a MySQL 8.0 and of a 9.x server.
        (
            "0100000000000000396e294c1ca411f19ae700155da79c6b"
            "010000000000000001000000000000000500000000000000",
            "396e294c-1ca4-11f1-9ae7-00155da79c6b:1-4",
        ),
        (
            "010200000000000155778904029911f1b1b84ef0c4956feb00"
            "010000000000000001000000000000000e00000000000000"
            "55778904029911f1b1b84ef0c4956feb0a6d79746167"
            "010000000000000001000000000000000300000000000000",
            "55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2",
        ),
    ],
)
def test_bytes_that_servers_wrote_are_read_and_written(encoded, text):
    data = bytes.fromhex(encoded)
    assert str(decode_gtid_set(data)) == text
    assert decode_gtid_set(memoryview(data)) == parse_gtid_set(text)
    assert encode_gtid_set(parse_gtid_set(text)) == data


def encoded(*pairs, count=1, intervals=None, uuid=bytes(16), tail=b""):
    body = b"".join(struct.pack("<qq", *pair) for pair in pairs)
    number = len(pairs) if intervals is None else intervals
    return struct.pack("<Q", count) + uuid + struct.pack("<Q", number) + body + tail


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"P004 .*at its byte 0: 8 bytes are needed, 0 are left"),
        (encoded((1, 2), count=2**56 - 1), "byte 8: 72057594037927935 sources need"),
        (encoded((1, 2), count=2**57), "byte 0: format 2, repeated as 0"),
        (encoded((1, 2), count=2**56), "byte 0: format 1, repeated as 0"),
        (encoded((1, 2), intervals=2**64 - 1), "byte 24: 18446744073709551615 intervals need"),
        (encoded((1, 2), intervals=2), "byte 24: 2 intervals need 32 bytes"),
        (encoded((1, 2), tail=b"x"), "byte 48: 1 bytes are left over"),
        (encoded((0, 2)), r"interval \[0, 2\) is empty, out of range or out of order"),
        (encoded((2, 2)), r"interval \[2, 2\)"),
        (encoded((-5, 2)), r"interval \[-5, 2\)"),
        (encoded((1, 3), (3, 4)), r"interval \[3, 4\)"),
        (encoded((1, 3), (2, 9)), r"interval \[2, 9\)"),
        (encoded((1, 2))[:8] + encoded((1, 2))[8:] * 2, "bytes are left over"),
        (struct.pack("<Q", 2) + encoded((1, 2))[8:] * 2, "comes twice"),
        (encoded(count=1 << 56 | 1 << 8 | 1)[:-1], "byte 8: 1 sources need 25 bytes"),
        (encoded((1, 2), count=1 << 56 | 1 << 8 | 1, uuid=bytes(16) + b"\x03"), "byte 24: a tag"),
        (encoded((1, 2), count=1 << 56 | 1 << 8 | 1, uuid=bytes(16) + b"\x42"), "byte 24: a tag"),
        (
            encoded((1, 2), count=1 << 56 | 1 << 8 | 1, uuid=bytes(16) + b"\x027"),
            "byte 24: b'7' is not a tag",
        ),
        (
            encoded(count=1 << 56 | 1 << 8 | 1, uuid=bytes(16) + b"\x40"),
            "byte 25: 32 bytes are needed, 8 are left",
        ),
    ],
)
def test_malformed_bytes_are_refused_with_the_place(data, message):
    with pytest.raises(ParaplyError, match=message):
        decode_gtid_set(data, where="binlog.000001:123")


@given(naive_sets, st.booleans(), st.data())
def test_damaged_bytes_are_a_set_or_a_clean_refusal(a, with_tags, data):
    good = encode_gtid_set(GtidSet.of(a), with_tags=with_tags)
    at = data.draw(st.integers(0, len(good)))
    bad = good[:at] + data.draw(st.binary(max_size=3)) + good[at + data.draw(st.integers(0, 3)) :]
    try:
        one = decode_gtid_set(bad)
    except ParaplyError:
        return
    assert decode_gtid_set(encode_gtid_set(one)) == one


@pytest.mark.parametrize(("step", "intervals"), [(2, 1), (5, 10_000)])
def test_ten_thousand_intervals_are_united_and_taken_apart(step, intervals):
    one = GtidSet({SOURCES[0]: IntervalSet((n, n) for n in range(1, 10_000 * step, step))})
    two = GtidSet({SOURCES[0]: IntervalSet((n, n) for n in range(2, 10_000 * step + 1, step))})
    united = one | two
    assert (united.count, united.interval_count) == (20_000, intervals)
    assert united - two == one
    assert united & two == two
    assert parse_gtid_set(str(united)) == united
    assert decode_gtid_set(encode_gtid_set(united)) == united
