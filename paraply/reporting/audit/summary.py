"""The one-screen audit report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paraply.reporting.audit.advice import next_steps
from paraply.reporting.audit.faster_outline import faster_lines
from paraply.reporting.audit.outline import card, findings_by_gravity, size_of
from paraply.reporting.escape import shortened, visible
from paraply.reporting.outline import LEAD_WIDTH_MAX, Block, Facts, Line, Outline, Section, Tone
from paraply.reporting.words import (
    about_predictions,
    best_prediction,
    headline,
    metadata_model,
    place_of,
    place_of_finding,
    share,
)
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

LINES_MAX = 40
"""Lines of one screen."""

TIGHTER = (240, 160, 80)
"""Characters per text, tried until the report fits one screen."""

STEPS_MAX = 3
BLOCKERS_MAX = 3
TEXT_MAX = 320


def summary_outline(result: AuditResult, *, speed: str = "") -> Outline:
    """Return the one-screen report with reading ``speed``."""
    steps = next_steps(result)[:STEPS_MAX]
    sections = {
        "Worst finding": _worst(result),
        "Next": (
            Line(lead=f"{number}.", text=shortened(step, TEXT_MAX))
            for number, step in enumerate(steps, start=1)
        ),
        "What would be faster": faster_lines(result, steps),
        "Parallelism": _parallelism(result),
        "Report": _about(result, speed),
    }
    filled = ((title, list(blocks)) for title, blocks in sections.items())
    return Outline(
        verdict=result.verdict,
        headline=shortened(headline(result), TEXT_MAX),
        subtitle=size_of(result),
        sections=[Section(title=title, blocks=blocks) for title, blocks in filled if blocks],
    )


def tightened(outline: Outline, length: int) -> Outline:
    """Return a one-screen outline with each text cut to ``length``."""

    def cut_block(block: Block) -> Block:
        match block:
            case Line():
                return replace(
                    block, lead=_cut(block.lead, LEAD_WIDTH_MAX), text=_cut(block.text, length)
                )
            case Facts():
                rows = [(label, _cut(value, length)) for label, value in block.rows]
                return replace(block, title=_cut(block.title, length), rows=rows)
            case _:
                return block

    return replace(
        outline,
        headline=_cut(outline.headline, length),
        subtitle=_cut(outline.subtitle, length),
        sections=[
            replace(section, blocks=[cut_block(block) for block in section.blocks])
            for section in outline.sections
        ],
    )


def _cut(text: str, length: int) -> str:
    shown = visible(text)
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def _worst(result: AuditResult) -> Iterator[Block]:
    certain = [violation for violation in result.violations if violation.certain]
    broken = [each for each in findings_by_gravity(result) if each.severity == "violation"]
    if certain:
        yield card(certain[0])
    elif result.replay.findings:
        finding = result.replay.findings[0]
        yield Line(
            lead=shortened(finding.property),
            text=f"{shortened(finding.table)} {shortened(finding.key)} at "
            f"{shortened(place_of(finding.transaction))}: {shortened(finding.message)}",
            tone=Tone.BAD,
        )
    elif broken:
        yield Line(
            lead=shortened(broken[0].rule),
            text=f"{place_of_finding(broken[0])}: {shortened(broken[0].message, TEXT_MAX)}",
            tone=Tone.BAD,
        )


def _parallelism(result: AuditResult) -> Iterator[Block]:
    model = metadata_model(result)
    best = best_prediction(result)
    if model is not None:
        workers, limit = model.knee, model.speedup.get(model.knee, 0.0)
        if best is not None:
            text = f"{best.setting} with {counted(best.workers, 'worker')}"
            text += f", {best.gain:.1f} times as fast as one" if best.workers > 1 else ""
        else:
            text = f"{model.model} with {counted(workers, 'worker')}"
            text += f", at most {limit:.1f} times as fast as one" if workers > 1 else ""
        tone = Tone.NEUTRAL
        if model.safe is Verdict.VIOLATED:
            text, tone = f"one worker: {model.model} is not safe on this log", Tone.BAD
        elif model.safe is Verdict.UNKNOWN:
            text, tone = f"{text}, if it is safe, which is unknown", Tone.UNSURE
        yield Line(lead="best mode", text=text, tone=tone)
        if result.predictions:
            yield Line(lead="clock", text=shortened(about_predictions(result)), tone=Tone.QUIET)
    for blocker in result.blockers[:BLOCKERS_MAX]:
        yield Line(
            lead="blocker",
            text=f"{share(blocker.share)} of the critical path: {shortened(blocker.kind, 20)} "
            f"{shortened(blocker.name)}",
        )
    if result.may_wait:
        yield Line(
            lead="row locks",
            text=f"{counted(result.may_wait, 'pair')} may wait for each other's row locks; "
            "no order is wrong",
            tone=Tone.QUIET,
        )


def _about(result: AuditResult, speed: str) -> Iterator[Block]:
    why = ", the one that judges a part of a log" if result.range is not None else ""
    if result.engine_because:
        why = f", since the compiled one met {shortened(result.engine_because)}"
    if result.left_rows:
        why = f", but for {share(result.left_rows / result.row_changes)} of the rows: "
        why += shortened(", ".join(f"{n} ({r})" for n, r in result.left_tables.items()))
    yield Line(
        lead="engine", text=f"{result.engine}{why}{f', {speed}' if speed else ''}", tone=Tone.QUIET
    )
    yield Line(
        lead="all of it",
        text="--details prints every section here, --html FILE and --json FILE keep them",
        tone=Tone.QUIET,
    )
