"""Every run of small scopes of the composed system: a crash, a departure, a join, a collection.

Each count of runs is pinned. A change in one is a change of the system or of what commutes in it
(`composed/commuting.py`). ``paraply explore composed --exhaustive`` runs the same; docs/explore.md
has the commands.
"""

from __future__ import annotations

import pytest

from ci.pages.composed_scopes import PAGE_PATH, SCOPES, command_of, page, workload_of
from paraply.cli import build_parser
from paraply.counterexamples.hunt import properties_of, system_of
from paraply.counterexamples.workload_arguments import workload_of as workload_of_command
from paraply.properties.registry import Expectation
from paraply.properties.search import search
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.group.commuting import SleepSet
from paraply.registries import mutant_named, registered_mutants
from paraply.vocabulary.schedule import Exploration
from tests.conftest import REPOSITORY

MUTANTS = [mutant.name for mutant in registered_mutants() if mutant.of == COMPOSED.name]
NEW = {"dialect": "mysql_8_4"}
FAULT = {"departures": 1}
TIERS = {
    **dict.fromkeys(SCOPES, pytest.mark.long(each=1)),
    **dict.fromkeys(["one", "one, after commit", "two at a primary"], ()),
    **dict.fromkeys(["join amid two", "two rows"], pytest.mark.nightly),
}
CAUGHT = {
    "composed_answer_does_not_wait": "departure, after commit",
    "composed_applier_robs_sent_clients": "two",
    "composed_applier_skips_locked_rows": "two",
    "composed_broken_off_client_goes_on": "two",
    "composed_client_reads_without_lock": "two",
    "composed_commit_does_not_wait": "one",
    "composed_commits_before_the_binary_log": "two at a primary",
    "composed_crash_loses_the_newest_commit": "recovery",
    "composed_crash_recovery_forgets_gtids": "recovery",
    "composed_crash_recovery_rolls_back_what_is_logged": "recovery",
    "composed_donor_sends_what_waits": "join",
    "composed_joiner_copies_gtids_only": "join",
    "composed_member_counts_itself": "one",
    "composed_own_overtakes_others": "departure",
    "composed_place_is_taken_at_dispatch": "departure",
    "composed_refused_locks_are_kept": "two",
    "composed_sending_counts_as_receipt": "one",
    "composed_skipped_transaction_is_never_purged": "join",
    "composed_skipped_transaction_keeps_its_place": "join",
    "composed_unlocks_when_sent": "two",
    "composed_waits_for_who_crashed": "departure",
    "composed_waits_for_who_joined_later": "join",
    "composed_worker_ignores_deletes": "two",
}
"""Mutant -> a scope of which some run shows it to the property that must detect it."""


def breaches(subject, workload):
    """Return the number of runs of a scope, and the breaches with the names of their properties."""
    judged = [one for one in properties_of(subject) if one.expectation is Expectation.ALWAYS]
    exploration, found, count = Exploration(), set(), 0
    for schedule in exploration:
        history = subject.run(schedule, workload)
        if schedule.skipped_at is None:
            count += 1
            for prop in judged:
                found |= {(prop.name, str(one)) for one in prop.violations(history)}
    assert exploration.is_complete
    return count, found


@pytest.mark.parametrize(
    ("runs", "workload"),
    [
        pytest.param(runs, workload, id=name, marks=TIERS[name])
        for name, (runs, workload) in SCOPES.items()
    ],
)
def test_every_order_of_a_small_scope_breaks_nothing(runs, workload):
    command = command_of(workload)
    count, found = breaches(COMPOSED, workload)
    assert not found, command
    assert count == runs, command


def test_page_lists_each_scope_with_its_runs_and_its_command():
    assert (REPOSITORY / PAGE_PATH).read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", ["one", "recovery"])
def test_listed_command_gives_the_scope(name):
    _, workload = SCOPES[name]
    _, *words = command_of(workload).split()
    arguments = build_parser(words).parse_args(words)
    assert arguments.exhaustive
    assert COMPOSED.small_scope(workload_of_command(arguments, COMPOSED)) == workload


# That leaving out orders of actions that commute loses nothing.

UNREDUCED = {
    "one": workload_of(1),
    "one, after commit": workload_of(1, after_commit=True),
    "restart of an idle group": workload_of(0, **FAULT, joins=1),
}


def assert_same_breaches(monkeypatch, subject, workload):
    reduced, found = breaches(subject, workload)
    monkeypatch.setattr(SleepSet, "awake", lambda self, names: range(len(names)))
    full, every = breaches(subject, workload)
    assert found == every
    assert reduced < full
    return found


@pytest.mark.long(each=1)
@pytest.mark.parametrize("workload", UNREDUCED.values(), ids=UNREDUCED)
def test_orders_that_are_left_out_of_a_scope_break_nothing(workload, monkeypatch):
    assert not assert_same_breaches(monkeypatch, COMPOSED, workload)


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_4"])
def test_orders_that_are_left_out_of_a_departure_break_nothing(dialect, monkeypatch):
    assert not assert_same_breaches(monkeypatch, COMPOSED, workload_of(1, **FAULT, dialect=dialect))


@pytest.mark.long(each=19)
@pytest.mark.parametrize("name", MUTANTS)
def test_orders_that_are_left_out_show_no_further_breach_of_a_mutant(name, monkeypatch):
    assert_same_breaches(monkeypatch, mutant_named(name).subject, workload_of(1))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "composed_answer_does_not_wait",
        "composed_commit_does_not_wait",
    ],
)
def test_orders_that_are_left_out_show_no_further_breach_at_a_departure(name, monkeypatch):
    workload = workload_of(1, **FAULT, **NEW, after_commit="answer" in name)
    assert assert_same_breaches(monkeypatch, mutant_named(name).subject, workload)


# Which mutants the scopes show.


@pytest.mark.long(each=1)
@pytest.mark.parametrize(("name", "where"), CAUGHT.items(), ids=CAUGHT)
def test_mutant_is_caught_in_a_scope(name, where):
    mutant = mutant_named(name)
    _, workload = SCOPES[where]
    (prop,) = (one for one in properties_of(mutant.subject) if one.name == mutant.caught_by)
    assert search(system_of(mutant.subject, workload), prop, Exploration()) is not None
