"""Selects a subject's judges, and tells breaches that are known of it from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import wraps

from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import (
    Exemption,
    Property,
    Violation,
    Vocabulary,
    registered_properties,
)
from paraply.reference_impl.subject import (
    KnownBreaches,
    Subject,
    Workload,
    workload_of_header,
)
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


def is_expected(subject: Subject, workload: Workload, prop: Property, history: History) -> bool:
    """Return whether an expected cause precedes the breach."""
    causes = subject.causes_of(workload, prop.name)
    if not causes:
        return False
    last = first_breaking_event(history, prop)
    until = history if last is None else replace(history, events=history.events[: last + 1])
    return any(cause.occurs(until) for cause in causes)


def is_explained(subject: Subject, prop: Property, history: History) -> bool:
    """Return whether a breach is expected in the run's own dialect, sizes and options."""
    return is_expected(subject, workload_of_header(history.header), prop, history)


def unexplained(subject: Subject, prop: Property) -> Property:
    """Return the property without the breaches that are expected."""
    check = prop.check
    assert check is not None, "a situation is not broken"

    @wraps(check)
    def others(history: History) -> Sequence[Violation]:
        violations = check(history)
        return () if violations and is_explained(subject, prop, history) else violations

    return replace(prop, check=others)


def _follows(subject: Subject, known: KnownBreaches, name: str) -> Vocabulary:
    defaults = {option.name: option.default for option in subject.options}

    def applies(history: History) -> bool:
        header = history.header
        settings = {**defaults, **header.options}
        is_sought = name in subject.breaks.get(header.dialect, ())
        is_of = not is_sought and known.is_of(header.dialect, settings)
        return is_of and known.cause.occurs(history)

    return applies
