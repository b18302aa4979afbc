"""A conformance result as text."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from paraply.adapters.conformance.cases.case import FAMILIES
from paraply.adapters.conformance.tracking import Precision
from paraply.conforming.expected_failures import ExpectedFailure
from paraply.conforming.suite import Applier, CaseResult, Result
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.escape import visible
from paraply.reporting.page import page
from paraply.reporting.plain_table import plain_table

_STDERR_LINES_SHOWN = 5


def conform_text(
    applier: Applier,
    results: Sequence[CaseResult],
    commands: Mapping[str, str],
    expected: Mapping[str, ExpectedFailure],
    *,
    schedules: int,
    seed: int,
) -> str:
    """Return the whole report."""
    lines = [
        visible(f"{applier.name or 'applier without a name'}, offers: ")
        + visible(", ".join(sorted(applier.features)) or "nothing"),
        f"{schedules} schedules a case, seed {seed}",
        "",
        *family_table(results),
    ]
    for result in results:
        if result.result is Result.FAIL:
            lines += ["", *failure_lines(result, commands.get(result.case.id, ""), expected)]
    titles = {Result.SLOW: "slow", Result.UNKNOWN: "unknown", Result.SKIP: "skipped"}
    for kind, title in titles.items():
        chosen = [result for result in results if result.result is kind]
        if chosen:
            lines += ["", *reason_lines(title, chosen)]
    passes = [
        result.case.id
        for result in results
        if result.result is Result.PASS and result.case.id in expected
    ]
    if passes:
        lines += ["", f"expected to fail, and passed: {', '.join(passes)}"]
    if applier.precision is not None:
        lines += ["", precision_line(applier.precision)]
    lines += ["", summary(results, expected)]
    return "\n".join([*lines, ""])


def reason_lines(title: str, results: Sequence[CaseResult]) -> list[str]:
    """Return each reason once with its cases."""
    ids: dict[str, list[str]] = {}
    for result in results:
        ids.setdefault(result.reason, []).append(result.case.id)
    lines = []
    for reason, cases in ids.items():
        lines.append(f"{title}, {len(cases)}: {visible(reason)}")
        lines += textwrap.wrap(
            ", ".join(cases),
            page().width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
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
    for letter, what in FAMILIES.items():
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
        lines += textwrap.wrap(
            visible(result.reason), page().width, initial_indent="  ", subsequent_indent="  "
        )
    else:
        story = counterexample_lines(result.breach.prop, result.breach.history)
        lines += [f"  {line}" if line else "" for line in story]
        if not result.breach.repeats_itself:
            lines.append(
                f"  {result.breach.broken} of {result.breach.repeats} runs of this schedule break "
                "it: the applier does not repeat itself"
            )
    lines += [f"  {visible(line)}" for line in result.notes]
    if result.stderr:
        lines.append("  last lines of the applier's standard error:")
        lines += [f"    {visible(line)}" for line in result.stderr[-_STDERR_LINES_SHOWN:]]
    if command:
        lines.append(f"  again: {command}")
    return lines


def summary(results: Sequence[CaseResult], expected: Mapping[str, ExpectedFailure]) -> str:
    """Return the counts in one line."""
    counts = Counter(result.result for result in results)
    known = sum(1 for one in results if one.result is Result.FAIL and one.case.id in expected)
    runs = sum(result.runs for result in results)
    words = [f"{counts[kind]} {kind.value}" for kind in Result if counts[kind]]
    if known:
        words.append(f"{known} of the failures expected")
    return f"{len(results)} cases, {runs:,} runs: {', '.join(words) or 'none'}"
