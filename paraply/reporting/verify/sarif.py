"""``paraply verify`` as SARIF."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paraply.reporting.evidence import evidence_json
from paraply.reporting.sarif import Level, SarifPlace, sarif_document, sarif_result
from paraply.reporting.verify import words
from paraply.verifying.result import NO_FAULTS, REQUIREMENTS, TransactionName, VerifyResult
from paraply.vocabulary.verdict import Verdict

_RULES = {
    "level-missed": "A committed state of the target misses a level.",
    "row-differs": "A row of the target is not that of the source.",
    "row-changed-outside": "A row of the target was changed outside of its log.",
    "transaction-missing": "A source transaction is missing at the target.",
    "transaction-errant": "A target transaction is not of the source.",
    "transaction-twice": "A transaction was applied again.",
    "transaction-changed": "A transaction wrote other rows at the target.",
    "transaction-inverted": "Two transactions with a common row came in the other order.",
    "transaction-initial-copy": "A target transaction is of the initial copy.",
    "snapshot-order": "A target state is a snapshot of the source, but no prefix of its log.",
    "monitor": "Both logs are a run of a theorem's system, or are not.",
    "undecided": "Something could not be decided.",
}


_LEVELS: dict[Verdict, Level] = {
    Verdict.HOLDS: "note", Verdict.UNKNOWN: "warning", Verdict.VIOLATED: "error",
}  # fmt: skip


def verify_sarif(result: VerifyResult) -> str:
    """Return the document; levels above the required are notes."""
    # Code scanning refuses a document with a result that has no place.
    log = SarifPlace(file=result.source.files[0])
    results = [{"locations": [log.location()]} | one for one in _results(result)]
    properties = {"situations": evidence_json(result.evidence)}
    return sarif_document("paraply verify", _RULES, results, properties=properties)


def _results(result: VerifyResult) -> Iterator[dict[str, Any]]:
    required = REQUIREMENTS[result.required]
    for witness in result.witnesses:
        is_fault = REQUIREMENTS[witness.level] <= required and result.verdict is not Verdict.HOLDS
        level: Level = "error" if is_fault else "note"
        yield _result("level-missed", level, witness.text, witness.target or witness.source)
    for snapshot in result.states.snapshots:
        yield _result("snapshot-order", "note", words.snapshot_text(snapshot), snapshot.target)
    rows = result.except_rows.rows if result.except_rows is not None else result.differing
    for row in rows:
        yield _result("row-differs", "error", words.row_text(row), row.target or row.source)
    for row in result.drifted:
        yield _result("row-changed-outside", "warning", words.row_text(row), row.target)
    for finding in result.names.findings if result.names is not None else ():
        level = "note" if finding.rule in NO_FAULTS else "error"
        place = finding.target or finding.source
        yield _result(f"transaction-{finding.rule}", level, finding.text, place)
    for found in result.monitors:
        yield _result("monitor", _LEVELS[found.verdict], words.monitor_text(found), None)
    for reason in result.unknown:
        text = f"{reason.subject}: {reason.reason}. To find out: {reason.remedy}"
        yield _result("undecided", "warning", text, None)


def _result(rule: str, level: Level, text: str, name: TransactionName | None) -> dict[str, Any]:
    if name is None:
        return sarif_result(rule, level, text)
    file, _, offset = name.place.rpartition(":")
    place = SarifPlace(file=file, offset=int(offset) if offset.isdecimal() else 0)
    return sarif_result(rule, level, text, place)
