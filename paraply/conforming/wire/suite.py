"""Run cases over the wire and judge each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from paraply.adapters.conformance.adversaries import Adversary, SteeredSchedule
from paraply.adapters.conformance.cases.case import Case, log_for
from paraply.adapters.servers.server import Server
from paraply.adapters.wire.case_logs import (
    CaseLogs,
    NotOnWireError,
    as_logged,
    prepare_target,
)
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.gate import Gate
from paraply.adapters.wire.locks import LockMonitor
from paraply.adapters.wire.program import Program
from paraply.adapters.wire.run import (
    PATIENCE_S,
    WORKERS,
    Conductor,
    Fault,
    WireRun,
    addresses_of,
)
from paraply.conforming.shrinking import Kept, Shrinking
from paraply.conforming.suite import CaseResult, Result
from paraply.conforming.wire.ghost import GhostTable
from paraply.conforming.wire.judging import LogVerdict, judge_logs
from paraply.conforming.wire.stage import Stage
from paraply.properties.search import random_schedules
from paraply.properties.shrinking import Choices, without_trailing_zeros
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.verdict import Verdict

PROGRAM_NEVER_BEGAN = register(
    "P644",
    "{reason}; it received no transaction, so there is nothing to judge",
    "run the program by hand with the addresses that it gets; docs/wire.md has its profiles",
)

SCHEDULES = 6
SHRINK_SECONDS = 120.0
_SHRINK_RUNS_MAX = 150
USER = "applier"
_ORDER = (
    Adversary.STARVE_TRANSACTION,
    Adversary.UNIFORM,
    Adversary.PRIORITIES,
    Adversary.LATEST_FIRST,
    Adversary.STARVE_WORKER,
    Adversary.DELAYED,
)
"""Starving first: uniform choice rarely finds a wrong order."""
_STEPS_PER_ROW = 1
_STEPS_PER_TRANSACTION = 4
_TRACE_SHOWN = 60
_FOR_FEW = "only a program that compares keys at the target can pass it"


@dataclass(frozen=True, slots=True, kw_only=True)
class WireOptions:
    """How to run and judge.

    Attributes:
        faults: at most one per run, in turn, after one run without.
        required: level of ``paraply verify`` that the target's log must reach.
        compacts: the program may write only the last of several versions.
        named: ids of cases that run although not every program can pass them.
    """

    schedules: int = SCHEDULES
    seed: int = 0
    faults: tuple[Fault, ...] = tuple(Fault)
    required: str = "atomic"
    compacts: bool = False
    named: frozenset[str] = frozenset()
    patience_s: float = PATIENCE_S
    rule: HoldRule = field(default_factory=HoldRule)
    ghost: GhostTable | None = None
    """For a program that copies a table within one server."""
    shrink_s: float = SHRINK_SECONDS
    """For each failure; 0 keeps it as found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run with its verdict and choices.

    Attributes:
        kept: remaining transactions of the log; None for all.
        broken: runs of this schedule with this finding, among ``repeats``.
    """

    run: WireRun
    verdict: Verdict
    findings: tuple[str, ...]
    kind: str
    choices: Choices
    transactions: int
    kept: Kept = None
    broken: int = 1
    repeats: int = 1

    @property
    def program(self) -> str:
        """Return the choices as argument text."""
        return format_program(encode_program(self.choices))

    @property
    def size(self) -> tuple[int, int]:
        """Return the numbers of transactions and steps."""
        return self.transactions, len(self.run.trace)

    @property
    def cause(self) -> str:
        """Return the finding's first word; empty without a finding."""
        return self.findings[0].partition(":")[0] if self.findings else ""

    def repeated(self, broken: int, repeats: int) -> Judged:
        """Return the run with its share."""
        return replace(self, broken=broken, repeats=repeats)


