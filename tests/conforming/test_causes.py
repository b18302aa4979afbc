"""Failures with one cause are one group, smallest run first."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.rules.faulty import GroupsByTable, WaitsForOneNumber
from paraply.adapters.conformance.rules.faulty_keys import LowersCase
from paraply.conforming.causes import (
    Cause,
    cause_of,
    groups_by_cause,
    kind_of_fault,
    kind_of_violation,
)
from paraply.conforming.suite import CaseResult, Conformance, Result
from paraply.properties.registry import Violation
from paraply.vocabulary.events import Outcome


def results_of(rule, *names):
    conformance = Conformance(InlineLauncher(rule), schedules=4, shrink_runs_max=0)
    conformance.meet()
    return conformance.run_all(cases_named(names))


def test_one_property_broken_in_one_way_is_one_cause():
    results = results_of(WaitsForOneNumber, "B")
    failures = [one for one in results if one.result is Result.FAIL]
    groups = groups_by_cause(results)
    assert sum(len(group.failures) for group in groups) == len(failures) >= 2
    early = Cause("starts_respect_last_committed", "started too early")
    (group,) = [one for one in groups if one.cause == early]
    assert all(cause_of(one) == early for one in group.failures)
    sizes = [len(one.breach.history.transactions) for one in group.failures]
    assert sizes == sorted(sizes)
    assert group.smallest is group.failures[0]
    assert list(group.ids) == sorted(group.ids)


def test_one_property_broken_in_two_ways_is_two_causes():
    found = results_of(GroupsByTable, "F-order-09") + results_of(LowersCase, "D-collation-09")
    kinds = {cause_of(one) for one in found}
    assert {one.prop for one in kinds} == {"rows_apply_as_logged"}
    assert len(kinds) == len(groups_by_cause(found)) == 2


def test_most_frequent_cause_comes_first():
    case, *_ = cases_named(["B"])
    failed = [
        CaseResult(case=case, result=Result.FAIL, reason=reason)
        for reason in ("worker 9 is not 1 or more", "no message for 3 s", "no message for 10 s")
    ]
    first, second = groups_by_cause([*failed, CaseResult(case=case, result=Result.PASS)])
    assert first.cause.title == "no message for N s"
    assert len(first.failures) == 2
    assert second.cause.title == "worker N is not N or more"


@dataclass(frozen=True)
class RowWasLost(Violation):
    member: str
    outcome: Outcome


def test_kind_of_violation_has_the_class_and_its_enums_but_no_values():
    assert kind_of_violation(RowWasLost("r2", Outcome.LOCK_WAIT)) == "row was lost, lock wait"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("the applier ended with exit code 3", "the applier ended with exit code N"),
        ("lost: the target's log never contains the change of 0-1-6 at bin.000001:14", "lost"),
        ("not JSON (Expecting value): 'hello'", "not JSON"),
        ("no message for 0.5 s (in 2 of 5 runs of the same schedule)", "no message for N s"),
        (": odd", ": odd"),
    ],
)
def test_kind_of_fault_has_no_values(reason, kind):
    assert kind_of_fault(reason) == kind


def test_kind_over_the_wire_is_kept():
    (case,) = cases_named(["B-prefix-01"])
    failure = CaseResult(case=case, result=Result.FAIL, reason="After target transaction 7, …",
                         kind="the target's log reaches the level none, not atomic")  # fmt: skip
    assert cause_of(failure) == Cause("", "the target's log reaches the level none, not atomic")
