"""An exploration as text and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from paraply.counterexamples.workload_arguments import option_text
from paraply.exploring.explore import Finding, Result
from paraply.reference_impl.subject import SIZES
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.evidence import evidence_json
from paraply.reporting.json_document import json_document
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.verdict import WORDS, Verdict


def explore_text(
    result: Result, *, how: str, commands: Mapping[str, str], allow_expected: bool
) -> str:
    """Return the report.

    ``how`` is like ``500 schedules of seed 0``; ``commands`` are replay commands by property. With
    ``allow_expected`` known breaches keep the verdict.
    """
    lines = [*heading_lines(result), f"{how}: {covered(result)}", ""]
    lines += plain_table(
        ("property", "verdict", "reached", "broken", "decidable", ""),
        [
            (
                finding.prop.name,
                finding.word,
                finding.tally.reached,
                finding.tally.violated,
                str(finding.tally.evidence),
                finding.note,
            )
            for finding in result.findings
        ],
    )
    if result.set_aside:
        lines.append(
            f"and {len(result.set_aside)} that speak of other systems, or of what no run of "
            f"{result.subject.name} can reach"
        )
    is_unreached = any(not finding.tally.reached for finding in result.findings)
    if is_unreached and result.options_off:
        lines.append(f"options that are off: {', '.join(result.options_off)}")
    for finding in result.findings:
        if finding.smallest is not None:
            history = finding.smallest.counterexample.history
            lines += ["", "", *counterexample_lines(finding.prop, history)]
            if finding.smallest.minimality is not None:
                lines += ["", str(finding.smallest.minimality)]
            lines += ["", f"replay: {commands[finding.prop.name]}"]
    return "\n".join([*lines, "", summary(result, allow_expected=allow_expected), ""])


def heading_lines(result: Result) -> list[str]:
    """Return subject, dialect, sizes and options."""
    workload, drawing = result.workload, result.drawing
    of_dialect = f", dialect {workload.dialect}" if workload.dialect else ""
    sizes = ", ".join(
        [
            f"{count} {what}{'' if count == 1 else 's'}"
            for count, what in (
                (workload.transactions, "transaction"),
                (workload.rows, "row"),
                (workload.members, "member"),
            )
            if drawing is None or f"{what}s" in drawing.sizes
        ]
        + _drawn(result)
    )
    set_options = " ".join(
        f"{name}={option_text(value)}" for name, value in sorted(workload.options.items())
    )
    lines = [f"{result.subject.name}{of_dialect}: {sizes}"]
    return [*lines, f"options: {set_options}"] if set_options else lines


def _drawn(result: Result) -> list[str]:
    if result.drawing is None:
        return []
    is_given = result.drawing.sizes or result.workload.options
    return [f"{'the rest' if is_given else 'sizes and options'} drawn for each run"]


def covered(result: Result) -> str:
    """Return the coverage."""
    campaign = result.campaign
    return (
        f"{campaign.runs:,} runs, {campaign.histories:,} distinct histories, "
        f"{campaign.events:,} events"
    )


def summary(result: Result, *, allow_expected: bool) -> str:
    """Return the verdict and its reason."""
    counts = Counter(finding.word for finding in result.findings)
    expected = sum(
        finding.is_expected and finding.verdict is Verdict.VIOLATED for finding in result.findings
    )
    parts = [f"{counts[word]} {word}" for word in WORDS if counts[word]]
    known = f" ({expected} expected)" if expected else ""
    cut = "; not every schedule was run" if result.is_cut else ""
    return f"{result.verdict(allow_expected=allow_expected).word}: {', '.join(parts)}{known}{cut}"


def explore_json(
    result: Result,
    *,
    search: Mapping[str, Any],
    commands: Mapping[str, str],
    allow_expected: bool,
) -> str:
    """Return JSON; equal input gives an equal document."""
    workload, drawing = result.workload, result.drawing
    fixed = SIZES if drawing is None else drawing.sizes
    return json_document(
        {
            "subject": result.subject.name,
            "dialect": workload.dialect,
            **{size: getattr(workload, size) if size in fixed else None for size in SIZES},
            "options": result.subject.options_of(workload)
            if drawing is None
            else dict(workload.options),
            "is_drawn": drawing is not None,
            "search": dict(search),
            "runs": result.campaign.runs,
            "distinct_histories": result.campaign.histories,
            "events": result.campaign.events,
            "verdict": result.verdict(allow_expected=allow_expected).word,
            "properties": [_finding_json(finding, commands) for finding in result.findings],
            "set_aside": list(result.set_aside),
        }
    )


def _finding_json(finding: Finding, commands: Mapping[str, str]) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": finding.prop.name,
        "expectation": finding.prop.expectation.value,
        "is_safety": finding.prop.is_safety,
        "verdict": finding.word,
        "histories_reached": finding.tally.reached,
        "histories_broken": finding.tally.violated,
        "histories_expected": finding.tally.expected,
        "situations": evidence_json(finding.tally.evidence),
        "is_expected": finding.is_expected,
        "note": finding.note,
    }
    if finding.smallest is not None:
        counterexample = finding.smallest.counterexample
        value["counterexample"] = {
            "violations": [str(violation) for violation in counterexample.violations],
            "program": finding.smallest.program,
            "command": commands[finding.prop.name],
            "minimality": None
            if finding.smallest.minimality is None
            else asdict(finding.smallest.minimality),
            "history": history_records(counterexample.history),
        }
    return value


def history_records(history: History) -> list[Any]:
    """Return a history's JSON records."""
    return [json.loads(line) for line in write_history(history)]
