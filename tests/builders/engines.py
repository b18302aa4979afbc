"""Both engines of the audit on the same files, as a test wants to call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.compiled import audit_compiled
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.vocabulary.audit_result import AuditResult


@dataclass
class Audited:
    """Everything an engine leaves behind."""

    result: AuditResult
    report: LogReport
    assumptions: tuple[str, ...]
    gtids: dict[str, tuple[str, str]]


Judge = Callable[[KeyBuilder, LogReport, Callable[[str, str, str], None]], AuditResult]


def _audited(schema: str | None, judge: Judge) -> Audited:
    registry = SchemaRegistry()
    if schema is not None:
        load_schema_file(registry, schema)
    report = LogReport()
    gtids: dict[str, tuple[str, str]] = {}

    def on_gtids(file: str, first: str, last: str) -> None:
        known_first, known_last = gtids.get(file, ("", ""))
        gtids[file] = (known_first or first, last or known_last)

    result = judge(KeyBuilder(registry), report, on_gtids)
    return Audited(result, report, registry.assumptions, gtids)


def audit_by_readable(
    files: tuple[str, ...], schema: str | None = None, options: AuditOptions | None = None
) -> Audited:
    """Audit with the readable engine."""

    def judge(
        keys: KeyBuilder, report: LogReport, on_gtids: Callable[[str, str, str], None]
    ) -> AuditResult:
        auditor = Auditor(keys, options)
        read = read_transactions(
            files,
            report=report,
            on_table_map=lambda table: keys.registry.observe_table_map(table.table_schema()),
        )
        for txn in read:
            keys.complete_transaction(txn)
            auditor.observe(txn)
            on_gtids(txn.start.file, txn.gtid, txn.gtid)
        return auditor.result()

    return _audited(schema, judge)


def audit_by_compiled(
    files: tuple[str, ...],
    schema: str | None = None,
    options: AuditOptions | None = None,
    **sizes: int,
) -> Audited:
    """Audit with the compiled engine; raises ``NotCompilable`` where it hands the log over.

    ``sizes`` are ``chunk_bytes`` and ``transactions_max``. The result calls itself readable, so
    that the two can be compared.
    """

    def judge(
        keys: KeyBuilder, report: LogReport, on_gtids: Callable[[str, str, str], None]
    ) -> AuditResult:
        judged = audit_compiled(
            files, keys, report, options or AuditOptions(), on_gtids, lambda _: None, **sizes
        )
        assert judged.engine == "compiled"
        judged.engine = "readable"
        return judged

    return _audited(schema, judge)


def differences(readable: Audited, compiled: Audited) -> list[str]:
    """Return in what the engines differ, with both values."""
    found = []
    for name in (each.name for each in fields(AuditResult)):
        a, b = getattr(readable.result, name), getattr(compiled.result, name)
        if a != b or repr(a) != repr(b):
            found.append(f"{name}: {_first_difference(a, b)}")
    for name in ("report", "assumptions", "gtids"):
        a, b = getattr(readable, name), getattr(compiled, name)
        if a != b:
            found.append(f"{name}: {_first_difference(a, b)}")
    return found


def _first_difference(a: object, b: object) -> str:
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        index = next(at for at in range(len(a)) if a[at] != b[at] or repr(a[at]) != repr(b[at]))
        return f"[{index}] " + _first_difference(a[index], b[index])
    return f"readable {str(a)[:400]} compiled {str(b)[:400]}"
