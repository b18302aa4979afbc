"""Every run of small scopes of the composed system: a crash, a departure, a join, a collection.

Each count of runs is pinned. A change in one is a change of the system or of what commutes in it
(`composed/commuting.py`). ``paraply explore composed --exhaustive`` runs the same; docs/explore.md
has the commands.
"""

from __future__ import annotations

import re

import pytest

from paraply.cli import build_parser
from paraply.counterexamples.hunt import properties_of, system_of
from paraply.counterexamples.workload_arguments import workload_of
from paraply.properties.registry import Expectation
from paraply.properties.search import search
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.group.commuting import SleepSet
from paraply.reference_impl.subject import SIZES, Workload
from paraply.registries import mutant_named, registered_mutants
from paraply.vocabulary.schedule import Exploration
from tests.conftest import REPOSITORY

MUTANTS = [mutant.name for mutant in registered_mutants() if mutant.of == COMPOSED.name]
FAULT = {"departures": 1}
JOIN = {"joins": 1, "absent": 1}
PRIMARY = {"single_primary": True}


def scope(transactions, *, members=2, rows=1, dialect="wl8440", **options):
    small = {"sessions": 1, "workers": 1, **options}
    workload = Workload(
        transactions=transactions, rows=rows, members=members, dialect=dialect, options=small
    )
    return COMPOSED.small_scope(workload)


QUICK, LONG, NIGHTLY = (), pytest.mark.long(each=1), pytest.mark.nightly
NEW = {"dialect": "mysql_8_4"}
"""Without transactions for view changes, scopes are smaller."""
SCOPES = {
    "one": (2, QUICK, scope(1)),
    "one, after commit": (4, QUICK, scope(1, after_commit=True)),
    "two at a primary": (2, QUICK, scope(2, **PRIMARY)),
    "two": (62, LONG, scope(2)),
    "departure": (364, LONG, scope(1, **FAULT)),
    "departure, after commit": (924, LONG, scope(1, **FAULT, after_commit=True)),
    "departure, reader": (600, LONG, scope(1, **FAULT, **NEW, reads=1)),
    "departure amid two": (480, LONG, scope(2, **FAULT, **NEW, **PRIMARY)),
    "departure of three": (290, LONG, scope(1, members=3, **FAULT, **NEW, **PRIMARY)),
    "join": (209, LONG, scope(1, **JOIN)),
    "collection": (314, LONG, scope(1, **NEW, broadcasts=2)),
    "recovery": (1_453, LONG, scope(1, **FAULT, **NEW, **PRIMARY, joins=1)),
    "join amid two": (657, NIGHTLY, scope(2, **JOIN, **NEW)),
    "two rows": (682, NIGHTLY, scope(2, rows=2, **NEW, sessions=2, workers=2)),
}
"""Name -> runs that differ, tier and workload. A departure is a crash or a leave."""
CAUGHT = {
    "composed_answer_does_not_wait": "departure, after commit",
    "composed_applier_robs_sent_clients": "two",
    "composed_applier_skips_locked_rows": "two",
    "composed_broken_off_client_goes_on": "two",
    "composed_client_reads_without_lock": "two",
    "composed_commit_does_not_wait": "one",
    "composed_commits_before_the_binary_log": "two at a primary",
    "composed_donor_sends_what_waits": "join",
    "composed_member_counts_itself": "one",
    "composed_own_overtakes_others": "departure",
    "composed_place_is_taken_at_dispatch": "departure",
    "composed_refused_locks_are_kept": "two",
    "composed_sending_counts_as_receipt": "one",
    "composed_unlocks_when_sent": "two",
    "composed_waits_for_who_crashed": "departure",
    "composed_worker_ignores_deletes": "two",
}
"""Mutant -> a scope of which some run shows it to the property that must detect it."""


LEAST = Workload(dialect="wl8440")
"""What the command takes where nothing is given."""


def command_of(workload):
    """Return the command that enumerates a scope."""
    sizes = {name: getattr(workload, name) for name in ("dialect", *SIZES)}
    small = COMPOSED.small_scope(Workload()).options
    given = {name: one for name, one in workload.options.items() if one != small.get(name)}
    return " ".join(
        [
            "paraply explore composed --exhaustive",
            *(f"--{name}={one}" for name, one in sizes.items() if one != getattr(LEAST, name)),
            *(f"--option {name}={str(one).lower()}" for name, one in sorted(given.items())),
        ]
    )


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
    ("name", "runs", "workload"),
    [
        pytest.param(name, runs, workload, id=name, marks=tier)
        for name, (runs, tier, workload) in SCOPES.items()
    ],
)
def test_every_order_of_a_small_scope_breaks_nothing(name, runs, workload):
    command = command_of(workload)
    count, found = breaches(COMPOSED, workload)
    assert not found, command
    assert count == runs, command


def test_page_lists_each_scope_with_its_runs_and_its_command():
    page = (REPOSITORY / "docs" / "explore.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"# (.+): [\d,]+ runs\n(paraply explore composed .+)", page))
    assert listed == {name: command_of(workload) for name, (_, _, workload) in SCOPES.items()}
    for name, (runs, _, _) in SCOPES.items():
        assert f"# {name}: {runs:,} runs\n" in page


@pytest.mark.parametrize("name", ["one", "recovery"])
def test_listed_command_gives_the_scope(name):
    *_, workload = SCOPES[name]
    _, *words = command_of(workload).split()
    arguments = build_parser(words).parse_args(words)
    assert arguments.exhaustive
    assert COMPOSED.small_scope(workload_of(arguments, COMPOSED)) == workload


# That leaving out orders of actions that commute loses nothing.

UNREDUCED = {
    "one": scope(1),
    "one, after commit": scope(1, after_commit=True),
    "restart of an idle group": scope(0, **FAULT, joins=1),
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
    assert not assert_same_breaches(monkeypatch, COMPOSED, scope(1, **FAULT, dialect=dialect))


@pytest.mark.long(each=19)
@pytest.mark.parametrize("name", MUTANTS)
def test_orders_that_are_left_out_show_no_further_breach_of_a_mutant(name, monkeypatch):
    assert_same_breaches(monkeypatch, mutant_named(name).subject, scope(1))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "composed_answer_does_not_wait",
        "composed_commit_does_not_wait",
        "composed_waits_for_who_crashed",
        "composed_client_waits_for_who_crashed",
    ],
)
def test_orders_that_are_left_out_show_no_further_breach_at_a_departure(name, monkeypatch):
    workload = scope(1, **FAULT, **NEW, after_commit="client" in name or "answer" in name)
    assert assert_same_breaches(monkeypatch, mutant_named(name).subject, workload)


# Which mutants the scopes show.


@pytest.mark.long(each=8)
@pytest.mark.parametrize(("name", "where"), CAUGHT.items(), ids=CAUGHT)
def test_mutant_is_caught_in_a_scope(name, where):
    mutant = mutant_named(name)
    _, _, workload = SCOPES[where]
    (prop,) = (one for one in properties_of(mutant.subject) if one.name == mutant.caught_by)
    assert search(system_of(mutant.subject, workload), prop, Exploration()) is not None
