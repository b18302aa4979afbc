"""The audit report's sections on parallelism."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.reporting.escape import shortened
from paraply.reporting.outline import TONES, Bars, Block, Curve, Facts, Line, Table, Tone
from paraply.reporting.words import (
    MODEL_MEANINGS,
    about_predictions,
    distance_label,
    drawable_widths,
    safety_word,
    share,
    size_bars,
)
from paraply.vocabulary.audit_result import AuditResult

ROWS_MAX = 12
"""JSON contains all rows."""


def parallelism_blocks(result: AuditResult) -> Iterator[Block]:
    """Yield parallelism per model, with curves and histograms."""
    if not result.parallelism:
        return
    yield Table(
        columns=("model", "safe here", "critical path", "ideal speed-up", "widest", "mean"),
        rows=[
            (
                shortened(model.model, 40),
                safety_word(model),
                f"{model.critical_path:,} of {model.work:,}",
                f"{model.ideal_speedup:.2f}",
                f"{model.width_max:,}",
                f"{model.width_mean:.2f}",
            )
            for model in result.parallelism
        ],
        left=frozenset({0, 1}),
        tones=[TONES[model.safe] for model in result.parallelism],
    )
    yield from _predictions(result)
    workers = sorted({number for model in result.parallelism for number in model.speedup})
    yield Table(
        columns=("limit by workers", *map(str, workers), "worth having"),
        rows=[
            (
                shortened(model.model, 40),
                *(
                    f"{model.speedup[number]:.2f}" if number in model.speedup else ""
                    for number in workers
                ),
                str(model.knee),
            )
            for model in result.parallelism
        ],
        curves=[
            [model.speedup.get(number, 0.0) for number in workers] for model in result.parallelism
        ],
    )
    widths = [width for _, width in drawable_widths(result)]
    if widths:
        yield Curve(
            caption="transactions that may run at once, from the first round to the last",
            values=widths,
            summary=f"from {min(widths):.1f} to {max(widths):.1f}, "
            f"{sum(widths) / len(widths):.1f} on average",
        )
    if result.clock_distance:
        yield Bars(
            caption="sequence_number − last_committed: how many transactions have each distance",
            bars=[(distance_label(power), n) for power, n in sorted(result.clock_distance.items())],
        )
    if result.commit_group_sizes:
        yield Bars(
            caption="commit groups by size",
            bars=size_bars(result.commit_group_sizes, ROWS_MAX),
        )
    yield Facts(
        rows=[
            (model.model, MODEL_MEANINGS[model.model])
            for model in result.parallelism
            if model.model in MODEL_MEANINGS
        ],
        tone=Tone.QUIET,
    )


def _predictions(result: AuditResult) -> Iterator[Block]:
    workers = sorted({number for one in result.predictions for number in one.speedup})
    if workers:
        yield Table(
            columns=("predicted speed-up", *map(str, workers), "best"),
            rows=[
                (
                    one.applier,
                    *(
                        f"{one.speedup[number]:.2f}" if number in one.speedup else "?"
                        for number in workers
                    ),
                    str(one.workers or "?"),
                )
                for one in result.predictions
            ],
        )
    if result.predictions:
        yield Line(text=about_predictions(result), tone=Tone.QUIET)


def blocker_blocks(result: AuditResult) -> Iterator[Block]:
    """Yield the links of the critical path."""
    if result.blockers:
        yield Table(
            columns=("share of the path", "links", "kind", "what"),
            rows=[
                (
                    share(blocker.share),
                    f"{blocker.transactions:,}",
                    shortened(blocker.kind, 20),
                    shortened(blocker.name),
                )
                for blocker in result.blockers[:ROWS_MAX]
            ],
            left=frozenset({2, 3}),
        )
