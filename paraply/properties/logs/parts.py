"""Parts of an audit, and their sum.

The *approach* before a part covers the auditor's memory, which :meth:`PartAudit.begin` keeps. Then
:func:`total` equals one auditor's result (:mod:`paraply.properties.logs.part_borders`).

Replay and schedules remember without bound. Replay repeats from earlier parts' ends
(:mod:`paraply.properties.logs.replay_borders`). Schedules and width add each part's time: exact
where workers drain, as at file borders under both metadata models, else near. Blockers and critical
paths concatenate: row conflicts drain no workers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.critical_path import TracedPath, one_after_the_other
from paraply.properties.logs.domains_of_tables import DomainsOfTables
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK
from paraply.properties.logs.part_borders import PartBorders, PartLint
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import ReplayedPart, add_replayed, end_replayed
from paraply.properties.logs.safety_evidence import SafetyEvidence
from paraply.properties.logs.width_over_time import WidthOverTime
from paraply.properties.logs.worker_timeline import ROUND, WorkerTimeline
from paraply.vocabulary.audit_result import (
    AuditResult,
    LintFinding,
    SafetyViolation,
    TransactionRef,
)
from paraply.vocabulary.keys import ConflictKey, RowKeys
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.schema import ForeignKey, TableSchema

_EVIDENCE_COUNTS = (
    "pairs_allowed", "conflicts_ordered", "violations_certain", "violations_uncertain",
    "may_wait", "keys_forgotten", "lanes_forgotten", "statements_overlapping", "incidents",
    "ddl_overlapping", "undecided_more", "crossings",
)  # fmt: skip
_SEEN = ("_clock_seen", "_groups_seen", "_keyless_seen", "_keys_unknown", "_keys_uncertain")
_NAMED_BY_ORDINAL = re.compile(r"\btransaction (\d+)\b")


@dataclass(frozen=True, slots=True)
class Seen:
    """A count and amount, with the first occurrence."""

    count: int
    amount: int = 0
    first: TransactionRef | None = None
    second: TransactionRef | None = None


@dataclass(slots=True, kw_only=True)
class Part:
    """One part's findings; ordinals count from its approach."""

    counts: Counter[tuple[object, ...]] = field(default_factory=Counter)
    flags: frozenset[tuple[object, ...]] = frozenset()
    """Facts true of a whole if true of a part."""
    seen: dict[tuple[object, ...], Seen] = field(default_factory=dict)
    domains: dict[int, DomainsOfTables] = field(default_factory=dict)
    """Tables' domains by rule, of the approach too."""
    violations: list[SafetyViolation] = field(default_factory=list)
    lint: list[LintFinding] = field(default_factory=list)
    replayed: ReplayedPart = field(default_factory=ReplayedPart)
    schemas: dict[str, TableSchema | None] = field(default_factory=dict)
    width: WidthOverTime = field(default_factory=WidthOverTime)
    """Rounds from the approach on."""
    rounds_before: Counter[str] = field(default_factory=Counter)
    """Rounds of the approach, by model."""
    path: TracedPath = field(default_factory=TracedPath)
    half: LintFinding | None = None
    """The finding if the log ends here, inside a transaction."""
    borders: PartBorders = field(init=False)
    left_rows: Counter[str] = field(default_factory=Counter)
    """Changed rows that a compiled engine left to readable code, by table."""
    open_group: int = 0
    """Members of a possibly continuing commit group."""


class NoRows:
    """No row knowledge, for summing auditors."""

    def keys_of(self, table: str, image: RowImage) -> tuple[ConflictKey, ...] | None:
        """Return None."""
        return None

    identities_of = keys_of

    def schema_of(self, table: str) -> TableSchema | None:
        """Return None."""
        return None

    def referencing(self, table: str) -> Sequence[tuple[str, ForeignKey]]:
        """Return nothing."""
        return ()


