"""The run of the reference implementation for each counterexample, and its check.

A counterexample is a run of a faulty specification. Each has a subject with that fault (a dialect,
an option or a mutant), a workload and a program whose run breaks the corresponding property. If an
abstraction function reads such runs (``paraply/models/recorded``), the run is compared with the
specifications: the faulty one allows it until the statement is false, and the proved one rejects
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from paraply.models.claims.claim import Counterexample
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.proving import safety_statement
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded.following import Followed, Recorded, follow
from paraply.properties.registry import Violation
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import mutant_named, property_named, subject_named
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule, Schedule

Reading = Callable[[History], Recorded]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRun:
    """What to run on the reference for one counterexample, and what it must break.

    Attributes:
        subject: its name; empty where ``mutant`` names one.
        mutant: the mutant with the fault; empty where a dialect or an option is the fault.
        fault: the dialect or option that is the fault, where no mutant is.
        workload: sizes, dialect and options; of a mutant, in place of its own.
        breaks: name of the property.
        reading: the abstraction function, None where runs are not read as steps of this system.
        unread: why they are not, where there is none.
        program: the choices, as ``paraply replay --program`` takes them.
        is_stuck: the run shows a state in which nobody can move, not a step that must not be: the
            specification of the theorem follows it too, and there somebody can.
        because: what is to be said of the pair, if anything.
    """

    subject: str = ""
    mutant: str = ""
    fault: str = ""
    workload: Workload | None = None
    breaks: str
    reading: Reading | None = None
    unread: str = ""
    program: str
    is_stuck: bool = False
    because: str = ""

    @property
    def reading_name(self) -> str:
        """Return the abstraction function as ``module.name``; empty where there is none."""
        function = getattr(self.reading, "func", self.reading)
        if function is None:
            return ""
        module = str(function.__module__).rpartition(".")[2]
        return f"{module}.{function.__name__}"

    @property
    def system(self) -> Subject:
        """Return the subject to run, with its fault."""
        return mutant_named(self.mutant).subject if self.mutant else subject_named(self.subject)

    @property
    def scope(self) -> Workload:
        """Return the workload; the mutant's own where none is given, its dialect where none is."""
        own = mutant_named(self.mutant).workload if self.mutant else Workload()
        if self.workload is None:
            return own
        options: dict[str, OptionValue] = {**own.options, **self.workload.options}
        dialect = self.workload.dialect or own.dialect or self.system.dialects[0]
        return replace(self.workload, dialect=dialect, options=options)

    def run(self, schedule: Schedule | None = None) -> History:
        """Run the program, or a schedule in its place."""
        choices = decode_program(parse_program(self.program))
        return self.system.run(schedule or RecordedSchedule(choices, strict=True), self.scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a run of the reference shows of a counterexample.

    Attributes:
        violations: the breaches of the property.
        followed: how the faulty specification follows it; None where there is no reading.
        sound: by the name of each specification of a theorem, how far it follows; empty where
            there is no reading, or where what the run lacks is an assumption.
        assumes: the assumptions that the run itself breaks, by the name of the specification.
    """

    violations: tuple[Violation, ...]
    followed: Followed | None = None
    sound: Mapping[str, Followed] = field(default_factory=dict)
    assumes: Mapping[str, str] = field(default_factory=dict)
    is_stuck: bool = False

    @property
    def is_the_same(self) -> bool:
        """Return whether the specifications see in the run what the counterexample says."""
        if self.followed is None or self.followed.broken_after is None:
            return False
        if self.is_stuck:
            return all(
                one.refused is None and one.broken_after is None for one in self.sound.values()
            )
        refusing = all(followed.refused is not None for followed in self.sound.values())
        return refusing and bool(self.sound or self.assumes)


def shown(entry: ReferenceRun, counter: Counterexample, history: History) -> Shown:
    """Judge a run by the property, and hold it against the specifications."""
    violations = property_named(entry.breaks).violations(history)
    if entry.reading is None:
        return Shown(violations=violations)
    system = counter.system()
    statement = safety_statement(system, counter.statement)
    recorded = entry.reading(history)
    followed = follow(CompiledReading(system), recorded, statement)
    sound: dict[str, Followed] = {}
    assumes: dict[str, str] = {}
    for theorem in THEOREMS:
        if counter.id not in theorem.delimited_by:
            continue
        for build in theorem.systems:
            proved = build()
            same = next((s for s in proved.safety if s.name == counter.statement), None)
            try:
                sound[proved.name] = follow(CompiledReading(proved), recorded, same)
            except ValueError as error:
                assumes[proved.name] = str(error)
    return Shown(
        violations=violations, followed=followed, sound=sound, assumes=assumes,
        is_stuck=entry.is_stuck,
    )  # fmt: skip


def counterexample_named(identifier: str) -> Counterexample:
    """Return a counterexample by its identifier; ``KeyError`` if there is none."""
    return {counter.id: counter for counter in COUNTEREXAMPLES}[identifier]
