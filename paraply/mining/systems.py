"""Systems of a campaign: subjects and mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import paraply.properties.all as _properties
import paraply.reference_impl.subjects as _subjects
from paraply.mining.drawing import Drawing, drawn_schedule
from paraply.mining.judges import is_explained, properties_about
from paraply.properties.registry import (
    Expectation,
    Property,
    property_named,
    registered_properties,
)
from paraply.properties.search import SEED_STRIDE
from paraply.reference_impl.mutants import Mutant, mutant_named, registered_mutants
from paraply.reference_impl.subject import (
    SIZES,
    Subject,
    Workload,
    number_from_0,
    registered_subjects,
    subject_named,
)
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Schedule, SeededSchedule
from paraply.vocabulary.shapes import require_range, require_shape

_FILLED = (_properties, _subjects)
"""Imports fill the registries, also in Spark workers."""

NO_SUCH_SIZE = register(
    "P720",
    "--workload {name}={value}: {reason}",
    "write sizes and options as transactions=6,rows=3,crashes=1; "
    "`paraply list subjects` has the options",
)

SAMPLE_RUNS = 50
"""Runs that show which properties apply."""
_APPLICABLE: dict[str, frozenset[str]] = {}
ALL = "all"

MakeHistory = Callable[[Schedule, int], History]
"""The number is the run's, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Makes and judges histories.

    Attributes:
        mutant: empty for the subject.
        workload: names the dialect.
        judges: names in column order.
        draws: sizes and options that are not given differ from run to run.
    """

    subject: str
    mutant: str = ""
    workload: Workload
    judges: tuple[str, ...]
    draws: Draws | None = None

    is_ours: ClassVar[bool] = True
    """Whether runs are repeatable (no external process)."""
    clusters_max: ClassVar[int | None] = None
    """Maximum clusters to minimise per property."""

    @property
    def histories_max(self) -> int | None:
        """Return the maximum number of histories, if limited."""
        return None

    @property
    def started_program(self) -> str:
        """Return words of a program that runs start; empty for none."""
        return ""

    @property
    def name(self) -> str:
        """Return the mutant, or subject and dialect."""
        dialect = self.workload.dialect
        return self.mutant or (f"{self.subject}:{dialect}" if dialect else self.subject)

    @property
    def runner(self) -> Subject:
        """Return the mutant or subject to run."""
        return mutant_named(self.mutant).subject if self.mutant else subject_named(self.subject)

    def options_at(self, run: int) -> Mapping[str, OptionValue]:
        """Return a run's values of the ``options`` column; sizes too, where they are drawn."""
        if self.draws is None:
            return self.runner.options_of(self.workload)
        return self.runner.settings_of(self.workload_at(run))

    def workload_at(self, run: int) -> Workload:
        """Return a run's workload."""
        return self.workload if self.draws is None else self.draws.workload(self, run)

    def schedule_at(self, run: int, seed: int) -> Schedule:
        """Return a run's random schedule; where workloads are drawn, some are biased."""
        return SeededSchedule(seed) if self.draws is None else drawn_schedule(seed)

    @contextmanager
    def opened(self) -> Iterator[MakeHistory]:
        """Yield a history maker for one batch."""
        runner = self.runner
        yield lambda schedule, run: runner.run(schedule, self.workload_at(run))

    @property
    def properties(self) -> tuple[Property, ...]:
        """Return the judges, including the mutant's."""
        if not self.is_ours:
            return tuple(map(property_named, self.judges))
        applicable = {prop.name: prop for prop in properties_about(self.runner)}
        sought = self.goals if self.mutant else frozenset()
        return tuple(
            property_named(name) if name in sought else applicable[name] for name in self.judges
        )

    @property
    def goals(self) -> frozenset[str]:
        """Return the sought breaches."""
        if self.mutant:
            caught_by = mutant_named(self.mutant).caught_by
            return frozenset({caught_by} if caught_by else ())
        return self.known_breaches

    @property
    def known_breaches(self) -> frozenset[str]:
        """Return the subject's known breaches."""
        known = subject_named(self.subject).known_breaches(self.workload)
        return known & frozenset(self.judges)

    def explains(self, prop: Property, history: History) -> bool:
        """Return whether a breach is known of the run's dialect and options, by its cause."""
        return not self.mutant and is_explained(self.runner, prop, history)

    @property
    def situations(self) -> frozenset[str]:
        """Return situations that sample runs show reachable."""
        key = f"{self.subject} {self.mutant} {self.workload} {self.draws}"
        if key not in _APPLICABLE:
            runs = [
                self.runner.run(self.schedule_at(run, run), self.workload_at(run))
                for run in range(SAMPLE_RUNS)
            ]
            _APPLICABLE[key] = frozenset(
                prop.name
                for prop in registered_properties()
                if any(prop.applies_to(history) for history in runs)
            )
        unreachable = self.runner.unreachable_in(self.workload.dialect)
        return frozenset(self.judges) & _APPLICABLE[key] - unreachable

    def situations_given(self, met: Set[str]) -> frozenset[str]:
        """Return situations that must occur after ``met``."""
        return self.situations

    def as_json(self) -> dict[str, Any]:
        """Return plain values for :func:`system_from_json`."""
        return {
            "subject": self.subject,
            "mutant": self.mutant,
            "dialect": self.workload.dialect,
            **{size: getattr(self.workload, size) for size in SIZES},
            "options": dict(sorted(self.workload.options.items())),
            "judges": list(self.judges),
            **({} if self.draws is None else {"draws": self.draws.as_json()}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Each run has the sizes and options that ``paraply explore`` draws for its seed.

    Attributes:
        seed: the campaign's.
        sizes: those that are given, and thus not drawn.
    """

    seed: int
    sizes: tuple[str, ...] = ()

    def workload(self, system: System, run: int) -> Workload:
        """Return a run's workload."""
        drawing = Drawing(subject=system.runner, given=system.workload, sizes=frozenset(self.sizes))
        return drawing.workload(self.seed * SEED_STRIDE + run)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for :func:`system_from_json`."""
        return {"seed": self.seed, "sizes": list(self.sizes)}


SystemReader = Callable[[Mapping[str, Any]], System]
_READERS: dict[str, SystemReader] = {}


def register_kind(kind: str, from_json: SystemReader) -> None:
    """Register a kind of system by its JSON field."""
    _READERS[kind] = from_json


NAMES_SHAPE = {"subject": str, "mutant": str, "dialect": str, "judges": [str]}
_SHAPE = {
    **NAMES_SHAPE,
    **dict.fromkeys(SIZES, int),
    "options": {str: (bool, int, str)},
}
_SIZE_MAX = 10**9
_SEED_MAX = 1 << 62


def system_from_json(value: Mapping[str, Any]) -> System:
    """Read :meth:`System.as_json`; ``ValueError`` for another shape."""
    if "kind" in value:
        return _READERS[value["kind"]](value)
    require_shape(value, _SHAPE, "a system")
    for size in SIZES:
        require_range(value[size], 0, _SIZE_MAX, size)
    draws = value.get("draws")
    if draws is not None:
        require_shape(draws, {"seed": int, "sizes": [str]}, "draws")
        require_range(draws["seed"], 0, _SEED_MAX, "draws.seed")
        if not set(draws["sizes"]) <= set(SIZES):
            raise ValueError("draws names no size")
    return System(
        subject=value["subject"],
        mutant=value["mutant"],
        workload=Workload(
            **{size: value[size] for size in SIZES},
            dialect=value["dialect"],
            options=dict(value["options"]),
        ),
        judges=tuple(value["judges"]),
        draws=draws and Draws(seed=draws["seed"], sizes=tuple(draws["sizes"])),
    )


@dataclass(slots=True)
class Overrides:
    """Campaign-wide sizes and options; ``used`` reveals misspelt names."""

    values: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def apply(self, subject: Subject, workload: Workload) -> Workload:
        """Return the workload with overrides."""
        sizes: dict[str, int] = {}
        options: dict[str, OptionValue] = {}
        known = {option.name: option for option in subject.options}
        for name, text in self.values.items():
            try:
                if name in SIZES:
                    sizes[name] = number_from_0(text)
                elif name in known:
                    options[name] = known[name].parsed(text)
                else:
                    continue
            except ValueError as error:
                raise ParaplyError(NO_SUCH_SIZE, name=name, value=text, reason=str(error)) from None
            self.used.add(name)
        return Workload(
            **{size: sizes.get(size, getattr(workload, size)) for size in SIZES},
            dialect=workload.dialect,
            options={**workload.options, **options},
        )

    def require_used(self) -> None:
        """Raise ``ParaplyError`` P720 for an unused override."""
        for name, text in self.values.items():
            if name not in self.used:
                raise ParaplyError(
                    NO_SUCH_SIZE, name=name, value=text, reason="no system here has such an option"
                )


def systems_of(
    subjects: Iterable[str],
    mutants: Iterable[str],
    overrides: Mapping[str, str],
    *,
    draw_seed: int | None = None,
) -> tuple[System, ...]:
    """Return systems; ``subject`` means all its dialects, ``subject:dialect`` one.

    Mutants bring their workload. Subjects draw what ``overrides`` leaves open by ``draw_seed``, or
    have the defaults. Raises ``ParaplyError`` for unknown names and options.
    """
    given = Overrides(overrides)
    chosen = [system for name in subjects for system in _systems_of_subject(name, given)]
    if draw_seed is not None:
        sizes = tuple(size for size in SIZES if size in overrides)
        draws = Draws(seed=draw_seed, sizes=sizes)
        chosen = [replace(system, draws=draws) for system in chosen]
    for name in mutants:
        named = registered_mutants() if name == ALL else (mutant_named(name),)
        chosen += [_system_of_mutant(mutant, given) for mutant in named]
    given.require_used()
    return tuple({system.name: system for system in chosen}.values())


def _systems_of_subject(name: str, overrides: Overrides) -> list[System]:
    named, colon, dialect = name.partition(":")
    subjects = registered_subjects() if name == ALL else (subject_named(named),)
    systems = []
    for subject in subjects:
        for one in (dialect,) if colon else subject.dialects:
            workload = overrides.apply(subject, Workload(dialect=one))
            systems.append(_system(subject, subject.name, workload))
    return systems


def _system_of_mutant(mutant: Mutant, overrides: Overrides) -> System:
    workload = overrides.apply(mutant.subject, mutant.workload)
    return _system(mutant.subject, mutant.subject.name, workload, mutant=mutant)


def _system(
    runner: Subject, subject: str, workload: Workload, mutant: Mutant | None = None
) -> System:
    runner.options_of(workload)
    judges = [prop.name for prop in properties_about(runner)]
    if mutant is not None and mutant.caught_by and mutant.caught_by not in judges:
        judges.append(mutant.caught_by)
    return System(
        subject=subject,
        mutant=mutant.name if mutant else "",
        workload=replace(workload, dialect=runner.dialect_of(workload)),
        judges=tuple(judges),
    )


def is_situation(prop: Property) -> bool:
    """Return whether a property only names a situation."""
    return prop.expectation is Expectation.SOMETIMES
