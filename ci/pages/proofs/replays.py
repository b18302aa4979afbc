"""The reference implementation's run for each counterexample, and its check.

A faulty subject's run breaks the corresponding property. If an abstraction function reads it
(``paraply/models/recorded``), the faulty specification must allow the run up to the breach, and the
proved one must reject it.
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
    """A reference run for one counterexample.

    Attributes:
        subject: its name, unless ``mutant`` names one.
        fault: the faulty dialect or option, without ``mutant``.
        workload: sizes, dialect and options; it replaces a mutant's own.
        breaks: name of the property.
        unread: the reason for no ``reading``.
        program: the choices, as for ``paraply replay --program``.
        is_stuck: a deadlock, in which the theorem's specification has a further step.
        because: a remark about the pair.
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
        """Return ``reading`` as ``module.name``, or empty."""
        function = getattr(self.reading, "func", self.reading)
        if function is None:
            return ""
        module = str(function.__module__).rpartition(".")[2]
        return f"{module}.{function.__name__}"

    @property
    def system(self) -> Subject:
        """Return the faulty subject."""
        return mutant_named(self.mutant).subject if self.mutant else subject_named(self.subject)

    @property
    def scope(self) -> Workload:
        """Return the workload with defaults."""
        own = mutant_named(self.mutant).workload if self.mutant else Workload()
        if self.workload is None:
            return own
        options: dict[str, OptionValue] = {**own.options, **self.workload.options}
        dialect = self.workload.dialect or own.dialect or self.system.dialects[0]
        return replace(self.workload, dialect=dialect, options=options)

    def run(self, schedule: Schedule | None = None) -> History:
        """Run the program or a schedule."""
        choices = decode_program(parse_program(self.program))
        return self.system.run(schedule or RecordedSchedule(choices, strict=True), self.scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A reference run's evidence for a counterexample.

    Attributes:
        violations: the breaches of the property.
        followed: how far the faulty specification follows; None without a reading.
        sound: how far each proved specification follows; empty if none applies.
        assumes: assumptions that the run breaks, by specification.
    """

    violations: tuple[Violation, ...]
    followed: Followed | None = None
    sound: Mapping[str, Followed] = field(default_factory=dict)
    assumes: Mapping[str, str] = field(default_factory=dict)
    is_stuck: bool = False

    @property
    def is_the_same(self) -> bool:
        """Return whether the specifications confirm the counterexample."""
        if self.followed is None or self.followed.broken_after is None:
            return False
        if self.is_stuck:
            return all(
                one.refused is None and one.broken_after is None for one in self.sound.values()
            )
        refusing = all(followed.refused is not None for followed in self.sound.values())
        return refusing and bool(self.sound or self.assumes)


def shown(entry: ReferenceRun, counter: Counterexample, history: History) -> Shown:
    """Judge a run by property and specifications."""
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
            same = [s for s in proved.safety if s.name == counter.statement]
            try:
                sound[proved.name] = follow(CompiledReading(proved), recorded, *same)
            except ValueError as error:
                assumes[proved.name] = str(error)
    return Shown(
        violations=violations, followed=followed, sound=sound, assumes=assumes,
        is_stuck=entry.is_stuck,
    )  # fmt: skip


def counterexample_named(identifier: str) -> Counterexample:
    """Return a counterexample. Raises ``KeyError``."""
    return {counter.id: counter for counter in COUNTEREXAMPLES}[identifier]
