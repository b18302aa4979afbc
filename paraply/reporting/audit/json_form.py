"""The audit as JSON (docs/audit-json.md)."""

from __future__ import annotations

import json
from typing import Literal

from paraply.reporting.audit.advice import next_steps
from paraply.reporting.audit.json_parts import (
    AuditDocument,
    CounterfactualPart,
    FilePart,
    LintPart,
    ParallelismPart,
    PredictionPart,
    RangePart,
    ReplayPart,
    SituationsPart,
    TransactionPart,
    VerdictWord,
    ViolationPart,
)
from paraply.reporting.escape import ascii_escaped
from paraply.reporting.evidence import pairs_evidence
from paraply.reporting.words import headline
from paraply.version import VERSION
from paraply.vocabulary.audit_result import (
    AuditResult,
    Counterfactual,
    FileSummary,
    JudgedRange,
    LintFinding,
    Parallelism,
    Prediction,
    ReplayResult,
    SafetyViolation,
    TransactionRef,
)
from paraply.vocabulary.verdict import Verdict

FORMAT_VERSION = 1

_SEVERITIES: dict[str, Literal["violation", "warning", "note"]] = {
    "violation": "violation",
    "warning": "warning",
    "note": "note",
}


def render_json(result: AuditResult) -> str:
    """Return the JSON document with a newline."""
    document = to_document(result)
    return ascii_escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def to_document(result: AuditResult) -> AuditDocument:
    """Return the document as dictionaries and lists."""
    return {
        "format": "paraply-audit",
        "format_version": FORMAT_VERSION,
        "paraply_version": VERSION,
        "engine": result.engine,
        "left_rows": result.left_rows,
        "left_tables": result.left_tables,
        "verdict": _word(result.verdict),
        "reason": headline(result),
        "unknown_because": [
            {
                "property": reason.property,
                "subject": reason.subject,
                "reason": reason.reason,
                "remedy": reason.remedy,
            }
            for reason in result.unknown_because
        ],
        "files": [_file(file) for file in result.files],
        "range": None if result.range is None else _range(result.range),
        "transactions": result.transactions,
        "row_changes": result.row_changes,
        "kinds": dict(result.kinds),
        "tables": [
            {
                "name": table.name,
                "inserts": table.inserts,
                "updates": table.updates,
                "deletes": table.deletes,
                "keys": list(table.keys),
                "keys_known": table.keys_known,
                "sources": list(table.sources),
            }
            for table in result.tables
        ],
        "commit_groups": {
            "count": sum(result.commit_group_sizes.values()),
            "sizes": _histogram(result.commit_group_sizes),
        },
        "pairs_that_may_wait": result.may_wait,
        "pairs_allowed_to_overlap": result.pairs_allowed_to_overlap,
        "situations": _situations(result),
        "conflicting_pairs_ordered": result.conflicting_pairs_ordered,
        "lint": [_lint(finding) for finding in result.lint],
        "lint_dropped": result.lint_dropped,
        "violations": [_violation(violation) for violation in result.violations],
        "violations_dropped": result.violations_dropped,
        "replay": _replay(result.replay),
        "parallelism": {model.model: _parallelism(model) for model in result.parallelism},
        "predictions": {one.applier: _prediction(one) for one in result.predictions},
        "predicted_transactions": result.predicted_transactions,
        "counterfactuals": [_counterfactual(one) for one in result.counterfactuals],
        "unpredicted_keys": list(result.unpredicted_keys),
        "unpredicted_delay": result.unpredicted_delay,
        "clock_distance": _histogram(result.clock_distance),
        "width_over_time": [
            {"first_round": first, "width": width} for first, width in result.width_over_time
        ],
        "blockers": [
            {
                "kind": blocker.kind,
                "name": blocker.name,
                "transactions": blocker.transactions,
                "share": blocker.share,
            }
            for blocker in result.blockers
        ],
        "critical_path": [
            {
                "transaction": _transaction(link.transaction),
                "waits_for": link.waits_for,
                "because": link.because,
                "work": link.work,
            }
            for link in result.critical_path
        ],
        "assumptions": list(result.assumptions),
        "statements_asked": list(result.statements_asked),
        "next_steps": next_steps(result),
    }


def _word(verdict: Verdict) -> VerdictWord:
    words: dict[Verdict, VerdictWord] = {
        Verdict.HOLDS: "holds",
        Verdict.UNKNOWN: "unknown",
        Verdict.VIOLATED: "violated",
    }
    return words[verdict]


