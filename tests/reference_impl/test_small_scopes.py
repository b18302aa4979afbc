"""Every run of a small scope: nothing breaks, and the number of runs is what it should be."""

from __future__ import annotations

import pytest

from paraply.counterexamples.hunt import properties_of, system_of
from paraply.properties.registry import Expectation
from paraply.properties.search import search
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.certification.subject import CERTIFIER
from paraply.reference_impl.group.subject import GROUP
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named
from paraply.vocabulary.schedule import Exploration

SAFE = ("wl8440", "mysql_8_0", "mysql_8_3", "mysql_8_4", "mysql_9_7")
ONE_COLLECTION_ONE_VIEW = Workload(
    transactions=2, rows=2, options={"collections": 1, "views": 1, "lag": 1}
)
"""Two transactions: the least in which one can depend on the other across a collection."""
THREE_IN_A_ROW = Workload(
    transactions=3, rows=2, options={"collections": 1, "views": 0, "locals": False}
)
"""Three form a chain, with a collection between any two of them."""


def always_of(subject, dialect):
    known = subject.breaks.get(dialect, frozenset())
    return [
        prop
        for prop in properties_of(subject)
        if prop.expectation is Expectation.ALWAYS and prop.name not in known
    ]


def explore(subject, workload, judged):
    """Run everything; return the number of runs and the properties that were reached."""
    exploration, reached = Exploration(), set()
    system = system_of(subject, workload)
    for schedule in exploration:
        history = system(schedule)
        for prop in judged:
            assert not prop.violations(history), (prop.name, schedule.choices)
            if prop.name not in reached and prop.witness(history):
                reached.add(prop.name)
    assert exploration.is_complete
    return exploration.count, reached


def with_dialect(workload, dialect):
    return Workload(
        transactions=workload.transactions,
        rows=workload.rows,
        members=workload.members,
        dialect=dialect,
        options=workload.options,
    )


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("transactions", [1, 2, 3, 4])
def test_write_sets_are_counted_up_to_the_names_of_the_rows(transactions, rows):
    # Burnside: sequences of non-empty sets, averaged over the permutations of the rows.
    orbits = {
        1: lambda n: 1,
        2: lambda n: (3**n + 1) // 2,
        3: lambda n: (7**n + 3 * 3**n + 2) // 6,
    }
    workload = Workload(
        transactions=transactions,
        rows=rows,
        options={"collections": 0, "views": 0, "locals": False, "lag": 0, "barriers": False},
    )
    count, _ = explore(CERTIFIER, workload, [])
    assert count == orbits[rows](transactions)


@pytest.mark.long
@pytest.mark.parametrize("dialect", SAFE)
def test_certifier_breaks_nothing_with_a_collection_and_a_view_anywhere(dialect):
    workload = with_dialect(ONE_COLLECTION_ONE_VIEW, dialect)
    count, reached = explore(CERTIFIER, workload, always_of(CERTIFIER, dialect))
    # A view change that is logged is one more transaction that a snapshot may lack.
    assert count == (1116 if dialect_named(dialect).logs_view_change else 612)
    assert {"first_certified_wins", "only_conflicts_are_refused"} <= reached


@pytest.mark.long
@pytest.mark.parametrize("dialect", SAFE)
def test_certifier_breaks_nothing_with_three_transactions_and_a_collection(dialect):
    workload = with_dialect(THREE_IN_A_ROW, dialect)
    count, reached = explore(CERTIFIER, workload, always_of(CERTIFIER, dialect))
    assert count == 964
    assert {"window_covers_what_was_purged", "barriers_are_ordered_with_all"} <= reached


@pytest.mark.parametrize("name", sorted(CERTIFIER.breaks["wl8440_literal"]))
def test_literal_reading_breaks_what_it_is_known_to_break(name):
    system = system_of(CERTIFIER, with_dialect(ONE_COLLECTION_ONE_VIEW, "wl8440_literal"))
    assert search(system, property_named(name), Exploration(runs_max=2_000)) is not None


def test_every_order_of_two_racing_transactions_in_a_group_of_two():
    workload = Workload(
        transactions=2,
        rows=1,
        options={"joins": 0, "departures": 0, "broadcasts": 0, "barriers": False},
    )
    count, reached = explore(GROUP, workload, always_of(GROUP, "wl8440"))
    assert count == 31
    assert {"first_certified_wins", "members_decide_alike", "members_execute_the_same"} <= reached


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "runs"), [("wl8440", 410), ("mysql_8_4", 184)])
def test_every_order_of_a_join_with_one_transaction(dialect, runs):
    workload = Workload(
        transactions=1,
        rows=1,
        dialect=dialect,
        options={"joins": 1, "absent": 1, "departures": 0, "broadcasts": 0, "barriers": False},
    )
    count, reached = explore(GROUP, workload, always_of(GROUP, dialect))
    assert count == runs
    assert {"recovery_reaches_the_view_change", "joiners_certify_as_their_donors"} <= reached
