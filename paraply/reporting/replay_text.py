"""A replay as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paraply.counterexamples.replaying import Replay
from paraply.properties.registry import Evidence, Property, Violation
from paraply.reporting.counterexample_text import breach_lines, history_lines
from paraply.reporting.escape import visible
from paraply.reporting.evidence import decidable, evidence_json
from paraply.reporting.explore_text import history_records
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict

UNKNOWN_SHOWN_MAX = 3


class Judged(NamedTuple):
    """What one property says of a run."""

    prop: Property
    verdict: Verdict
    violations: tuple[Violation, ...]
    evidence: Evidence


def judged_by(prop: Property, history: History) -> Judged:
    """Return the verdict of a property with its evidence."""
    violations = prop.violations(history)
    evidence = prop.evidence(history, violations)
    verdict = Verdict.VIOLATED if violations else evidence.verdict
    return Judged(prop, verdict, violations, evidence)


def replay_text(
    done: Replay, judged: Sequence[Judged], *, title: str, was_recorded: bool, with_choices: bool
) -> str:
    """Return steps, difference from the recording, and verdicts.

    Inapplicable properties are only counted.
    """
    broken = [one.prop for one in judged if one.verdict is Verdict.VIOLATED]
    lines = [visible(title), ""]
    if with_choices:
        lines += [*choice_lines(done), ""]
    lines += [*history_lines(done.history, broken), ""]
    if done.difference:
        lines.append(f"NOT the run recorded: {done.difference}")
    elif was_recorded:
        lines.append("the run is the one recorded, event by event")
    for one in judged:
        if one.verdict is not Verdict.UNKNOWN:
            lines.append(f"{one.verdict.word:8} {one.prop.name}: {decidable(one.evidence)}")
        if one.verdict is Verdict.VIOLATED:
            lines += breach_lines(one.prop, done.history)
    unknown = [one for one in judged if one.verdict is Verdict.UNKNOWN]
    lacking = [one for one in unknown if one.evidence.relevant]
    absent = [one for one in unknown if not one.evidence.relevant]
    few = absent if len(absent) <= UNKNOWN_SHOWN_MAX else []
    for one in [*lacking, *few]:
        lines.append(f"{Verdict.UNKNOWN.word:8} {one.prop.name}: {visible(_reason(one.evidence))}")
    if len(absent) > len(few):
        lines.append(f"{Verdict.UNKNOWN.word:8} {len(absent)} whose situation does not occur here")
    return "\n".join([*lines, ""])


def _reason(evidence: Evidence) -> str:
    """Return why a verdict is unknown, with the counts where its situation occurs."""
    if evidence.relevant:
        return f"{decidable(evidence)}: {evidence.missing}"
    return evidence.reason


def choice_lines(done: Replay) -> list[str]:
    """Return every choice with its number of options."""
    rows = [
        (number, question.index, question.count, question.label)
        for number, question in enumerate(done.questions, start=1)
    ]
    return plain_table(("choice", "option", "of", "question"), rows)


def replay_json(done: Replay, judged: Sequence[Judged]) -> dict[str, Any]:
    """Return JSON values."""
    return {
        "difference": done.difference,
        "properties": [
            {
                "name": one.prop.name,
                "verdict": one.verdict.word,
                "situations": evidence_json(one.evidence),
                "violations": [str(breach) for breach in one.violations],
            }
            for one in judged
        ],
        "choices": [
            {"label": question.label, "index": question.index, "count": question.count}
            for question in done.questions
        ],
        "history": history_records(done.history),
    }
