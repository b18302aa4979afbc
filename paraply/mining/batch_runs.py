"""Runs, judges and counts one batch."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from paraply.mining.coverage import course_of, features_of
from paraply.mining.plan import Batch, Plan
from paraply.mining.signatures import shape_signature
from paraply.mining.sketches import as_bytes, estimated, from_bytes, seen
from paraply.mining.systems import System, is_situation
from paraply.properties.campaign import steps_of
from paraply.properties.registry import Evidence, Property
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.moments import moments_of
from paraply.vocabulary.programs import encode_program
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.shapes import require_shape
from paraply.vocabulary.verdict import Verdict

UNEXPLAINED = " (without its documented cause)"
"""End of the signature of a breach that the dialect is known for, but not by this cause."""
NOVEL_MAX = 64
"""Novel programs per batch."""

_WORDS = pa.list_(pa.string())

SCHEMA = pa.schema(
    [
        pa.field("system", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("mutant", pa.string()),
        pa.field("dialect", pa.string()),
        pa.field("options", pa.string()),
        pa.field("run", pa.int64()),
        pa.field("seed", pa.int64()),
        pa.field("program", pa.binary()),
        pa.field("transactions", pa.int32()),
        pa.field("events", pa.int32()),
        pa.field("steps", pa.int32()),
        pa.field("course", pa.int64()),
        pa.field("features", pa.int32()),
        pa.field("holds", _WORDS),
        pa.field("unknown", _WORDS),
        pa.field("violated", _WORDS),
        pa.field("expected", _WORDS),
        pa.field("situations", _WORDS),
        pa.field("signatures", _WORDS),
        pa.field("history", pa.string()),
    ]
)
"""One row per history, by ``system`` and ``run``.

``program``: choices (``paraply.vocabulary.programs``). ``course``: digest. ``features``: number
reached. ``holds``, ``unknown``, ``violated``: required properties. ``expected``: broken, as is
known of options that only this run has. ``situations``: reached ones.
``signatures``: parallel to ``violated``. ``history``: JSON Lines of a violation.
"""


@dataclass(slots=True)
class Specimen:
    """A cluster's best example, and their number.

    The total order (transactions, events, choices, run) makes merging commutative.
    """

    count: int
    size: tuple[int, int, int]
    run: int
    program: bytes

    def take(self, other: Specimen) -> None:
        """Merge another specimen of the cluster."""
        if (other.size, other.run) < (self.size, self.run):
            self.size, self.run, self.program = other.size, other.run, other.program
        self.count += other.count

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "size": list(self.size), "program": self.program.hex()}


def specimen_from_json(value: Mapping[str, Any]) -> Specimen:
    """Read :meth:`Specimen.as_json`."""
    transactions, events, choices = value["size"]
    return Specimen(
        count=value["count"],
        size=(transactions, events, choices),
        run=value["run"],
        program=bytes.fromhex(value["program"]),
    )


@dataclass(slots=True, kw_only=True)
class Counts:
    """Findings, bounded in memory.

    Attributes:
        reached: judge -> histories with its situation, unbroken.
        violated: judge -> histories that break it.
        first_violated: judge -> first run.
        first_reached: judge -> first run.
        expected: judge -> histories that break it, as is known of their drawn options.
        unexplained: judge -> violating histories without the cause that their dialect is known for.
        relevant: judge -> situations.
        decided: judge -> situations that the recorded events decide.
        confirmed: confirmed kernel findings.
        actions: action and outcome -> count.
        moments: state in which an event of no transaction occurred -> histories.
        features: numbers (``paraply.mining.coverage``).
        courses: sketch of different courses (``paraply.mining.sketches``).
        clusters: shape signature -> specimen.
        novel: programs with new features.
    """

    histories: int = 0
    events: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    violated: Counter[str] = field(default_factory=Counter)
    first_violated: dict[str, int] = field(default_factory=dict)
    first_reached: dict[str, int] = field(default_factory=dict)
    expected: Counter[str] = field(default_factory=Counter)
    unexplained: Counter[str] = field(default_factory=Counter)
    relevant: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)
    confirmed: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    features: set[int] = field(default_factory=set)
    courses: int = 0
    clusters: dict[str, Specimen] = field(default_factory=dict)
    novel: list[bytes] = field(default_factory=list)

    @property
    def different(self) -> int:
        """Return about how many different courses there are; see ``sketches.STANDARD_ERROR``."""
        return round(min(self.histories, estimated(self.courses)))

    def take(self, other: Counts) -> None:
        """Add another batch of the system."""
        self.histories += other.histories
        self.events += other.events
        self.confirmed += other.confirmed
        for tally in TALLIES:
            getattr(self, tally).update(getattr(other, tally))
        for first, others in (
            (self.first_violated, other.first_violated),
            (self.first_reached, other.first_reached),
        ):
            for name, run in others.items():
                first[name] = min(run, first.get(name, run))
        self.features |= other.features
        self.courses |= other.courses
        for text, specimen in other.clusters.items():
            self.meet(text, specimen)

    def meet(self, text: str, specimen: Specimen) -> None:
        """Add examples to a cluster."""
        if text in self.clusters:
            self.clusters[text].take(specimen)
        else:
            self.clusters[text] = specimen

    def weigh(self, name: str, evidence: Evidence) -> None:
        """Add a judge's situations in a history."""
        if evidence.relevant:
            self.relevant[name] += evidence.relevant
            self.decided[name] += evidence.decided

    def evidence_of(self, name: str) -> Evidence:
        """Return a judge's situations in all histories."""
        return Evidence(relevant=self.relevant[name], decided=self.decided[name])

    def as_json(self) -> dict[str, Any]:
        """Return plain values for :func:`counts_from_json`."""
        return {
            "histories": self.histories,
            "events": self.events,
            "reached": self.reached,
            "violated": self.violated,
            "first_violated": self.first_violated,
            "first_reached": self.first_reached,
            "expected": self.expected,
            "unexplained": self.unexplained,
            "relevant": self.relevant,
            "decided": self.decided,
            "confirmed": self.confirmed,
            "actions": dict(sorted(self.actions.items())),
            "moments": dict(sorted(self.moments.items())),
            "features": sorted(self.features),
            "courses": as_bytes(self.courses).hex() if self.courses else "",
            "clusters": {text: one.as_json() for text, one in self.clusters.items()},
            "novel": [program.hex() for program in self.novel],
        }


