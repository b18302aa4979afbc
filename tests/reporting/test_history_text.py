"""Histories as people read them: the document's table, and events in lanes."""

from __future__ import annotations

import textwrap

import pytest

from paraply.reference_impl.subject import Workload
from paraply.registries import property_named, registered_subjects
from paraply.reporting.counterexample_text import breach_lines, counterexample_lines
from paraply.reporting.event_words import event_words
from paraply.reporting.history_text import lanes, transaction_table
from paraply.reporting.page import WIDTH_IN_PIPES
from paraply.reporting.plain_table import entries, plain_table
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.schedule import SeededSchedule


def shown(lines):
    return "\n".join(lines) + "\n"


def expected(text):
    return textwrap.dedent(text).lstrip("\n")


def test_source_log_is_tabulated_as_the_document_does():
    history = parse_history("T1{a} 1<0 session=s1 | T2{a b} 2<1 | T3:ddl 3<2")
    assert shown(transaction_table(history)) == expected("""
        ----------------------------
        Trx | WS   | trx.LC | trx.SN
        ----------------------------
        T1  | a    | 0      | 1       (session s1)
        T2  | a, b | 1      | 2
        T3  |      | 2      | 3       (DDL)
        """)


def test_purge_of_a_single_certifier_stands_between_the_transactions():
    history = parse_history(
        "T1{a} | T2{a} | T3{b} | certified T1 positive 2<1 ; garbage_collected {a}"
        " ; certified T2 negative ; certified T3 positive"
    )
    assert shown(transaction_table(history)) == expected("""
        --------------------------
        Trx | WS | trx.LC | trx.SN
        --------------------------
        T1  | a  | 1      | 2
            |    |        |         (garbage collection, purged: a)
        T2  | a  |        |         (refused)
        T3  | b  |        |         (local)
        """)


def test_members_that_gave_other_numbers_are_each_named():
    history = parse_history(
        "T1{a} | T2:view_change | certified T1@r1 positive 2<1 ; certified T1@r2 positive"
        " ; certified T1@r3 positive 5<1 ; certified T2@r1 positive 0<0"
    )
    assert shown(transaction_table(history)) == expected("""
        ------------------------------
        Trx | WS | trx.LC | trx.SN
        ------------------------------
        T1  | a  | 1      | r1 2, r3 5  (local on r2)
        T2  |    | 0      | 0           (view change)
        """)


def test_workers_have_a_lane_each_and_a_step_is_written_once():
    history = parse_history(
        'T1{a} +t["a",1] | begun T1@w1 time=1 ; row_applied T1@w1 {a} ok row=0 time=1'
        " ; begun T1@w2 time=2 ; engine_committed T1@w1"
    )
    assert shown(lanes(history, {2: "breaks something"})) == expected("""
        step  worker 1          worker 2
        ----  ----------------  --------
           1  begin T1
              insert a of T1
           2                    begin T1
         >>>  breaks something
           3  engine commit T1
        """)


def test_members_are_named_where_there_are_several():
    history = parse_history("T1 | begun T1@r1/w1 ; delivered T1@r2 ; read @r2 session=c1")
    assert lanes(history)[0].split() == ["step", "r1", "worker", "1", "r2", "r2", "c1"]


def test_lanes_that_do_not_fit_are_wrapped_and_no_line_is_wider_than_a_page():
    items = " ".join(f"item{number}" for number in range(30))
    history = parse_history(
        f"T1 | garbage_collected @r1 {{{items}}} ; garbage_collected @r2 {{{items}}}"
    )
    lines = lanes(history)
    assert max(map(len, lines)) <= WIDTH_IN_PIPES
    assert " ".join(" ".join(lines).split()).count("item29") == 2


def test_more_lanes_than_a_page_holds_become_one_column_that_names_who():
    events = " ; ".join(f"engine_committed T1@r{n}" for n in range(1, 10))
    lines = lanes(parse_history(f"T1 | {events}"))
    assert lines[0].split() == ["step", "who", "what"]
    assert lines[9].split() == ["9", "r9", "engine", "commit", "T1"]
    assert len(lines) == 10


def test_mark_in_one_column_is_below_its_event():
    events = " ; ".join(f"engine_committed T1@r{n}" for n in range(1, 10))
    lines = lanes(parse_history(f"T1 | {events}"), {0: "breaks it"})
    assert lines[2].split() == [">>>", "breaks", "it"]


def test_history_without_events_has_an_empty_picture():
    assert lanes(History()) == ["step", "----"]
    assert len(transaction_table(History())) == 3


