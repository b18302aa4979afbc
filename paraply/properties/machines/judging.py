"""What every machine does in the end: judge the history that its steps made."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.properties.registry import Property
from paraply.vocabulary.history import History
from paraply.vocabulary.notation import format_history


def judge(history: History, judged: Iterable[Property]) -> None:
    """Raise ``AssertionError`` with the breaches and the history if a property is broken."""
    for prop in judged:
        violations = prop.violations(history)
        if violations:
            breaches = "\n".join(f"  {violation}" for violation in violations)
            story = format_history(history, lines=True)
            raise AssertionError(f"not {prop.name}:\n{breaches}\n{story}")
