"""Child-process appliers as systems of a campaign, one per case.

Run n matches the n-th schedule of ``paraply conform`` with the campaign's seed. An applier that
breaks the protocol, dies or falls silent gives up its last transaction.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from paraply.adapters.conformance.cases import Case, cases_named
from paraply.adapters.conformance.cases.case import OVERLAP
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.requests import REPLICA
from paraply.adapters.conformance.session import Run
from paraply.conforming.breaches import Breach, smallest_breach
from paraply.conforming.suite import Conformance
from paraply.counterexamples.foreign_systems import ForeignSystem, SmallOfSystem
from paraply.mining.systems import NAMES_SHAPE, MakeHistory, System, register_kind
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.reference_impl.subject import Workload
from paraply.reporting.escape import visible
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import RecordedSchedule, Schedule
from paraply.vocabulary.shapes import require_shape

APPLIER_NOT_MET = register(
    "P634",
    "the applier cannot be run: {reason}",
    "run `paraply conform` to see its output; docs/protocol.md defines the protocol",
)
APPLIER_IS_SILENT = register(
    "P635",
    "the applier fell silent in {silent} runs of a batch, the last time in run {run} of case "
    "{case}: {reason}",
    "let `paraply conform` find out why; --timeout says how long to wait for an answer",
)

KIND = "child"
TIMEOUT_S = 10.0
EXPLORED = tuple(f"{family}-random-01" for family in "ABCDEFGHIJKLM")
"""Cases with random logs, a campaign's default."""
SILENT_MAX = 3
"""Per batch; each lasts the time-out."""
SHRINK_RUNS_MAX = 60
"""Per case and property."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCommand:
    """A Python class (``FILE:CLASS``), or a program and its arguments."""

    applier: str = ""
    program: tuple[str, ...] = ()
    timeout: float = TIMEOUT_S

    @property
    def words(self) -> list[str]:
        """Return the program and its arguments."""
        return host_command(self.applier) if self.applier else list(self.program)

    @property
    def arguments(self) -> list[str]:
        """Return final ``paraply conform`` and ``paraply mine`` arguments."""
        return ["--applier", self.applier] if self.applier else ["--", *self.program]


@dataclass(frozen=True, kw_only=True)
class ChildSystem(ForeignSystem):
    """An applier on one case, its workload's dialect.

    Attributes:
        seed: of the campaign; run n works on the log of seed ``seed + n``.
        sought: situations that a meaningful run requires.
        kept: remaining transaction ids; None for all.
    """

    clusters_max: ClassVar[int | None] = 1
    """Runs take a hundred times as long as ours."""

    command: ChildCommand = field(default_factory=ChildCommand)
    seed: int = 0
    sought: tuple[str, ...] = ()
    kept: tuple[int, ...] | None = None

    @cached_property
    def case(self) -> Case:
        """Return the case."""
        (case,) = cases_named([self.workload.dialect])
        return case

    @property
    def started_program(self) -> str:
        """Return the applier's words; loads no class."""
        return shlex.join(self.command.arguments)

    def options_at(self, run: int) -> Mapping[str, OptionValue]:
        """Return the command."""
        return {"command": shlex.join(self.command.arguments)}

    @property
    def goals(self) -> frozenset[str]:
        """Return no goals."""
        return frozenset()

    @property
    def situations(self) -> frozenset[str]:
        """Return the situations that ``paraply conform`` requires."""
        return frozenset(self.sought)

    @contextmanager
    def opened(self) -> Iterator[MakeHistory]:
        """Yield a history maker that reuses resettable processes."""
        with CommandLauncher(self.command.words, timeout=self.command.timeout) as launcher:
            yield _Runs(self, launcher).make_history

    def minimised(self, prop: Property, found: Counterexample, run: int) -> SmallOfSystem:
        """Return a smaller run; slow runs stay."""
        with CommandLauncher(self.command.words, timeout=self.command.timeout) as launcher:
            runs = _Runs(self, launcher)
            breach = Breach(
                prop=prop, violations=found.violations, history=found.history,
                choices=found.choices, seed=self.seed + run,
            )  # fmt: skip
            runs.run_once(self.case, RecordedSchedule(found.choices), breach.seed)
            if not runs.is_slow:
                breach = smallest_breach(runs, self.case, breach)
        return SmallOfSystem(
            system=replace(self, kept=breach.kept),
            counterexample=Counterexample(
                choices=breach.choices, history=breach.history, violations=breach.violations,
                runs=found.runs,
            ),
        )  # fmt: skip

    def replay_command(self, prop: Property, choices: tuple[int, ...], run: int, file: str) -> str:
        """Return the repeating ``paraply conform`` command."""
        words = ["paraply", "conform", "--case", self.case.id, "--seed", str(self.seed + run)]
        if self.kept is not None:
            words += ["--keep", ",".join(map(str, self.kept))]
        words.append(f"--program={format_program(encode_program(choices))}")
        return shlex.join([*words, *self.command.arguments])

    def whose_fault(self) -> str:
        """Return the party at fault: the applier."""
        return "The applier's, unless the property asks too much of it: nobody seeded a fault."

    def as_json(self) -> dict[str, Any]:
        """Return plain values for :func:`child_from_json`."""
        return {
            "kind": KIND,
            "subject": self.subject,
            "mutant": "",
            "dialect": self.workload.dialect,
            "judges": list(self.judges),
            "sought": list(self.sought),
            "applier": self.command.applier,
            "program": list(self.command.program),
            "timeout": self.command.timeout,
            "seed": self.seed,
        }


