"""Judges the final history of every machine."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.properties.registry import Property
from paraply.vocabulary.history import History
from paraply.vocabulary.notation import format_history


def judge(history: History, judged: Iterable[Property]) -> None:
    """Raise ``AssertionError`` with the breaches and the history."""
    for prop in judged:
        violations = prop.violations(history)
        if violations:
            breaches = "\n".join(f"  {violation}" for violation in violations)
            story = format_history(history, lines=True)
            raise AssertionError(f"not {prop.name}:\n{breaches}\n{story}")
