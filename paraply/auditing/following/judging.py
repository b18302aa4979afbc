"""One file of a followed log: read, judged, and written as rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from paraply.adapters.binlog.errors import UNREADABLE_FILE
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.lessons import with_dump
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.filesystems import STORAGE_FAILED
from paraply.adapters.violations_parquet import violation_row
from paraply.auditing.engines import Attempts, MakeEngine, engines_for
from paraply.auditing.following.state import STATE_REFUSED, LogState, load_state, packed
from paraply.auditing.pipeline import AuditRequest, lowered, with_files
from paraply.auditing.selection import GtidsByFile, note_gtids
from paraply.mining.audit_tables import (
    FILES,
    FINDINGS,
    PARALLELISM,
    STATES,
    VIOLATIONS,
    write_table,
)
from paraply.mining.row_files import NewFile
from paraply.mining.store import Store, store_at
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.vocabulary.audit_result import AuditResult, FileSummary, LintFinding
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.verdict import Verdict

if TYPE_CHECKING:
    from paraply.adapters.binlog.compiled.left_tables import LeftTables

RELAY_LOG = register(
    "P747",
    "{file} is a relay log, whose transactions may cross files",
    "audit relay logs with paraply audit, all files at once",
)
FILE_OUT_OF_REACH = register(
    "P753",
    "the file cannot be read to its end, so it is not taken as audited: {reason}",
    "start it again once the file can be read: it continues with this file",
)

_OF_THE_MACHINE = (UNREADABLE_FILE.code, STORAGE_FAILED.code)
"""A second attempt may read the file; one of a damaged file would end alike."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTask:
    """One file to judge."""

    place: str
    file: str
    number: int
    """From 1."""
    request: AuditRequest
    state: str = ""
    """Name of the state before; empty at the start."""
    is_told: bool = True
    """Whether rows are written; not while another engine catches up."""
    left: LeftTables | None = None
    """Tables that a compiled engine leaves to readable code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFile:
    """Uncommitted rows and state of one file."""

    file: str
    number: int
    state: str
    tables: dict[str, NewFile | None]


def judge_file(task: FileTask) -> JudgedFile | NotCompilable:
    """Judge a file from the state before it; a compiled state may refuse it.

    ``BeginAgain`` asks for the same engine from the first file on, with what it learnt.
    """
    store = store_at(task.place)
    if task.state:
        data = store.read(f"{STATES}/{task.state}")
        if data is None:
            raise ParaplyError(STATE_REFUSED, reason=f"its state {task.state} is gone")
        try:
            return _judged(task, store, load_state(data))
        except NotCompilable as reason:
            return reason
    attempts = Attempts(engines_for(task.request.engine, left=task.left))
    while True:
        try:
            return _judged(task, store, _new_state(task.request, attempts.engine))
        except NotCompilable as refusal:
            attempts.note(refusal)


def options_of(request: AuditRequest) -> str:
    """Return the options on which a result depends, as text."""
    schema = (request.schema, request.schema_at)
    return repr((schema, request.workers, request.appliers, request.violations_max))


def _new_state(request: AuditRequest, make_engine: MakeEngine) -> LogState:
    registry = with_dump(SchemaRegistry(), request.schema, request.distrusted)
    engine = make_engine(KeyBuilder(registry))
    options = AuditOptions(
        appliers=request.appliers,
        workers=request.workers,
        violations_max=request.violations_max,
    )
    return LogState(
        engine=engine,
        auditor=engine.auditor(options),
        registry=registry,
        options=options_of(request),
    )


def _judged(task: FileTask, store: Store, log: LogState) -> JudgedFile:
    if log.options != options_of(task.request):
        raise ParaplyError(STATE_REFUSED, reason=f"it began with other options: {log.options}")
    before = _Told.of(log.auditor)
    gtids: GtidsByFile = {}
    log.engine.report.files = [*log.faults]
    for step in log.engine.read((task.file,)):
        note_gtids(gtids, *step)
    report = log.engine.report.files[-1]
    if report.is_relay_log:
        raise ParaplyError(RELAY_LOG, file=task.file)
    for fault in report.diagnostics:
        if fault.code in _OF_THE_MACHINE:
            raise ParaplyError(FILE_OUT_OF_REACH, where=task.file, reason=fault.text)
    breaches_before = log.breaches
    log.auditor.settle()
    log.breaches = _breaches(log.auditor)
    if report.diagnostics:
        log.faults.append(report)
    log.engine.report.files = []
    state = log.as_bytes()
    # From here on the log is as if it ended with this file.
    log.engine.report.files = [report]
    for step in log.engine.finish():
        note_gtids(gtids, *step)
    result = log.auditor.result()
    reports = [*(fault for fault in log.faults if fault is not report), report]
    with_files(result, LogReport(files=reports), gtids, log.registry.assumptions)
    result.files = result.files[-1:]
    doubts = log.registry.doubts
    if task.request.schema and (names := task.request.schema_at.doubted(doubts)):
        lowered(result, task.request.schema, doubts, names)
    told = packed(state, result)
    name = hashlib.sha256(told).hexdigest()
    store.write(f"{STATES}/{name}", told)
    breaches = [now - then for now, then in zip(log.breaches, breaches_before, strict=True)]
    rows = {} if not task.is_told else {
        FILES: [_file_row(result, breaches, name)],
        VIOLATIONS: [
            violation_row(each)
            for each in log.auditor._safety.violations[before.violations :]
            if log.auditor._has[each.applier]
        ],
        FINDINGS: [*before.new_findings(log.auditor, result, task.file)],
        PARALLELISM: [
            {**asdict(each), "safe": each.safe.word, "speedup": list(each.speedup.items()),
             "file": task.file}
            for each in result.parallelism
        ],
    }  # fmt: skip
    return JudgedFile(
        file=task.file,
        number=task.number,
        state=name,
        tables={
            table: write_table(store, table, ({"number": task.number, **row} for row in of_table))
            for table, of_table in rows.items()
        },
    )


def _breaches(auditor: Auditor) -> tuple[int, int, int]:
    replay = auditor._replay.result()
    return (
        sum(auditor._safety.evidence[rule].violations_certain for rule in auditor._judged()),
        auditor._lint.violations,
        len(replay.findings) + replay.findings_dropped,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """Lengths of an auditor's lists before a file."""

    violations: int
    lint: int
    replay: int

    @classmethod
    def of(cls, auditor: Auditor) -> _Told:
        return cls(
            len(auditor._safety.violations),
            len(auditor._lint.findings.listed),
            len(auditor._replay.result().findings),
        )

    def new_findings(
        self, auditor: Auditor, result: AuditResult, file: str
    ) -> Iterator[dict[str, Any]]:
        lint = auditor._lint.findings.listed[self.lint :]
        tallied = (tally.finding() for tally in auditor._lint.tallies())
        for each in [*lint, *(one for one in tallied if one is not None and one.file == file)]:
            yield _lint_row(each)
        for found in result.replay.findings[self.replay :]:
            yield {
                "rule": found.property, "severity": "violation", "message": found.message,
                "file": found.transaction.file, "offset": found.offset,
                "gtid": found.transaction.gtid, "table": found.table, "key": found.key,
            }  # fmt: skip


