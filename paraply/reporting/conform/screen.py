"""The report of a run: one screen by default, every failure on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from paraply.conforming.causes import CauseGroup, groups_by_cause
from paraply.conforming.suite import CaseResult, Result
from paraply.reporting.conform.excerpt import group_lines
from paraply.reporting.conform.lines import cut_ids, height, wrapped
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.conform.text import (
    failure_lines,
    head_lines,
    last_lines,
    reason_lines,
    reasons_of,
)
from paraply.reporting.escape import shortened, visible
from paraply.reporting.page import page

LINES_MAX = 60
"""Of the default report with failures, at 100 columns."""
GROUPS_SHOWN = 3
SHOW_ALL = "all"
_GROUP_LINES_LEAST = 6
_CAUSES_LINES_MAX = 4
_REASON_LINES_MAX = 4
_PASSES_LINES_MAX = 2


def conform_text(report: SuiteReport, show: Collection[str] = ()) -> str:
    """Return the report; ``show`` contains ids of failures to print whole, or ``all``."""
    if SHOW_ALL in show:
        lines = _everything(report)
    elif show:
        lines = _with_cases(report, show)
    else:
        lines = _screen(report)
    return "\n".join([*lines, ""])


def _everything(report: SuiteReport) -> list[str]:
    lines = head_lines(report)
    for result in report.results:
        if result.result is Result.FAIL:
            lines += ["", *failure_lines(result, report.command(result), report.expected)]
    causes = _further(groups_by_cause(report.results), "causes:", ids_lines_max=None)
    return [*lines, *causes, *_reasons(report), *last_lines(report)]


def _with_cases(report: SuiteReport, show: Collection[str]) -> list[str]:
    lines = head_lines(report)
    for result in report.results:
        if result.case.id.startswith(tuple(show)):
            lines += ["", *_whole(result, report)]
    return [*lines, *last_lines(report)]


def _whole(result: CaseResult, report: SuiteReport) -> list[str]:
    if result.result is Result.FAIL:
        return failure_lines(result, report.command(result), report.expected)
    lines = [f"{result.result.value.upper()} {result.case.id}: {result.case.fact}"]
    lines.append(f"  source: {result.case.source}")
    if result.reason:
        lines.append(f"  {visible(result.reason)}")
    return lines


def _screen(report: SuiteReport) -> list[str]:
    unexpected = [one for one in report.results if not report.is_expected(one)]
    groups = groups_by_cause(unexpected)
    head = head_lines(report)
    last = last_lines(report, ids_lines_max=_PASSES_LINES_MAX)
    room = LINES_MAX - height(head) - height(last)
    if not groups:
        return [*head, *_cut_reasons(report, room), *last]
    reasons = _cut_reasons(report, _REASON_LINES_MAX)
    shown, others = groups[:GROUPS_SHOWN], groups[GROUPS_SHOWN:]
    title = ["", _title(groups)]
    room -= height(reasons) + height(title)
    least = _GROUP_LINES_LEAST * len(shown)
    further = _further(others, "further causes:", lines_max=room - least)
    room -= height(further)
    causes: list[str] = []
    for number, group in enumerate(shown):
        share = room // (len(shown) - number)
        lines = ["", *group_lines(group, report, share - 1)]
        room -= height(lines)
        causes += lines
    return [*head, *title, *causes, *further, *reasons, *last]


def _title(groups: list[CauseGroup]) -> str:
    failures = sum(len(group.failures) for group in groups)
    if failures == 1:
        return "1 case fails (in full: --show all):"
    causes = "1 cause" if len(groups) == 1 else f"{len(groups)} causes"
    return f"{failures} cases fail for {causes} (in full: --show all, or --show ID):"


def _further(
    groups: list[CauseGroup],
    heading: str,
    *,
    ids_lines_max: int | None = 1,
    lines_max: int | None = None,
) -> list[str]:
    """One entry for each cause; the last ones share lines if they do not fit."""
    if not groups:
        return []
    places = len(groups) if lines_max is None else lines_max - len(["", heading])
    shown = groups if len(groups) <= places else groups[: max(0, places - _CAUSES_LINES_MAX)]
    lines = ["", heading]
    for group in shown:
        title = f"{visible(group.cause.title)}, {len(group.ids)}:"
        lines += cut_ids(title, group.ids, "  ", ids_lines_max)
    names = [f"{visible(one.cause.title)}, {len(one.ids)}" for one in groups[len(shown) :]]
    return [*lines, *_packed(names)]


def _packed(names: list[str]) -> list[str]:
    lines: list[str] = []
    for count in range(len(names), 0, -1):
        left = len(names) - count
        more = f"; and {left} more causes" if left else ""
        lines = wrapped(f"{'; '.join(names[:count])}{more}", "  ", "  ")
        if len(lines) <= _CAUSES_LINES_MAX:
            break
    return lines


def _reasons(report: SuiteReport, *, with_expected: bool = False) -> list[str]:
    lines: list[str] = []
    last = ""
    for (title, reason), ids in reasons_of(report, with_expected=with_expected).items():
        lines += [""] * (title != last) + reason_lines(title, reason, ids)
        last = title
    return lines


def _cut_reasons(report: SuiteReport, lines_max: int) -> list[str]:
    """Return the reasons; one line for each if they do not fit, and the number of those left."""
    whole = _reasons(report, with_expected=True)
    if height(whole) <= lines_max:
        return whole
    reasons = [*reasons_of(report, with_expected=True).items()]
    places = lines_max - 1
    shown = reasons if len(reasons) <= places else reasons[: max(0, places - 1)]
    lines = [""]
    for (title, reason), ids in shown:
        text = shortened(reason, page().width // 2)
        lines += cut_ids(f"{title}, {len(ids)}: {text}:", ids, "", 1)
    left = reasons[len(shown) :]
    if left:
        counts = Counter[str]()
        for (title, _), ids in left:
            counts[title] += len(ids)
        words = ", ".join(f"{count} {title}" for title, count in counts.items())
        lines.append(f"and {words} for {len(left)} other reasons: --show all")
    return lines
