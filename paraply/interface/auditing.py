"""``paraply.audit``: judge binary logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraply.auditing.dump_age import DumpMoment
from paraply.auditing.pipeline import APPLIERS, AuditRequest
from paraply.auditing.pipeline import audit as run_audit
from paraply.auditing.predicting import predict
from paraply.reporting.audit.json_form import to_document
from paraply.reporting.words import headline
from paraply.vocabulary.audit_result import LintFinding, Parallelism, Reason, SafetyViolation
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit.

    Attributes:
        verdict: whether the metadata is well-formed and safe to apply in parallel.
        violations: conflicting pairs that may overlap.
        findings: faults of the metadata.
        unknown_because: undecided parts and remedies.
        document: the whole result (docs/audit-json.md).
    """

    verdict: Verdict
    reason: str
    transactions: int
    row_changes: int
    violations: tuple[SafetyViolation, ...]
    findings: tuple[LintFinding, ...]
    unknown_because: tuple[Reason, ...]
    parallelism: tuple[Parallelism, ...]
    document: Mapping[str, Any]


def audit(
    *files: str | Path,
    schema: str | Path | None = None,
    schema_at: str = DumpMoment.UNKNOWN,
    workers: Iterable[int] = (1, 2, 4, 8, 16, 32),
    appliers: Iterable[str] = APPLIERS,
    engine: str = "auto",
) -> AuditReport:
    """Audit the files as one stream; else ``ParaplyError``.

    ``schema_at`` says what moment of the log the schema shows: ``begin``, ``end``, or not known.
    """
    request = AuditRequest(
        files=tuple(map(str, files)),
        schema=None if schema is None else str(schema),
        schema_at=DumpMoment(schema_at),
        workers=tuple(sorted(set(workers))),
        appliers=tuple(appliers),
        engine=engine,
    )
    result = run_audit(request)
    predict(request, result)
    return AuditReport(
        verdict=result.verdict,
        reason=headline(result),
        transactions=result.transactions,
        row_changes=result.row_changes,
        violations=tuple(result.violations),
        findings=tuple(result.lint),
        unknown_because=tuple(result.unknown_because),
        parallelism=tuple(result.parallelism),
        document={**to_document(result)},
    )
