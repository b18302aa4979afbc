"""A campaign's discovery curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from paraply.reporting.pictures.svg import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    picture,
    pixel,
    polyline_points,
    vertical_axis,
    x_label,
)

LABELS_ROOM = 150


def discovery_picture(curves: Sequence[tuple[str, Sequence[tuple[int, float]]]]) -> Markup:
    """Return the curves on a logarithmic scale."""
    height = 260
    most = max(histories for histories, _ in curves[0][1])
    decades = max(1, math.ceil(math.log10(max(most, 2))))
    horizontal = Axis(
        low=0, high=decades, start=LEFT, end=WIDTH - RIGHT - LABELS_ROOM, label="histories of each"
    )
    vertical = Axis(low=0, high=1.04, start=height - BOTTOM, end=TOP, label="share found")
    parts = [
        vertical_axis(
            vertical,
            WIDTH - RIGHT - LABELS_ROOM,
            [(tick / 4, f"{tick * 25} %") for tick in range(5)],
        ),
        x_label("histories of each system", height, LABELS_ROOM),
    ]
    parts += [
        Markup('<text x="{}" y="{}" text-anchor="middle">{:,}</text>').format(
            pixel(horizontal.at(power)), height - BOTTOM + 16, 10**power
        )
        for power in range(decades + 1)
    ]
    for index, (name, points) in enumerate(curves):
        placed = [(math.log10(histories), share) for histories, share in points]
        # If curves end together, the second name is below the first.
        name_y = vertical.at(placed[-1][1]) + 4 + 16 * index
        parts.append(
            Markup(
                '<g class="series s{}"><polyline class="curve" points="{}"/>'
                '<text class="name" x="{}" y="{}">{} {:.0f} %</text></g>'
            ).format(
                index,
                polyline_points(placed, horizontal, vertical),
                pixel(horizontal.at(placed[-1][0]) + 8),
                pixel(name_y),
                name,
                100 * placed[-1][1],
            )
        )
    return picture(
        "Discovery curve",
        "Shares of breaches and situations found against the number of histories of each system; "
        "the table below has the numbers.",
        height,
        parts,
    )
