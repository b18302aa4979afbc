"""Records refuse to write what could not be read back."""

from __future__ import annotations

from decimal import Decimal

import pytest

from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.log import Operation
from paraply.vocabulary.records import MalformedRecordError, encode_record
from paraply.vocabulary.transactions import RowWrite, Transaction


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (HistoryHeader(seed=2**63), "expected an integer of 64 bits, got 9223372036854775808"),
        (HistoryHeader(subject="\ud800"), "expected text without lone surrogates"),
        (HistoryHeader(options={"a": None}), "expected str or int or bool, got None"),
        (Transaction(id=1, write_set=frozenset({2**64})), "expected an integer of 64 bits"),
        (Transaction(id=1, write_set=frozenset({1.5})), "expected str or int, got 1.5"),
        (RowWrite(table="t", operation=Operation.INSERT, after=(Decimal(1),)), "null, a number"),
        (RowWrite(table="t", operation=Operation.INSERT, after=({},)), "null, a number"),
        (RowWrite(table="t", operation=Operation.INSERT, after=(float("nan"),)), "null, a number"),
    ],
)
def test_record_that_could_not_be_read_back_is_not_written(record, message):
    with pytest.raises(MalformedRecordError, match=message):
        encode_record(record)


def test_record_with_defaults_has_every_field():
    event = Event(kind=EventKind.CRASHED, time=3)
    assert encode_record(event) == {"kind": "crashed", "time": 3}
    assert list(encode_record(event, with_defaults=True)) == list(Event._fields)
