"""The audit of a whole log: one run of the pipeline, and its summary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from paraply.adapters.binlog.compiled_gains import gains_by_kernels
from paraply.adapters.binlog.event_types import event_name
from paraply.adapters.binlog.input_files import InputFiles, bytes_total, open_inputs
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.schema.lessons import AttentiveRegistry, Lesson, with_dump
from paraply.adapters.binlog.schema.registry import SchemaDoubts
from paraply.adapters.binlog.schema.tables import DatedTable
from paraply.auditing.dump_age import DumpMoment, date_tables
from paraply.auditing.dump_place import told_moment
from paraply.auditing.engines import (
    COMPILED,
    READABLE,
    Attempts,
    MakeEngine,
    ReadableEngine,
    engines_for,
    no_compiled_engine,
)
from paraply.auditing.selection import GtidsByFile, Selection, Selector, note_gtids
from paraply.errors import NOTHING_READ
from paraply.properties.logs.audit import DEFAULT_WORKERS, SAFETY, AuditOptions
from paraply.properties.logs.dependency_safety import VIOLATIONS_MAX
from paraply.properties.logs.overlap_rules import RULES
from paraply.vocabulary.audit_result import AuditResult, FileSummary, Reason
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.verdict import Verdict, combine

APPLIERS = tuple(RULES)

RANGE_ASSUMPTIONS = (
    "a part of the log was chosen: what is outside of it was read for table definitions and rows, "
    "and no pair with a transaction outside was judged",
    "a part of the log is judged in one piece",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What to audit, and how."""

    files: tuple[str, ...]
    schema: str | None = None
    schema_at: DumpMoment = DumpMoment.UNKNOWN
    """The moment of the log that ``schema`` shows."""
    workers: tuple[int, ...] = DEFAULT_WORKERS
    appliers: tuple[str, ...] = APPLIERS
    engine: str = "auto"
    selection: Selection = field(default_factory=Selection)
    distrusted: tuple[DatedTable, ...] = ()
    """Tables of ``schema`` that are not as they were at the log's beginning."""
    violations_max: int = VIOLATIONS_MAX


Told = tuple[AuditResult, SchemaDoubts, Sequence[Lesson]]
"""A result, how the log contradicts the dump, and what the log says of its tables."""


def audit(request: AuditRequest, advance: Callable[[float], None] = lambda _: None) -> AuditResult:
    """Audit a request's files as one stream; ``advance`` receives bytes read.

    Partly read files make the verdict unknown. A log that contradicts the schema is audited again,
    with what :mod:`paraply.auditing.dump_age` finds of it. Raises ``ParaplyError`` without files,
    transactions or a useful schema.
    """
    return trusting_less(request, lambda less: _audit_once(less, advance))


def trusting_less(request: AuditRequest, run: Callable[[AuditRequest], Told]) -> AuditResult:
    """Repeat an audit with contradicted tables as they were by time, as far as that is known."""
    result, doubts, lessons = run(request)
    newer, moment = doubts.newer, moment_of(request)
    while request.schema is not None and (names := moment.doubted(doubts)) - _names(request):
        if not all(Path(file).is_file() for file in request.files):
            lowered(result, request.schema, doubts, names)
            return result
        dated = date_tables(request.schema, lessons, names | _names(request), moment)
        request = replace(request, distrusted=dated)
        result, doubts, lessons = run(request)
        newer = newer or doubts.newer
    is_believed = moment is DumpMoment.END or (moment is DumpMoment.BEGIN and not newer)
    if request.schema is not None and is_believed:
        result.assumptions.insert(0, _stated(request.schema, moment))
    if request.schema is not None and (newer or request.distrusted):
        text = f"{request.schema} may be newer than the beginning of the log"
        text += f" ({newer})" if newer else ""
        known = [table for table in request.distrusted if any(table.states)]
        without = [table.name for table in request.distrusted if not any(table.states)]
        if known:
            shares = (
                f"{table.name} ({len([*filter(None, table.states)])} of {len(table.states)})"
                for table in known
            )
            text += (
                "; definitions that follow from it and from the log's ALTERs, if no table was "
                f"altered between the log's end and it: {', '.join(shares)}"
            )
        if without:
            text += f"; not taken from it: {', '.join(without)}"
        result.assumptions.insert(0, text)
    return result


def moment_of(request: AuditRequest) -> DumpMoment:
    """Return the moment of the log that the dump shows, as stated or as its header says."""
    if request.schema is None or request.schema_at is not DumpMoment.UNKNOWN:
        return request.schema_at
    return told_moment(request.schema, request.files)


def _stated(schema: str, moment: DumpMoment) -> str:
    """Return what is taken for granted of a dump's moment."""
    where = "begins" if moment is DumpMoment.BEGIN else "ends"
    return f"{schema} is taken to show the tables as they were where the log {where}"


def _names(request: AuditRequest) -> set[str]:
    return {table.name for table in request.distrusted}


