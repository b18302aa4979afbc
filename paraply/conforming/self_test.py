"""``paraply conform --self-test``: run the suite on known faulty and correct appliers.

Faulty ones must fail their named case and no unrelated family; correct ones must pass all unskipped
cases.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from paraply.adapters.conformance.cases.case import Case, log_for
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.rules.correct import (
    GroupCommit,
    LogicalClock,
    MariaDBConservative,
    MySQLCoordinator,
    OwnKeys,
    WriteSet,
)
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
from paraply.progress import progress

RIGHT: tuple[type[Rule], ...] = (
    LogicalClock,
    MySQLCoordinator,
    WriteSet,
    OwnKeys,
    GroupCommit,
    MariaDBConservative,
)

TRACKER_SCHEDULES = 5
"""Few, because a tracker's two processes and pipes are slow."""
_TRACKER_TIMEOUT_S = 30.0
OTHER_SCHEDULES = 3
"""For cases that need not catch the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """The suite's result for one applier.

    Attributes:
        what: its fault; empty for a correct one.
        must_fail: the case that must catch it; empty for a correct one.
        unrelated: failed cases that it should pass.
    """

    name: str
    what: str
    must_fail: str
    failed: tuple[str, ...]
    unrelated: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Return whether the result is expected."""
        return not self.unrelated and (not self.must_fail or self.must_fail in self.failed)


@dataclass(frozen=True, slots=True)
class _Job:
    rule: type[Rule | TrackingRule]
    fault: Fault | TrackerFault | None
    cases: tuple[Case, ...]
    schedules: int
    seed: int


def self_tests(
    cases: Sequence[Case],
    *,
    schedules: int,
    seed: int,
    faults: Iterable[Fault | TrackerFault] = (*FAULTS, *TRACKER_FAULTS),
    right: Iterable[type[Rule | TrackingRule]] = (*RIGHT, *RIGHT_TRACKERS),
    processes: int = 1,
) -> Iterator[SelfTest]:
    """Run all correct, then all faulty appliers and trackers.

    A faulty one runs all schedules only on its named case.
    """
    jobs = [_Job(rule, None, tuple(cases), schedules, seed) for rule in right]
    jobs += [_Job(fault.rule, fault, tuple(cases), schedules, seed) for fault in faults]
    if processes == 1:
        yield from map(_self_test, jobs)
        return
    for case in cases:
        log_for(case, seed)  # The processes inherit the caches.
    global _forked_jobs
    _forked_jobs = jobs
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(_forked_self_test, range(len(jobs)))


_forked_jobs: Sequence[_Job] = ()
"""Inherited, because functions cannot be pickled."""


def _forked_self_test(number: int) -> SelfTest:
    return _self_test(_forked_jobs[number])


def _self_test(job: _Job) -> SelfTest:
    fault = job.fault
    if fault is None:
        failed = _failed(job.rule, job.cases, job.schedules, job.seed)
        return SelfTest(name=job.rule.name, what="", must_fail="", failed=failed, unrelated=failed)
    failed = _failed(fault.rule, job.cases, job.schedules, job.seed, fault.case)
    is_chosen = any(case.id == fault.case for case in job.cases)
    return SelfTest(
        name=fault.name,
        what=fault.what,
        must_fail=fault.case if is_chosen else "",
        failed=failed,
        unrelated=tuple(
            one for one in failed if "*" not in fault.families and one[0] not in fault.families
        ),
    )


def self_test_lines(tests: Iterable[SelfTest]) -> Iterator[str]:
    """Yield each applier's line."""
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
    """Print results; exit code 1 for unexpected ones."""
    kept: list[SelfTest] = []
    total = len(RIGHT) + len(RIGHT_TRACKERS) + len(FAULTS) + len(TRACKER_FAULTS)
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    tests = self_tests(cases, schedules=schedules, seed=seed, processes=processes)
    with progress("running the suite on appliers", total=total) as advance:
        for test in tests:
            kept.append(test)
            advance(len(kept))
            for line in self_test_lines([test]):
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
    rule: type[Rule | TrackingRule],
    cases: Sequence[Case],
    schedules: int,
    seed: int,
    must_fail: str = "",
) -> tuple[str, ...]:
    if issubclass(rule, Rule):
        conformance = Conformance(
            InlineLauncher(rule), schedules=schedules, seed=seed, shrink_runs_max=0
        )
        return _failed_in(conformance, cases, must_fail)
    command = host_command(f"{rule.__module__}:{rule.__name__}")
    command = tracker_host_command(command, timeout=_TRACKER_TIMEOUT_S)
    cases = [case for case in cases if case.is_for_trackers]
    with CommandLauncher(command) as launcher:
        conformance = Conformance(
            launcher,
            schedules=schedules if must_fail else min(schedules, TRACKER_SCHEDULES),
            seed=seed,
            shrink_runs_max=0,
            role=Role.TRACKER,
        )
        return _failed_in(conformance, cases, must_fail)


def _failed_in(conformance: Conformance, cases: Sequence[Case], must_fail: str) -> tuple[str, ...]:
    fault = conformance.meet().fault
    assert not fault, fault
    schedules = conformance.schedules
    results: list[CaseResult] = []
    for case in cases:
        is_other = must_fail and case.id != must_fail
        conformance.schedules = min(schedules, OTHER_SCHEDULES) if is_other else schedules
        results.append(conformance.run_case(case))
    judged = map(conformance.with_hindsight, results)
    return tuple(one.case.id for one in judged if one.result in (Result.FAIL, Result.SLOW))
