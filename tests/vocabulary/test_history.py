"""A history knows its transactions, its members, and whether its parts fit."""

from __future__ import annotations

import pytest
from hypothesis import given

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import (
    OUTCOMES,
    REQUIRED_FIELDS,
    Event,
    EventKind,
    Observation,
    Outcome,
)
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.log import Operation
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.schema import Column, ForeignKey, KeyPart, TableSchema, UniqueKey
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionKind
from paraply.vocabulary.write_set import write_set
from tests.vocabulary.histories import histories


def with_events(*events):
    row = RowWrite(table="t", operation=Operation.INSERT, after=(1,))
    return History(transactions=(Transaction(id=1, rows=(row,)),), events=events)


def faults(*events):
    return list(with_events(*events).faults())


@pytest.mark.long
@given(histories())
def test_history_that_fits_has_no_faults_and_checks_to_itself(history):
    assert list(history.faults()) == []
    assert history.check() is history


def test_transaction_is_found_by_its_number():
    history = parse_history("T3{a} | T9{b}")
    assert history.transaction(9).write_set == {"b"}
    with pytest.raises(KeyError):
        history.transaction(1)


def test_members_are_those_of_the_header_then_others_in_order():
    history = parse_history("members=source,r2 | started @r3 ; started @r2 ; started")
    assert history.members == ("source", "r2", "r3", "r1")


def test_events_of_a_kind_come_in_order_and_by_member():
    history = parse_history("T1{a} | T2{b} | begun T2@r1 ; begun T1@r2 ; crashed @r2")
    assert [e.transaction for e in history.events_of(EventKind.BEGUN)] == [2, 1]
    both = history.events_of(EventKind.BEGUN, EventKind.CRASHED, member="r2")
    assert [e.kind for e in both] == [EventKind.BEGUN, EventKind.CRASHED]


def test_every_kind_says_what_it_needs():
    assert set(REQUIRED_FIELDS) == set(EventKind)
    assert frozenset().union(*OUTCOMES.values()) == set(Outcome)


@pytest.mark.parametrize("ids", [(1, 1), (2, 1), (0,), (-1,)])
def test_transaction_numbers_that_do_not_rise_from_one_are_a_fault(ids):
    history = History(transactions=tuple(Transaction(id=number) for number in ids))
    with pytest.raises(ParaplyError, match=r"P504 x.jsonl: .*transaction -?\d follows"):
        history.check(where="x.jsonl")


@pytest.mark.parametrize("column", [-1, 2])
@pytest.mark.parametrize("kind", ["unique", "foreign", "index"])
def test_keys_have_columns_of_their_tables(kind, column):
    parts = (KeyPart(column=1), KeyPart(column=column if kind == "unique" else 0))
    table = TableSchema(
        name="d.t",
        columns=(Column(name="a"), Column(name="b")),
        unique_keys=(UniqueKey(name="PRIMARY", parts=parts),),
        foreign_keys=(
            ForeignKey(
                name="f", columns=(column if kind == "foreign" else 1,), parent="d.p",
                parent_columns=("id",), index_columns=(column if kind == "index" else 1,),
            ),
        ),
    )  # fmt: skip
    history = History(header=HistoryHeader(schema=(table,)))
    assert list(history.faults()) == [f"a key of d.t has column {column} of 2"]


def test_time_may_stand_still_but_not_fall():
    still = Event(kind=EventKind.CRASHED, time=5)
    assert faults(still, still) == []
    assert faults(still, still._replace(time=4)) == ["event 2 has time 4 after time 5"]


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        (Event(kind=EventKind.BEGUN, time=1), "event 1 (begun) has no transaction"),
        (Event(kind=EventKind.CRASHED, time=1, worker=-1), "event 1 (crashed) has worker -1"),
        (Event(kind=EventKind.CRASHED, time=1, attempt=0), "event 1 (crashed) has attempt 0"),
        (
            Event(kind=EventKind.CERTIFIED, time=1, transaction=1),
            "event 1 (certified) has no outcome",
        ),
        (
            Event(kind=EventKind.CERTIFIED, time=1, transaction=1, outcome=Outcome.OK),
            "event 1 (certified) has outcome ok",
        ),
        (
            Event(kind=EventKind.BEGUN, time=1, transaction=1, outcome=Outcome.OK),
            "event 1 (begun) has outcome ok",
        ),
        (
            Event(kind=EventKind.BEGUN, time=1, transaction=2),
            "event 1 (begun) names transaction 2, not listed",
        ),
        (
            Event(kind=EventKind.BEGUN, time=1, transaction=1, other=3),
            "event 1 (begun) names other 3, not listed",
        ),
        (
            Event(kind=EventKind.RECOVERED, time=1, transactions=(1, 2)),
            "event 1 (recovered) lists transaction 2, not listed",
        ),
        (
            Event(kind=EventKind.READ, time=1, observed=(Observation("a", 0), Observation("b", 4))),
            "event 1 saw b written by transaction 4, not listed",
        ),
        (
            Event(kind=EventKind.ROW_APPLIED, time=1, transaction=1, outcome=Outcome.OK, row=1),
            "event 1 names row 1 of 1",
        ),
    ],
)
def test_event_that_does_not_fit_is_a_fault(event, fault):
    assert faults(event) == [fault]


def test_row_of_unlisted_transaction_is_one_fault():
    event = Event(kind=EventKind.BEGUN, time=1, transaction=2, row=0)
    assert faults(event) == ["event 1 (begun) names transaction 2, not listed"]


def test_histories_with_equal_parts_are_equal():
    assert parse_history("T1{a b}") == History(
        header=HistoryHeader(), transactions=(Transaction(id=1, write_set=write_set("b", "a")),)
    )


def test_transactions_conflict_by_items():
    one, two, three = parse_history("T1{a b} | T2{b} | T3{c}").transactions
    assert one.conflicts_with(two)
    assert two.conflicts_with(one)
    assert not one.conflicts_with(three)


@pytest.mark.parametrize("kind", [k for k in TransactionKind if k is not TransactionKind.ROWS])
def test_transaction_of_any_other_kind_is_a_barrier(kind):
    barrier = Transaction(id=1, kind=kind, write_set=write_set("a"))
    other = Transaction(id=2, write_set=write_set("b"))
    assert barrier.is_barrier
    assert barrier.conflicts_with(other)
    assert other.conflicts_with(barrier)


def test_rows_without_write_set_are_a_barrier():
    assert Transaction(id=1).is_barrier
    assert not Transaction(id=1, write_set=write_set("a")).is_barrier
