"""``paraply conform`` as SARIF, at the applier's file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paraply.conforming.suite import Result
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.evidence import evidence_json
from paraply.reporting.sarif import Level, SarifPlace, sarif_document, sarif_result


def conform_sarif(report: SuiteReport, file: str) -> str:
    """Return the document; expected failures are notes, undecided cases warnings."""
    return sarif_document(
        "paraply conform",
        {result.case.id: result.case.fact for result in report.results},
        _results(report, SarifPlace(file=file)),
        properties={"verdict": report.verdict.word, "applier": report.applier.name},
    )


def _results(report: SuiteReport, place: SarifPlace) -> Iterator[dict[str, Any]]:
    for result in report.results:
        level: Level = "note" if report.is_expected(result) else "error"
        if result.result is Result.UNKNOWN:
            level = "warning"
        elif result.result is not Result.FAIL:
            continue
        command = report.command(result)
        text = result.reason + (f"\nReplay: {command}" if command else "")
        prop = {} if result.breach is None else {"property": result.breach.prop.name}
        properties = {
            "family": result.case.family, "situations": evidence_json(result.evidence), **prop
        }  # fmt: skip
        yield sarif_result(result.case.id, level, text, place, properties=properties)
