"""The audit as a line of work: read the log, follow its schema, key its rows, judge, sum up."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from adapters.binlog.errors import UNREADABLE_FILE
from adapters.binlog.event_types import event_name
from adapters.binlog.keys import KeyBuilder
from adapters.binlog.report import FileReport, LogReport
from adapters.binlog.schema_dump import load_schema_file
from adapters.binlog.schema_registry import SchemaRegistry
from adapters.binlog.table_map import TableMap
from adapters.binlog.transactions import read_transactions
from paraply.errors import ENGINE_UNAVAILABLE, NOTHING_READ
from properties.audit import DEFAULT_WORKERS, AuditOptions, Auditor
from properties.overlap_rules import RULES
from vocabulary.audit_result import AuditResult, FileSummary, Reason
from vocabulary.errors import ParaplyError
from vocabulary.verdict import Verdict, combine

APPLIERS = tuple(RULES)
"""The appliers whose reading of the metadata can be judged."""

ENGINES = ("auto", "readable", "compiled")

COMPILED_BYTES_MIN = 16 << 20
"""Below this the compiled engine takes longer to load than the readable one to finish."""

STANDARD_INPUT = "-"

_TRANSACTIONS_PER_NEWS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What to audit, and how."""

    files: tuple[str, ...]
    schema: str | None = None
    workers: tuple[int, ...] = DEFAULT_WORKERS
    appliers: tuple[str, ...] = APPLIERS
    engine: str = "auto"

    def bytes_total(self) -> int | None:
        """Return the bytes there are to read, None where that cannot be known beforehand."""
        total = 0
        for name in self.files:
            try:
                status = os.stat(name)
            except OSError:
                return None
            if not stat.S_ISREG(status.st_mode) or name.endswith((".gz", ".zst")):
                return None
            total += status.st_size
        return total


def audit(request: AuditRequest, advance: Callable[[float], None] = lambda _: None) -> AuditResult:
    """Audit the files of a request as one stream; ``advance`` is told the bytes read so far.

    A file that cannot be read to its end makes the verdict unknown, and everything before that
    point is audited. Raises ``ParaplyError`` if a file is not there, if all of them stopped
    before their first transaction, or if the schema is of no use.
    """
    for name in request.files:
        _require_readable(name)
    if _wants_compiled_engine(request):
        result = _judged_by_compiled_engine(request, advance)
        if result is not None:
            return result
    reading = _Reading(request)
    return reading.summed_up(_judged_by_readable_engine(request, reading, advance))


def _wants_compiled_engine(request: AuditRequest) -> bool:
    """Return whether to try the compiled engine, which reads plain files and pays if large."""
    if request.engine != "auto":
        return request.engine == "compiled"
    size = request.bytes_total()
    return size is not None and size >= COMPILED_BYTES_MIN


def _judged_by_compiled_engine(
    request: AuditRequest, advance: Callable[[float], None]
) -> AuditResult | None:
    """Return the result of the compiled engine, None where the log is for the readable one.

    The two engines give the same result but for its ``engine``. Raises ``ParaplyError`` P308 in
    place of None if the compiled engine was asked for by name.
    """
    by_name = request.engine == "compiled"
    if by_name and request.bytes_total() is None:
        raise _no_compiled_engine("it reads plain files only")
    try:
        # Imported only here: it costs most of a second and 90 MB, which a small log does not pay.
        from paraply.compiled_audit import audit_compiled
        from properties.compiled.batches import NotCompilable
    except ImportError as fault:
        if by_name:
            raise _no_compiled_engine(str(fault)) from None
        return None
    reading = _Reading(request)
    try:
        judged = audit_compiled(
            request.files, reading.keys, reading.report, reading.options, reading.note_gtids,
            advance,
        )  # fmt: skip
    except NotCompilable as reason:
        if by_name:
            raise _no_compiled_engine(str(reason)) from None
        return None
    return reading.summed_up(judged)


def _no_compiled_engine(reason: str) -> ParaplyError:
    return ParaplyError(ENGINE_UNAVAILABLE, engine="compiled", reason=reason)


class _Reading:
    """One pass over the files: what the log tells of itself beside what is judged."""

    def __init__(self, request: AuditRequest) -> None:
        self.registry = SchemaRegistry()
        if request.schema is not None:
            load_schema_file(self.registry, request.schema)
        self.keys = KeyBuilder(self.registry)
        self.options = AuditOptions(appliers=request.appliers, workers=request.workers)
        self.report = LogReport()
        self._gtids: dict[str, tuple[str, str]] = {}

    @property
    def bytes_read(self) -> int:
        """Return how far the reading is, over all files."""
        return sum(file.bytes_read for file in self.report.files)

    def note_gtids(self, file: str, first: str, last: str) -> None:
        """Note the first and the last GTID of the next stretch of a file; empty is none."""
        known_first, known_last = self._gtids.get(file, ("", ""))
        self._gtids[file] = (known_first or first, last or known_last)

    def summed_up(self, result: AuditResult) -> AuditResult:
        """Return ``result`` with what the reading showed of files, schema and gaps."""
        files = self.report.files
        # A file that stopped before its first transaction (encrypted, say) gave nothing to judge.
        if not result.transactions and not any(file.read_to_end for file in files):
            raise _nothing_read(self.report)
        result.files = [_summary(file, *self._gtids.get(file.file, ("", ""))) for file in files]
        _note_what_was_not_read(result, self.report)
        result.assumptions += self.registry.assumptions
        return result


def _judged_by_readable_engine(
    request: AuditRequest, reading: _Reading, advance: Callable[[float], None]
) -> AuditResult:
    auditor = Auditor(reading.keys, reading.options)

    def on_table_map(table: TableMap) -> None:
        reading.registry.observe_table_map(table.table_schema())

    for txn in read_transactions(request.files, report=reading.report, on_table_map=on_table_map):
        reading.keys.complete_transaction(txn)
        auditor.observe(txn)
        reading.note_gtids(txn.start.file, txn.gtid, txn.gtid)
        if txn.ordinal % _TRANSACTIONS_PER_NEWS == 0:
            advance(reading.bytes_read)
    return auditor.result()


def _require_readable(name: str) -> None:
    """Raise ``ParaplyError`` P101 for a mistyped name at once, not after the other files."""
    if name == STANDARD_INPUT:
        return
    reason = (
        "no such file or directory"
        if not os.path.exists(name)
        else "it is a folder"
        if os.path.isdir(name)
        else ""
        if os.access(name, os.R_OK)
        else "permission denied"
    )
    if reason:
        raise ParaplyError(UNREADABLE_FILE, where=name, reason=reason)


def _nothing_read(report: LogReport) -> ParaplyError:
    first = next(report.diagnostics())
    return ParaplyError(NOTHING_READ, reason=first.text, remedy=first.remedy)


def _summary(file: FileReport, first_gtid: str, last_gtid: str) -> FileSummary:
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
    """Let what could not be read keep the verdict from holding."""
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
