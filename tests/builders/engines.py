"""Both engines of the audit on the same files, as a test wants to call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.lessons import with_dump
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.auditing.compiled import CompiledEngine
from paraply.auditing.engines import Engine, ReadableEngine
from paraply.auditing.pipeline import GtidsByFile, note_gtids
from paraply.auditing.selection import Selection, Selector
from paraply.properties.logs.audit import AuditOptions
from paraply.vocabulary.audit_result import AuditResult, JudgedRange
from paraply.vocabulary.not_compilable import BeginAgain


@dataclass
class Audited:
    """Everything an engine leaves behind."""

    result: AuditResult
    report: LogReport
    assumptions: tuple[str, ...]
    gtids: dict[str, tuple[str, str]]
    judged: JudgedRange | None


def _audited(
    files: tuple[str, ...],
    schema: str | None,
    options: AuditOptions | None,
    make_engine: Callable[[KeyBuilder], Engine],
    selection: Selection | None = None,
) -> Audited:
    registry = with_dump(SchemaRegistry(), schema, ())
    engine = make_engine(KeyBuilder(registry))
    selector = Selector(selection) if selection else None
    auditor = engine.auditor(options or AuditOptions(), selector)
    gtids: GtidsByFile = {}
    for step in (*engine.read(files), *engine.finish()):
        note_gtids(gtids, *step)
    result = auditor.result()
    assert result.engine == engine.name
    result.engine = "readable"
    result.left_rows, result.left_tables = 0, {}
    judged = selector.judged if selector else None
    return Audited(result, engine.report, registry.assumptions, gtids, judged)


def audit_by_readable(
    files: tuple[str, ...],
    schema: str | None = None,
    options: AuditOptions | None = None,
    selection: Selection | None = None,
) -> Audited:
    """Audit with the readable engine."""
    return _audited(files, schema, options, ReadableEngine, selection)


def audit_by_compiled(
    files: tuple[str, ...],
    schema: str | None = None,
    options: AuditOptions | None = None,
    selection: Selection | None = None,
    **sizes: int,
) -> Audited:
    """Audit with the compiled engine; raises ``NotCompilable`` where it hands the log over.

    ``sizes`` are ``chunk_bytes`` and ``transactions_max``. The result calls itself readable, so
    that the two can be compared.
    """
    return _audited(files, schema, options, lambda keys: CompiledEngine(keys, **sizes), selection)


def audit_by_leaving(
    files: tuple[str, ...],
    schema: str | None = None,
    options: AuditOptions | None = None,
    left: LeftTables | None = None,
    selection: Selection | None = None,
    **sizes: int,
) -> Audited:
    """Audit with the compiled engine, which leaves odd tables, and begin again for more of them.

    ``left`` receives these tables.
    """
    left = LeftTables() if left is None else left
    while True:
        try:
            return _audited(
                files, schema, options, lambda keys: CompiledEngine(keys, left=left, **sizes),
                selection,
            )  # fmt: skip
        except BeginAgain:
            continue


def differences(readable: Audited, compiled: Audited) -> list[str]:
    """Return in what the engines differ, with both values."""
    found = []
    for name in (each.name for each in fields(AuditResult)):
        a, b = getattr(readable.result, name), getattr(compiled.result, name)
        if a != b or repr(a) != repr(b):
            found.append(f"{name}: {_first_difference(a, b)}")
    for name in ("report", "assumptions", "gtids", "judged"):
        a, b = getattr(readable, name), getattr(compiled, name)
        if a != b:
            found.append(f"{name}: {_first_difference(a, b)}")
    return found


def _first_difference(a: object, b: object) -> str:
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        index = next(at for at in range(len(a)) if a[at] != b[at] or repr(a[at]) != repr(b[at]))
        return f"[{index}] " + _first_difference(a[index], b[index])
    return f"readable {str(a)[:400]} compiled {str(b)[:400]}"
