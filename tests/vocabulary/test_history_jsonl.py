"""Histories as JSON Lines: what was written is read back, and what is not a history is refused."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.vocabulary import history_jsonl
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import bounded_lines, read_histories, write_history
from paraply.vocabulary.log import Operation
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.transactions import RowWrite, Transaction
from tests.vocabulary.histories import column_values, histories

SHORT = list(write_history(parse_history("seed=7 | T1{a} 1<0 | begun T1@w2 ; crashed")))


def read(*lines):
    return list(read_histories(lines, name="h.jsonl"))


@pytest.mark.long
@settings(max_examples=40)
@given(st.lists(histories(), max_size=2))
def test_histories_round_trip_through_lines(several):
    lines = [line for history in several for line in write_history(history)]
    assert list(read_histories(lines)) == several


@pytest.mark.long
@given(histories())
def test_written_lines_are_utf8_without_line_ends(history):
    for line in write_history(history):
        line.encode()
        assert "\n" not in line


def test_written_lines_leave_out_defaults_and_say_their_record():
    assert [json.loads(line) for line in SHORT] == [
        {"record": "history", "format_version": 1, "seed": 7},
        {
            "record": "transaction",
            "id": 1,
            "write_set": ["a"],
            "timestamp": {"last_committed": 0, "sequence_number": 1},
        },
        {"record": "event", "kind": "begun", "time": 1, "worker": 2, "transaction": 1},
        {"record": "event", "kind": "crashed", "time": 2},
        {"record": "end", "transactions": 1, "events": 2},
    ]


def test_history_without_end_is_read_as_broken_off():
    (history,) = read(*SHORT[:-1])
    assert not history.is_complete
    assert len(history.events) == 2


def test_history_that_another_one_follows_without_end_is_broken_off():
    first, second = read(*SHORT[:2], *SHORT)
    assert (first.is_complete, second.is_complete) == (False, True)


def test_blank_lines_are_passed_over():
    assert read("", *SHORT, "  \n") == read(*SHORT)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"P505 h.jsonl:1: .*not JSON"),
        (["[" * 100_000], r"P505 h.jsonl:1: .*not JSON"),
        (["[]"], "no JSON object"),
        (['{"record":"x"}'], "not 'x'"),
        (['{"record":[]}'], r"not \[\]"),
        ([*SHORT[:2], '{"record":"end","transactions":true,"events":0}'], "the end counts"),
        ([SHORT[0], '{"record":"transaction","id":1,"write_set":["a","a"]}'], "without repetition"),
        ([SHORT[1]], "a transaction before any history"),
        ([SHORT[4]], r"the end counts .*, but there are"),
        (['{"record":"end","transactions":0,"events":0}'], "an end before any history"),
        ([*SHORT[:3], SHORT[1]], "h.jsonl:4: .*a transaction after an event"),
        ([SHORT[0], SHORT[4]], "the end counts"),
        (['{"record":"history","seed":"x"}'], "seed: expected an integer of 64 bits, got 'x'"),
        (['{"record":"history","seed":true}'], "seed: expected an integer"),
        (['{"record":"history","seed":1e3}'], "seed: expected an integer"),
        (['{"record":"history","seed":9223372036854775808}'], "seed: expected an integer"),
        (['{"record":"history","seed":NaN}'], "NaN is no number"),
        (['{"record":"history","sead":1}'], r"unknown field 'sead' \(known: format_version, "),
        (['{"record":"history","subject":7}'], "subject: expected a string, got 7"),
        (['{"record":"history","subject":"\\ud800"}'], "subject: expected text without lone"),
        (['{"record":"history","options":[]}'], r"options: expected an object, got \[\]"),
        (['{"record":"history","options":{"a":null}}'], "options.a: expected str or int or bool"),
        (['{"record":"history","members":{}}'], "members: expected an array"),
        (['{"record":"history","tier":"T9"}'], "tier: expected one of T0, T1"),
        (['{"record":"history","schema":[{"columns":[]}]}'], r"schema\[0\]: field 'name' is miss"),
        (
            ['{"record":"history","schema":[{"name":"t","columns":[],"keys_known":1}]}'],
            r"schema\[0\].keys_known: expected true or false, got 1",
        ),
        (['{"record":"history","schema":[7]}'], r"schema\[0\]: expected an object, got 7"),
        ([SHORT[0], '{"record":"transaction"}'], "transaction: field 'id' is missing"),
        (['{"record":"history","format_version":2}'], "P506 h.jsonl:1: .*version 2"),
        (['{"record":"history","format_version":"2"}'], "P505 .*format_version: expected"),
        ([*SHORT[:2], SHORT[1]], "P504 h.jsonl:1: .*transaction 1 follows transaction 1"),
    ],
)
def test_what_is_no_history_is_refused_with_file_line_and_field(lines, message):
    with pytest.raises(ParaplyError, match=message):
        read(*lines)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ('[{"hex":"0g"}]', "expected hexadecimal digits"),
        ('[{"hex":7}]', "expected a string"),
        ("[true]", "expected null, a number, text"),
        ("[[]]", "expected null, a number, text"),
        ('[{"HEX":""}]', "expected null, a number, text"),
        ("[1e999]", "expected null, a number, text"),
        ("[18446744073709551616]", "expected an integer of 64 bits"),
    ],
)
def test_column_value_of_no_known_form_is_refused(image, message):
    row = f'{{"table":"t","operation":"insert","after":{image}}}'
    line = f'{{"record":"transaction","id":1,"rows":[{row}]}}'
    with pytest.raises(ParaplyError, match=rf"rows\[0\].after\[0\]: .*{message}"):
        read(SHORT[0], line)


@given(st.lists(st.sampled_from(SHORT) | st.text(max_size=20), max_size=6))
def test_any_lines_are_histories_or_a_clean_refusal(lines):
    try:
        found = read(*lines)
    except ParaplyError:
        return
    assert all(not tuple(history.faults()) for history in found)


@given(st.data())
def test_damaged_line_is_a_history_or_a_clean_refusal(data):
    lines = list(SHORT)
    number = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[number])))
    lines[number] = lines[number][:at] + data.draw(st.text(max_size=2)) + lines[number][at + 1 :]
    try:
        found = read(*lines)
    except ParaplyError:
        return
    assert all(not tuple(history.faults()) for history in found)


def test_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(history_jsonl, "LINE_CHARACTERS_MAX", 100)
    endless = io.StringIO('{"record":"' + "x" * 1000)
    with pytest.raises(ParaplyError, match="a line of 101 characters"):
        list(read_histories(bounded_lines(endless)))
    assert endless.tell() == 101


def test_bounded_lines_are_the_lines():
    assert list(bounded_lines(io.StringIO("\n".join(SHORT)))) == [
        *(line + "\n" for line in SHORT[:-1]),
        SHORT[-1],
    ]


def test_item_may_be_an_unsigned_number_of_64_bits_and_no_more():
    line = '{"record":"transaction","id":1,"write_set":[%d]}'
    (history,) = read(SHORT[0], line % (2**64 - 1))
    assert history.transaction(1).write_set == {2**64 - 1}
    with pytest.raises(ParaplyError, match=r"write_set\[0\]: expected an integer of 64 bits"):
        read(SHORT[0], line % 2**64)


@given(st.lists(column_values, max_size=3).map(tuple))
def test_column_value_of_every_kind_round_trips(image):
    row = RowWrite(table="t", operation=Operation.INSERT, after=image)
    history = History(transactions=(Transaction(id=1, rows=(row,)),))
    (back,) = read_histories(write_history(history))
    assert back == history
    assert [type(each) for each in back.transaction(1).rows[0].after] == [type(v) for v in image]
