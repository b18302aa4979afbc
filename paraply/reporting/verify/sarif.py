"""``paraply verify`` as SARIF 2.1.0 (OASIS)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from paraply.reporting.escape import ascii_escaped
from paraply.reporting.verify import words
from paraply.verifying.result import REQUIREMENTS, TransactionName, VerifyResult
from paraply.version import VERSION

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "level-missed": "A committed state of the target misses a level.",
    "row-differs": "A row of the target is not that of the source.",
    "row-changed-outside": "A row of the target was changed outside of its log.",
    "transaction-missing": "A source transaction is missing at the target.",
    "transaction-errant": "A target transaction is not of the source.",
    "transaction-twice": "A transaction was applied again.",
    "transaction-changed": "A transaction wrote other rows at the target.",
    "transaction-inverted": "Two transactions with a common row came in the other order.",
    "undecided": "Something could not be decided.",
}


def verify_sarif(result: VerifyResult) -> str:
    """Return the document; levels above the required are notes."""
    findings = list(_results(result))
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "paraply verify",
                        "version": VERSION,
                        "rules": [
                            {"id": rule, "shortDescription": {"text": text}}
                            for rule, text in _RULES.items()
                        ],
                    }
                },
                "results": findings,
            }
        ],
    }
    return ascii_escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _results(result: VerifyResult) -> Iterator[dict[str, Any]]:
    required = REQUIREMENTS[result.required]
    for witness in result.witnesses:
        level = "error" if REQUIREMENTS[witness.level] <= required else "note"
        yield _result("level-missed", level, witness.text, witness.target or witness.source)
    rows = result.except_rows.rows if result.except_rows is not None else result.differing
    for row in rows:
        yield _result("row-differs", "error", words.row_text(row), row.target or row.source)
    for row in result.drifted:
        yield _result("row-changed-outside", "warning", words.row_text(row), row.target)
    for finding in result.names.findings if result.names is not None else ():
        level = "note" if finding.rule == "inverted" else "error"
        place = finding.target or finding.source
        yield _result(f"transaction-{finding.rule}", level, finding.text, place)
    for reason in result.unknown:
        text = f"{reason.subject}: {reason.reason}. To find out: {reason.remedy}"
        yield _result("undecided", "warning", text, None)


def _result(rule: str, level: str, text: str, place: TransactionName | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    if place is not None:
        file, _, offset = place.place.rpartition(":")
        entry["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file.replace(" ", "%20")},
                    "region": {"byteOffset": int(offset) if offset.isdecimal() else 0},
                }
            }
        ]
    return entry
