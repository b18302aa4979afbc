"""A source's commits beside its log: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.certification.source_logs import (
    a_source_begins_a_file,
    a_source_logs_beside_an_uncommitted_one,
    files_end_with_committed_transactions,
    numbering_sources_commit_in_log_order,
    numbering_sources_commit_what_they_log,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOGGED = "T1{a} | T2{b} | flushed T1 1<0 ; flushed T2 2<0 ; "


def test_source_commits_in_the_order_of_its_log():
    good = history_of(f"{LOGGED}engine_committed T1 ; engine_committed T2")
    assert verdict(good, numbering_sources_commit_in_log_order) is Verdict.HOLDS
    (breach,) = numbering_sources_commit_in_log_order(
        history_of(f"{LOGGED}engine_committed T2 ; engine_committed T1")
    )
    assert str(breach) == "r1 committed T2 before T1, which comes first in its log"


def test_commits_of_single_transactions_have_no_order():
    alone = "T1{a} | T2{b} | flushed T1 1<0 ; engine_committed T1 ; flushed T2 2<0 ; "
    run = history_of(f"{alone}engine_committed T2")
    assert verdict(run, numbering_sources_commit_in_log_order) is Verdict.UNKNOWN


def test_file_ends_when_all_in_it_committed():
    commits = "engine_committed T1 ; engine_committed T2"
    good = history_of(f"{LOGGED}{commits} ; relay_rotated")
    assert verdict(good, files_end_with_committed_transactions) is Verdict.HOLDS
    early = history_of(f"{LOGGED}engine_committed T1 ; relay_rotated ; engine_committed T2")
    (breach,) = files_end_with_committed_transactions(early)
    assert str(breach) == "r1 began the next file of its log before it committed T2"


@pytest.mark.parametrize(("end", "is_left"), [("", True), (" ; engine_committed T2", False)])
def test_source_commits_all_that_it_logged(end, is_left):
    history = history_of(f"{LOGGED}engine_committed T1{end}")
    assert [str(one) for one in numbering_sources_commit_what_they_log(history)] == is_left * [
        "r1 logged T2 and never committed it in the engine"
    ]
    expected = Verdict.VIOLATED if is_left else Verdict.HOLDS
    assert verdict(history, numbering_sources_commit_what_they_log) is expected


def test_source_that_crashed_or_was_cut_off_may_leave_what_it_logged():
    crashed = history_of(f"{LOGGED}engine_committed T1 ; crashed @r1")
    assert verdict(crashed, numbering_sources_commit_what_they_log) is Verdict.UNKNOWN
    cut = replace(history_of(f"{LOGGED}engine_committed T1"), is_complete=False)
    assert verdict(cut, numbering_sources_commit_what_they_log) is Verdict.UNKNOWN
    unrecorded = history_of(LOGGED.rstrip(" ;"))
    assert verdict(unrecorded, numbering_sources_commit_what_they_log) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("flushed T1 1<0 ; flushed T2 2<0 ; engine_committed T1 ; engine_committed T2", True),
        ("flushed T1 1<0 ; engine_committed T1 ; flushed T2 2<0 ; engine_committed T2", False),
    ],
)
def test_source_that_commits_first_logs_nothing_beside(events, expected):
    history = history_of(f"T1{{a}} | T2{{b}} | {events}")
    assert bool(a_source_logs_beside_an_uncommitted_one(history)) is expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("flushed T1 1<0 ; relay_rotated ; flushed T2 1<0", True),
        ("flushed T1 1<0 ; flushed T2 2<0 ; relay_rotated", False),
        ("flushed T1 1<0 ; flushed T2 2<0", False),
    ],
)
def test_file_begins_while_sessions_go_on(events, expected):
    history = history_of(f"T1{{a}} | T2{{b}} | {events}")
    assert bool(a_source_begins_a_file(history)) is expected


@pytest.mark.parametrize(
    ("name", "good", "other"),
    [
        ("a_source_begins_a_file", 'options={"rotations":1}', 'options={"rotations":0}'),
        ("a_source_logs_beside_an_uncommitted_one", "session=s2", "session=s1"),
    ],
)
def test_one_session_or_one_file_has_no_such_situation(name, good, other):
    (prop,) = [one for one in registered_properties() if one.name == name]

    def log(text):
        header, session = (text, "session=s2") if "options" in text else ("", text)
        return history_of(f"{header} | T1{{a}} session=s1 | T2{{b}} {session} | flushed T1 1<0")

    assert prop.applies_to(log(good))
    assert not prop.applies_to(log(other))
