"""Run the suite against an applier."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from paraply.adapters.conformance.adversaries import mixed_schedules
from paraply.adapters.conformance.cases.case import (
    ENDS,
    ORDER,
    OVERLAP,
    PREFIXES,
    Case,
    empty_log,
    log_for,
)
from paraply.adapters.conformance.interleavings import Explored, Interleavings
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.session import Launcher, Run, RunOptions, Session
from paraply.adapters.conformance.tracking import Precision
from paraply.conforming.breaches import Breach, smallest_breach
from paraply.properties.registry import NO_EVIDENCE, Evidence, Property
from paraply.properties.search import random_schedules
from paraply.properties.shrinking import without_trailing_zeros
from paraply.registries import property_named
from paraply.vocabulary.schedule import RecordedSchedule, Schedule
from paraply.vocabulary.verdict import Verdict

SCHEDULES = 20
SHRINK_RUNS_MAX = 150
SHORT_LOG = 4
"""A length that allows enumerated schedules."""
EXPLORED_MAX = 250
"""Their number for each case."""
FAULT_REPEATS = 4

_ALWAYS = (
    "no_conflicting_parallel_apply",
    "rows_apply_as_logged",
    "transactions_apply_whole",
    "applied_exactly_once",
    "final_state_is_the_sources",
    "tables_end_as_the_sources",
    "applier_does_not_give_up",
    "applier_reaches_the_end",
)
_IN_COMMIT_ORDER = (ORDER, PREFIXES, "reads_never_go_back", "sessions_keep_their_order")
_BY_CLOCK = "starts_respect_last_committed"


class Result(Enum):
    """The result of a case."""

    PASS = "pass"
    FAIL = "fail"
    SLOW = "slow"
    """Correct, but independent transactions never overlapped."""
    SKIP = "skip"
    UNKNOWN = "unknown"

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict; None if skipped."""
        return {
            Result.PASS: Verdict.HOLDS,
            Result.FAIL: Verdict.VIOLATED,
            Result.SLOW: Verdict.HOLDS,
            Result.UNKNOWN: Verdict.UNKNOWN,
        }.get(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One judged case.

    Attributes:
        reason: one line; empty for a pass.
        kind: of a failure over the wire, such as ``version lost``.
        stderr: last lines of a failing applier.
        notes: more about a failure over the wire: findings and trace.
        replay: arguments that repeat a failure over the wire.
        explored: the enumerated schedules of a short log.
        evidence: situations of the case's property; none over the wire, where logs decide.
    """

    case: Case
    result: Result
    reason: str = ""
    kind: str = ""
    breach: Breach | None = None
    stderr: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    runs: int = 0
    seconds: float = 0.0
    explored: Explored | None = None
    evidence: Evidence = NO_EVIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Applier:
    """An applier's features or fault, or a tracker's precision."""

    name: str = ""
    features: frozenset[str] = frozenset()
    fault: str = ""
    stderr: tuple[str, ...] = ()
    has_spoken: bool = True
    precision: Precision | None = None


@dataclass(slots=True)
class Conformance:
    """Runs cases, each on ``schedules`` schedules of ``seed``.

    Attributes:
        explored_max: enumerated schedules of each short log; None for all.
    """

    launcher: Launcher[Any]
    schedules: int = SCHEDULES
    seed: int = 0
    shrink_runs_max: int = SHRINK_RUNS_MAX
    explored_max: int | None = EXPLORED_MAX
    role: Role = Role.APPLIER
    has_overlapped: bool = False
    """Set by any case."""
    features: frozenset[str] = field(default=frozenset())

    def meet(self) -> Applier:
        """Record the features on an empty log."""
        (schedule,) = random_schedules(self.seed, 1)
        run = Session(self.launcher, empty_log(), schedule, RunOptions()).run()
        self.features = run.features
        fault = run.fault
        if not fault and run.has_stalled:
            fault = "'end' of an empty log was not answered by 'end_ok'"
        return Applier(
            name=run.history.header.subject,
            features=run.features,
            fault=fault,
            stderr=run.stderr,
            has_spoken=run.has_spoken,
        )

    def run_all(
        self, cases: Iterable[Case], on_case: Callable[[CaseResult], None] | None = None
    ) -> list[CaseResult]:
        """Run cases in order; decide missing overlap last."""
        results = []
        for case in cases:
            result = self.run_case(case)
            results.append(result)
            if on_case is not None:
                on_case(result)
        return [self.with_hindsight(result) for result in results]

    def run_case(self, case: Case) -> CaseResult:
        """Run one case until its first breach."""
        missing = case.features - self.features
        if missing:
            reason = f"the applier does not offer {', '.join(sorted(missing))}"
            return CaseResult(case=case, result=Result.SKIP, reason=reason)
        started = time.monotonic()
        properties = self.properties_of(case)
        decides, evidence = property_named(case.decides), NO_EVIDENCE
        overlaps = False
        runs = 0
        interleavings = self._interleavings_of(case)
        for seed, schedule in self._schedules_of(case, interleavings):
            runs += 1
            run = self.run_once(case, schedule, seed)
            breach = None
            evidence += decides.evidence(run.history)
            reason = run.fault and self._with_share_of_faults(case, run.fault, schedule, seed)
            if not run.fault:
                breach = self._breach(case, run, schedule, properties, seed)
                reason = "" if breach is None else str(breach.violations[0])
            if reason:
                return CaseResult(
                    case=case,
                    result=Result.FAIL,
                    reason=reason,
                    breach=breach,
                    stderr=run.stderr,
                    runs=runs,
                    seconds=time.monotonic() - started,
                    evidence=evidence,
                )
            overlaps = overlaps or bool(property_named(OVERLAP).witness(run.history))
        self.has_overlapped = self.has_overlapped or overlaps
        is_reached = evidence.verdict is Verdict.HOLDS
        reason = evidence.reason
        if not evidence.relevant:
            reason = f"the situation of {case.decides} never occurred"
        if case.is_about_parallel_apply and not overlaps:
            is_reached = False
            reason = "no two transactions were ever under way together"
        return CaseResult(
            case=case,
            result=Result.PASS if is_reached else Result.UNKNOWN,
            reason=reason,
            runs=runs,
            seconds=time.monotonic() - started,
            explored=None if interleavings is None else interleavings.explored,
            evidence=evidence,
        )

    def _interleavings_of(self, case: Case) -> Interleavings | None:
        log = log_for(case, self.seed)
        is_short = len(log.transactions) <= SHORT_LOG
        return Interleavings(log, self.explored_max) if is_short and self._explores else None

    @property
    def _explores(self) -> bool:
        return self.schedules >= SCHEDULES or self.explored_max is None

    def _schedules_of(
        self, case: Case, interleavings: Interleavings | None
    ) -> Iterator[tuple[int, Schedule]]:
        log = log_for(case, self.seed)
        rows = sum(len(one.rows) for one in log.transactions)
        schedules = min(self.schedules, case.schedules_max or self.schedules)
        mixed = mixed_schedules(
            (one.seed for one in random_schedules(self.seed, schedules)),
            workers=case.workers,
            transactions=len(log.transactions),
            steps=rows + 3 * len(log.transactions),
            faults=case.crashes + case.deadlocks,
        )
        yield from enumerate(mixed, start=self.seed)
        for schedule in interleavings or ():
            yield self.seed, schedule

    def run_once(
        self, case: Case, schedule: Schedule, seed: int, kept: Collection[int] | None = None
    ) -> Run:
        """Run a case on its seed's log, reduced to ``kept``."""
        options = RunOptions(
            workers=case.workers,
            commit_order=case.commit_order,
            crashes=case.crashes,
            deadlocks=case.deadlocks,
        )
        log = log_for(case, seed, None if kept is None else tuple(kept))
        return Session(self.launcher, log, schedule, options).run()

    def properties_of(self, case: Case) -> list[Property]:
        """Return a case's properties, its own first."""
        names = [*_ALWAYS]
        if case.commit_order:
            names += _IN_COMMIT_ORDER
        if "lc_sn" in self.features and not self.features & {"writeset", "commit_id"}:
            names.append(_BY_CLOCK)
        first = [case.decides] if case.decides != OVERLAP else []
        return [property_named(name) for name in dict.fromkeys([*first, *names])]

    def _breach(
        self,
        case: Case,
        run: Run,
        schedule: Schedule,
        properties: Sequence[Property],
        seed: int,
    ) -> Breach | None:
        for prop in properties:
            violations = prop.violations(run.history)
            if violations:
                breach = Breach(
                    prop=prop,
                    violations=violations,
                    history=run.history,
                    choices=without_trailing_zeros(tuple(schedule.choices)),
                    seed=seed,
                )
                # A stall shown by a time-out lasts as long in every repetition.
                if self.shrink_runs_max and (prop.name != ENDS or run.is_proved):
                    return smallest_breach(self, case, breach)
                return breach
        return None

    def _with_share_of_faults(self, case: Case, fault: str, schedule: Schedule, seed: int) -> str:
        if not self.shrink_runs_max:
            return fault
        again = [
            self.run_once(case, RecordedSchedule(schedule.choices), seed).fault
            for _ in range(FAULT_REPEATS)
        ]
        broken = 1 + sum(map(bool, again))
        if broken > FAULT_REPEATS:
            return fault
        return f"{fault} (in {broken} of {FAULT_REPEATS + 1} runs of the same schedule)"

    def with_hindsight(self, result: CaseResult) -> CaseResult:
        """Turn "never overlapped" into ``slow`` if others overlapped."""
        if not (result.case.must_overlap and result.result is Result.UNKNOWN):
            return result
        # The applier of a tracker can overlap: only the tracker's answers prevent it.
        if not self.has_overlapped and self.role is Role.APPLIER:
            return result
        reason = "the two independent transactions were never under way together"
        return replace(result, result=Result.SLOW, reason=reason)