class PartAudit:
    """Takes one part's findings from an auditor, which reads the approach first."""

    def __init__(self, auditor: Auditor, *, from_file_start: bool) -> None:
        self._auditor = auditor
        self._lint = PartLint(auditor.options.lint_max, from_file_start=from_file_start)
        auditor._lint = self._lint

    def begin(self) -> None:
        """End the approach."""
        self._reached = _begin_part(self._auditor)
        self._begin, self._before = self._lint.border(), self._lint.begin_part()
        self._settled = self._auditor.has_forgotten()

    def end(self) -> tuple[Part, ReplayBorder[Any]]:
        """Return the findings since :meth:`begin`, and give up the replay's state."""
        auditor, lint = self._auditor, self._lint
        part = _end_part(auditor, self._reached)
        part.left_rows = auditor.left_rows()
        transactions = part.counts["transactions",]
        part.replayed, border = end_replayed(auditor._replay, self._before + transactions)
        part.borders = PartBorders(
            begin=self._begin,
            end=lint.border(),
            transactions_before=self._before,
            reaches_back=lint.reaches_back,
            writes_settled=self._settled[0],
            reads_settled=self._settled[1],
            has_writes=bool(transactions),
            has_reads=auditor.has_reads(),
            has_groups=lint.has_groups,
            from_file_start=lint.from_file_start,
            numbers=lint.own_numbers(),
            servers=frozenset(lint.own_servers),
        )
        return part, border


def _begin_part(auditor: Auditor) -> Counter[tuple[object, ...]]:
    """Drop counts and findings; return the times."""
    auditor.settle()
    reached = _times(auditor)
    auditor._parallelism.path.begin_at(auditor._transactions + 1)
    auditor._replay.begin_at(auditor._replay.nothing(), 0)
    auditor._transactions = auditor._row_changes = 0
    auditor._uncertain_keys = auditor._incomplete = 0
    auditor._kinds.clear()
    auditor._tables.forget()
    auditor._has = dict.fromkeys(auditor._has, False)
    auditor._safety.violations.clear()
    for evidence in auditor._safety.evidence:
        for name in _EVIDENCE_COUNTS:
            setattr(evidence, name, 0)
        evidence.undecided.clear()
        evidence.crossing_first = None
    lint = auditor._lint
    lint.findings.listed.clear()
    lint.findings.dropped = lint.findings.violations = 0
    lint.groups._sizes.clear()
    lint._gtids._unsure = 0
    for tally in auditor._lint.tallies():
        tally.count = tally.amount = 0
        tally.first = None
    judge = auditor._parallelism
    judge._pairs_apart = dict.fromkeys(judge._pairs_apart, 0)
    judge._conflict_pairs = 0
    judge._clock_seen = judge._groups_seen = judge._keyless_seen = False
    judge._keys_unknown = judge._keys_uncertain = False
    judge.clock_distance.clear()
    judge.width = WidthOverTime()
    for line in judge._timelines.values():
        line.width_max = 0
    auditor.forget_counts()
    return reached


def _times(auditor: Auditor) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for model, line in auditor._parallelism._timelines.items():
        found["line", model, "work"] = line.work
        found["line", model, "transactions"] = line.transactions
        for column, end in enumerate(line.end):
            found["line", model, "end", column] = end
    return found