def lowered(result: AuditResult, schema: str, doubts: SchemaDoubts, names: set[str]) -> None:
    """Make a result unknown whose log contradicts what the dump says of tables ``names``."""
    result.violations = [replace(each, certain=False) for each in result.violations]
    result.verdict = Verdict.UNKNOWN
    result.unknown_because.insert(
        0,
        Reason(
            property=SAFETY,
            reason=f"{schema} does not show how {', '.join(sorted(names))} was at the "
            f"beginning of the log{f' ({doubts.newer})' if doubts.newer else ''}",
            remedy="audit plain files, which can be read again without that, or give a dump from "
            "the time when the log begins",
            subject=schema,
        ),
    )


def _audit_once(request: AuditRequest, advance: Callable[[float], None]) -> Told:
    inputs = open_inputs(request.files)
    name = _engine_name(request, inputs)

    def judged(make_engine: MakeEngine) -> Told:
        selector = Selector(request.selection) if request.selection else None
        registry = with_dump(AttentiveRegistry(), request.schema, request.distrusted)
        registry.take_lessons()
        engine = make_engine(KeyBuilder(registry))
        options = AuditOptions(
            appliers=request.appliers,
            workers=request.workers,
            violations_max=request.violations_max,
        )
        auditor = engine.auditor(options, selector)
        gtids: GtidsByFile = {}
        steps = chain(engine.read(inputs.sources), engine.finish())
        for number, step in enumerate(steps, start=1):
            note_gtids(gtids, *step)
            if number % engine.steps_per_news == 0:
                advance(sum(file.bytes_read for file in engine.report.files))
        result = summed_up(auditor.result(), engine.report, gtids, registry.assumptions)
        if selector is not None:
            torn = {file.name for file in result.files if file.stopped}
            selector.require_found(gtids, result.transactions, torn)
            result.range = selector.judged
            result.assumptions += RANGE_ASSUMPTIONS
        if inputs.is_text:
            for file in result.files:
                file.format = "text"
        return result, registry.doubts, registry.take_lessons()

    readable = partial(ReadableEngine, is_text=inputs.is_text)
    attempts = Attempts(engines_for(name, readable))
    while True:
        try:
            told = judged(attempts.engine)
        except NotCompilable as refusal:
            attempts.note(refusal)
        else:
            told[0].engine_because = attempts.refused
            return told


def _engine_name(request: AuditRequest, inputs: InputFiles) -> str:
    size = None if inputs.is_text else bytes_total(request.files)
    if request.engine == COMPILED and size is None:
        raise no_compiled_engine("it reads plain binary logs only")
    if request.engine != "auto":
        return request.engine
    return "auto" if _is_large(size) else READABLE


def may_compile(request: AuditRequest) -> bool:
    """Return whether the compiled engine may judge the files, by their sizes alone."""
    if request.engine == READABLE:
        return False
    return request.engine == COMPILED or _is_large(bytes_total(request.files))


def _is_large(size: int | None) -> bool:
    return size is not None and gains_by_kernels(size, "logs")


def summed_up(
    result: AuditResult, report: LogReport, gtids: GtidsByFile, assumptions: Iterable[str]
) -> AuditResult:
    """Add to a judged result what reading showed; raises P307 if nothing could be read."""
    # A file that stopped before its first transaction (encrypted, say) gave nothing to judge.
    if not result.transactions and not any(file.read_to_end for file in report.files):
        first = next(report.diagnostics())
        raise ParaplyError(NOTHING_READ, reason=first.text, remedy=first.remedy)
    return with_files(result, report, gtids, assumptions)


def with_files(
    result: AuditResult, report: LogReport, gtids: GtidsByFile, assumptions: Iterable[str]
) -> AuditResult:
    """Add to a judged result the files, and what could not be read of them."""
    result.files = [_summary_of(file, *gtids.get(file.file, ("", ""))) for file in report.files]
    _note_what_was_not_read(result, report)
    result.assumptions += assumptions
    return result


def _summary_of(file: FileReport, first_gtid: str, last_gtid: str) -> FileSummary:
    version = file.server_version
    return FileSummary(
        name=file.file,
        server=version,
        format="" if not version else "mariadb" if "mariadb" in version.lower() else "mysql",
        checksum=", ".join(name for name in file.checksums if name.upper() not in ("NONE", "OFF")),
        bytes_read=file.bytes_read,
        transactions=file.transactions,
        first_gtid=first_gtid,
        last_gtid=last_gtid,
        events=dict(sorted(file.events.items())),
        skipped_event_types={
            event_name(code): number for code, number in sorted(file.unknown_events.items())
        },
        stopped=next((d.text for d in file.diagnostics if d.ends_file), ""),
    )


def _note_what_was_not_read(result: AuditResult, report: LogReport) -> None:
    for file in report.files:
        for diagnostic in file.diagnostics:
            result.unknown_because.append(
                Reason(
                    property="file_is_read_to_its_end"
                    if diagnostic.ends_file
                    else "rows_are_decoded",
                    subject=file.file,
                    reason=diagnostic.text,
                    remedy=diagnostic.remedy,
                )
            )
            result.verdict = combine((result.verdict, Verdict.UNKNOWN))
