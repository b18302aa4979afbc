"""Selects a subject's judges."""

from __future__ import annotations

from paraply.properties.registry import (
    Exemption,
    Property,
    Vocabulary,
    registered_properties,
)
from paraply.reference_impl.subject import KnownBreaches, Subject
from paraply.vocabulary.history import History


def properties_about(subject: Subject) -> list[Property]:
    """Return every property; each checks its own vocabulary."""
    return [
        prop.except_where(
            Exemption(applies=_follows(subject, known, prop.name), because=known.because)
            for known in subject.follows
            if prop.name in known.breaks
        )
        for prop in registered_properties()
    ]


def _follows(subject: Subject, known: KnownBreaches, name: str) -> Vocabulary:
    defaults = {option.name: option.default for option in subject.options}

    def applies(history: History) -> bool:
        header = history.header
        settings = {**defaults, **header.options}
        is_sought = name in subject.breaks.get(header.dialect, ())
        is_of = not is_sought and known.is_of(header.dialect, settings)
        return is_of and known.cause.occurs(history)

    return applies
