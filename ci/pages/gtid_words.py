"""One-line descriptions of GTID runs."""

from __future__ import annotations

from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History

_DULL = frozenset({
    EventKind.ENGINE_COMMITTED, EventKind.POSITION_SAVED, EventKind.SYNCED, EventKind.DELIVERED,
})  # fmt: skip
"""Implied events."""


def run_words(history: History) -> str:
    """Return a run's GTIDs and essential events."""
    log = ", ".join(f"T{one.id} = {_gtid(one.gtid)}" for one in history.transactions)
    has_logs = any(history.events_of(EventKind.FLUSHED))
    words = [
        _words(event, history)
        for event in history.events
        if not (event.kind in _DULL and (has_logs or event.kind is not EventKind.ENGINE_COMMITTED))
        and not (event.kind is EventKind.STARTED and not (event.members or event.note))
    ]
    return f"{log}: {'; '.join(words)}"


def _gtid(gtid: str) -> str:
    uuid, colon, number = gtid.partition(":")
    return f"{uuid[0]}:{number}" if colon else gtid


def _set(text: str) -> str:
    return ",".join(_gtid(entry) for entry in text.split(",")) if text else "nothing"


def _words(event: Event, history: History) -> str:
    where = f" ({event.member})" if len(history.members) > 1 else ""
    one = f"T{event.transaction}" if event.transaction is not None else ""
    match event.kind:
        case EventKind.STARTED:
            if not event.members:
                return f"{event.note}{where}"
            what = "refused " if event.note else "starts "
            return f"{what}after {_set(event.gtid_set)} of {event.members[0]}{where}"
        case EventKind.STOPPED:
            has = ",".join(f"T{each}" for each in event.transactions) or "nothing"
            return f"at rest: {_set(event.gtid_set)}, has {has}{where}"
        case EventKind.RECOVERED:
            has = ",".join(f"T{each}" for each in event.transactions) or "nothing"
            return f"recovers: {_set(event.gtid_set)}, has {has}{where}"
        case EventKind.CRASHED:
            return f"{'LOST' if event.note else 'CRASH'}{where}"
        case EventKind.FLUSHED:
            return f"log {one}{' with a warning' if event.note else ''}{where}"
        case EventKind.ROW_APPLIED:
            item = next(iter(event.items), "")
            what = "position row" if str(item).startswith("rpl_") else "row"
            waits = f" waits for T{event.other}" if event.other else ""
            return f"{what} of {one}{waits}{where}"
        case EventKind.SKIPPED | EventKind.FAILED:
            return f"{event.kind.value} {one}: {event.note}{where}"
        case EventKind.RELAY_ROTATED:
            return f"{event.note or 'rotate'}{where}"
        case _:
            return f"{event.kind.value.replace('_', ' ')} {one}".rstrip() + where
