"""A conformance result as HTML pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraply.conforming.causes import cause_of
from paraply.conforming.suite import CaseResult, Result
from paraply.counterexamples.showing.document import Shown
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.conform.text import summary
from paraply.reporting.escape import visible
from paraply.reporting.files import write_reports
from paraply.reporting.show_html import show_html
from paraply.reporting.sortable import Cell, Table, columns
from paraply.reporting.table_page import Section, index_html, table_page
from paraply.vocabulary.verdict import Verdict


def write_conform_pages(folder: Path, report: SuiteReport) -> Path:
    """Write the pages; return the table's path."""
    pages: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for result in report.results:
        case, href = result.case, ""
        text = _failure_page(result, report)
        if text:
            href = f"{case.id}.html"
            pages[href] = text
        rows.append(
            {
                "href": href,
                "name": case.id,
                "verdict": _WORD[result.result],
                "cells": {
                    "result": result.result.value,
                    "a right applier": case.fact,
                    "because": result.reason,
                    "decidable": str(result.evidence) if result.evidence.relevant else "",
                    "cause": cause_of(result).title if result.result is Result.FAIL else "",
                    "source": case.source,
                },
            }
        )
    counts = Counter(result.result for result in report.results)
    title = f"{counts[Result.PASS]} of {len(report.results)} cases pass"
    name = report.applier.name or "An applier without a name"
    headline = f"{name}: {summary(report.results, {})}"
    index = folder / "index.html"
    pages[index.name] = index_html(title, headline, report.verdict, rows)
    write_reports(str(folder), pages)
    return index


def _failure_page(result: CaseResult, report: SuiteReport) -> str:
    command = report.command(result)
    if result.breach is not None:
        shown = Shown(
            history=result.breach.history,
            broken=[result.breach.prop],
            alternatives=report.alternatives.get(result.case.id),
            replay=command,
        )
        return show_html(shown)
    sections = [
        _lines_section("run", "Findings and trace, as far as they were kept.", result.notes),
        _lines_section("stderr", "Last lines of the applier's standard error.", result.stderr),
    ]
    found = [section for section in sections if section is not None]
    if result.result is not Result.FAIL or not found:
        return ""
    title = f"{result.case.id}: {result.case.fact}"
    return table_page(title, visible(result.reason), Verdict.VIOLATED, found, command=command)


def _lines_section(name: str, caption: str, lines: Sequence[str]) -> Section | None:
    if not lines:
        return None
    rows = [
        [Cell(f"{number}", key=str(number)), Cell(line)] for number, line in enumerate(lines, 1)
    ]
    return Section(
        table=Table(id=name, caption=caption, columns=columns("#line", "text"), rows=rows)
    )


_WORD = {
    Result.PASS: Verdict.HOLDS.word,
    Result.FAIL: Verdict.VIOLATED.word,
    Result.SLOW: Verdict.HOLDS.word,
    Result.UNKNOWN: Verdict.UNKNOWN.word,
    Result.SKIP: Verdict.UNKNOWN.word,
}
