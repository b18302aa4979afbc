"""Plain text tables whose last column wraps."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from paraply.reporting.escape import visible
from paraply.reporting.page import page

LAST_WIDTH_MIN = 36
"""Below it, tables exceed the page."""
GAP = "  "


def plain_table(
    heading: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    indent: str = "",
) -> list[str]:
    """Return the table; numbers align right."""
    cells = [[visible(_text(value)) for value in row] for row in rows]
    is_number = [
        bool(rows) and all(isinstance(row[place], int | float) for row in rows)
        for place in range(len(heading))
    ]
    widths = [
        max(len(line[place]) for line in ([*heading], *cells)) for place in range(len(heading) - 1)
    ]
    before = len(indent) + sum(width + len(GAP) for width in widths)
    last_width = max(LAST_WIDTH_MIN, page().width - before)

    def drawn(line: Sequence[str]) -> list[str]:
        lead = indent + "".join(
            (f"{text:>{width}}" if right else f"{text:<{width}}") + GAP
            for text, width, right in zip(line[:-1], widths, is_number[:-1], strict=True)
        )
        parts = textwrap.wrap(line[-1], last_width) or [""]
        return [(lead + parts[0]).rstrip(), *(" " * before + part for part in parts[1:])]

    return [*drawn([*heading]), *(line for row in cells for line in drawn(row))]


def entries(items: Iterable[tuple[str, str, Sequence[str]]]) -> list[str]:
    """Return titled entries under group headings.

    Items are group, title and paragraphs; equal groups are adjacent.
    """
    lines: list[str] = []
    last = None
    for group, title, paragraphs in items:
        if group != last:
            lines += ["", visible(group)] if lines else [visible(group)]
            last = group
        lines.append(f"  {visible(title)}")
        for paragraph in paragraphs:
            lines += textwrap.wrap(
                visible(paragraph),
                page().width,
                initial_indent="      ",
                subsequent_indent="      ",
            )
    return lines


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
