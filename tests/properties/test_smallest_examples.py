"""Judges at their border: each smallest example has its breach or situation, no part less does."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import pytest

from paraply.properties.registry import registered_properties
from paraply.vocabulary.events import EventKind
from tests.properties.smallest_examples import occurs_in, smaller, smallest, stored

EXAMPLES = stored()
EXAMPLES_OF = {
    name: list(found) for name, found in groupby(EXAMPLES, key=lambda example: example.name)
}
WITHOUT = {"apply/whole_transactions", "group/clients"}
"""Areas with properties without an example: live targets reach them, or runs above its limit."""
OF_TRANSACTIONS = {"certification/write_sets", "group/galera"}
"""Areas that judge what was logged, without any event."""
PROPERTIES = {one.name: one for one in registered_properties()}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", EXAMPLES_OF)
def test_every_part_of_a_smallest_example_is_needed(name):
    for example in EXAMPLES_OF[name]:
        prop = PROPERTIES[example.prop]
        assert occurs_in(example.history, prop, example.what), example
        for one in smaller(example.history):
            assert not occurs_in(one, prop, example.what), (example, one)


@pytest.mark.parametrize("name", EXAMPLES_OF)
def test_nothing_is_decided_without_events(name):
    for example in EXAMPLES_OF[name]:
        prop = PROPERTIES[example.prop]
        if prop.area not in OF_TRANSACTIONS:
            empty = replace(example.history, events=())
            assert not prop.evidence(empty).decided
            assert not prop.violations(empty)


def test_shrinking_leaves_nothing_that_is_not_needed():
    def two_commits(history):
        return len(list(history.events_of(EventKind.ENGINE_COMMITTED))) > 1

    whole = next(one.history for one in EXAMPLES if one.prop == "engine_commits_follow_the_log")
    assert two_commits(whole)
    assert any(two_commits(one) for one in smaller(whole))
    shrunk = smallest(whole, two_commits)
    assert [event.kind for event in shrunk.events] == [EventKind.ENGINE_COMMITTED] * 2
    assert shrunk.transactions == ()
    assert not any(map(two_commits, smaller(shrunk)))


def test_only_properties_of_live_groups_and_databases_have_no_example():
    named = {one.prop for one in EXAMPLES}
    assert {prop.area for prop in PROPERTIES.values() if prop.name not in named} == WITHOUT
