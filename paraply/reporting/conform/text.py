"""Parts of a conformance result as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paraply.adapters.conformance.cases.case import FAMILIES, OWN_LOGS
from paraply.adapters.conformance.tracking import Precision
from paraply.conforming.expected_failures import ExpectedFailure
from paraply.conforming.suite import CaseResult, Result
from paraply.properties.registry import NO_EVIDENCE
from paraply.reporting.conform.lines import cut_ids, wrapped
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.escape import visible
from paraply.reporting.evidence import decidable
from paraply.reporting.plain_table import plain_table

STDERR_LINES_SHOWN = 5

Reasons = Mapping[tuple[str, str], Sequence[str]]
"""Case ids by title and reason."""


def head_lines(report: SuiteReport) -> list[str]:
    """Return the applier, the run's options and the table of families."""
    applier = report.applier
    return [
        visible(f"{applier.name or 'applier without a name'}, offers: ")
        + visible(", ".join(sorted(applier.features)) or "nothing"),
        f"{report.schedules} schedules a case, seed {report.seed}",
        "",
        *family_table(report.results),
    ]


def reasons_of(report: SuiteReport, *, with_expected: bool) -> Reasons:
    """Return why cases did not pass, except unexpected failures."""
    titles = {Result.SLOW: "slow", Result.UNKNOWN: "unknown", Result.SKIP: "skipped"}
    found: dict[tuple[str, str], list[str]] = {}
    if with_expected:
        for result in report.results:
            if result.result is Result.FAIL and report.is_expected(result):
                known = report.expected[result.case.id]
                reason = f"{known.reason} ({known.link})"
                found.setdefault(("expected", reason), []).append(result.case.id)
    for kind, title in titles.items():
        for result in report.results:
            if result.result is kind:
                found.setdefault((title, result.reason), []).append(result.case.id)
    return found


def reason_lines(title: str, reason: str, ids: Sequence[str]) -> list[str]:
    """Return a reason with its cases."""
    return [f"{title}, {len(ids)}: {visible(reason)}", *wrapped(", ".join(ids), "  ")]


def last_lines(report: SuiteReport, *, ids_lines_max: int | None = None) -> list[str]:
    """Return unexpected passes, the precision of a tracker and the summary."""
    lines = []
    passes = [
        result.case.id
        for result in report.results
        if result.result is Result.PASS and report.is_expected(result)
    ]
    if passes:
        lines += ["", *cut_ids("expected to fail, and passed:", passes, "", ids_lines_max)]
    if report.applier.precision is not None:
        lines += ["", precision_line(report.applier.precision)]
    evidence = sum((one.evidence for one in report.results), NO_EVIDENCE)
    lines.append("")
    if evidence.relevant:
        lines.append(f"{decidable(evidence)}, of the properties that decide cases")
    lines += [summary(report.results, report.expected), *explored_lines(report.results)]
    return [*lines, *report.remarks]


def explored_lines(results: Sequence[CaseResult]) -> list[str]:
    """Return how many schedules of short cases were enumerated."""
    found = [(one.case.id, one.explored) for one in results if one.explored is not None]
    complete = [one for _, one in found if one.is_exhaustive]
    lines = []
    if complete:
        runs = sum(one.runs for one in complete)
        lines.append(
            f"{len(complete)} short cases: all {runs:,} schedules that differ in more than the "
            "order of independent steps"
        )
    for name, one in found:
        if not one.is_repeatable:
            lines.append(f"{name}: {one.runs:,} schedules, then the applier did not repeat itself")
        elif one.left:
            lines.append(f"{name}: {one.runs:,} of {one.runs + one.left:,} schedules or more")
    return lines


def precision_line(precision: Precision) -> str:
    """Return the freed share of independent pairs."""
    if not precision.independent:
        return "precision: unknown, no two transactions of the cases are independent"
    share = 100 * precision.free / precision.independent
    return (
        f"precision: {precision.free:,} of {precision.independent:,} independent pairs may overlap "
        f"({share:.0f} %); the best last_committed leaves {precision.best:,} free"
    )


def family_table(results: Sequence[CaseResult]) -> list[str]:
    """Return the counts of each family."""
    rows = []
    for letter, what in (FAMILIES | OWN_LOGS).items():
        counts = Counter(one.result for one in results if one.case.family == letter)
        if counts:
            numbers = tuple(counts[kind] or "" for kind in Result)
            rows.append((f"{letter} {what}", *numbers))
    return plain_table(("family", *(kind.value for kind in Result)), rows)


def failure_lines(
    result: CaseResult, command: str, expected: Mapping[str, ExpectedFailure]
) -> list[str]:
    """Return a failed case and its replay command."""
    case = result.case
    lines = [f"FAIL {case.id}: {case.fact}", f"  source: {case.source}"]
    if case.id in expected:
        known = expected[case.id]
        lines.append(f"  expected: {visible(known.reason)} ({visible(known.link)})")
    if result.breach is None:
        lines += wrapped(visible(result.reason), "  ")
    else:
        story = counterexample_lines(result.breach.prop, result.breach.history)
        lines += [f"  {line}" if line else "" for line in story]
        lines += share_lines(result)
    lines += [f"  {visible(line)}" for line in result.notes]
    lines += stderr_lines(result, STDERR_LINES_SHOWN)
    if command:
        lines.append(f"  again: {command}")
    return lines


def share_lines(result: CaseResult) -> list[str]:
    """Return the share of failing runs of an applier that does not repeat itself."""
    breach = result.breach
    if breach is None or breach.repeats_itself:
        return []
    return [
        f"  {breach.broken} of {breach.repeats} runs of this schedule break "
        "it: the applier does not repeat itself"
    ]


def stderr_lines(result: CaseResult, count: int) -> list[str]:
    """Return the applier's last words."""
    if not (result.stderr and count):
        return []
    return [
        "  last lines of the applier's standard error:",
        *(f"    {visible(line)}" for line in result.stderr[-count:]),
    ]


def summary(results: Sequence[CaseResult], expected: Mapping[str, ExpectedFailure]) -> str:
    """Return the counts in one line."""
    counts = Counter(result.result for result in results)
    known = sum(1 for one in results if one.result is Result.FAIL and one.case.id in expected)
    runs = sum(result.runs for result in results)
    words = [f"{counts[kind]} {kind.value}" for kind in Result if counts[kind]]
    if known:
        words.append(f"{known} of the failures expected")
    return f"{len(results)} cases, {runs:,} runs: {', '.join(words) or 'none'}"
