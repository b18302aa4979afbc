"""Judge recorded histories: ours by properties, clients' by isolation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paraply.adapters.elle.histories import BankHistory
from paraply.judging.live_histories import live_properties_of
from paraply.mining.judges import properties_about
from paraply.models.recorded.monitors import Monitor, monitor_named
from paraply.properties.isolation.bank import judge_bank
from paraply.properties.isolation.counters import LOST_INCREMENT
from paraply.properties.isolation.freshness import STALE_READ
from paraply.properties.isolation.going_back import MONOTONIC_READS
from paraply.properties.isolation.judging import MONOTONIC_PREFIX, Finding, LevelFinding, judge
from paraply.properties.isolation.objects import judge_objects, levels_of_objects
from paraply.properties.isolation.sets import LOST_ELEMENT
from paraply.properties.registry import NO_EVIDENCE, Evidence, Expectation, Property
from paraply.registries import property_named, registered_properties, registered_subjects
from paraply.vocabulary.client_history import ClientHistory, Ending
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import OVER_SERIALISES, Verdict, combine, word_of

DEFAULT_LEVEL = "serializable"
BREACHES_KEPT_MAX = 20
"""Kept sentences; all breaches are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One judged property, phenomenon or level."""

    group: str
    """``property``, ``situation``, ``monitor``, ``phenomenon`` or ``level``."""
    name: str
    label: str = ""
    """Name in the literature."""
    meaning: str = ""
    verdict: Verdict
    reason: str = ""
    """Of UNKNOWN, or of a refuted level."""
    counts: bool = True
    """Whether it decides the overall verdict."""
    is_safety: bool = True
    """False for precision and speed."""
    broken: int = 0
    breaches: tuple[str, ...] = ()
    """The first as sentences."""
    evidence: Evidence = NO_EVIDENCE
    said: str = ""
    """By a monitor: its reason, steps and assumptions."""

    @property
    def word(self) -> str:
        """Return the verdict's word."""
        return word_of(self.verdict, is_safety=self.is_safety)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One judged file."""

    name: str
    title: str
    rows: tuple[Row, ...]
    level: str = ""
    """As requested; empty for our own histories."""
    silent: tuple[str, ...] = ()
    """Areas without evidence."""

    @property
    def verdict(self) -> Verdict:
        """Return the gravest counting verdict; what only over-serialises is decided, and safe."""
        return combine(
            row.verdict if row.counts else Verdict.HOLDS
            for row in self.rows
            if row.counts or row.word == OVER_SERIALISES
        )


@dataclass(slots=True)
class _Tally:
    prop: Property
    applied: int = 0
    evidence: Evidence = NO_EVIDENCE
    broken: int = 0
    breaches: list[str] = field(default_factory=list)
    is_strict: bool = False

    @property
    def is_reached(self) -> bool:
        return self.evidence.relevant > 0

    def take(self, number: int, history: History, *, is_only: bool) -> None:
        found = self.prop.violations(history)
        self.applied += self.prop.applies_to(history)
        self.evidence += self.prop.evidence(history, found)
        self.broken += len(found)
        where = "" if is_only else f"history {number}: "
        kept = found[: BREACHES_KEPT_MAX - len(self.breaches)]
        self.breaches += [f"{where}{one}" for one in kept]

    @property
    def row(self) -> Row:
        is_situation = self.prop.expectation is Expectation.SOMETIMES
        return Row(
            group="situation" if is_situation else "property",
            name=self.prop.name,
            label=self.prop.area,
            meaning=self.prop.meaning,
            verdict=Verdict.VIOLATED if self.broken else self.evidence.verdict,
            reason="" if self.broken else self.evidence.reason,
            counts=not is_situation and (self.is_strict or self.prop.is_safety or not self.broken),
            is_safety=self.prop.is_safety,
            broken=self.broken,
            breaches=tuple(self.breaches),
            evidence=self.evidence,
        )


@dataclass(slots=True)
class _Monitoring:
    monitor: Monitor
    verdicts: list[Verdict] = field(default_factory=list)
    steps: int = 0
    held: str = ""
    unknown: str = ""
    breaches: list[str] = field(default_factory=list)

    def take(self, number: int, history: History, *, is_only: bool) -> None:
        found = self.monitor.judge(history)
        where = "" if is_only else f"history {number}: "
        self.verdicts.append(found.verdict)
        self.steps += found.steps
        if found.verdict is Verdict.VIOLATED:
            self.breaches.append(where + found.reason)
        elif found.verdict is Verdict.UNKNOWN:
            self.unknown = self.unknown or where + found.reason
        else:
            self.held = self.held or where + found.reason

    @property
    def row(self) -> Row:
        verdict = combine(self.verdicts)
        decided = sum(one is not Verdict.UNKNOWN for one in self.verdicts)
        evidence = Evidence(relevant=len(self.verdicts), decided=decided, missing=self.unknown)
        reason = next(iter(self.breaches), self.unknown or self.held)
        found = self.monitor.finding(verdict, reason, self.steps)
        return Row(
            group="monitor",
            name=found.theorem,
            label=found.prop,
            meaning=found.claim,
            verdict=verdict,
            reason=self.unknown if verdict is Verdict.UNKNOWN else "",
            broken=len(self.breaches),
            breaches=tuple(self.breaches[:BREACHES_KEPT_MAX]),
            evidence=evidence,
            said=found.said,
        )


def check_histories(
    name: str,
    histories: Iterable[History],
    names: Sequence[str],
    *,
    monitors: Sequence[str] = (),
    is_strict: bool = False,
) -> Checked:
    """Judge our own histories by named or all properties, or by the monitors of theorems.

    A broken property of precision or speed counts if ``is_strict``. With ``monitors``, only named
    properties count.

    Without names, only areas with evidence count; others are ``silent``.
    """
    tallies: dict[str, _Tally] = {}
    monitoring = [_Monitoring(monitor_named(one)) for one in dict.fromkeys(monitors)]
    count, transactions, events, broken_off = 0, 0, 0, 0
    subjects: dict[str, None] = {}
    ahead = iter(histories)
    history = next(ahead, None)
    while history is not None:
        following = next(ahead, None)
        count += 1
        transactions += len(history.transactions)
        events += len(history.events)
        broken_off += not history.is_complete
        subjects[" ".join(filter(None, (history.header.subject, history.header.dialect)))] = None
        is_only = count == 1 and following is None
        for one in monitoring:
            one.take(count, history, is_only=is_only)
        judged = properties_of_history(history, names) if names or not monitors else ()
        for prop in judged:
            tally = tallies.setdefault(prop.name, _Tally(prop, is_strict=is_strict))
            tally.take(count, history, is_only=is_only)
        history = following
    speaking = {tally.prop.area for tally in tallies.values() if tally.is_reached}
    rows = [
        tally.row
        for tally in tallies.values()
        if names or (tally.applied and tally.prop.area in speaking)
    ]
    rows += [one.row for one in monitoring]
    title = f"{count:,} histor{'y' if count == 1 else 'ies'}"
    if any(subjects):
        title += f" of {', '.join(filter(None, subjects))}"
    title += f": {transactions:,} transactions, {events:,} events"
    if broken_off:
        title += f"; {broken_off:,} broke off before the end"
    silent = sorted({tally.prop.area for tally in tallies.values()} - speaking)
    return Checked(name=name, title=title, rows=tuple(rows), silent=() if names else tuple(silent))


def properties_of_history(history: History, names: Sequence[str] = ()) -> list[Property]:
    """Return the named properties, or the subject's."""
    if names:
        return [property_named(name) for name in dict.fromkeys(names)]
    live = live_properties_of(history)
    if live is not None:
        return live
    known = {subject.name: subject for subject in registered_subjects()}
    subject = known.get(history.header.subject)
    if subject is None:
        return list(registered_properties())
    unreachable = subject.unreachable_in(history.header.dialect)
    return [
        prop
        for prop in properties_about(subject)
        if prop.name not in unreachable and prop.applies_to(history)
    ]


