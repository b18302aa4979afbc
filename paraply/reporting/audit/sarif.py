"""The audit as SARIF: one result per finding, and per group of unknown reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paraply.reporting.audit.advice import about, grouped
from paraply.reporting.audit.outline import findings_by_gravity
from paraply.reporting.escape import shortened
from paraply.reporting.evidence import evidence_json, pairs_evidence
from paraply.reporting.sarif import Level, SarifPlace, sarif_document, sarif_result
from paraply.reporting.words import (
    consequence_of,
    headline,
    name_of,
    place_of,
    sentence,
    what_they_share,
    why_they_may_overlap,
)
from paraply.vocabulary.audit_result import (
    AuditResult,
    LintFinding,
    Reason,
    ReplayFinding,
    SafetyViolation,
    TransactionRef,
)
from paraply.vocabulary.counting import counted

TEXT_MAX = 400

_LEVELS: dict[str, Level] = {"violation": "error", "warning": "warning", "note": "note"}

_NOT_LISTED = "findings-are-listed"


def render_sarif(result: AuditResult) -> str:
    """Return the SARIF document of one audit."""
    found = [*_safety(result), *_replay(result), *_lint(result), *_unknown(result)]
    found += _not_listed(result)
    # The properties are named after facts, so their names say what they mean.
    rules = {
        one["ruleId"]: sentence(one["ruleId"].replace("_", " ").replace("-", " ")) for one in found
    }
    return sarif_document(
        "paraply audit",
        rules,
        found,
        properties={
            "verdict": result.verdict.word,
            "reason": headline(result),
            "transactions": result.transactions,
            "pairs_allowed_to_overlap": result.pairs_allowed_to_overlap,
            "situations": evidence_json(pairs_evidence(result)),
            "conflicting_pairs_ordered": result.conflicting_pairs_ordered,
            "engine": result.engine,
        },
    )


def _safety(result: AuditResult) -> Iterator[dict[str, Any]]:
    for violation in result.violations:
        yield sarif_result(
            violation.property,
            "error" if violation.certain else "warning",
            _text_of(violation),
            _place(violation.later),
            _place(violation.earlier),
            properties={
                "applier": violation.applier,
                "certain": violation.certain,
                "table": violation.table,
                "index": violation.index,
                "key": violation.key,
                "earlier": _evidence(violation.earlier),
                "later": _evidence(violation.later),
            },
        )


def _text_of(violation: SafetyViolation) -> str:
    doubt = "" if violation.certain else ", if an assumption about the key holds"
    parts = (
        f"Two transactions may be applied at the same time under {violation.applier}, and both "
        f"touch {shortened(what_they_share(violation), TEXT_MAX)}{doubt}.",
        f"A is {_described(violation.earlier)}, B is {_described(violation.later)}.",
        why_they_may_overlap(violation),
        shortened(consequence_of(violation), TEXT_MAX),
    )
    return " ".join(part for part in parts if part)


def _replay(result: AuditResult) -> Iterator[dict[str, Any]]:
    for finding in result.replay.findings:
        yield sarif_result(
            finding.property,
            "error",
            _text_of_replay(finding),
            _place(finding.transaction),
            properties={
                "table": finding.table,
                "key": finding.key,
                "rows_event_offset": finding.offset,
                "transaction": _evidence(finding.transaction),
            },
        )


def _text_of_replay(finding: ReplayFinding) -> str:
    return (
        f"{shortened(finding.table)} {shortened(finding.key)} in "
        f"{_described(finding.transaction)}, rows event at {finding.offset}: "
        f"{sentence(shortened(finding.message, TEXT_MAX))}"
    )


def _lint(result: AuditResult) -> Iterator[dict[str, Any]]:
    for finding in findings_by_gravity(result):
        yield sarif_result(
            finding.rule,
            _LEVELS.get(finding.severity, "note"),
            sentence(shortened(finding.message, TEXT_MAX)),
            _place_of_finding(finding) or _whole_log(result),
            properties={"transactions": [_evidence(each) for each in finding.transactions]},
        )


def _place_of_finding(finding: LintFinding) -> SarifPlace | None:
    if not finding.file:
        return None
    here = (finding.file, finding.offset)
    length = next(
        (each.size_bytes for each in finding.transactions if (each.file, each.offset) == here), 0
    )
    return SarifPlace(file=finding.file, offset=finding.offset, length=length)


def _unknown(result: AuditResult) -> Iterator[dict[str, Any]]:
    for reason, subjects in grouped(result.unknown_because):
        names = f"{about(subjects)}: " if reason.subject else ""
        yield sarif_result(
            reason.property,
            "warning",
            f"{names}{sentence(shortened(reason.reason, TEXT_MAX))} To find out: "
            f"{sentence(shortened(reason.remedy, TEXT_MAX))}",
            _place_of_reason(result, reason),
            properties={"verdict": "unknown", "subjects": subjects},
        )


def _place_of_reason(result: AuditResult, reason: Reason) -> SarifPlace:
    for file in result.files:
        if file.name == reason.subject:
            return SarifPlace(file=file.name, offset=file.bytes_read if file.stopped else 0)
    return _whole_log(result)


def _not_listed(result: AuditResult) -> Iterator[dict[str, Any]]:
    for number, noun, nouns in (
        (result.violations_dropped, "conflicting pair", "conflicting pairs"),
        (result.lint_dropped, "fault of the metadata", "faults of the metadata"),
        (result.replay.findings_dropped, "row image that does not fit", "row images that misfit"),
    ):
        if number:
            text = f"{counted(number, f'more {noun}', f'more {nouns}')} counted, but not listed."
            yield sarif_result(_NOT_LISTED, "note", text, _whole_log(result))


def _whole_log(result: AuditResult) -> SarifPlace:
    # Some readers of SARIF refuse a result without a place.
    return SarifPlace(file=result.files[0].name if result.files else "-")


def _place(reference: TransactionRef) -> SarifPlace:
    return SarifPlace(file=reference.file, offset=reference.offset, length=reference.size_bytes)


def _described(reference: TransactionRef) -> str:
    return f"{shortened(name_of(reference))} at {shortened(place_of(reference))}"


def _evidence(reference: TransactionRef) -> dict[str, object]:
    values = {
        "gtid": reference.gtid,
        "place": place_of(reference),
        "last_committed": reference.last_committed,
        "sequence_number": reference.sequence_number,
        "commit_id": reference.commit_id,
    }
    return {name: value for name, value in values.items() if value not in (None, "")}
