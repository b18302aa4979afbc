"""Members' states beside each event, derived from events alone.

Differences have previous values, so a reader steps both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item, format_item, sorted_items

GROUP = "group"
"""Member name of the common state."""


class Difference(NamedTuple):
    """``after`` is None for a removal, ``before`` for an addition."""

    member: str
    section: str
    key: str
    after: str | None
    before: str | None


def state_differences(history: History) -> list[list[Difference]]:
    """Return each event's state changes."""
    teller = _Teller(history)
    return [teller.tell(event) for event in history.events]


class _Teller:
    def __init__(self, history: History) -> None:
        self._transactions = {one.id: one for one in history.transactions}
        self._state: dict[tuple[str, str], dict[str, str]] = {}
        self._found: list[Difference] = []
        self._stamps: dict[tuple[str, TransactionId], LogicalTimestamp] = {}
        self._written: dict[tuple[str, TransactionId], set[Item]] = {}
        self._received: dict[str, list[TransactionId]] = {}
        self._executed: dict[str, set[TransactionId]] = {}

    def tell(self, event: Event) -> list[Difference]:
        self._found = []
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event)
        return self._found

    # Entries

    def _set(self, member: str, section: str, key: str, value: str | None) -> None:
        entries = self._state.setdefault((member, section), {})
        before = entries.get(key)
        if before == value:
            return
        if value is None:
            del entries[key]
        else:
            entries[key] = value
        self._found.append(Difference(member, section, key, value, before))

    def _clear(self, member: str, *sections: str) -> None:
        for section in sections:
            for key in list(self._state.get((member, section), ())):
                self._set(member, section, key, None)

    def _stamp(self, member: str, number: TransactionId) -> str:
        stamp = self._stamp_of(member, number)
        return "" if stamp is None else f"LC={stamp.last_committed} SN={stamp.sequence_number}"

    def _stamp_of(self, member: str, number: TransactionId) -> LogicalTimestamp | None:
        transaction = self._transactions.get(number)
        given = self._stamps.get((member, number))
        return given or (transaction.timestamp if transaction is not None else None)

    def _transaction(self, event: Event) -> Transaction:
        assert event.transaction is not None
        return self._transactions[event.transaction]

    # What events do

    def on_delivered(self, event: Event) -> None:
        number = self._transaction(event).id
        self._received.setdefault(event.member, []).append(number)
        self._set(
            event.member, "relay log", f"T{number}", self._stamp(event.member, number) or "received"
        )

    def on_certified(self, event: Event) -> None:
        transaction = self._transaction(event)
        if event.timestamp is not None:
            self._stamps[event.member, transaction.id] = event.timestamp
        word = "refused" if event.outcome is Outcome.NEGATIVE else "certified"
        stamp = self._stamp(event.member, transaction.id)
        self._set(event.member, "decisions", f"T{transaction.id}", f"{word} {stamp}".strip())
        if event.outcome is Outcome.POSITIVE:
            for item in sorted_items(transaction.write_set):
                value = f"T{transaction.id}" + (f" {stamp}" if stamp else "")
                self._set(event.member, "certification info", format_item(item), value)

    def on_garbage_collected(self, event: Event) -> None:
        for item in sorted_items(event.items):
            self._set(event.member, "certification info", format_item(item), None)

    def on_broadcast(self, event: Event) -> None:
        text = event.gtid_set or _list(event.transactions) or "nothing"
        self._set(GROUP, "executed sets, as broadcast", event.member, text)
        entries = self._state.get((GROUP, "executed sets, as broadcast"), {})
        if not event.gtid_set:
            sets = [set(text.split(", ")) for text in entries.values()]
            common = set.intersection(*sets) - {"nothing"}
            stable = ", ".join(sorted(common, key=lambda one: int(one[1:]))) or "nothing"
            self._set(GROUP, "stable set", "all members", stable)

    def on_view(self, event: Event) -> None:
        self._set(GROUP, "view", str(event.view), ", ".join(event.members) or "installed")

    def on_begun(self, event: Event) -> None:
        number = self._transaction(event).id
        attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
        self._set(event.member, "under way", _worker(event), f"T{number}{attempt}")
        self._written[event.member, number] = set()

    def on_row_applied(self, event: Event) -> None:
        transaction = self._transaction(event)
        if event.outcome is Outcome.OK:
            self._set(event.member, "waits for a lock", f"T{transaction.id}", None)
            written = self._written.setdefault((event.member, transaction.id), set())
            written.update(event.items)
            for item in sorted_items(event.items):
                self._set(event.member, "row locks", format_item(item), f"T{transaction.id}")
        elif event.outcome is Outcome.LOCK_WAIT:
            holder = f"held by T{event.other}" if event.other else "held"
            self._set(event.member, "waits for a lock", f"T{transaction.id}", holder)

    def on_rolled_back(self, event: Event) -> None:
        self._end(event)

    def on_prepared(self, event: Event) -> None:
        self._set(event.member, "binlog", f"T{event.transaction}", "prepared")

    def on_flushed(self, event: Event) -> None:
        if event.timestamp is not None and event.transaction is not None:
            self._stamps[event.member, event.transaction] = event.timestamp
        self._set(event.member, "binlog", f"T{event.transaction}", "flushed")

    def on_synced(self, event: Event) -> None:
        self._set(event.member, "binlog", f"T{event.transaction}", "synced")

    def on_acknowledged(self, event: Event) -> None:
        who = event.note or event.member
        self._set(event.member, "acknowledgements", f"T{event.transaction}", who)

    def on_wait_abandoned(self, event: Event) -> None:
        self._set(event.member, "acknowledgements", f"T{event.transaction}", "not waited for")

    def on_engine_committed(self, event: Event) -> None:
        transaction = self._transaction(event)
        written = self._written.get((event.member, transaction.id)) or transaction.write_set
        self._end(event)
        for item in sorted_items(frozenset(written)):
            self._set(event.member, "row versions", format_item(item), f"T{transaction.id}")
        if f"T{transaction.id}" in self._state.get((event.member, "binlog"), ()):
            self._set(event.member, "binlog", f"T{transaction.id}", "engine committed")
        executed = self._executed.setdefault(event.member, set())
        executed.add(transaction.id)
        self._set(event.member, "executed", "transactions", _list(sorted(executed)))
        self._raise_mark(event.member)

    def on_client_acknowledged(self, event: Event) -> None:
        self._set(event.member, "clients told", f"T{event.transaction}", event.session or "client")

    def on_read(self, event: Event) -> None:
        seen = ", ".join(
            f"{format_item(item)}={f'T{writer}' if writer else 'none'}"
            for item, writer in event.observed
        )
        self._set(event.member, "last read", event.session or "reader", seen or "nothing")

    def on_position_saved(self, event: Event) -> None:
        text = event.position or event.gtid_set or _list(event.transactions) or "nothing"
        self._set(event.member, "position saved", "up to", text)

    def on_rotated(self, event: Event) -> None:
        self._set(event.member, "low-water mark", "sequence_number", None)
        self._received.pop(event.member, None)

    def on_crashed(self, event: Event) -> None:
        self._clear(event.member, "under way", "row locks", "waits for a lock")
        self._received.pop(event.member, None)

    def on_recovered(self, event: Event) -> None:
        executed = self._executed.setdefault(event.member, set())
        executed.clear()
        executed.update(event.transactions)
        self._set(event.member, "executed", "transactions", _list(sorted(executed)) or "none")

    def _end(self, event: Event) -> None:
        number = self._transaction(event).id
        self._set(event.member, "waits for a lock", f"T{number}", None)
        for section in ("under way", "row locks"):
            for key, value in list(self._state.get((event.member, section), {}).items()):
                if value.partition(",")[0] == f"T{number}":
                    self._set(event.member, section, key, None)

    def _raise_mark(self, member: str) -> None:
        mark = None
        for number in self._received.get(member, ()):
            stamp = self._stamp_of(member, number)
            if stamp is None or number not in self._executed[member]:
                break
            mark = stamp.sequence_number
        if mark is not None:
            self._set(member, "low-water mark", "sequence_number", str(mark))


