"""Verdicts of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paraply.mining.batch_runs import Counts
from paraply.mining.campaign import Progress
from paraply.mining.systems import System
from paraply.properties.registry import Evidence
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.verdict import OVER_SERIALISES, Verdict, combine


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
    """The verdict of one system.

    Attributes:
        verdict: a subject's gravest. A mutant: HOLDS if detected, else UNKNOWN; if equivalent,
            VIOLATED by any safety breach.
        note: reason for another verdict than HOLDS.
    """

    system: System
    counts: Counts
    seconds: float
    verdict: Verdict
    note: str

    @property
    def evidence(self) -> Evidence:
        """Return the situations of all judges."""
        relevant, decided = self.counts.relevant, self.counts.decided
        return Evidence(relevant=sum(relevant.values()), decided=sum(decided.values()))

    @property
    def first_found(self) -> int | None:
        """Return the histories up to the first sought breach."""
        runs = [
            run for name, run in self.counts.first_violated.items() if name in self.system.goals
        ]
        return min(runs) + 1 if runs else None

    @property
    def seconds_to_find(self) -> float | None:
        """Return that breach's time, at mean speed."""
        if self.first_found is None:
            return None
        return self.first_found * self.seconds / max(self.counts.histories, 1)


def judge(
    progress: Progress, *, allow_expected: bool = False, is_strict: bool = False
) -> list[SystemResult]:
    """Return all verdicts.

    ``allow_expected`` accepts known breaches. Those of precision and speed count if ``is_strict``.
    """
    results = []
    for system, counts, seconds in zip(
        progress.plan.systems, progress.per_system, progress.seconds_per_system, strict=True
    ):
        if system.mutant:
            verdict, note = _of_mutant(system, counts)
        else:
            verdict, note = _of_subject(
                system, counts, allow_expected=allow_expected, is_strict=is_strict
            )
        results.append(
            SystemResult(system=system, counts=counts, seconds=seconds, verdict=verdict, note=note)
        )
    return results


def overall(progress: Progress, results: Sequence[SystemResult]) -> Verdict:
    """Return the gravest verdict; UNKNOWN if interrupted."""
    cut = [] if progress.is_complete else [Verdict.UNKNOWN]
    return combine([*cut, *(result.verdict for result in results)])


def _of_mutant(system: System, counts: Counts) -> tuple[Verdict, str]:
    if system.goals:
        (goal,) = system.goals
        if goal in counts.violated:
            return Verdict.HOLDS, f"caught by {goal}"
        return Verdict.UNKNOWN, f"not caught by {goal} in {counts.histories:,} histories"
    caught = unexpected_breaches(system, counts)
    if caught:
        return Verdict.VIOLATED, f"not equivalent: caught by {', '.join(caught)}"
    return Verdict.HOLDS, "equivalent, caught by none"


def unexpected_breaches(system: System, counts: Counts) -> list[str]:
    """Return unknown breaches; equivalent mutants may break precision and speed."""
    survives = bool(system.mutant and mutant_named(system.mutant).survives_because)
    return sorted(
        name
        for name in counts.violated
        if (name not in system.known_breaches or name in counts.unexplained)
        and not (survives and not property_named(name).is_safety)
    )


def _of_subject(
    system: System, counts: Counts, *, allow_expected: bool, is_strict: bool
) -> tuple[Verdict, str]:
    broken = unexpected_breaches(system, counts)
    slow = [name for name in broken if not property_named(name).is_safety]
    grave = [name for name in broken if name not in slow or is_strict]
    if grave:
        return Verdict.VIOLATED, f"breaks {', '.join(grave)}"
    not_found = sorted(system.known_breaches - counts.violated.keys())
    met = counts.reached.keys() | counts.violated.keys()
    undecided = sorted(
        name
        for name in counts.relevant
        if counts.evidence_of(name).verdict is not Verdict.HOLDS and name not in counts.violated
    )
    unreached = sorted(system.situations_given(met) - met - set(undecided))
    notes = []
    if slow:
        notes.append(f"{OVER_SERIALISES}: {', '.join(slow)}")
    if counts.expected:
        notes.append(f"known of drawn options: {', '.join(sorted(counts.expected))}")
    if system.known_breaches & counts.violated.keys():
        notes.append(
            "breaks what its dialect is known for: "
            + ", ".join(sorted(system.known_breaches & counts.violated.keys()))
        )
    if not_found:
        notes.append(f"known breach not found: {', '.join(not_found)}")
    if undecided:
        shares = [f"{name} ({counts.evidence_of(name)})" for name in undecided]
        notes.append(f"not decidable: {', '.join(shares)}")
    if unreached:
        notes.append(f"never reached: {', '.join(unreached)}")
    known = system.known_breaches & counts.violated.keys()
    counting = [name for name in known if is_strict or property_named(name).is_safety]
    if counting and not allow_expected:
        return Verdict.VIOLATED, "; ".join(notes)
    if not_found or unreached or undecided:
        return Verdict.UNKNOWN, "; ".join(notes)
    return Verdict.HOLDS, "; ".join(notes)


def curve_points(histories: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, ... and ``histories``."""
    points = []
    power = 1
    while power < histories:
        points += [step * power for step in (1, 2, 5) if step * power < histories]
        power *= 10
    return [*points, histories]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Findings after some histories per system."""

    histories: int
    found: int
    reached: int


def discovery_curve(progress: Progress) -> list[CurvePoint]:
    """Return breaches and situations found over histories."""
    breaches: list[int] = []
    situations: list[int] = []
    for system, counts in zip(progress.plan.systems, progress.per_system, strict=True):
        breaches += [run for name, run in counts.first_violated.items() if name in system.goals]
        for name in system.situations:
            runs = [
                first[name]
                for first in (counts.first_reached, counts.first_violated)
                if name in first
            ]
            situations += [min(runs)] if runs else []
    most = max((counts.histories for counts in progress.per_system), default=0)
    return [
        CurvePoint(
            histories=point,
            found=sum(run < point for run in breaches),
            reached=sum(run < point for run in situations),
        )
        for point in curve_points(most)
    ]