_SHAPE = {
    **NAMES_SHAPE,
    "sought": [str],
    "applier": str,
    "program": [str],
    "timeout": (int, float),
    "seed": int,
}


def child_from_json(value: Mapping[str, Any]) -> System:
    """Return the system of :meth:`ChildSystem.as_json`; ``ValueError`` for another shape."""
    require_shape(value, _SHAPE, "a system")
    return ChildSystem(
        subject=value["subject"],
        workload=Workload(dialect=value["dialect"]),
        judges=tuple(value["judges"]),
        sought=tuple(value["sought"]),
        command=ChildCommand(
            applier=value["applier"], program=tuple(value["program"]), timeout=value["timeout"]
        ),
        seed=value["seed"],
    )


register_kind(KIND, child_from_json)


def children_of(
    command: ChildCommand, cases: Sequence[str], *, seed: int
) -> tuple[ChildSystem, ...]:
    """Return a system for each case whose features the applier offers.

    ``cases`` are ids or prefixes; none selects random logs. The applier starts once. Raises
    ``ParaplyError`` P630, P632 or P633, and P634 for a protocol fault or no supported case.
    """
    wanted = cases_named(cases or EXPLORED)
    with CommandLauncher(command.words, timeout=command.timeout) as launcher:
        conformance = Conformance(launcher)
        applier = conformance.meet()
    if applier.fault:
        said = f"; it said: {visible(applier.stderr[-1])}" if applier.stderr else ""
        raise ParaplyError(APPLIER_NOT_MET, reason=f"{visible(applier.fault)}{said}")
    systems = []
    for case in wanted:
        if case.features <= applier.features:
            judges = [prop.name for prop in conformance.properties_of(case)]
            sought = [case.decides, *([OVERLAP] if case.is_about_parallel_apply else [])]
            systems.append(
                ChildSystem(
                    subject=f"{KIND}:{visible(applier.name)}",
                    workload=Workload(dialect=case.id),
                    judges=tuple(dict.fromkeys([*judges, OVERLAP])),
                    sought=tuple(dict.fromkeys(sought)),
                    command=command,
                    seed=seed,
                )
            )
    if not systems:
        missing = sorted(frozenset.union(*(case.features for case in wanted)) - applier.features)
        reason = f"it does not offer what the cases need: {', '.join(missing)}"
        raise ParaplyError(APPLIER_NOT_MET, reason=reason)
    return tuple(systems)


class _Runs:
    shrink_runs_max = SHRINK_RUNS_MAX

    def __init__(self, system: ChildSystem, launcher: CommandLauncher) -> None:
        self._system = system
        self._conformance = Conformance(launcher)
        self._silent = 0
        self.is_slow = False

    def make_history(self, schedule: Schedule, run: int) -> History:
        """Raises P635 after too many silent runs."""
        system = self._system
        made = self.run_once(system.case, schedule, system.seed + run, system.kept)
        self._silent += made.is_silent
        if self._silent >= SILENT_MAX:
            raise ParaplyError(
                APPLIER_IS_SILENT, silent=self._silent, run=run, case=system.case.id,
                reason=made.history.events[-1].note,
            )  # fmt: skip
        return made.history

    def run_once(
        self, case: Case, schedule: Schedule, seed: int, kept: Collection[int] | None = None
    ) -> Run:
        made = self._conformance.run_once(case, schedule, seed, kept)
        self.is_slow = made.is_silent or (made.has_stalled and not made.is_proved)
        history = with_fault(made)
        header = replace(history.header, subject=self._system.subject)
        return replace(made, history=replace(history, header=header), fault="")


def with_fault(run: Run) -> History:
    """Return a run's history, with its fault as reason for giving up.

    Raises ``ParaplyError`` P634 if the fault precedes all transactions.
    """
    history = run.history
    if not run.fault:
        return history
    told = [event for event in history.events if event.transaction is not None]
    if not told:
        raise ParaplyError(APPLIER_NOT_MET, reason=visible(run.fault))
    given_up = Event(
        EventKind.FAILED, history.events[-1].time, member=REPLICA,
        transaction=told[-1].transaction, note=visible(run.fault),
    )  # fmt: skip
    return replace(history, events=(*history.events, given_up))
