"""Threads that sleep until another thread signals."""

from __future__ import annotations

from paraply.properties.registry import sometimes
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History


@sometimes(
    of=recorded(EventKind.SLEPT), source="Mts_submode_logical_clock::wait_for_last_committed_trx"
)
def a_sleeping_coordinator_is_woken(history: History) -> bool:
    """The coordinator slept until the low-water mark was reached, and a worker woke it."""
    return any(history.events_of(EventKind.WOKEN))
