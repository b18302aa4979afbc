"""Signatures tell sorts of breaches apart, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.mining.coverage import course_of, features_of
from paraply.mining.signatures import (
    actions_of,
    canonical_digest,
    full_signature,
    shape_signature,
    transactions_named,
)
from paraply.mining.systems import systems_of
from paraply.properties.apply.parallel_apply import ConflictingApplyOverlapped
from paraply.properties.registry import property_named
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import TransactionId


def breaches(mutant, count=60):
    """Return runs of a mutant that break the property that must catch it."""
    (system,) = systems_of([], [mutant], {})
    (name,) = system.goals
    prop = property_named(name)
    found = []
    for seed in range(count):
        history = system.runner.run(SeededSchedule(seed), system.workload)
        if violations := prop.violations(history):
            found.append((prop, violations, history))
    assert found
    return found


def renamed(history, rows, members):
    """Return the same history with other names for rows and members."""
    transactions = tuple(
        replace(one, write_set=frozenset(rows.get(item, item) for item in one.write_set))
        for one in history.transactions
    )
    events = tuple(
        event._replace(member=members.get(event.member, event.member)) for event in history.events
    )
    header = replace(
        history.header, members=tuple(members.get(one, one) for one in history.header.members)
    )
    return replace(history, header=header, transactions=transactions, events=events)


def test_names_of_rows_and_members_do_not_matter():
    rows = {"a": "a1", "b": "b1", "c": "c1"}
    for prop, violations, history in breaches("last_committed_off_by_one"):
        other = renamed(history, rows, {"r1": "replica"})
        again = prop.violations(other)
        assert full_signature(prop.name, violations, history) == full_signature(
            prop.name, again, other
        )
        assert canonical_digest(history) == canonical_digest(other)
        assert (course_of(history), features_of(history)) == (course_of(other), features_of(other))


def test_order_of_events_matters_to_the_digest_and_not_to_the_shape():
    prop, violations, history = breaches("last_committed_off_by_one")[0]
    events = list(history.events)
    # Two neighbours at one member change places; the times stay where they are.
    place = next(at for at in range(2, len(events)) if events[at].kind != events[at - 1].kind)
    one, other = events[place - 1], events[place]
    events[place - 1], events[place] = other._replace(time=one.time), one._replace(time=other.time)
    swapped = replace(history, events=tuple(events))
    assert canonical_digest(swapped) != canonical_digest(history)
    assert course_of(swapped) != course_of(history)
    assert shape_signature(prop.name, violations, swapped) == shape_signature(
        prop.name, violations, history
    )


def test_shape_names_the_transactions_of_the_breach_and_their_conflict():
    shapes = {
        shape_signature(prop.name, violations, history).shape
        for prop, violations, history in breaches("last_committed_off_by_one")
    }
    assert "T1 ctas, T2 rows; T1-T2" in shapes
    assert len(shapes) > 1


@pytest.mark.parametrize(
    ("mutant", "action"),
    [
        ("recovery_ignores_bitmaps", "crashed"),
        ("low_water_mark_survives_rotation", "relay_rotated"),
    ],
)
def test_actions_tell_what_the_history_needs(mutant, action):
    prop, violations, history = breaches(mutant, 120)[0]
    signature = full_signature(prop.name, violations, history)
    assert action in actions_of(history)
    assert action in signature.text


def test_initial_state_is_no_transaction():
    breach = ConflictingApplyOverlapped(
        member="r1", earlier=TransactionId(0), later=TransactionId(3), item="a"
    )
    assert list(transactions_named(breach)) == [3]