def _end_part(auditor: Auditor, reached: Counter[tuple[object, ...]]) -> Part:
    auditor.settle()
    part = Part()
    counts, seen = part.counts, part.seen
    counts["transactions",] = auditor._transactions
    counts["row changes",] = auditor._row_changes
    counts["uncertain keys",] = auditor._uncertain_keys
    counts["incomplete",] = auditor._incomplete
    for kind, number in auditor._kinds.items():
        counts["kind", kind] = number
    for table, operations in auditor._tables._counts.items():
        for operation, number in enumerate(operations):
            counts["table", table, operation] = number
    part.schemas = dict(auditor._tables._schemas)
    flags: set[tuple[object, ...]] = {("has", name) for name, has in auditor._has.items() if has}
    for rule, evidence in enumerate(auditor._safety.evidence):
        for name in _EVIDENCE_COUNTS:
            counts["evidence", rule, name] = getattr(evidence, name)
        for table, undecided in evidence.undecided.items():
            seen["undecided", rule, table] = Seen(
                undecided.pairs, 0, undecided.earlier, undecided.later
            )
        part.domains[rule] = evidence.domains
        if evidence.crossing_first is not None:
            ordinal, table = evidence.crossing_first
            seen["crossing", rule, table] = Seen(ordinal)
    part.violations = list(auditor._safety.violations)
    lint = auditor._lint
    part.lint = list(lint.findings.listed)
    counts["lint dropped",] = lint.findings.dropped
    counts["lint violations",] = lint.findings.violations
    counts["gtids unsure",] = lint._gtids._unsure
    for number, tally in enumerate(auditor._lint.tallies()):
        if tally.first is not None:
            seen["tally", number] = Seen(tally.count, tally.amount, tally.first)
    for size, number in lint.groups._sizes.items():
        counts["group size", size] = number
    part.open_group = lint.groups._size
    if lint._half is not None:
        part.half = lint.results()[len(part.lint)]
    judge = auditor._parallelism
    for model, number in judge._pairs_apart.items():
        counts["apart", model] = number
        counts["width", model] = judge._timelines[model].width_max
    counts["conflict pairs",] = judge._conflict_pairs
    for bucket, number in judge.clock_distance.items():
        counts["distance", bucket] = number
    for name in _SEEN:
        if getattr(judge, name):
            flags.add(("parallelism", name))
    part.flags = frozenset(flags)
    for what, number in _times(auditor).items():
        if what[0] == "line":
            counts[what] = number - reached[what]
    part.width, part.path = judge.width, judge.path.trace()
    for model in judge._timelines:
        part.rounds_before[model] = reached["line", model, "end", ROUND]
    return part


def total(parts: Sequence[Part], options: AuditOptions) -> AuditResult:
    """Return consecutive parts' result."""
    shifts, before = [], 0
    for part in parts:
        shifts.append(before - part.borders.transactions_before)
        before += part.counts["transactions",]
    rows: RowKeys = NoRows()
    auditor = Auditor(rows, options)
    counts: Counter[tuple[object, ...]] = Counter()
    widths: dict[object, int] = {}
    for part, shift in zip(parts, shifts, strict=True):
        for what, number in part.counts.items():
            if what[0] == "width":
                widths[what[1]] = max(widths.get(what[1], 0), number)
            else:
                counts[what] += number
        _take_findings(auditor, part, shift)
    _fill(auditor, counts, widths, options)
    judge = auditor._parallelism
    judge.path.tell(
        one_after_the_other((part.path, shift) for part, shift in zip(parts, shifts, strict=True))
    )
    _add_widths(judge.width, parts, LOGICAL_CLOCK if judge._clock_seen else COMMIT_GROUP)
    replayed = [(part.replayed, shift) for part, shift in zip(parts, shifts, strict=True)]
    add_replayed(auditor._replay, replayed)
    if parts:
        _close(auditor, parts[-1], shifts[-1])
    return auditor.result()


