"""A conformance result as HTML pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraply.conforming.suite import Applier, CaseResult, Result
from paraply.counterexamples.showing.alternatives import Alternatives
from paraply.counterexamples.showing.document import Shown
from paraply.reporting.conform.text import summary
from paraply.reporting.files import write_reports
from paraply.reporting.show_html import show_html
from paraply.reporting.table_page import index_html
from paraply.vocabulary.verdict import Verdict


def write_conform_pages(
    folder: Path,
    applier: Applier,
    results: Sequence[CaseResult],
    commands: Mapping[str, str],
    others: Mapping[str, Alternatives],
    verdict: Verdict,
) -> Path:
    """Write the pages; return the table's path."""
    pages: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for result in results:
        case, href = result.case, ""
        if result.breach is not None:
            href = f"{case.id}.html"
            shown = Shown(
                history=result.breach.history,
                broken=[result.breach.prop],
                alternatives=others.get(case.id),
                replay=commands.get(case.id, ""),
            )
            pages[href] = show_html(shown)
        rows.append(
            {
                "href": href,
                "name": case.id,
                "verdict": _WORD[result.result],
                "cells": {
                    "result": result.result.value,
                    "a right applier": case.fact,
                    "because": result.reason,
                    "source": case.source,
                },
            }
        )
    counts = Counter(result.result for result in results)
    title = f"{counts[Result.PASS]} of {len(results)} cases pass"
    headline = f"{applier.name or 'An applier without a name'}: {summary(results, {})}"
    index = folder / "index.html"
    pages[index.name] = index_html(title, headline, verdict, rows)
    write_reports(str(folder), pages)
    return index


_WORD = {
    Result.PASS: Verdict.HOLDS.word,
    Result.FAIL: Verdict.VIOLATED.word,
    Result.SLOW: Verdict.HOLDS.word,
    Result.UNKNOWN: Verdict.UNKNOWN.word,
    Result.SKIP: Verdict.UNKNOWN.word,
}
