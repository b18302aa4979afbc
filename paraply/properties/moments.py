"""The event at which a breach first shows."""

from __future__ import annotations

from dataclasses import replace

from paraply.properties.registry import Property
from paraply.vocabulary.history import History


def first_breaking_event(history: History, prop: Property) -> int | None:
    """Return the index of an event that turns the property from unbroken to broken.

    Returns the last event if only the whole history breaks it; None without a breach.
    """
    if not history.events or not prop.violations(history):
        return None
    innocent, broken = 0, len(history.events)
    while broken - innocent > 1:
        middle = (innocent + broken) // 2
        prefix = replace(history, events=history.events[:middle], is_complete=False)
        if prop.violations(prefix):
            broken = middle
        else:
            innocent = middle
    return broken - 1
