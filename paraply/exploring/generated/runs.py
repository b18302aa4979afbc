"""Healthy default runs: histories, and the functions that each run reaches."""

from __future__ import annotations

import random
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from paraply.counterexamples.hunt import properties_of
from paraply.exploring.generated.possible import Answer, NotedSchedule
from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.mining.judges import is_expected
from paraply.mutating.patches import CodeKey, key_of
from paraply.properties.campaign import content_digest
from paraply.properties.registry import NO_EVIDENCE, Evidence, Property
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import registered_subjects
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.verdict import Verdict

USUAL_MIN = 15
"""Runs with a situation, below which its absence says little."""
EACH_SUBJECT = 5
"""Dialects whose runs every subject has at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultRun:
    """One run of a subject without a fault.

    Attributes:
        schedule: makes an equal schedule anew.
        digest: of the history, within this process and its forks.
        reached: functions that the run calls.
        evidence: of each property that applies.
    """

    subject: Subject
    workload: Workload
    schedule: Callable[[], Schedule]
    digest: int
    reached: frozenset[CodeKey]
    evidence: Mapping[str, Evidence]

    @property
    def where(self) -> str:
        """Return the subject and dialect."""
        return f"{self.subject.name} {self.workload.dialect}"

    def again(self) -> tuple[History, list[Answer]]:
        """Run with the code that is loaded now; return the history and the answers."""
        schedule = NotedSchedule(self.schedule())
        return self.subject.run(schedule, self.workload), schedule.answers

    def breach(self, history: History, judges: list[Property]) -> str:
        """Return the first property with an unexpected breach, or nothing."""
        for prop in judges:
            if prop.violations(history) and not is_expected(
                self.subject, self.workload, prop, history
            ):
                return prop.name
        return ""


def evidence_in(history: History, properties: Iterable[Property]) -> dict[str, Evidence]:
    """Return the evidence of each property that applies."""
    return {prop.name: prop.evidence(history) for prop in properties if prop.applies_to(history)}


def left_unknown(
    before: Iterable[Mapping[str, Evidence]], after: Iterable[Mapping[str, Evidence]]
) -> list[str]:
    """Return properties that some runs decide, and others, to which they apply, leave unknown.

    At least ``USUAL_MIN`` of the former must have a situation, and none may lack evidence.
    """
    usual: Counter[str] = Counter()
    sums: tuple[dict[str, Evidence], dict[str, Evidence]] = ({}, {})
    for total, runs in zip(sums, (before, after), strict=True):
        for run in runs:
            for name, evidence in run.items():
                total[name] = total.get(name, NO_EVIDENCE) + evidence
                usual[name] += total is sums[0] and evidence.decided > 0
    healthy, found = sums
    return sorted(
        name
        for name, evidence in found.items()
        if usual[name] >= USUAL_MIN
        and healthy[name].verdict is Verdict.HOLDS
        and evidence.verdict is Verdict.UNKNOWN
    )


def default_runs(*, each: int, seed: int, under: str = "", where: str = "") -> Iterator[DefaultRun]:
    """Yield ``each`` runs of every subject and dialect, with drawn options and schedules.

    A subject with few dialects has more of each.

    ``under`` limits the reached functions to files with this part of a path; ``where`` selects one
    subject and dialect.
    """
    for subject in registered_subjects():
        properties = properties_of(subject)
        for dialect in subject.dialects:
            if where not in ("", f"{subject.name} {dialect}"):
                continue
            choices = random.Random(f"{subject.name} {dialect} {seed}")
            for _ in range(max(each, EACH_SUBJECT * each // len(subject.dialects))):
                workload = drawn_workload(subject, dialect, choices)
                schedule = partial(drawn_schedule, choices.randrange(SEEDS))
                with Reached(under) as reached:
                    history = subject.run(schedule(), workload)
                yield DefaultRun(
                    subject=subject,
                    workload=workload,
                    schedule=schedule,
                    digest=content_digest(history),
                    reached=frozenset(
                        key_of(code) for code in reached.codes if under in code.co_filename
                    ),
                    evidence=evidence_in(history, properties),
                )


class Reached:
    """Collects the code of every called function."""

    def __init__(self, under: str) -> None:
        self.codes: set[types.CodeType] = set()
        self._is_on = bool(under)

    def __enter__(self) -> Reached:
        if self._is_on:
            add = self.codes.add

            def on_event(frame: types.FrameType, event: str, _: object) -> None:
                if event == "call":
                    add(frame.f_code)

            sys.setprofile(on_event)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_on:
            sys.setprofile(None)
