"""The notation: short to write, and every history can be written and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary import notation
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event, EventKind, Observation, Outcome
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.log import Operation
from paraply.vocabulary.notation import format_history
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionKind
from paraply.vocabulary.write_set import write_set
from tests.vocabulary.histories import histories


@pytest.mark.long
@given(histories(), st.booleans())
def test_history_round_trips_through_the_notation(history, lines):
    assert parse_history(format_history(history, lines=lines)) == history


def test_every_shorthand_means_its_field():
    history = parse_history(
        """
        subject=applier seed=7 complete=false options={"workers":4} members=r1,r2
        | T1{a 7 "7"} 2<1 flags=waited
        | T2:ddl statement="DROP TABLE t" +t[1,"x"] -"odd table"[2] ~d.t[3][4]
        | begun T1#2@r2/w1 ; certified T2 positive 5<4
        ; row_applied T2@w3 {b} lock_wait other=1 row=0
        ; read @r2 session=c1 time=9 [a=T1 7=T0] transactions=1,2
        """
    )
    assert history == History(
        header=HistoryHeader(
            subject="applier", seed=7, options={"workers": 4}, members=("r1", "r2")
        ),
        transactions=(
            Transaction(
                id=1,
                write_set=write_set("a", 7, "7"),
                timestamp=LogicalTimestamp.of(1, 2),
                flags=frozenset({"waited"}),
            ),
            Transaction(
                id=2,
                kind=TransactionKind.DDL,
                statement="DROP TABLE t",
                rows=(
                    RowWrite(table="t", operation=Operation.INSERT, after=(1, "x")),
                    RowWrite(table="odd table", operation=Operation.DELETE, before=(2,)),
                    RowWrite(table="d.t", operation=Operation.UPDATE, before=(3,), after=(4,)),
                ),
            ),
        ),
        events=(
            Event(kind=EventKind.BEGUN, time=1, member="r2", worker=1, transaction=1, attempt=2),
            Event(
                kind=EventKind.CERTIFIED,
                time=2,
                transaction=2,
                outcome=Outcome.POSITIVE,
                timestamp=LogicalTimestamp.of(4, 5),
            ),
            Event(
                kind=EventKind.ROW_APPLIED,
                time=3,
                worker=3,
                transaction=2,
                outcome=Outcome.LOCK_WAIT,
                items=write_set("b"),
                other=1,
                row=0,
            ),
            Event(
                kind=EventKind.READ,
                time=9,
                member="r2",
                session="c1",
                observed=(Observation("a", 1), Observation(7, 0)),
                transactions=(1, 2),
            ),
        ),
        is_complete=False,
    )


def test_formatted_history_is_as_short_as_what_one_would_write():
    text = "T1{a b} 2<1 | T2{b} 3<2 | begun T1@w1 ; begun T2@w2 ; engine_committed T2@r2 time=7"
    assert format_history(parse_history(text)) == text


def test_example_of_the_manual_is_the_notation():
    example = "\n".join(
        line for line in (notation.__doc__ or "").splitlines() if line.startswith("    ")
    )
    history = parse_history(example)
    assert len(history.transactions) == 3
    assert len(history.events) == 6
    assert parse_history(format_history(history)) == history


@pytest.mark.parametrize("text", ["", "  \n", "|"])
def test_nothing_is_the_empty_history(text):
    if text == "|":
        with pytest.raises(ParaplyError, match="P507 at character 1"):
            parse_history(text)
    else:
        assert parse_history(text) == History()


@pytest.mark.parametrize("text", ["T1{a} |", "T1{a} | begun T1 ;", "T1{a}|begun T1;crashed"])
def test_blanks_and_a_separator_at_the_end_do_not_matter(text):
    assert len(parse_history(text).transactions) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T1{a} 3", "character 7 .*expected {items}, a timestamp, a row or name=value"),
        ("T1{a} T2{b}", "character 7 .*expected {items}"),
        ("T1{a", "character 5 .*expected something else here"),
        ("T1{a}{b}", "write_set is given twice"),
        ("T1:x", "kind: expected one of rows, "),
        ("T1 gtid=a gtid=b", "gtid is given twice"),
        ("T1 nope=1", "unknown field 'nope'"),
        ("T1 commit_id=x", "commit_id: expected an integer"),
        ("T1 commit_id=", "expected something else here"),
        ('T1 statement="x', "not JSON"),
        ("T1 rows=[NaN]", "NaN is no number"),
        ("T1 rows=" + "[" * 100_000, "not JSON"),
        ("T1 +t", "expected the after image as a JSON array"),
        ("T1 ~t[1]", "expected the after image"),
        ("T1{a} | begun T1 ; T2", "expected an event, a transaction"),
        ("T1{a} | begin T1", r"character 9 \('begin T1'\): 'begin' is no event \(known: acknowl"),
        ("T1{a} | begun T1 maybe", "expected a transaction, @member, an outcome or name=value"),
        ("T1{a} | begun T1 T1", "transaction is given twice"),
        ("T1{a} | begun T1@", "expected something else here"),
        ("T1{a} | begun T1@r2/x", "expected something else here"),
        ('T1{a} | begun T1@7"', "expected a transaction"),
        ("T1{a} | begun T1 | begun T1", "expected the end, since the events come last"),
        ("T1{a} | read [a]", "expected item=T1"),
        ("T1{a} | read [a=1]", "expected something else here"),
        ("T1{a} | read [a=T1", "expected something else here"),
        ("seed=7 T1{a}", "expected name=value"),
        ("seed=7 ; begun T1", "expected an event"),
        ("complete=7", "complete is true or false"),
        ("complete=maybe", "complete is true or false"),
        ("T1{a} | begun T2", "P504 .*names transaction 2, not listed"),
        ("T99999999999999999999{a}", "P50"),
        ("T1{a} " + "9" * 5000 + "<1", "P507"),
        ("seed=" + "9" * 5000, "P507"),
    ],
)
def test_what_is_not_the_notation_is_refused_with_the_place(text, message):
    with pytest.raises(ParaplyError, match=message):
        parse_history(text)


@given(st.text(alphabet='T12{}[]|;=<@#/+-~ab"w r', max_size=30))
def test_any_text_is_a_history_or_a_clean_refusal(text):
    try:
        history = parse_history(text)
    except ParaplyError:
        return
    assert parse_history(format_history(history)) == history


@given(st.data())
def test_damaged_notation_is_a_history_or_a_clean_refusal(data):
    text = 'seed=7 | T1{a 7} 2<1 +t[1,"x"] | begun T1#2@r2/w1 ; read [a=T1] note="x y"'
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=2)) + text[at + data.draw(st.integers(0, 3)) :]
    try:
        history = parse_history(damaged)
    except ParaplyError:
        return
    assert parse_history(format_history(history)) == history


def test_row_whose_images_do_not_fit_its_operation_is_written_in_full():
    odd = RowWrite(table="t", operation=Operation.INSERT, before=(1,))
    even = RowWrite(table="t", operation=Operation.INSERT, after=(1,))
    history = History(transactions=(Transaction(id=1, rows=(even, odd)),))
    assert "rows=[" in format_history(history)
    assert parse_history(format_history(history)) == history


@pytest.mark.parametrize(
    "row",
    [
        RowWrite(table="t", operation=Operation.UPDATE, before=(1,)),
        RowWrite(table="t", operation=Operation.DELETE, after=(1,)),
        RowWrite(table="t", operation=Operation.DELETE, before=(1,), after=(2,)),
    ],
)
def test_any_row_with_an_image_too_many_or_too_few_round_trips(row):
    history = History(transactions=(Transaction(id=1, rows=(row,)),))
    assert parse_history(format_history(history)) == history
