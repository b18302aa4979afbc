"""The audit report's lines on what would make the log faster to apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.reporting.escape import shortened
from paraply.reporting.outline import Block, Curve, Line, Table, Tone
from paraply.vocabulary.audit_result import AuditResult, Counterfactual, SourcePrice
from paraply.vocabulary.counting import counted

LINES_MAX = 3
MATTERS_FROM = 1.2
"""Minimum gain of a line on the first screen."""

LAG_MEANING = (
    "lag: the greatest of a twentieth of the log's time, if a step takes as long as lets the "
    "replica keep up on average now"
)


def faster_lines(result: AuditResult, steps: Sequence[str]) -> Iterator[Block]:
    """Yield one line for each of the greatest gains that no step mentions."""
    new = [
        one
        for one in result.counterfactuals
        if one.gain >= MATTERS_FROM and not any(one.change in step for step in steps)
    ]
    for one in new[:LINES_MAX]:
        yield Line(
            lead=f"{one.gain:.1f} times as fast",
            text=f"{shortened(one.change)}: {one.then:.1f} times one worker instead of "
            f"{one.now:.1f}, with {counted(one.workers, 'worker')}{_lag(one)}{_price(one)}",
        )


def _lag(one: Counterfactual) -> str:
    if not one.lag:
        return ""
    return f"; lag at most {one.most_lag_then:.1f} s instead of {one.most_lag_now:.1f} s"


def _price(one: Counterfactual) -> str:
    return f"; {price_words(one.price)}" if one.price is not None else ""


def price_words(price: SourcePrice) -> str:
    """Return what a change costs the source."""
    longer = (price.wait_us_then - price.wait_us_now) / 1000
    return (
        f"the source commits {price.throughput:.2f} times as fast, and its median commit takes "
        f"{longer:.1f} ms longer"
    )


def faster_blocks(result: AuditResult) -> Iterator[Block]:
    """Yield all changes with a gain, how the lag changes, and which keys are not predicted."""
    for table in result.unpredicted_keys[:LINES_MAX]:
        yield Line(
            text=f"a PRIMARY KEY on {shortened(table)}: not predicted, because the log does not "
            "show which of its rows change (partial images, cascades or rollbacks)",
            tone=Tone.QUIET,
        )
    if result.unpredicted_delay:
        yield Line(text=result.unpredicted_delay, tone=Tone.QUIET)
    if not result.counterfactuals:
        return
    yield Table(
        columns=("change", "gain", "now", "then", "lag now", "lag then", "way, workers then"),
        rows=[
            (
                shortened(one.change, 80),
                f"{one.gain:.2f}",
                f"{one.now:.2f}",
                f"{one.then:.2f}",
                f"{one.most_lag_now:.1f} s" if one.lag else "",
                f"{one.most_lag_then:.1f} s" if one.lag else "",
                f"{one.applier}, {one.workers}",
            )
            for one in result.counterfactuals
        ],
        left=frozenset({0, 6}),
    )
    for one in result.counterfactuals:
        if one.price is not None:
            yield Line(lead=shortened(one.change), text=price_words(one.price))
    behind = [one for one in result.counterfactuals if one.lag]
    for one in behind[:LINES_MAX]:
        for word, values in (
            ("now", [point.now for point in one.lag]),
            (shortened(one.change), [point.then for point in one.lag]),
        ):
            yield Curve(
                caption=f"seconds behind over {one.lag[-1].second:.1f} s: {word}",
                values=values,
                summary=f"at most {max(values):.1f} s, {values[-1]:.1f} s at the end",
            )
    if behind:
        yield Line(text=LAG_MEANING, tone=Tone.QUIET)