TALLIES = (
    "reached", "violated", "expected", "unexplained", "relevant", "decided", "actions", "moments",
)  # fmt: skip
_COUNTED = {str: int}
_COUNTS_SHAPE = {
    "histories": int,
    "events": int,
    **dict.fromkeys((*TALLIES, "first_violated", "first_reached"), _COUNTED),
    "confirmed": int,
    "features": [int],
    "courses": str,
    "clusters": {str: {"count": int, "size": [int], "run": int, "program": str}},
    "novel": [str],
}


def counts_from_json(value: Mapping[str, Any]) -> Counts:
    """Read :meth:`Counts.as_json`; ``ValueError`` for another shape."""
    # States of earlier versions lack these.
    later: dict[str, dict[str, int]] = {
        name: {} for name in ("expected", "unexplained", "relevant", "decided", "moments")
    }
    value = {"courses": "", **later, **value}
    require_shape(value, _COUNTS_SHAPE, "counts")
    return Counts(
        histories=value["histories"],
        events=value["events"],
        reached=Counter(value["reached"]),
        violated=Counter(value["violated"]),
        first_violated=dict(value["first_violated"]),
        first_reached=dict(value["first_reached"]),
        expected=Counter(value["expected"]),
        unexplained=Counter(value["unexplained"]),
        relevant=Counter(value["relevant"]),
        decided=Counter(value["decided"]),
        confirmed=value["confirmed"],
        actions=Counter(value["actions"]),
        moments=Counter(value["moments"]),
        features=set(value["features"]),
        courses=from_bytes(bytes.fromhex(value["courses"])) if value["courses"] else 0,
        clusters={text: specimen_from_json(one) for text, one in value["clusters"].items()},
        novel=[bytes.fromhex(program) for program in value["novel"]],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A finished batch: rows, counts, duration."""

    batch: Batch
    table: pa.Table
    counts: Counts
    seconds: float


def run_batch(
    plan: Plan,
    batch: Batch,
    schedules: Iterable[tuple[int, Schedule]] | None = None,
    *,
    known: Set[int] | None = None,
) -> BatchRun:
    """Run a batch on its seeds or ``schedules``.

    ``known`` features are not novel; None disables novelty.
    """
    started = time.perf_counter()
    system = plan.systems[batch.system]
    judges = system.properties
    if schedules is None:
        schedules = seeded(plan, batch)
    counts = Counts()
    rows = []
    named = named_columns(system)
    with system.opened() as make_history:
        for run, schedule in schedules:
            history = make_history(schedule, run)
            moments = moments_of(history)
            counts.moments.update(moments)
            features = features_of(history, moments)
            program = encode_program(schedule.choices)
            if known is not None and features - known - counts.features:
                counts.novel = [*counts.novel, program][:NOVEL_MAX]
            counts.features |= features
            rows.append(
                {
                    **named,
                    "options": options_column(system, run),
                    "run": run,
                    "seed": history.header.seed,
                    "program": program,
                    "features": len(features),
                    **judged(history, run, program, judges, counts, system),
                }
            )
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    return BatchRun(batch=batch, table=table, counts=counts, seconds=time.perf_counter() - started)


def named_columns(system: System) -> dict[str, str]:
    """Return the columns that identify the system."""
    return {
        "system": system.name,
        "subject": system.subject,
        "mutant": system.mutant,
        "dialect": system.workload.dialect,
    }


def options_column(system: System, run: int) -> str:
    """Return a run's options, sorted, as JSON."""
    return json.dumps(dict(sorted(system.options_at(run).items())))


def seeded(plan: Plan, batch: Batch) -> Iterable[tuple[int, Schedule]]:
    """Yield a batch's runs with random schedules."""
    for run in range(batch.first, batch.first + batch.count):
        yield run, plan.systems[batch.system].schedule_at(run, plan.seed_of(run))


def action_of(event: Event) -> str:
    """Return action and outcome as words."""
    return (
        event.kind.value if event.outcome is None else f"{event.kind.value} {event.outcome.value}"
    )


def judged(
    history: History,
    run: int,
    program: bytes,
    judges: Sequence[Property],
    counts: Counts,
    system: System,
) -> dict[str, Any]:
    """Judge and count a history; return its columns."""
    size = (len(history.transactions), len(history.events), len(program))
    holds: list[str] = []
    unknown: list[str] = []
    violated: list[str] = []
    situations: list[str] = []
    signatures: list[str] = []
    expected: list[str] = []
    known = frozenset() if system.mutant else system.known_breaches
    for prop in judges:
        name = prop.name
        violations = prop.violations(history)
        evidence = prop.evidence(history, violations)
        counts.weigh(name, evidence)
        is_explained = bool(violations) and system.explains(prop, history)
        if is_explained and name not in known:
            expected.append(name)
            counts.expected[name] += 1
        elif violations:
            signature = shape_signature(name, violations, history).text
            if name in known and not is_explained:
                signature += UNEXPLAINED
                counts.unexplained[name] += 1
            violated.append(name)
            signatures.append(signature)
            counts.violated[name] += 1
            counts.first_violated.setdefault(name, run)
            counts.meet(signature, Specimen(1, size, run, program))
        elif evidence.verdict is Verdict.HOLDS or (evidence.relevant and is_situation(prop)):
            (situations if is_situation(prop) else holds).append(name)
            counts.reached[name] += 1
            counts.first_reached.setdefault(name, run)
        elif not is_situation(prop):
            unknown.append(name)
    counts.histories += 1
    counts.events += len(history.events)
    counts.actions.update(map(action_of, history.events))
    course = course_of(history)
    counts.courses |= seen(course)
    return {
        "transactions": size[0],
        "events": size[1],
        "steps": steps_of(history),
        "course": course,
        "holds": holds,
        "unknown": unknown,
        "violated": violated,
        "expected": expected,
        "situations": situations,
        "signatures": signatures,
        "history": "\n".join(write_history(history)) if violated else None,
    }
