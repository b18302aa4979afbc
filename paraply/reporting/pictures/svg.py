"""Inline SVG: frame, axes and grid, without colours.

Pictures have titles and descriptions for screen readers. ``Markup.format`` escapes texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from paraply.reporting.escape import visible

WIDTH = 720
LEFT, RIGHT, TOP, BOTTOM = 60, 16, 14, 44


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear scale from value to pixel."""

    low: float
    high: float
    start: float
    end: float
    label: str

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        span = self.high - self.low or 1.0
        return self.start + (value - self.low) / span * (self.end - self.start)

    def ticks(self, wanted: int = 5, step_min: float = 0.0) -> list[float]:
        """Return about ``wanted`` round values."""
        step = max(step_min, _round_step((self.high - self.low) / max(1, wanted)))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def picture(
    title: str,
    description: str,
    height: float,
    parts: Sequence[Markup],
    width: float = WIDTH,
    *,
    has_links: bool = False,
) -> Markup:
    """Return an element, read as one image unless linked."""
    return Markup(
        '<svg viewBox="0 0 {} {}" role="{}" aria-label="{}"><title>{}</title><desc>{}</desc>{}'
        "</svg>"
    ).format(
        pixel(width),
        pixel(height),
        "group" if has_links else "img",
        visible(title),
        visible(title),
        visible(description),
        Markup("").join(parts),
    )


def frame(horizontal: Axis, vertical: Axis) -> Markup:
    """Return grid, ticks and names of two linear axes."""
    ticks = Markup("").join(
        Markup('<text x="{}" y="{}" text-anchor="middle">{:,.0f}</text>').format(
            pixel(horizontal.at(tick)), pixel(vertical.start + 16), tick
        )
        for tick in horizontal.ticks(6, step_min=1)
    )
    return vertical_axis(vertical) + ticks + x_label(horizontal.label, vertical.start + BOTTOM)


def vertical_axis(
    axis: Axis,
    right: float = WIDTH - RIGHT,
    ticks: Sequence[tuple[float, str]] | None = None,
) -> Markup:
    """Return the axis; ``ticks`` replaces round values."""
    if ticks is None:
        ticks = [(tick, f"{round(tick, 6):,g}") for tick in axis.ticks(step_min=1)]
    lines = Markup("").join(
        Markup(
            '<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>'
            '<text x="{}" y="{}" text-anchor="end">{}</text>'
        ).format(
            LEFT,
            pixel(axis.at(tick)),
            right,
            pixel(axis.at(tick)),
            LEFT - 7,
            pixel(axis.at(tick) + 4),
            text,
        )
        for tick, text in ticks
    )
    return lines + Markup(
        '<text class="axis" transform="rotate(-90)" x="{}" y="12" text-anchor="middle">{}</text>'
    ).format(pixel(-(axis.start + axis.end) / 2), axis.label)


def x_label(text: str, height: float, room_right: float = 0) -> Markup:
    """Return the name below the horizontal axis."""
    return Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(
        pixel((LEFT + WIDTH - RIGHT - room_right) / 2), pixel(height - 8), text
    )


def polyline_points(points: Sequence[tuple[float, float]], horizontal: Axis, vertical: Axis) -> str:
    """Return the points attribute of a line."""
    return " ".join(f"{pixel(horizontal.at(a))},{pixel(vertical.at(b))}" for a, b in points)


def _round_step(step: float) -> float:
    if step <= 0:
        return 1.0
    magnitude = 10.0 ** math.floor(math.log10(step))
    return next((m * magnitude for m in (1, 2, 5) if m * magnitude >= step), 10 * magnitude)


def pixel(value: float) -> str:
    """Return a short coordinate."""
    return f"{value:.1f}".removesuffix(".0")
