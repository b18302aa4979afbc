"""Histories for tests of properties, from the short notation."""

from __future__ import annotations

from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.history import History
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict


def history_of(text: str) -> History:
    """Return a consistent history; ``|`` may come first, and ``{}`` is no items."""
    return parse_history(text.strip().removeprefix("|").replace("{}", "")).check()


def verdict(history: History, check: object) -> Verdict:
    """Return what the history says about the property that a check is registered as."""
    return verdict_of(history, property_named(check.__name__))  # type: ignore[attr-defined]
