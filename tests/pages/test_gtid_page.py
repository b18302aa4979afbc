"""The page of GTIDs says what the subjects say of themselves, and shows a run for each breach."""

from __future__ import annotations

import pytest

from ci.pages import gtid as gtid_page
from ci.pages.gtid import (
    METHOD_WORDS,
    POSITION_COLUMNS,
    RULE_WORDS,
    SET_COLUMNS,
    SET_WORDS,
    TOPOLOGY_COLUMNS,
    Scope,
    decide,
    group_timing,
    no_single_position,
)
from ci.pages.gtid_words import run_words
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.schedule import SeededSchedule
from tests.properties.histories import history_of

TABLES = {
    "gtid_positions": (POSITION_COLUMNS, METHOD_WORDS),
    "gtid_topology": (TOPOLOGY_COLUMNS, RULE_WORDS),
    "gap_free": (SET_COLUMNS, SET_WORDS),
}
SHOWN_BY_LONGER_RUNS = {
    ("going_back", "a_single_position_exists"),
    ("going_back", "logs_agree_within_a_domain"),
}
"""Breaches in a few runs of a thousand, which the page's scopes need not hold."""


@pytest.fixture(scope="module")
def page(repository):
    return (repository / gtid_page.PAGE).read_text(encoding="utf-8")


def broken_cells(page, columns, words):
    """Return the properties whose cell is a link, for each dialect."""
    found = {}
    for dialect, name in words.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| {name} | ")
                   and len(line.split(" | ")) == len(columns) + 2)  # fmt: skip
        cells = line.split(" | ")[1:-1]
        found[dialect] = {
            prop for prop, cell in zip(columns.values(), cells, strict=True) if "broken**" in cell
        }
    return found


@pytest.mark.parametrize("name", TABLES)
def test_page_breaks_what_the_subject_is_known_to_break_and_nothing_else(page, name):
    columns, words = TABLES[name]
    subject = subject_named(name)
    for dialect, broken in broken_cells(page, columns, words).items():
        known = subject.breaks.get(dialect, frozenset()) & set(columns.values())
        assert broken <= known
        assert {(dialect, prop) for prop in known - broken} <= SHOWN_BY_LONGER_RUNS


def test_every_link_leads_to_a_run(page):
    for number in range(1, page.count("](#run-") + 1):
        assert f"](#run-{number})" in page
        assert f"### Run {number}\n" in page


def test_what_never_occurred_is_no_case_and_not_kept(page):
    line = next(
        line for line in page.splitlines() if line.startswith(f"| {METHOD_WORDS['binlog']}")
    )
    assert "no case" in line


def test_scope_that_is_cut_or_random_is_not_exhaustive():
    subject, names = subject_named("gtid_positions"), ["no_event_is_lost"]
    options = {"domains": 1, "stops": 0, "retries": 0, "reads": 0, "cleanups": 0, "workers": 1}
    whole = decide(subject, "table", names, [Scope(1, options)])
    assert (whole.is_exhaustive, whole.runs, whole.smallest) == (True, 8, {})
    assert not decide(subject, "table", names, [Scope(1, options, runs_max=3)]).is_exhaustive
    assert not decide(subject, "table", names, [Scope(1, options, random_runs=3)]).is_exhaustive


def test_places_to_start_from_are_told_with_their_cost():
    run = history_of(
        """members=s1,s2,s3 | T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0
        | flushed T2@s2 gtid=0-1-2 ; flushed T1@s2 gtid=0-1-1 ; engine_committed T1@s3
        ; started @s3 members=s2 gtid_set=0-1-1"""
    )
    assert no_single_position(run)[-3:] == [
        "| at the beginning | - | T1 |", "| after T2 | T2 | T1 |", "| after T1 | T2 | - |",
    ]  # fmt: skip


def test_run_in_words_names_what_happened_where():
    subject = subject_named("gap_free")
    words = run_words(subject.run(SeededSchedule(4), Workload(transactions=3)))
    assert "T1 = a:1" in words
    assert "LOST (s1)" in words
    assert "starts after nothing of s2 (r1)" in words


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_commits_per_group_are_the_workers_with_a_row_each_and_one_with_a_row_per_domain(workers):
    each = group_timing("table", workers=workers, transactions=32)
    single = group_timing("single_row", workers=workers, transactions=32)
    assert (each.commits_per_group, each.lock_waits) == (workers, 0)
    assert (single.commits_per_group, single.lock_waits) == (1.0, 31)
    assert each.transactions == single.transactions == 32
    assert single.ticks > 1.5 * each.ticks
