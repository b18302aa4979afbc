"""Targets and properties of recorded live runs."""

from __future__ import annotations

from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.targets import TARGETS
from paraply.properties.registry import Property
from paraply.registries import property_named
from paraply.vocabulary.history import History

_KIND = "live"


def live_target_of(history: History) -> LiveTarget | None:
    """Return the recording live target, if any."""
    kind, _, rest = history.header.subject.partition(" ")
    name = rest.partition(" ")[0]
    return next((one for one in TARGETS if kind == _KIND and one.name == name), None)


def live_properties_of(history: History) -> list[Property] | None:
    """Return the recording target's properties, if any.

    No others apply: an unobserved row is not missing.
    """
    target = live_target_of(history)
    return None if target is None else [property_named(name) for name in target.properties]
