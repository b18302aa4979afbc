"""``paraply.explore``: run a subject on many schedules and judge them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from paraply.counterexamples.hunt import properties_of
from paraply.counterexamples.workload_arguments import checked
from paraply.exploring.explore import Finding
from paraply.exploring.explore import explore as run_exploration
from paraply.interface.checking import PropertyName, name_of
from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.reference_impl.subject import Subject, Workload, register_subject
from paraply.registries import subject_named
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Exploration
from paraply.vocabulary.verdict import Verdict

SubjectClass = TypeVar("SubjectClass", bound=type[Subject])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredProperty:
    """The result of one property over all runs.

    ``reached`` histories have its situation. ``breaches`` are sentences about ``smallest``, the
    smallest history among those ``broken``.
    """

    name: str
    verdict: Verdict
    reached: int
    broken: int
    is_expected: bool
    note: str
    breaches: tuple[str, ...] = ()
    smallest: History | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreReport:
    """The result of an exploration.

    ``histories`` counts distinct ones among ``runs``.
    """

    verdict: Verdict
    runs: int
    histories: int
    is_complete: bool
    properties: tuple[ExploredProperty, ...]


def subject(definition: SubjectClass) -> SubjectClass:
    """Register the decorated class under its ``name``."""
    register_subject(definition())
    return definition


def explore(
    subject: str | Subject | type[Subject],
    *,
    properties: Iterable[PropertyName] = (),
    schedules: int = 500,
    seed: int = 0,
    exhaustive: bool = False,
    runs_max: int = 1_000_000,
    dialect: str = "",
    transactions: int | None = None,
    rows: int | None = None,
    members: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    defaults: bool = False,
    strict: bool = False,
) -> ExploreReport:
    """Run a subject on random schedules, or all, and judge.

    Sizes and options that are not given are drawn for each random run.

    Args:
        subject: name, instance or class.
        properties: by default the subject's.
        schedules: number of random ones.
        exhaustive: run all; UNKNOWN at best beyond ``runs_max``.
        dialect: by default the subject's first.
        options: the subject's own.
        defaults: draw nothing; what is not given has its default.
        strict: broken properties of precision and speed decide, too.

    Raises ``ParaplyError`` for an unknown name, dialect, option or size.
    """
    one = _instance(subject)
    names = [name_of(prop) for prop in properties]
    asked = {"transactions": transactions, "rows": rows, "members": members}
    sizes = {name: count for name, count in asked.items() if count is not None}
    workload = Workload(dialect=dialect, options=dict(options or {}), **sizes)
    workload = checked(one, one.small_scope(workload) if exhaustive else workload)
    exploration = Exploration(runs_max=runs_max) if exhaustive else None
    drawing = None
    if not exhaustive and not defaults:
        drawing = Drawing(subject=one, given=workload, sizes=frozenset(sizes))
    result = run_exploration(
        one,
        workload,
        properties_of(one, names),
        exploration if exploration is not None else drawn_schedules(seed, schedules),
        seed=seed,
        is_named=bool(names),
        drawing=drawing,
    )
    is_complete = exploration is not None and exploration.is_complete
    verdict = replace(result, is_strict=strict).verdict()
    if exploration is not None and not is_complete:
        verdict = max(verdict, Verdict.UNKNOWN)
    return ExploreReport(
        verdict=verdict,
        runs=result.campaign.runs,
        histories=result.campaign.histories,
        is_complete=is_complete,
        properties=tuple(map(_explored, result.findings)),
    )


def _explored(finding: Finding) -> ExploredProperty:
    small = finding.smallest.counterexample if finding.smallest is not None else None
    return ExploredProperty(
        name=finding.prop.name,
        verdict=finding.verdict,
        reached=finding.tally.reached,
        broken=finding.tally.violated,
        is_expected=finding.is_expected,
        note=finding.note,
        breaches=tuple(map(str, small.violations)) if small is not None else (),
        smallest=small.history if small is not None else None,
    )


def _instance(subject: str | Subject | type[Subject]) -> Subject:
    if isinstance(subject, str):
        return subject_named(subject)
    return subject() if isinstance(subject, type) else subject
