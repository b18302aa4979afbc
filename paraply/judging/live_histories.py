"""Histories that a live run recorded: what they answer to, wherever they are judged again."""

from __future__ import annotations

from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.targets import TARGETS
from paraply.properties.registry import Property
from paraply.registries import property_named
from paraply.vocabulary.history import History

_KIND = "live"


def live_target_of(history: History) -> LiveTarget | None:
    """Return the live target that recorded a history, None if none did."""
    kind, _, rest = history.header.subject.partition(" ")
    name = rest.partition(" ")[0]
    return next((one for one in TARGETS if kind == _KIND and one.name == name), None)


def live_properties_of(history: History) -> list[Property] | None:
    """Return the properties of the target that recorded a history, None if it is no live one.

    It answers to these and to no others: a row that nobody looked at is not missing.
    """
    target = live_target_of(history)
    return None if target is None else [property_named(name) for name in target.properties]
