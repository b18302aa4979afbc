"""The results of ``docs/appliers-survey.md``.

``--write`` runs the suite (a minute).
"""

from __future__ import annotations

import sys
from collections import Counter

from ci.pages.writing import filled, pages_main, table
from paraply.adapters.conformance.cases import FAMILIES, suite
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.rules.correct import GroupCommit, LogicalClock
from paraply.adapters.conformance.rules.restated import RESTATED
from paraply.adapters.conformance.rules.rule import Rule
from paraply.conforming.suite import CaseResult, Conformance, Result

PAGE_PATH = "docs/appliers-survey.md"
SCHEDULES = 6
RULES: tuple[type[Rule], ...] = (LogicalClock, GroupCommit, *RESTATED)


def results_of(rule: type[Rule]) -> list[CaseResult]:
    """Run the suite on one rule."""
    with CommandLauncher(host_command(f"{rule.__module__}:{rule.__name__}")) as launcher:
        conformance = Conformance(launcher, schedules=SCHEDULES, shrink_runs_max=0)
        conformance.meet()
        return conformance.run_all(suite())


def table_row(rule: type[Rule], results: list[CaseResult]) -> list[str]:
    """Return the rule's table row."""
    cells = [_cell([one for one in results if one.case.family == f]) for f in FAMILIES]
    return [f"[{rule.name}](#{rule.name})", *cells]


def section(rule: type[Rule], results: list[CaseResult]) -> list[str]:
    """Return the section about one rule."""
    return [f"## {rule.name}", "", *_paragraphs(rule), "", *_findings(results)]


def page() -> str:
    """Return the page."""
    found = {rule: results_of(rule) for rule in RULES}
    families = "; ".join(f"**{f}** {what}" for f, what in FAMILIES.items())
    rows = [table_row(rule, results) for rule, results in found.items()]
    sections = [["", *section(rule, results)] for rule, results in found.items()]
    blocks = {
        "results": [*table(["rule", *FAMILIES], rows), "", f"Families: {families}."],
        "rules": [line for lines in sections for line in lines][1:],
    }
    return filled(PAGE_PATH, blocks)


def _cell(results: list[CaseResult]) -> str:
    counts = Counter(one.result for one in results)
    applied = len(results) - counts[Result.SKIP]
    if counts[Result.FAIL]:
        return f"**{counts[Result.FAIL]}**/{applied}"
    return "?" if counts[Result.UNKNOWN] else "·"


def _paragraphs(rule: type[Rule]) -> list[str]:
    text = (rule.__doc__ or "").strip().splitlines()
    return [line.strip() for line in text]


def _findings(results: list[CaseResult]) -> list[str]:
    lines = []
    for family in FAMILIES:
        failed = [one for one in results if one.case.family == family]
        failed = [one for one in failed if one.result is Result.FAIL]
        if failed:
            first = failed[0]
            more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
            lines.append(f"- `{first.case.id}`{more}: {first.case.fact}. Here: {first.reason}.")
    return lines or ["Fails nothing."]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.survey", {PAGE_PATH: page()}))
