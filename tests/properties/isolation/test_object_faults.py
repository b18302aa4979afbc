"""Faulty servers are found by the property of their fault, and right ones by none."""

from __future__ import annotations

import pytest

from paraply.properties.isolation.objects import judge_objects
from paraply.vocabulary.client_history import DataType
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.object_runs import Fault, run

OBJECTS = (DataType.SET, DataType.COUNTER)
SEEDS = range(12)
EXPECTED = {
    Fault.LOSES: ("lost element", "lost increment"),
    Fault.UNDOES_SHOWN: ("vanished element", "monotonic reads at one server"),
    Fault.KEEPS_ABORTED: ("G1a", "counter too high"),
    Fault.DOUBLES: ("duplicate element", "counter too high"),
    Fault.INVENTS: ("garbage", "counter too high"),
    Fault.SKIPS: ("final reads", "final reads"),
    Fault.REORDERS: ("prefix", "prefix"),
    Fault.TEARS: ("prefix", "prefix"),
    Fault.GOES_BACK: ("monotonic reads at one server", "monotonic reads at one server"),
    Fault.LAGS: ("stale read", "stale read"),
}
"""The phenomenon of sets and of counters."""
LAGGING = {"stale read", "monotonic reads", "monotonic prefix"}


def findings(history):
    return {one.phenomenon.label: one for one in judge_objects(history)}


def broken(history):
    return {label for label, one in findings(history).items() if one.verdict is Verdict.VIOLATED}


@pytest.mark.long(quick=6)
@pytest.mark.parametrize("fault", list(Fault), ids=lambda one: one.name.lower())
@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_fault_is_found_by_its_property(data_type, fault):
    label = EXPECTED[fault][data_type is DataType.COUNTER]
    found = [label in broken(run(data_type, seed, fault=fault)) for seed in SEEDS]
    assert any(found)


@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_right_servers_break_nothing_and_everything_is_decided(data_type):
    decided = set()
    for seed in SEEDS:
        found = findings(run(data_type, seed))
        assert not {label for label, one in found.items() if one.breaches}, seed
        decided |= {label for label, one in found.items() if one.verdict is Verdict.HOLDS}
    assert decided == set(found)


@pytest.mark.parametrize("data_type", OBJECTS, ids=lambda one: one.value)
def test_replicas_that_lag_are_stale_and_nothing_worse(data_type):
    seen = set()
    for seed in SEEDS:
        seen |= broken(run(data_type, seed, lag_max=3))
    assert seen == LAGGING
