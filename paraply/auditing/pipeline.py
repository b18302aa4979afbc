"""The audit: read, follow the schema, key, judge, summarise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from paraply.adapters.binlog.event_types import event_name
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaDoubts, SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.input_files import InputFiles, bytes_total, open_inputs
from paraply.auditing.selection import Selection, Selector
from paraply.errors import ENGINE_UNAVAILABLE, NOTHING_READ
from paraply.properties.logs.audit import DEFAULT_WORKERS, SAFETY, AuditOptions, Auditor
from paraply.properties.logs.overlap_rules import RULES
from paraply.vocabulary.audit_result import AuditResult, FileSummary, Reason
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.kernel_cache import has_kernels
from paraply.vocabulary.verdict import Verdict, combine

APPLIERS = tuple(RULES)

ENGINES = ("auto", "readable", "compiled")

COMPILED_BYTES_MIN = 16 << 20
"""Below this loading the compiled engine does not pay."""
COMPILING_BYTES_MIN = 64 << 20
"""The same while its kernels are not compiled."""

_TRANSACTIONS_PER_NEWS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What to audit, and how."""

    files: tuple[str, ...]
    schema: str | None = None
    workers: tuple[int, ...] = DEFAULT_WORKERS
    appliers: tuple[str, ...] = APPLIERS
    engine: str = "auto"
    selection: Selection = field(default_factory=Selection)
    distrusted: tuple[str, ...] = ()
    """Tables to ignore in ``schema``."""


def audit(request: AuditRequest, advance: Callable[[float], None] = lambda _: None) -> AuditResult:
    """Audit a request's files as one stream; ``advance`` receives bytes read.

    Partly read files make the verdict unknown. A log that contradicts the schema is audited again
    without it. Raises ``ParaplyError`` without files, transactions or a useful schema.
    """
    return trusting_less(request, lambda less: _audit_once(less, advance))


def trusting_less(
    request: AuditRequest, run: Callable[[AuditRequest], tuple[AuditResult, SchemaDoubts]]
) -> AuditResult:
    """Repeat an audit without contradicted schema parts."""
    result, doubts = run(request)
    newer = doubts.newer
    while request.schema is not None and doubts.distrusted - {*request.distrusted}:
        if not all(Path(file).is_file() for file in request.files):
            _lower(result, request.schema, doubts)
            return result
        distrusted = {*request.distrusted, *doubts.distrusted}
        request = replace(request, distrusted=tuple(sorted(distrusted)))
        result, doubts = run(request)
        newer = newer or doubts.newer
    if request.schema is not None and (newer or request.distrusted):
        text = f"{request.schema} may be newer than the beginning of the log"
        text += f" ({newer})" if newer else ""
        if request.distrusted:
            text += f"; not taken from it: {', '.join(request.distrusted)}"
        result.assumptions.insert(0, text)
    return result


def _lower(result: AuditResult, schema: str, doubts: SchemaDoubts) -> None:
    result.violations = [replace(each, certain=False) for each in result.violations]
    result.verdict = Verdict.UNKNOWN
    result.unknown_because.insert(
        0,
        Reason(
            property=SAFETY,
            reason=f"{schema} does not show how {', '.join(sorted(doubts.distrusted))} was at the "
            f"beginning of the log{f' ({doubts.newer})' if doubts.newer else ''}",
            remedy="audit plain files, which can be read again without that, or give a dump from "
            "the time when the log begins",
            subject=schema,
        ),
    )


def _audit_once(
    request: AuditRequest, advance: Callable[[float], None]
) -> tuple[AuditResult, SchemaDoubts]:
    inputs = open_inputs(request.files)
    if _wants_compiled_engine(request, inputs):
        result = _judged_by_compiled_engine(request, advance)
        if result is not None:
            return result
    reading = _Reading(request)
    judged = _judged_by_readable_engine(inputs, reading, Selector(request.selection), advance)
    return reading.summed_up(judged, is_text=inputs.is_text), reading.registry.doubts


