"""A replay as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraply.counterexamples.replaying import Replay
from paraply.properties.registry import Property
from paraply.reporting.counterexample_text import breach_lines, history_lines
from paraply.reporting.escape import visible
from paraply.reporting.explore_text import history_records
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.verdict import Verdict

Judged = Sequence[tuple[Property, Verdict]]


def replay_text(
    done: Replay, judged: Judged, *, title: str, was_recorded: bool, with_choices: bool
) -> str:
    """Return steps, difference from the recording, and verdicts.

    Inapplicable properties are only counted.
    """
    broken = [prop for prop, verdict in judged if verdict is Verdict.VIOLATED]
    lines = [visible(title), ""]
    if with_choices:
        lines += [*choice_lines(done), ""]
    lines += [*history_lines(done.history, broken), ""]
    if done.difference:
        lines.append(f"NOT the run recorded: {done.difference}")
    elif was_recorded:
        lines.append("the run is the one recorded, event by event")
    for prop, verdict in judged:
        if verdict is not Verdict.UNKNOWN:
            lines.append(f"{verdict.word:8} {prop.name}")
        if verdict is Verdict.VIOLATED:
            lines += breach_lines(prop, done.history)
    unknown = [prop.name for prop, verdict in judged if verdict is Verdict.UNKNOWN]
    if unknown and len(unknown) <= 3:
        lines += [
            f"{Verdict.UNKNOWN.word:8} {name}: its situation does not occur" for name in unknown
        ]
    elif unknown:
        lines.append(f"{Verdict.UNKNOWN.word:8} {len(unknown)} whose situation does not occur here")
    return "\n".join([*lines, ""])


def choice_lines(done: Replay) -> list[str]:
    """Return every choice with its number of options."""
    rows = [
        (number, question.index, question.count, question.label)
        for number, question in enumerate(done.questions, start=1)
    ]
    return plain_table(("choice", "option", "of", "question"), rows)


def replay_json(done: Replay, judged: Judged) -> dict[str, Any]:
    """Return JSON values."""
    return {
        "difference": done.difference,
        "properties": [
            {
                "name": prop.name,
                "verdict": verdict.word,
                "violations": [str(one) for one in prop.violations(done.history)],
            }
            for prop, verdict in judged
        ],
        "choices": [
            {"label": question.label, "index": question.index, "count": question.count}
            for question in done.questions
        ],
        "history": history_records(done.history),
    }
