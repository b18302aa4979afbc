"""Short names of events for their lanes."""

from __future__ import annotations

from collections.abc import Callable

from paraply.reporting.escape import visible
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.write_set import WriteSet, format_item, sorted_items

_OBSERVED_MAX = 4


def event_words(event: Event, history: History) -> str:
    """Return an escaped ``insert a: waits for T1``."""
    words = _SPECIAL.get(event.kind, _plain)(event, history)
    if event.attempt > 1 and event.kind is EventKind.BEGUN:
        words += f" (attempt {event.attempt})"
    return visible(words)


def items_text(items: WriteSet) -> str:
    """Return sorted items with commas."""
    return ", ".join(format_item(item) for item in sorted_items(items))


def _plain(event: Event, history: History) -> str:
    del history
    words = _VERBS.get(event.kind, event.kind.value.replace("_", " "))
    return f"{words} T{event.transaction}" if event.transaction is not None else words


_VERBS = {
    EventKind.SUBMITTED: "submit",
    EventKind.DELIVERED: "deliver",
    EventKind.SCHEDULED: "take",
    EventKind.BEGUN: "begin",
    EventKind.RETRIED: "retry",
    EventKind.SKIPPED: "skip",
    EventKind.FAILED: "fail",
    EventKind.PREPARED: "prepare",
    EventKind.FLUSHED: "flush",
    EventKind.SYNCED: "sync",
    EventKind.ACKNOWLEDGED: "acknowledge",
    EventKind.WAIT_ABANDONED: "stop waiting for",
    EventKind.ENGINE_COMMITTED: "engine commit",
    EventKind.CLIENT_ACKNOWLEDGED: "tell the client",
    EventKind.STARTED: "start",
    EventKind.STOPPED: "stop",
    EventKind.CRASHED: "CRASH",
    EventKind.RELAY_ROTATED: "rotate the relay log",
}


def _certified(event: Event, history: History) -> str:
    if event.outcome is Outcome.NEGATIVE:
        reason = f": {event.note}" if event.note else ""
        return f"refuse T{event.transaction}{reason}"
    return f"certify T{event.transaction}{_stamp(event)}"


def _flushed(event: Event, history: History) -> str:
    return _plain(event, history) + _stamp(event)


def _stamp(event: Event) -> str:
    if event.timestamp is None:
        return ""
    return f" LC={event.timestamp.last_committed} SN={event.timestamp.sequence_number}"


def _visible_to_readers(event: Event, history: History) -> str:
    return f"T{event.transaction} is visible"


def _row_applied(event: Event, history: History) -> str:
    what = _row_words(event, history)
    match event.outcome:
        case Outcome.OK:
            return what
        case Outcome.LOCK_WAIT:
            return f"{what}: waits for T{event.other}" if event.other else f"{what}: waits"
    word = "" if event.outcome is None else event.outcome.value.replace("_", " ")
    return f"{what}: {word.upper()}"


def _row_words(event: Event, history: History) -> str:
    items = items_text(event.items)
    if event.row is None or event.transaction is None:
        return f"lock {items}" if items else "lock"
    rows = history.transaction(event.transaction).rows
    verb = rows[event.row].operation.value if event.row < len(rows) else "apply"
    return f"{verb} {items or f'row {event.row}'} of T{event.transaction}"


def _rolled_back(event: Event, history: History) -> str:
    why = f": T{event.other} must be first" if event.other else ""
    return f"roll back T{event.transaction}{why}"


def _read(event: Event, history: History) -> str:
    observed = event.observed
    if len(observed) > _OBSERVED_MAX:
        observed = tuple(one for one in observed if one.writer) or observed[:1]
    seen = [f"{format_item(one.item)}={f'T{one.writer}' if one.writer else 'none'}"
            for one in observed]  # fmt: skip
    if len(observed) < len(event.observed):
        seen.append("(else none)")
    return f"see {' '.join(seen)}" if seen else "see nothing"


def _collected(event: Event, history: History) -> str:
    return f"purge {items_text(event.items) or 'nothing'}"


def _view(event: Event, history: History) -> str:
    return f"view {event.view}: {', '.join(event.members)}" if event.members else (
        f"view {event.view}"
    )  # fmt: skip


def _with_members(event: Event, history: History) -> str:
    return f"{event.kind.value.replace('_', ' ')}: {', '.join(event.members)}"


def _with_transactions(event: Event, history: History) -> str:
    verbs = {
        EventKind.EXECUTED_SET_BROADCAST: "broadcast",
        EventKind.POSITION_SAVED: "save position:",
        EventKind.RECOVERED: "recover with",
    }
    held = ", ".join(f"T{one}" for one in event.transactions)
    return f"{verbs[event.kind]} {held or event.gtid_set or event.position or 'nothing'}"


def _slept(event: Event, history: History) -> str:
    return f"sleep: T{event.transaction} must wait" if event.transaction else "sleep"


def _compared(event: Event, history: History) -> str:
    verb = "finds another" if event.outcome is Outcome.DIFFERENT else "finds the same"
    return f"compare with the source: {verb} {event.note}"


_SPECIAL: dict[EventKind, Callable[[Event, History], str]] = {
    EventKind.CERTIFIED: _certified,
    EventKind.FLUSHED: _flushed,
    EventKind.VISIBLE: _visible_to_readers,
    EventKind.ROW_APPLIED: _row_applied,
    EventKind.ROLLED_BACK: _rolled_back,
    EventKind.READ: _read,
    EventKind.GARBAGE_COLLECTED: _collected,
    EventKind.VIEW_INSTALLED: _view,
    EventKind.ONLINE: _with_members,
    EventKind.EXECUTED_SET_BROADCAST: _with_transactions,
    EventKind.POSITION_SAVED: _with_transactions,
    EventKind.RECOVERED: _with_transactions,
    EventKind.COMPARED: _compared,
    EventKind.SLEPT: _slept,
}
