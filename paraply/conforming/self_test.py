"""``paraply conform --self-test``: the suite on appliers whose fault is known, and on right ones.

Each faulty applier must fail the case named for it and no case of an unrelated family; each right
one must pass every case that it is not skipped in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from paraply.adapters.conformance.cases.case import Case
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.rules.correct import GroupCommit, LogicalClock, OwnKeys, WriteSet
from paraply.adapters.conformance.rules.faulty import FAULTS, Fault
from paraply.adapters.conformance.rules.rule import Rule
from paraply.adapters.conformance.rules.trackers import (
    RIGHT_TRACKERS,
    TRACKER_FAULTS,
    TrackerFault,
    TrackingRule,
)
from paraply.adapters.conformance.tracker_host import tracker_host_command
from paraply.conforming.suite import CaseResult, Conformance, Result

RIGHT: tuple[type[Rule], ...] = (LogicalClock, WriteSet, OwnKeys, GroupCommit)

_TRACKER_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """What the suite said of one applier.

    Attributes:
        name: the applier.
        what: its fault in a line; empty for a right one.
        must_fail: the case that has to catch it; empty for a right one.
        failed: the cases that it failed.
        unrelated: those among them that it should have passed.
    """

    name: str
    what: str
    must_fail: str
    failed: tuple[str, ...]
    unrelated: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Return whether the suite said what it should."""
        return not self.unrelated and (not self.must_fail or self.must_fail in self.failed)


def self_tests(
    cases: Sequence[Case],
    *,
    schedules: int,
    seed: int,
    faults: Iterable[Fault | TrackerFault] = (*FAULTS, *TRACKER_FAULTS),
    right: Iterable[type[Rule | TrackingRule]] = (*RIGHT, *RIGHT_TRACKERS),
) -> Iterator[SelfTest]:
    """Run the cases on every right applier and tracker, and on every faulty one."""
    for rule in right:
        failed = _failed(rule, cases, schedules, seed)
        yield SelfTest(name=rule.name, what="", must_fail="", failed=failed, unrelated=failed)
    for fault in faults:
        failed = _failed(fault.rule, cases, schedules, seed)
        is_chosen = any(case.id == fault.case for case in cases)
        yield SelfTest(
            name=fault.name,
            what=fault.what,
            must_fail=fault.case if is_chosen else "",
            failed=failed,
            unrelated=tuple(
                one for one in failed if "*" not in fault.families and one[0] not in fault.families
            ),
        )


def self_test_lines(tests: Iterable[SelfTest]) -> Iterator[str]:
    """Yield a line for each applier, as soon as it is known."""
    for test in tests:
        mark = "ok  " if test.is_good else "FAIL"
        if not test.what:
            yield f"{mark} {test.name}: right, fails {', '.join(test.failed) or 'nothing'}"
            continue
        caught = "caught" if test.must_fail in test.failed else "NOT caught"
        others = len(test.failed) - (test.must_fail in test.failed)
        yield (
            f"{mark} {test.name}: {caught} by {test.must_fail or 'no case chosen'}"
            + (f" and {others} more" if others else "")
            + (f", UNRELATED: {', '.join(test.unrelated)}" if test.unrelated else "")
            + f"\n       {test.what}"
        )


def run_self_test(cases: Sequence[Case], *, schedules: int, seed: int) -> int:
    """Print what the suite says of every applier; exit code 1 if one is not as it should be."""
    all_good = True
    kept: list[SelfTest] = []

    def keep() -> Iterator[SelfTest]:
        for test in self_tests(cases, schedules=schedules, seed=seed):
            kept.append(test)
            yield test

    for line in self_test_lines(keep()):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    all_good = all(test.is_good for test in kept)
    faulty = sum(1 for test in kept if test.what)
    sys.stdout.write(
        f"{len(kept) - faulty} right appliers and trackers, {faulty} faulty ones: "
        f"{'all as they should be' if all_good else 'NOT as they should be'}\n"
    )
    return 0 if all_good else 1


def _failed(
    rule: type[Rule | TrackingRule], cases: Sequence[Case], schedules: int, seed: int
) -> tuple[str, ...]:
    command = host_command(f"{rule.__module__}:{rule.__name__}")
    role = Role.APPLIER if issubclass(rule, Rule) else Role.TRACKER
    if role is Role.TRACKER:
        command = tracker_host_command(command, timeout=_TRACKER_TIMEOUT_S)
        cases = [case for case in cases if case.is_for_trackers]
    with CommandLauncher(command) as launcher:
        conformance = Conformance(
            launcher, schedules=schedules, seed=seed, shrink_runs_max=0, role=role
        )
        fault = conformance.meet().fault
        assert not fault, fault
        results: list[CaseResult] = conformance.run_all(cases)
    return tuple(one.case.id for one in results if one.result is Result.FAIL)