def _worker(event: Event) -> str:
    return "session" if event.worker is None else f"worker {event.worker}"


def _list(transactions: Sequence[TransactionId]) -> str:
    return ", ".join(f"T{one}" for one in transactions)


_HANDLERS: dict[EventKind, Callable[[_Teller, Event], None]] = {
    EventKind.DELIVERED: _Teller.on_delivered,
    EventKind.CERTIFIED: _Teller.on_certified,
    EventKind.GARBAGE_COLLECTED: _Teller.on_garbage_collected,
    EventKind.EXECUTED_SET_BROADCAST: _Teller.on_broadcast,
    EventKind.VIEW_INSTALLED: _Teller.on_view,
    EventKind.BEGUN: _Teller.on_begun,
    EventKind.ROW_APPLIED: _Teller.on_row_applied,
    EventKind.ROLLED_BACK: _Teller.on_rolled_back,
    EventKind.PREPARED: _Teller.on_prepared,
    EventKind.FLUSHED: _Teller.on_flushed,
    EventKind.SYNCED: _Teller.on_synced,
    EventKind.ACKNOWLEDGED: _Teller.on_acknowledged,
    EventKind.WAIT_ABANDONED: _Teller.on_wait_abandoned,
    EventKind.ENGINE_COMMITTED: _Teller.on_engine_committed,
    EventKind.CLIENT_ACKNOWLEDGED: _Teller.on_client_acknowledged,
    EventKind.READ: _Teller.on_read,
    EventKind.POSITION_SAVED: _Teller.on_position_saved,
    EventKind.RELAY_ROTATED: _Teller.on_rotated,
    EventKind.CRASHED: _Teller.on_crashed,
    EventKind.RECOVERED: _Teller.on_recovered,
}