def check_clients(name: str, history: ClientHistory, level: str) -> Checked:
    """Judge lists or registers; the requested level decides."""
    result = judge(history)
    (asked,) = (one for one in result.levels if one.level.name == level)
    rows = [
        *(_finding_row(one, counts=False) for one in result.findings),
        *(_level_row(one, counts=one is asked) for one in result.levels),
    ]
    return Checked(name=name, title=_title(history), rows=tuple(rows), level=level)


def _title(history: ClientHistory) -> str:
    endings = [one.ending for one in history.transactions]
    counts = ", ".join(
        f"{endings.count(ending):,} {word}"
        for ending, word in (
            (Ending.COMMITTED, "committed"),
            (Ending.ABORTED, "aborted"),
            (Ending.INDETERMINATE, "of unknown ending"),
        )
        if ending in endings
    )
    title = f"{history.data_type.value}, {len(history.transactions):,} transactions"
    title += f" ({counts})" if counts else ""
    if history.log is not None:
        title += f", a log of {len(history.log):,}"
    return title


def check_objects(name: str, history: ClientHistory, level: str | None) -> Checked:
    """Judge sets or counters.

    A requested level decides. Without one, every phenomenon does that a lagging replica excludes.
    """
    findings = judge_objects(history)
    rows = [
        *(_finding_row(one, counts=level is None and _decides(one)) for one in findings),
        *(
            _level_row(one, counts=one.level.name == level)
            for one in levels_of_objects(findings, history.data_type)
        ),
    ]
    return Checked(name=name, title=_title(history), rows=tuple(rows), level=level or "")


def _decides(finding: Finding) -> bool:
    if finding.phenomenon in (STALE_READ, MONOTONIC_READS, MONOTONIC_PREFIX):
        return False
    is_main = finding.phenomenon in (LOST_ELEMENT, LOST_INCREMENT)
    return is_main or finding.verdict is not Verdict.UNKNOWN


def check_bank(name: str, history: BankHistory, level: str | None, *, total: int | None) -> Checked:
    """Judge bank totals; only a requested level decides."""
    totals = [(one.reader, sum(one.balances.values())) for one in history.reads]
    finding, levels = judge_bank(totals, expected=total)
    rows = [
        _finding_row(finding, counts=level is None),
        *(_level_row(one, counts=one.level.name == level) for one in levels),
    ]
    title = f"bank, {len(history.reads):,} reads of all accounts, {history.transfers:,} transfers"
    return Checked(name=name, title=title, rows=tuple(rows), level=level or "")


def _finding_row(finding: Finding, *, counts: bool) -> Row:
    return Row(
        group="phenomenon",
        name=finding.phenomenon.fact,
        label=finding.phenomenon.label,
        meaning=finding.phenomenon.meaning,
        verdict=finding.verdict,
        reason=finding.reason,
        counts=counts,
        broken=len(finding.breaches),
        breaches=tuple(str(one) for one in finding.breaches[:BREACHES_KEPT_MAX]),
    )


def _level_row(finding: LevelFinding, *, counts: bool) -> Row:
    return Row(
        group="level",
        name=finding.level.name,
        verdict=finding.verdict,
        reason=", ".join(finding.because),
        counts=counts,
    )