def _take_findings(auditor: Auditor, part: Part, shift: int) -> None:
    def moved(ref: TransactionRef) -> TransactionRef:
        return replace(ref, ordinal=ref.ordinal + shift)

    def retold(text: str) -> str:
        return _NAMED_BY_ORDINAL.sub(lambda m: f"transaction {int(m[1]) + shift}", text)

    room = auditor.options.violations_max - len(auditor._safety.violations)
    auditor._safety.violations.extend(
        replace(
            each,
            earlier=moved(each.earlier),
            later=moved(each.later),
            consequence=each.consequence
            if each.earlier.gtid and each.later.gtid
            else retold(each.consequence),
        )
        for each in part.violations[:room]
    )
    findings = auditor._lint.findings
    for each in part.lint:
        if len(findings.listed) < findings.listed_max:
            told = replace(each, transactions=tuple(map(moved, each.transactions)))
            findings.listed.append(told)
        else:
            findings.dropped += 1
    auditor._tables._schemas.update(part.schemas)
    for rule, domains in part.domains.items():
        auditor._safety.evidence[rule].domains.add(domains)
    for flag in part.flags:
        if flag[0] == "has":
            auditor._has[str(flag[1])] = True
        elif flag[0] == "parallelism":
            setattr(auditor._parallelism, str(flag[1]), True)
    tallies = auditor._lint.tallies()
    for what, seen in part.seen.items():
        if what[0] == "tally":
            tally = tallies[int(str(what[1]))]
            assert seen.first is not None
            tally.count += seen.count
            tally.amount += seen.amount
            tally.first = tally.first or moved(seen.first)
            continue
        evidence = auditor._safety.evidence[int(str(what[1]))]
        if what[0] == "crossing":
            evidence.crossing_first = evidence.crossing_first or (
                seen.count + shift,
                str(what[2]),
            )
        else:
            assert seen.first is not None
            assert seen.second is not None
            evidence.add_undecided(str(what[2]), seen.count, moved(seen.first), moved(seen.second))


def _fill(
    auditor: Auditor,
    counts: Counter[tuple[object, ...]],
    widths: dict[object, int],
    options: AuditOptions,
) -> None:
    auditor._transactions = counts["transactions",]
    auditor._row_changes = counts["row changes",]
    auditor._uncertain_keys = counts["uncertain keys",]
    auditor._incomplete = counts["incomplete",]
    lint, judge = auditor._lint, auditor._parallelism
    lint.findings.dropped += counts["lint dropped",]
    lint.findings.violations = counts["lint violations",]
    lint._gtids._unsure = counts["gtids unsure",]
    judge._conflict_pairs = counts["conflict pairs",]
    for what, number in counts.items():
        match what:
            case ("kind", str() as kind) if number:
                auditor._kinds[kind] = number
            case ("table", str() as table, int() as operation):
                auditor._tables._counts.setdefault(table, [0, 0, 0])[operation] += number
            case ("evidence", int() as rule, str() as name):
                evidence: SafetyEvidence = auditor._safety.evidence[rule]
                setattr(evidence, name, number)
            case ("group size", int() as size) if number:
                lint.groups._sizes[size] = number
            case ("apart", str() as model):
                judge._pairs_apart[model] = number
            case ("distance", int() as bucket):
                judge.clock_distance[bucket] = number
            case _:
                pass
    for model, line in judge._timelines.items():
        _fill_line(line, model, counts, widths)


def _fill_line(
    line: WorkerTimeline,
    model: str,
    counts: Counter[tuple[object, ...]],
    widths: dict[object, int],
) -> None:
    line.work = counts["line", model, "work"]
    line.transactions = counts["line", model, "transactions"]
    line.end = [counts["line", model, "end", column] for column in range(line.columns)]
    line.width_max = widths.get(model, 0)


def _add_widths(width: WidthOverTime, parts: Sequence[Part], model: str) -> None:
    rounds = 0
    for part in parts:
        width.add(part.width, rounds - part.rounds_before[model])
        rounds += part.counts["line", model, "end", ROUND]


def _close(auditor: Auditor, last: Part, shift: int) -> None:
    groups = auditor._lint.groups
    if last.open_group:
        sizes = groups._sizes
        sizes[last.open_group] = sizes.get(last.open_group, 0) + 1
    if last.half is not None:
        half = last.half
        auditor._lint.closing = replace(
            half,
            transactions=tuple(replace(r, ordinal=r.ordinal + shift) for r in half.transactions),
        )
