"""A verdict never hides what it could not decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.judging.checking import properties_of_history
from paraply.properties.apply.parallel_apply import no_conflicting_parallel_apply
from paraply.properties.registry import (
    Evidence,
    Exemption,
    any_history,
    property_named,
    registered_properties,
    verdict_of,
)
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.transactions import Operation, RowWrite, Transaction
from paraply.vocabulary.verdict import Verdict
from tests.properties import answers, smallest_examples

WINDOWS_OVERLAP = """
T1{a} 2<1 | T2{a} 3<1
| begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; engine_committed T2@w2 ; stopped
"""
WINDOWS_APART = """
T1{a} 2<1 | T2{b} 3<1 | T3{a} 4<2
| begun T1@w1 ; begun T2@w2 ; engine_committed T1@w1 ; begun T3@w1
; engine_committed T2@w2 ; engine_committed T3@w1 ; stopped
"""
PROPERTIES = {prop.name: prop for prop in registered_properties()}
PAIRS = property_named("no_conflicting_parallel_apply")
ONE_OF_MANY = pytest.mark.parametrize("each", [25, pytest.param(1, marks=pytest.mark.long(each=1))])
"""Which of the stored histories are judged: every n-th one."""


def windows(text, *, dialect="", tier=EvidenceTier.COMMIT_WINDOWS):
    history = parse_history(text)
    return replace(history, header=replace(history.header, tier=tier, dialect=dialect))


def test_windows_of_conflicting_transactions_that_overlap_are_a_breach():
    history = windows(WINDOWS_OVERLAP)
    (breach,) = no_conflicting_parallel_apply(history)
    assert str(breach) == "r1: T2 began before T1 had committed; both write a"
    assert verdict_of(history, PAIRS) is Verdict.VIOLATED


def test_windows_of_conflicting_transactions_that_do_not_overlap_are_decided():
    history = windows(WINDOWS_APART)
    assert PAIRS.evidence(history) == Evidence(relevant=1, decided=1)
    assert verdict_of(history, PAIRS) is Verdict.HOLDS


@pytest.mark.parametrize("dialect", ["optimistic", "aggressive_non_transactional"])
def test_windows_do_not_decide_where_transactions_may_wait_for_a_row(dialect):
    history = windows(WINDOWS_OVERLAP, dialect=dialect)
    assert PAIRS.evidence(history).reason == "0 of 1: no row_applied of T2 on a"
    assert verdict_of(history, PAIRS) is Verdict.UNKNOWN


def test_windows_in_inverted_commit_order_are_a_breach_even_where_transactions_may_wait():
    inverted = WINDOWS_OVERLAP.replace(
        "engine_committed T1@w1 ; engine_committed T2@w2",
        "engine_committed T2@w2 ; engine_committed T1@w1",
    )
    assert verdict_of(windows(inverted, dialect="optimistic"), PAIRS) is Verdict.VIOLATED


def test_row_change_that_is_missing_beside_others_leaves_its_pair_unknown():
    history = parse_history(
        """
        T1{a} 2<1 | T2{a b} 3<1 | T3{b} 4<3
        | begun T1@w1 ; begun T2@w2 ; row_applied T1@w1 {a} ok ; row_applied T2@w2 {b} ok
        ; engine_committed T1@w1 ; engine_committed T2@w2
        ; begun T3@w1 ; row_applied T3@w1 {b} ok ; engine_committed T3@w1 ; stopped
        """
    )
    evidence = PAIRS.evidence(history)
    assert evidence == Evidence(relevant=2, decided=1, missing="no row_applied of T2 on a")
    assert verdict_of(history, PAIRS) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        ("engine_committed T1 ; engine_committed T2", Verdict.UNKNOWN),
        ("engine_committed T2 ; engine_committed T1", Verdict.VIOLATED),
    ],
)
def test_commits_alone_decide_a_pair_only_where_they_are_inverted(commits, expected):
    history = windows(f"T1{{a}} 2<1 | T2{{a}} 3<1 | {commits}", tier=EvidenceTier.COMMIT_ORDER)
    assert verdict_of(history, PAIRS) is expected


def test_start_that_is_not_recorded_leaves_last_committed_unknown():
    text = "T1{a} 2<1 | T2{b} 3<2 | engine_committed T1 ; engine_committed T2"
    history = windows(text, tier=EvidenceTier.COMMIT_ORDER)
    prop = property_named("starts_respect_last_committed")
    assert prop.evidence(history).reason == "0 of 2: no begun of T1 at r1"


@ONE_OF_MANY
def test_whatever_breaks_a_stored_history_is_one_of_its_decided_situations(each):
    judged = [(one.history, PROPERTIES[one.prop]) for one in smallest_examples.stored()]
    judged += [(one, prop) for one in answers.stored(each) for prop in PROPERTIES.values()]
    broken = set()
    for history, prop in judged:
        if breaches := prop.violations(history):
            broken.add(prop.name)
            assert prop.evidence(history, breaches).decided, (prop.name, breaches, history)
    assert len(broken) > 200


@ONE_OF_MANY
def test_history_without_a_needed_kind_of_events_is_unknown(each):
    found = set()
    for history in answers.stored(each):
        for prop in PROPERTIES.values():
            for kind in prop.needs:
                kept = tuple(event for event in history.events if event.kind is not kind)
                if len(kept) < len(history.events) and prop.applies_to(history):
                    lacking = replace(history, events=kept)
                    assert verdict_of(lacking, prop) is Verdict.UNKNOWN, (prop.name, lacking)
                    found.add(prop.name)
    assert len(found) > 20


@pytest.mark.long
def test_history_without_the_events_of_a_member_that_others_name_is_judged_like_any():
    """Recordings of one of several servers; no judge may raise."""
    strangers = 0
    for history in answers.stored():
        for member in {event.member for event in history.events}:
            kept = tuple(event for event in history.events if event.member != member)
            if not any(member in event.members for event in kept):
                continue
            strangers += 1
            lacking = replace(history, events=kept)
            for prop in PROPERTIES.values():
                assert verdict_of(lacking, prop) in Verdict
    assert strangers > 20


def test_evidence_of_several_histories_adds_up():
    total = Evidence(relevant=3, decided=2, missing="x") + Evidence(relevant=2, decided=2)
    assert (str(total), total.verdict) == ("4 of 5", Verdict.UNKNOWN)
    assert total.reason == "4 of 5: x"


def test_property_named_is_judged_where_it_is_exempt_and_one_of_all_is_not():
    prop = next(one for one in registered_properties() if one.name == PAIRS.name)
    exempt = prop.except_where([Exemption(applies=any_history, because="no reason")])
    history = windows(WINDOWS_OVERLAP)
    assert prop.violations(history)
    assert not exempt.violations(history)
    assert exempt.evidence(history) == Evidence()
    assert property_named(PAIRS.name).violations(history)


def test_every_vocabulary_and_exemption_says_what_it_is():
    for prop in registered_properties():
        assert prop.of is not any_history, prop.name
        assert all(one.because for one in prop.exemptions), prop.name


def test_history_of_a_known_subject_is_judged_by_whatever_understands_it():
    history = parse_history(
        "subject=group dialect=mysql_8_4 | T1{a} gtid=g:1 origin=r1 | submitted T1@r1"
        " ; certified T1@r1 positive ; engine_committed T1@r1 ; engine_committed T1@r1"
    )
    names = {prop.name for prop in properties_of_history(history)}
    assert "no_event_is_applied_twice" in names
    (breach,) = property_named("no_event_is_applied_twice").violations(history)
    assert str(breach) == "r1 applied T1 twice"
    assert EventKind.CERTIFIED in history.kinds


CLOCK = '{"round_trip_us":100,"sync_us":10,"engine_commit_us":0,"clients":4}'
PURGED = """
T1{{a}} | T2{{b}} | T3{{a}}
| submitted T1 ; certified T1@r1 positive gtid=g:1 2<1
; submitted T2 transactions=1 ; certified T2@r1 positive gtid=g:2 3<1
; garbage_collected @r1 {{a}} transactions=1,2
; submitted T3 transactions=1,2 ; certified T3@r1 positive gtid=g:3 {}
"""
ONE_ROW = (RowWrite(table="d.t", operation=Operation.INSERT, after=("a", 1)),)


def numbered(outcome, *after):
    row = Event(EventKind.ROW_APPLIED, 1, transaction=1, outcome=outcome, row=0)
    return History(
        transactions=(Transaction(id=1, rows=ONE_ROW),),
        events=(row, *(Event(kind, 2, transaction=1) for kind in after)),
    )


@pytest.mark.parametrize(
    ("name", "judged", "not_judged"),
    [
        (
            "commits_wait_for_two_round_trips",
            parse_history(
                f"members=source,r1 options={CLOCK} | T1{{}} | T2{{}} | T3{{}} | T4{{}} "
                "| prepared T1@source ; client_acknowledged T1@source"
            ),
            parse_history(
                f"members=source,r1 options={CLOCK} | T1{{}} | T2{{}} | T3{{}} | T4{{}} "
                "| client_acknowledged T1@source ; prepared T2@source"
            ),
        ),
        (
            "transactions_apply_whole",
            numbered(Outcome.OK, EventKind.ENGINE_COMMITTED),
            numbered(Outcome.MISSING_BEFORE_IMAGE),
        ),
        (
            "no_event_is_lost",
            parse_history("T1{a} | stopped @source transactions=1 ; "
                          "stopped @r1 transactions=1 members=source"),
            parse_history("T1{a} | engine_committed T1@source ; "
                          "stopped @r1 transactions=1 members=source"),
        ),
        (
            "retries_wait_for_all_before",
            parse_history("T1{a} domain=0 | T2{a} domain=0 | begun T1@w1 ; begun T2@w2 "
                          "; engine_committed T1@w1 ; retried T2@w2 attempt=2"),
            parse_history("T1{a} domain=0 | T2{a} domain=0 | begun T1@w1 ; begun T2@w2 "
                          "; retried T1@w1 attempt=2"),
        ),
        (
            "window_covers_what_was_purged",
            parse_history(PURGED.format("4<2")),
            parse_history(PURGED.format("")),
        ),
    ],
)  # fmt: skip
def test_situation_that_was_not_judged_leaves_it_unknown(name, judged, not_judged):
    prop = property_named(name)
    assert verdict_of(judged, prop) is Verdict.HOLDS
    assert verdict_of(not_judged, prop) is Verdict.UNKNOWN
