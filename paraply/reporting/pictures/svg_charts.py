"""SVG charts of the audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from paraply.reporting.escape import shortened, visible
from paraply.reporting.pictures.svg import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    frame,
    picture,
    pixel,
    polyline_points,
    vertical_axis,
    x_label,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A short ``label`` and a hover ``meaning``."""

    label: str
    meaning: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """``marked`` is a highlighted x value."""

    name: str
    points: Sequence[tuple[float, float]]
    marked: float | None = None


def area_chart(
    points: Sequence[tuple[float, float]], *, title: str, description: str, x: str, y: str
) -> Markup:
    """Return a filled curve with its mean as a dashed line."""
    height = 230
    horizontal, vertical = _axes(points, height, x, y)
    line = " ".join(f"{pixel(horizontal.at(a))},{pixel(vertical.at(b))}" for a, b in points)
    mean = sum(value for _, value in points) / len(points)
    first, last = pixel(horizontal.at(points[0][0])), pixel(horizontal.at(points[-1][0]))
    floor, mean_y = pixel(vertical.at(0)), pixel(vertical.at(mean))
    parts = [
        frame(horizontal, vertical),
        Markup('<polygon class="area" points="{},{} {} {},{}"/>').format(
            first, floor, line, last, floor
        ),
        Markup('<polyline class="line" points="{}"/>').format(line),
        Markup('<line class="mean" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
            first, mean_y, last, mean_y
        ),
        Markup('<text class="halo" x="{}" y="{}" text-anchor="end">mean {:.1f}</text>').format(
            pixel(horizontal.end - 4), pixel(vertical.at(mean) - 5), mean
        ),
    ]
    return picture(title, description, height, parts)


def bar_chart(bars: Sequence[Bar], *, title: str, description: str, x: str, y: str) -> Markup:
    """Return vertical bars with labels and values, at half width."""
    height, full_width = 230, 480
    top = max((bar.value for bar in bars), default=0)
    vertical = Axis(low=0, high=top * 1.12 or 1, start=height - BOTTOM, end=TOP, label=y)
    room = (full_width - LEFT - RIGHT) / max(1, len(bars))
    # Few bars stay slim, at the left.
    slot = min(room, 70)
    width = slot * 0.72
    parts = [
        vertical_axis(vertical, full_width - RIGHT),
        x_label(x, height, WIDTH - full_width),
    ]
    for position, bar in enumerate(bars):
        left = LEFT + position * slot + (slot - width) / 2
        parts.append(
            Markup(
                '<g class="mark"><title>{}: {:,}</title>'
                '<rect class="bar" x="{}" y="{}" width="{}" height="{}" rx="2"/>'
                '<text x="{}" y="{}" text-anchor="middle">{}</text>'
                '<text class="halo" x="{}" y="{}" text-anchor="middle">{:,}</text></g>'
            ).format(
                visible(bar.meaning),
                bar.value,
                pixel(left),
                pixel(vertical.at(bar.value)),
                pixel(width),
                pixel(vertical.start - vertical.at(bar.value)),
                pixel(left + width / 2),
                height - BOTTOM + 16,
                visible(bar.label),
                pixel(left + width / 2),
                pixel(vertical.at(bar.value) - 5),
                bar.value,
            )
        )
    return picture(title, description, height, parts, full_width)


def speedup_chart(curves: Sequence[Series], *, title: str, description: str) -> Markup:
    """Return speed-up by workers on log scales with ringed knees.

    Perfect scaling is a diagonal.
    """
    height, names_room = 320, 150
    workers = sorted({worker for curve in curves for worker, _ in curve.points})
    highest = max(2.0, *(speed for curve in curves for _, speed in curve.points))
    horizontal = Axis(
        low=math.log2(workers[0]),
        high=math.log2(workers[-1]) if len(workers) > 1 else math.log2(workers[0]) + 1,
        start=LEFT,
        end=WIDTH - RIGHT - names_room,
        label="workers",
    )
    vertical = Axis(
        low=0,
        high=math.log2(highest) * 1.04,
        start=height - BOTTOM,
        end=TOP,
        label="times as fast as one",
    )
    ticks = [(float(exponent), f"{2**exponent}") for exponent in range(int(vertical.high) + 1)]
    parts = [
        vertical_axis(vertical, WIDTH - RIGHT - names_room, ticks),
        x_label("workers", height, names_room),
    ]
    parts += [
        Markup('<text x="{}" y="{}" text-anchor="middle">{:g}</text>').format(
            pixel(horizontal.at(math.log2(worker))), height - BOTTOM + 16, worker
        )
        for worker in workers
    ]
    # Perfect scaling for comparison, inside the picture.
    diagonal_end = min(horizontal.high, vertical.high)
    if diagonal_end > horizontal.low:
        parts.append(
            Markup('<polyline class="linear" points="{}"/>').format(
                polyline_points(
                    [(horizontal.low, horizontal.low), (diagonal_end, diagonal_end)],
                    horizontal,
                    vertical,
                )
            )
        )
    labels = _spread(
        [vertical.at(_log2(curve.points[-1][1])) for curve in curves],
        gap=16,
        highest=vertical.start,
    )
    for number, (curve, label_y) in enumerate(zip(curves, labels, strict=True)):
        parts.append(_curve(number, curve, label_y, horizontal, vertical))
    return picture(title, description, height, parts)


def _curve(number: int, curve: Series, label_y: float, horizontal: Axis, vertical: Axis) -> Markup:
    placed = [(math.log2(worker), _log2(speed)) for worker, speed in curve.points]
    end_x, end_y = horizontal.at(placed[-1][0]), vertical.at(placed[-1][1])
    dots = Markup("").join(
        Markup(
            '<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}: {:g} workers, {:.2f} times{}'
            "</title></circle>"
        ).format(
            "knee" if worker == curve.marked else "dot",
            pixel(horizontal.at(math.log2(worker))),
            pixel(vertical.at(_log2(speed))),
            6 if worker == curve.marked else 3,
            visible(curve.name),
            worker,
            speed,
            " (the knee)" if worker == curve.marked else "",
        )
        for worker, speed in curve.points
    )
    return Markup(
        '<g class="series s{}"><polyline class="curve" points="{}"/>{}'
        '<path class="leader" d="M{} {}L{} {}"/>'
        '<text class="name" x="{}" y="{}">{}</text></g>'
    ).format(
        number % 6,
        polyline_points(placed, horizontal, vertical),
        dots,
        pixel(end_x + 7),
        pixel(end_y),
        pixel(end_x + 20),
        pixel(label_y),
        pixel(end_x + 24),
        pixel(label_y + 4),
        shortened(curve.name, 18),
    )


def _axes(
    points: Sequence[tuple[float, float]], height: float, x: str, y: str
) -> tuple[Axis, Axis]:
    highest = max(value for _, value in points)
    return (
        Axis(low=points[0][0], high=points[-1][0], start=LEFT, end=WIDTH - RIGHT, label=x),
        Axis(low=0, high=highest * 1.08 or 1, start=height - BOTTOM, end=TOP, label=y),
    )


def _spread(positions: Sequence[float], gap: float, highest: float) -> list[float]:
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    placed = list(positions)
    last = -math.inf
    for index in order:
        placed[index] = last = max(positions[index], last + gap)
    limit = highest
    for index in reversed(order):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return placed


def _log2(speed: float) -> float:
    # List scheduling never loses against one worker, but rounding might.
    return math.log2(max(1.0, speed))