def test_hostile_names_do_not_act_on_the_terminal():
    history = parse_history(
        'T1{"\\u001b[2J"} session="\\u0007" | begun T1@"\\u001b[1m" ; row_applied T1 {"\\u001b"} ok'
    )
    text = shown(transaction_table(history)) + shown(lanes(history))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[2J" in text


@pytest.mark.parametrize(
    ("notation", "words"),
    [
        ('T1{a} +t["a"] | row_applied T1 {a} lock_wait other=1 row=0',
         "insert a of T1: waits for T1"),
        ('T1{a} -t["a"] | row_applied T1 {a} missing_before_image row=0',
         "delete a of T1: MISSING BEFORE IMAGE"),
        ("T1{a} | row_applied T1 {a} lock_wait other=1", "lock a: waits for T1"),
        ("T1{a} | row_applied T1 deadlock", "lock: DEADLOCK"),
        ("T1 | begun T1#2", "begin T1 (attempt 2)"),
        ("T1 | rolled_back T1 other=1", "roll back T1: T1 must be first"),
        ("T1 | certified T1 positive 3<1", "certify T1 LC=1 SN=3"),
        ('T1 | certified T1 negative note="a is newer"', "refuse T1: a is newer"),
        ("T1 | flushed T1 3<1", "flush T1 LC=1 SN=3"),
        ("T1 | visible T1", "T1 is visible"),
        ("T1 | read [a=T1 b=T0]", "see a=T1 b=none"),
        ("T1 | read", "see nothing"),
        ("T1 | garbage_collected", "purge nothing"),
        ("T1 | view_installed view=2", "view 2"),
        ("T1 | view_installed view=2 members=r1,r2", "view 2: r1, r2"),
        ("T1 | online members=r1,r2", "online: r1, r2"),
        ("T1 | executed_set_broadcast transactions=1", "broadcast T1"),
        ("T1 | position_saved position=a:4", "save position: a:4"),
        ("T1 | recovered", "recover with nothing"),
        ("T1 | crashed", "CRASH"),
        ("T1 | client_acknowledged T1", "tell the client T1"),
    ],
)  # fmt: skip
def test_event_is_told_in_plain_words(notation, words):
    history = parse_history(notation)
    assert event_words(history.events[0], history) == words


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_of_event_has_words(kind):
    assert event_words(Event(kind, 1), History())


@pytest.mark.parametrize("subject", registered_subjects(), ids=lambda subject: subject.name)
def test_every_event_of_a_run_stands_in_the_picture_once(subject):
    history = subject.run(SeededSchedule(11), Workload(members=3))
    lines = lanes(history)
    assert max(map(len, lines)) <= WIDTH_IN_PIPES
    text = " ".join(" ".join(lines).split())
    commits = sum(event.kind is EventKind.ENGINE_COMMITTED for event in history.events)
    assert text.count("engine commit") == commits
    table = shown(transaction_table(history))
    assert all(f"\nT{one.id:<2} " in table for one in history.transactions)


def test_breaches_beyond_the_first_few_are_counted():
    prop = property_named("engine_commits_follow_the_log")
    pairs = list(zip(range(15, 0, -2), range(16, 0, -2), strict=True))
    transactions = " | ".join(f"T{n}" for n in range(1, 17))
    scheduled = " ; ".join(f"scheduled T{n}" for n in range(1, 17))
    commits = " ; ".join(f"engine_committed T{b} ; engine_committed T{a}" for a, b in pairs)
    history = parse_history(f"{transactions} | {scheduled} ; {commits}")
    assert len(prop.violations(history)) == 15
    lines = breach_lines(prop, history)
    assert len(lines) == 6
    assert lines[-1] == "  and 10 more"


def test_story_of_a_breach_names_property_breach_and_moment():
    history = parse_history(
        "T1{a} | T2{b} | scheduled T1@w1 ; scheduled T2@w2 ; engine_committed T2@w2"
        " ; engine_committed T1@w1"
    )
    text = shown(counterexample_lines(property_named("engine_commits_follow_the_log"), history))
    assert text.startswith("engine_commits_follow_the_log: Transactions commit")
    assert "  r1: T2 committed before T1, which comes first\n" in text
    assert text.endswith(" >>>  breaks engine_commits_follow_the_log\n")


def test_numbers_stand_to_the_right_and_the_last_column_is_wrapped_below_itself():
    lines = plain_table(("name", "n", "why"), [("a", 1_000, "word " * 40), ("bcd", 2, "")])
    assert lines[0] == "name      n  why"
    assert lines[1].startswith("a     1,000  word word")
    assert lines[2].startswith(" " * 13 + "word")
    assert lines[-1] == "bcd       2"
    assert max(map(len, lines)) <= WIDTH_IN_PIPES


def test_table_without_rows_is_its_heading():
    assert plain_table(("a", "b"), []) == ["a  b"]


def test_entries_stand_under_their_group():
    lines = entries([("g", "x", ["one"]), ("g", "y", []), ("h", "z", ["two", "three"])])
    assert lines == ["g", "  x", "      one", "  y", "", "h", "  z", "      two", "      three"]