def _histogram(counts: dict[int, int]) -> dict[str, int]:
    return {str(key): counts[key] for key in sorted(counts)}


def _transaction(reference: TransactionRef) -> TransactionPart:
    return {
        "ordinal": reference.ordinal,
        "gtid": reference.gtid,
        "file": reference.file,
        "offset": reference.offset,
        "last_committed": reference.last_committed,
        "sequence_number": reference.sequence_number,
        "commit_id": reference.commit_id,
    }


def _file(file: FileSummary) -> FilePart:
    return {
        "name": file.name,
        "server": file.server,
        "format": file.format,
        "checksum": file.checksum,
        "bytes_read": file.bytes_read,
        "transactions": file.transactions,
        "first_gtid": file.first_gtid,
        "last_gtid": file.last_gtid,
        "events": dict(file.events),
        "skipped_event_types": dict(file.skipped_event_types),
        "stopped": file.stopped,
    }


def _range(part: JudgedRange) -> RangePart:
    return {
        "start_gtid": part.start_gtid,
        "stop_gtid": part.stop_gtid,
        "domain": part.domain,
        "first_gtid": part.first_gtid,
        "last_gtid": part.last_gtid,
        "before": part.before,
        "after": part.after,
        "other_domains": part.other_domains,
    }


def _situations(result: AuditResult) -> SituationsPart:
    evidence = pairs_evidence(result)
    return {
        "relevant": evidence.relevant,
        "decided": evidence.decided,
        "missing": evidence.missing,
    }


def _lint(finding: LintFinding) -> LintPart:
    return {
        "rule": finding.rule,
        "severity": _SEVERITIES[finding.severity],
        "message": finding.message,
        "file": finding.file,
        "offset": finding.offset,
        "transactions": [_transaction(reference) for reference in finding.transactions],
    }


def _violation(violation: SafetyViolation) -> ViolationPart:
    return {
        "property": violation.property,
        "applier": violation.applier,
        "earlier": _transaction(violation.earlier),
        "later": _transaction(violation.later),
        "table": violation.table,
        "index": violation.index,
        "key": violation.key,
        "consequence": violation.consequence,
        "certain": violation.certain,
    }


def _replay(replay: ReplayResult) -> ReplayPart:
    return {
        "before_images_found": replay.before_images_found,
        "before_images_missing": replay.before_images_missing,
        "before_images_unknown": replay.before_images_unknown,
        "duplicate_keys": replay.duplicate_keys,
        "rows_without_key": replay.rows_without_key,
        "rows_in_doubt": replay.rows_in_doubt,
        "rows_forgotten": replay.rows_forgotten,
        "final_rows": replay.final_rows,
        "tables": dict(replay.tables),
        "cascaded_tables": list(replay.cascaded_tables),
        "findings": [
            {
                "property": finding.property,
                "transaction": _transaction(finding.transaction),
                "table": finding.table,
                "key": finding.key,
                "offset": finding.offset,
                "message": finding.message,
            }
            for finding in replay.findings
        ],
    }


def _prediction(one: Prediction) -> PredictionPart:
    return {
        "setting": one.setting,
        "safe": _word(one.safe),
        "speedup": {str(number): one.speedup[number] for number in sorted(one.speedup)},
        "workers": one.workers,
        "unknown_tables": list(one.unknown_tables),
    }


def _counterfactual(one: Counterfactual) -> CounterfactualPart:
    return {
        "kind": one.kind,
        "change": one.change,
        "now_applier": one.now_applier,
        "now_workers": one.now_workers,
        "now": one.now,
        "applier": one.applier,
        "workers": one.workers,
        "then": one.then,
        "gain": round(one.gain, 4),
        "lag": [
            {"second": point.second, "now": point.now, "then": point.then} for point in one.lag
        ],
        "price": None
        if one.price is None
        else {
            "throughput": one.price.throughput,
            "wait_us_now": one.price.wait_us_now,
            "wait_us_then": one.price.wait_us_then,
        },
    }


def _parallelism(model: Parallelism) -> ParallelismPart:
    return {
        "safe": _word(model.safe),
        "conflicting_pairs_apart": model.conflicting_pairs_apart,
        "work": model.work,
        "critical_path": model.critical_path,
        "transactions_on_path": model.transactions_on_path,
        "steps": model.steps,
        "width_max": model.width_max,
        "width_mean": model.width_mean,
        "ideal_speedup": model.ideal_speedup,
        "speedup": {str(number): model.speedup[number] for number in sorted(model.speedup)},
        "knee": model.knee,
    }