def _wants_compiled_engine(request: AuditRequest, inputs: InputFiles) -> bool:
    size = None if inputs.is_text or request.selection else bytes_total(request.files)
    if request.engine == "compiled" and size is None:
        raise no_compiled_engine("it reads plain binary logs only, and whole ones")
    if request.engine != "auto":
        return request.engine == "compiled"
    kept = has_kernels(Path(__file__).resolve().parents[1] / "properties" / "logs" / "compiled")
    return size is not None and size >= (COMPILED_BYTES_MIN if kept else COMPILING_BYTES_MIN)


def _judged_by_compiled_engine(
    request: AuditRequest, advance: Callable[[float], None]
) -> tuple[AuditResult, SchemaDoubts] | None:
    """Raises ``ParaplyError`` P308 instead of None for a compiled engine chosen by name."""
    by_name = request.engine == "compiled"
    try:
        # Imported only here: it costs most of a second and 90 MB, which a small log does not pay.
        from paraply.auditing.compiled import audit_compiled
        from paraply.properties.logs.compiled.batches import NotCompilable
    except ImportError as fault:
        if by_name:
            raise no_compiled_engine(str(fault)) from None
        return None
    reading = _Reading(request)
    try:
        judged = audit_compiled(
            request.files, reading.keys, reading.report, reading.options, reading.note_gtids,
            advance,
        )  # fmt: skip
    except NotCompilable as reason:
        if by_name:
            raise no_compiled_engine(str(reason)) from None
        return None
    return reading.summed_up(judged), reading.registry.doubts


def no_compiled_engine(reason: str) -> ParaplyError:
    """Return the error for the requested engine."""
    return ParaplyError(ENGINE_UNAVAILABLE, engine="compiled", reason=reason)


class _Reading:
    def __init__(self, request: AuditRequest) -> None:
        self.registry = SchemaRegistry()
        if request.schema is not None:
            load_schema_file(self.registry, request.schema, request.distrusted)
        self.keys = KeyBuilder(self.registry)
        self.options = AuditOptions(appliers=request.appliers, workers=request.workers)
        self.report = LogReport()
        self._gtids: dict[str, tuple[str, str]] = {}

    @property
    def bytes_read(self) -> int:
        return sum(file.bytes_read for file in self.report.files)

    def note_gtids(self, file: str, first: str, last: str) -> None:
        known_first, known_last = self._gtids.get(file, ("", ""))
        self._gtids[file] = (known_first or first, last or known_last)

    def summed_up(self, result: AuditResult, *, is_text: bool = False) -> AuditResult:
        files = self.report.files
        # A file that stopped before its first transaction (encrypted, say) gave nothing to judge.
        if not result.transactions and not any(file.read_to_end for file in files):
            raise nothing_read(self.report)
        result.files = [summary_of(file, *self._gtids.get(file.file, ("", ""))) for file in files]
        if is_text:
            for summary in result.files:
                summary.format = "text"
        note_what_was_not_read(result, self.report)
        result.assumptions += self.registry.assumptions
        return result


def _judged_by_readable_engine(
    inputs: InputFiles, reading: _Reading, selector: Selector, advance: Callable[[float], None]
) -> AuditResult:
    auditor = Auditor(reading.keys, reading.options)

    def on_table_map(table: TableMap) -> None:
        reading.registry.observe_table_map(table.table_schema())

    transactions = (
        read_text_transactions(inputs.sources, report=reading.report)
        if inputs.is_text
        else read_transactions(inputs.sources, report=reading.report, on_table_map=on_table_map)
    )
    for txn in transactions:
        # What is not judged teaches all the same how the tables are defined.
        reading.keys.complete_transaction(txn)
        if selector.takes(txn):
            auditor.observe(txn)
        else:
            auditor.pass_over(txn)
        reading.note_gtids(txn.start.file, txn.gtid, txn.gtid)
        if txn.ordinal % _TRANSACTIONS_PER_NEWS == 0:
            advance(reading.bytes_read)
    selector.require_found()
    return auditor.result()


def nothing_read(report: LogReport) -> ParaplyError:
    """Return the error for no transaction."""
    first = next(report.diagnostics())
    return ParaplyError(NOTHING_READ, reason=first.text, remedy=first.remedy)


def summary_of(file: FileReport, first_gtid: str, last_gtid: str) -> FileSummary:
    """Return a file's summary for the report."""
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


def note_what_was_not_read(result: AuditResult, report: LogReport) -> None:
    """Make a verdict unknown where reading failed."""
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
