"""A counterexample as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Property
from paraply.reporting.escape import visible
from paraply.reporting.history_text import lanes, transaction_table
from paraply.reporting.page import page
from paraply.vocabulary.history import History

BREACHES_SHOWN_MAX = 5


def history_lines(history: History, properties: Sequence[Property]) -> list[str]:
    """Return a history's tables with marked breaches."""
    marks: dict[int, list[str]] = {}
    for prop in properties:
        moment = first_breaking_event(history, prop)
        if moment is not None:
            marks.setdefault(moment, []).append(prop.name)
    texts = {moment: f"breaks {', '.join(names)}" for moment, names in marks.items()}
    return [*transaction_table(history), "", *lanes(history, texts)]


def breach_lines(prop: Property, history: History) -> list[str]:
    """Return the first breaches and the number left."""
    violations = prop.violations(history)
    lines: list[str] = []
    for violation in violations[:BREACHES_SHOWN_MAX]:
        lines += textwrap.wrap(
            visible(str(violation)), page().width, initial_indent="  ", subsequent_indent="    "
        )
    if len(violations) > BREACHES_SHOWN_MAX:
        lines.append(f"  and {len(violations) - BREACHES_SHOWN_MAX} more")
    return lines


def counterexample_lines(prop: Property, history: History) -> list[str]:
    """Return the full description."""
    return [
        *textwrap.wrap(
            f"{prop.name}: {visible(prop.meaning)}", page().width, subsequent_indent="  "
        ),
        *breach_lines(prop, history),
        "",
        *history_lines(history, [prop]),
    ]