def _lint_row(finding: LintFinding) -> dict[str, Any]:
    transactions = finding.transactions
    return {
        "rule": finding.rule, "severity": finding.severity, "message": finding.message,
        "file": finding.file, "offset": finding.offset,
        "gtid": transactions[-1].gtid if transactions else "",
    }  # fmt: skip


def _file_row(result: AuditResult, breaches: Sequence[int], state: str) -> dict[str, Any]:
    (file,) = result.files
    shows_nothing = result.unknown_because or not file.transactions
    verdict = Verdict.UNKNOWN if shows_nothing else Verdict.HOLDS
    reasons = [f"{each.subject}: {each.reason}".removeprefix(": ")
               for each in result.unknown_because]  # fmt: skip
    return {
        **asdict(replace(file, events={}, skipped_event_types={})),
        "file": file.name,
        "verdict": (Verdict.VIOLATED if any(breaches) else verdict).word,
        "events": list(file.events.items()),
        "skipped_event_types": list(file.skipped_event_types.items()),
        "violations": breaches[0], "lint_violations": breaches[1], "replay_findings": breaches[2],
        "verdict_so_far": result.verdict.word, "unknown_so_far": reasons,
        "transactions_so_far": result.transactions, "row_changes_so_far": result.row_changes,
        "engine": result.engine, "state": state,
    }  # fmt: skip


def summary_of_row(row: dict[str, Any]) -> FileSummary:
    """Return the summary of a file from its row."""
    return FileSummary(
        name=row["file"],
        events=dict(row["events"]),
        skipped_event_types=dict(row["skipped_event_types"]),
        **{
            name: row[name]
            for name in ("server", "format", "checksum", "bytes_read", "transactions",
                         "first_gtid", "last_gtid", "stopped")
        },
    )  # fmt: skip
