"""Hypothesis strategies for whole histories, built from the types of the records' fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache
from types import UnionType
from typing import NewType, Union, get_args, get_origin

from hypothesis import strategies as st

from paraply.vocabulary.events import OUTCOMES, Event, EventKind, Observation
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.log import ABSENT
from paraply.vocabulary.records import record_fields
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction

words = st.text(max_size=6) | st.sampled_from(
    [
        "w1",
        "r2",
        "7",
        "-0",
        "a b",
        'q"x',
        "@r/w2",
        "T1",
        "{}",
        "uuid:1-5,u2:1",
        "x|y;z",
        "a=T1",
        "é",
    ]
)
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)
wide = st.integers(-(2**63), 2**64 - 1)
column_values = st.one_of(
    st.none(),
    wide,
    st.floats(allow_nan=False, allow_infinity=False),
    words,
    st.binary(max_size=4),
    st.just(ABSENT),
)


@cache
def values_of(hint):
    """Return a strategy for the values of a field's type."""
    if isinstance(hint, NewType):
        return values_of(hint.__supertype__)
    plain = {int: integers, str: words, bool: st.booleans(), object: column_values}
    if hint in plain:
        return plain[hint]
    arguments = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        if type(None) in arguments:
            return st.none() | values_of(arguments[0])
        return st.one_of(*(wide if each is int else values_of(each) for each in arguments))
    if get_origin(hint) is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if get_origin(hint) in (set, frozenset):
        return st.sets(values_of(arguments[0]), max_size=3).map(get_origin(hint))
    if get_origin(hint) is Mapping:
        return st.dictionaries(words, values_of(arguments[1]), max_size=3)
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    if hint is LogicalTimestamp:
        small = st.integers(-1, 5)
        return st.builds(LogicalTimestamp.as_recorded, small, small)
    return records_of(hint)


@st.composite
def records_of(draw, cls, **fixed):
    """Draw a record: required fields, the fixed ones, and up to three others not at default."""
    entries = {e.name: e for e in record_fields(cls) if e.name not in fixed}
    optional = [name for name, entry in entries.items() if not entry.is_required]
    varied = draw(st.sets(st.sampled_from(optional), max_size=3)) if optional else set()
    values = {name: draw(strategy) for name, strategy in fixed.items()}
    for name, entry in entries.items():
        if entry.is_required or name in varied:
            values[name] = draw(values_of(entry.hint))
    return cls(**values)


any_transaction = records_of(Transaction)


def _without_tables_that_no_server_has(header: HistoryHeader) -> HistoryHeader:
    """Drop tables whose keys have other columns than they."""
    kept = (
        table
        for table in header.schema
        if all(0 <= column < len(table.columns) for column in table.key_columns())
    )
    return replace(header, schema=tuple(kept))


headers = records_of(HistoryHeader, format_version=st.just(1)).map(
    _without_tables_that_no_server_has
)


@st.composite
def histories(draw):
    """Draw a history whose parts fit."""
    ids = sorted(draw(st.sets(st.integers(1, 50), max_size=3)))
    transactions = [replace(draw(any_transaction), id=number) for number in ids]
    times = sorted(draw(st.lists(st.integers(-5, 40), max_size=4)))
    events = [draw(events_at(time, transactions)) for time in times]
    return History(
        header=draw(headers),
        transactions=tuple(transactions),
        events=tuple(events),
        is_complete=draw(st.booleans()),
    )


@st.composite
def events_at(draw, time, transactions):
    by_id = {transaction.id: transaction for transaction in transactions}
    kind = draw(st.sampled_from(EventKind if by_id else [EventKind.READ, EventKind.CRASHED]))
    if kind is EventKind.VIEW_INSTALLED:
        return Event(kind=kind, time=time, view=draw(integers), members=("r1", draw(words)))
    named = st.sampled_from(list(by_id)) if by_id else st.nothing()
    outcomes = sorted(OUTCOMES.get(kind, ()), key=lambda outcome: outcome.value)
    event = draw(
        records_of(
            Event,
            kind=st.just(kind),
            time=st.just(time),
            transaction=named if by_id else st.none(),
            other=st.none() | named,
            transactions=st.lists(named, max_size=3).map(tuple) if by_id else st.just(()),
            outcome=st.sampled_from(outcomes) if outcomes else st.none(),
            observed=st.just(()),
            row=st.none(),
            worker=st.none() | st.integers(0, 2**63 - 1),
            attempt=st.integers(1, 3) | st.integers(1, 2**63 - 1),
        )
    )
    rows = by_id[event.transaction].rows if by_id else ()
    if rows:
        event = event._replace(row=draw(st.integers(0, len(rows) - 1)))
    return event._replace(observed=draw(observations(list(by_id))))


def observations(ids):
    writer = st.sampled_from([0, *ids])
    return st.lists(st.builds(Observation, words | wide, writer), max_size=3).map(tuple)