@dataclass(slots=True)
class WireConformance:
    """Runs a program against one server."""

    server: Server
    command: Sequence[str]
    folder: Path
    options: WireOptions
    forced: int = 0
    """Rests that a limit ended."""
    overlapped: int = 0
    """Runs with two open transactions."""
    runs: int = 0
    _logs: CaseLogs = field(init=False)

    def __post_init__(self) -> None:
        self._logs = CaseLogs(self.server, self.folder)

    def run_all(
        self, cases: Sequence[Case], on_case: Callable[[CaseResult], None]
    ) -> list[CaseResult]:
        """Run cases in order."""
        results = []
        for case in cases:
            results.append(self.run_case(case))
            on_case(results[-1])
        return results

    def run_case(self, case: Case) -> CaseResult:
        """Run one case until its first failure."""
        started = time.monotonic()
        overlapped = False
        unknown: tuple[str, ...] = ()
        runs = 0

        def result(outcome: Result, reason: str, **more: object) -> CaseResult:
            seconds = time.monotonic() - started
            return CaseResult(
                case=case,
                result=outcome,
                reason=reason,
                runs=runs,
                seconds=seconds,
                **more,  # type: ignore[arg-type]
            )

        if "writeset" in case.needs and case.id not in self.options.named:
            return result(Result.SKIP, f"{_FOR_FEW}; --case {case.id} runs it")
        for seed, schedule, faults in self._schedules_of(case):
            try:
                judged = self.run_once(case, schedule, seed, faults)
            except NotOnWireError as reason:
                return result(Result.SKIP, str(reason))
            runs += 1
            overlapped = overlapped or judged.run.overlapped
            if judged.verdict is Verdict.VIOLATED:
                judged = self._smallest(case, judged, schedule, seed, faults)
                return result(
                    Result.FAIL,
                    judged.findings[0],
                    kind=judged.kind,
                    stderr=judged.run.stderr,
                    notes=_notes(judged, faults),
                    replay=_replay_words(case, seed, faults, judged),
                )
            if judged.verdict is Verdict.UNKNOWN:
                unknown = unknown or judged.findings
        if unknown:
            return result(Result.UNKNOWN, unknown[0])
        if case.is_about_parallel_apply and not overlapped:
            return result(Result.UNKNOWN, "no two transactions were ever under way together")
        return result(Result.PASS, "")

    def _schedules_of(self, case: Case) -> Iterator[tuple[int, Schedule, tuple[Fault, ...]]]:
        kinds: list[tuple[Fault, ...]] = [(), *((one,) for one in self.options.faults)]
        for number in range(self.options.schedules):
            seed = self.options.seed + number
            adversary = _ORDER[number % len(_ORDER)]
            faults = kinds[(number + number // len(_ORDER)) % len(kinds)]
            yield seed, self.schedule(case, seed, adversary, faults), faults

    def schedule(
        self,
        case: Case,
        seed: int,
        adversary: Adversary,
        faults: tuple[Fault, ...],
        kept: Kept = None,
    ) -> SteeredSchedule:
        """Return a steered schedule; faults have steps drawn beforehand."""
        log = log_for(case, seed, kept)
        if self.options.ghost is not None:
            steps = self.options.ghost.steps(log)
        else:
            rows = sum(len(one.rows) for one in log.transactions)
            steps = _STEPS_PER_ROW * rows + _STEPS_PER_TRANSACTION * len(log.transactions)
        return SteeredSchedule(
            seed,
            adversary,
            workers=WORKERS,
            transactions=len(log.transactions),
            steps=steps,
            faults=len(faults),
        )

    def _smallest(
        self,
        case: Case,
        found: Judged,
        schedule: Schedule,
        seed: int,
        faults: tuple[Fault, ...],
    ) -> Judged:
        if not self.options.shrink_s:
            return found

        def attempt(tried: Schedule, kept: Kept) -> Judged | None:
            try:
                judged = self.run_once(case, tried, seed, faults, kept)
            except NotOnWireError:
                return None
            except ParaplyError as reason:
                if reason.error is not PROGRAM_NEVER_BEGAN:
                    raise
                return None
            is_same = judged.verdict is Verdict.VIOLATED and judged.cause == found.cause
            return judged if is_same else None

        def others(kept: Kept) -> Iterator[Schedule]:
            if isinstance(schedule, SteeredSchedule):
                yield self.schedule(case, seed, schedule.adversary, faults, kept)
            yield from random_schedules(seed, 1)

        log = log_for(case, seed)
        return Shrinking(
            attempt,
            found,
            others=others,
            droppable=[one.id for one in log.transactions] if log.only(()) is not None else (),
            runs_max=_SHRINK_RUNS_MAX,
            seconds_max=self.options.shrink_s,
        ).smallest()

    def run_once(
        self,
        case: Case,
        schedule: Schedule,
        seed: int,
        faults: tuple[Fault, ...],
        kept: Kept = None,
    ) -> Judged:
        """Run and judge one schedule.

        Raises ``NotOnWireError`` if the case has no log, and ``ParaplyError`` P644 for a program
        that ends, or does not become ready, before the log and without a fault.
        """
        log = as_logged(log_for(case, seed, kept))
        ghost = self.options.ghost
        rule = replace(self.options.rule, is_active=ghost is None)
        if ghost is None:
            stage = Stage.of_files(self._logs.make(log))
        else:
            stage = ghost.stage(self.server, log, rule)
        old_files = prepare_target(self.server, log.target_schema if stage.files else stage.schema)
        self.runs += 1
        output = self.folder / f"program-{self.runs}.log"
        with (
            LockMonitor(self.server) as monitor,
            Gate(self.server.port, stage.log, rule) as gate,
        ):
            program = Program(self.command, {**addresses_of(gate, USER), **stage.words}, output)
            run = Conductor(
                gate,
                program,
                monitor,
                schedule,
                groups=len(log.transactions),
                drains=stage.drains,
                faults=faults,
                patience_s=self.options.patience_s,
                begin=stage.begin,
            ).conduct()
        self.overlapped += run.overlapped
        self.forced += run.forced
        if run.gave_up and not run.faults and not run.delivered:
            raise ParaplyError(PROGRAM_NEVER_BEGAN, where=case.id, reason=run.gave_up)
        found = self._verdict(stage, run, old_files)
        return Judged(
            run=run,
            verdict=found.verdict,
            findings=found.findings,
            kind=found.kind,
            choices=without_trailing_zeros(tuple(schedule.choices)),
            transactions=len(log.transactions),
            kept=kept,
        )

    def _verdict(self, stage: Stage, run: WireRun, old_files: int) -> LogVerdict:
        target = self.server.binary_logs()[old_files:]
        found = judge_logs(
            stage.files or target,
            target,
            required=self.options.required,
            compacts=self.options.compacts,
            rules=stage.rules,
        )
        if run.gave_up:
            reasons = (run.gave_up, *found.findings)
            return LogVerdict(verdict=Verdict.VIOLATED, level=found.level, findings=reasons)
        return found


def _notes(judged: Judged, faults: tuple[Fault, ...]) -> tuple[str, ...]:
    run = judged.run
    lines = [f"  {line}" for line in judged.findings[1:]]
    if judged.broken < judged.repeats:
        lines.append(f"{judged.broken} of {judged.repeats} runs of this schedule fail so")
    injected = ", ".join(fault.value for fault in faults) if run.faults else "none"
    lines.append(
        f"injected faults: {injected}; new starts: {run.restarts}; lock waits: {run.blocked}; "
        f"forced rests: {run.forced}"
    )
    hidden = max(0, len(run.trace) - _TRACE_SHOWN)
    if hidden:
        lines.append(f"trace, without its first {hidden} steps:")
    else:
        lines.append("trace:")
    lines += [f"  {number:4} {text}" for number, text in enumerate(run.trace, 1)][hidden:]
    return tuple(lines)


def _replay_words(
    case: Case, seed: int, faults: tuple[Fault, ...], judged: Judged
) -> tuple[str, ...]:
    words = ["--case", case.id, "--seed", str(seed)]
    if judged.kept is not None:
        words += ["--keep", ",".join(map(str, judged.kept))]
    words += ["--faults", ",".join(fault.value for fault in faults) or "none"]
    return (*words, f"--program={judged.program}")
