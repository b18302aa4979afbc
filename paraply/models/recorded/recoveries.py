"""What a history says of a replica that crashes, stops and starts.

The systems (``paraply/models/systems/restart.py``, ``auto_position.py``) read one relay log in its
order, and commit each transaction by itself; ``lacking`` names what is different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from paraply.models.recorded import replicas
from paraply.models.recorded.following import Recorded
from paraply.models.recorded.naming import BY_RECOVERY, places_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind

_BEGINS = frozenset({EventKind.CRASHED, EventKind.STARTED})
_ENDS = _BEGINS | {EventKind.STOPPED, EventKind.FAILED}
NON_TRANSACTIONAL = "non_transactional"
"""Flag of a transaction that saves its position afterwards."""


def domains(history: History) -> Iterator[History]:
    """Yield what a history says of each domain, which has a log and a position of its own."""
    names = dict.fromkeys(one.domain for one in history.transactions)
    for domain in names:
        those = tuple(one for one in history.transactions if one.domain == domain)
        known = {one.id for one in those}
        events = (
            event._replace(
                transactions=tuple(one for one in event.transactions if one in known),
                gtid_set=_of_domain(domain, event.gtid_set),
            )
            for event in history.events
            if event.transaction is None or event.transaction in known
        )
        is_one = len(names) == 1
        yield history if is_one else replace(history, transactions=those, events=tuple(events))


def _of_domain(domain: int | None, position: str) -> str:
    gtids = position.replace(" ", "").split(",")
    return ",".join(one for one in gtids if one.startswith(f"{domain}-"))


def of_each_domain(
    reading: Callable[[History], Recorded],
) -> Callable[[History], Iterator[Recorded]]:
    """Return the reading of each domain."""
    return lambda history: map(reading, domains(history))


def whole(history: History) -> Recorded:
    """Read a run at whose end nothing is in progress, if the replica has stopped."""
    ends = [event.kind for event in history.events if event.kind in _ENDS]
    if ends[-1:] != [EventKind.STOPPED]:
        return replicas.restart(history)
    done = {event.transaction for event in history.events_of(EventKind.ENGINE_COMMITTED)}
    left = next((one.id for one in history.transactions if one.id not in done), None)
    ended = "" if left is None else f"the replica stopped for good without T{left}"
    return replace(replicas.at_rest(history), ended=ended)


def by_position(history: History) -> Recorded:
    """Read a run whose starts, stops and readers state the saved position."""
    covers = {one.gtid: place + 1 for place, one in enumerate(history.transactions)}
    return replicas.restart(history, {"": 0, **covers})


def lacking(history: History) -> Iterator[str]:
    """Yield why a history is not of one relay log that is read in its order."""
    for part in domains(history):
        yield from _lacking(part)


def _lacking(history: History) -> Iterator[str]:
    if EventKind.CERTIFIED in history.kinds:
        yield "members certify what they apply, and have no relay log"
    is_scheduled = EventKind.SCHEDULED in history.kinds
    reads = {EventKind.SKIPPED, EventKind.SCHEDULED if is_scheduled else EventKind.BEGUN}
    if len({event.member for event in history.events if event.kind in reads}) > 1:
        yield "events of several replicas"
    places = places_of(history)
    begun, last, done = set[int](), -1, set[int]()
    for event in history.events:
        one = event.transaction
        if event.kind in _BEGINS:
            begun, last = set(), -1
        elif event.kind is EventKind.RECOVERED and not done <= {*event.transactions}:
            yield "a crash takes what had committed"
        elif one is None:
            continue
        elif event.kind in reads and event.attempt == 1:
            if event.note or event.transactions:
                yield f"T{one} is {event.note or 'merged with others'}"
            if one in begun:
                yield f"T{one} comes in parts"
            if places[one] < last:
                yield f"T{one} begins after one that is later in the log"
            begun.add(one)
            last = max(last, places[one])
        elif event.kind is EventKind.ENGINE_COMMITTED:
            done.add(one)
            if one not in begun and event.note != BY_RECOVERY:
                yield f"engine_committed of T{one} before it begins"


def lacking_position(history: History) -> Iterator[str]:
    """Yield why a history does not show positions that are saved with the data."""
    yield from lacking(history)
    for part in domains(history):
        yield from _lacking_position(part)


def _lacking_position(history: History) -> Iterator[str]:
    gtids = [one.gtid for one in history.transactions]
    stated = {event.gtid_set for event in history.events if event.kind in replicas.STATES_POSITION}
    if not all(gtids) or len({*gtids}) < len(gtids):
        yield "transactions without GTIDs of their own"
    if not stated - {""}:
        yield "no start and no stop states a position"
    if not stated <= {"", *gtids}:
        yield "a position that is no transaction of the log"
    apart = {
        event.transaction
        for event in history.events_of(EventKind.ENGINE_COMMITTED)
        if event.note not in ("", BY_RECOVERY)
    }
    for one in history.transactions:
        is_ddl = one.kind is not TransactionKind.ROWS
        if is_ddl or NON_TRANSACTIONAL in one.flags or one.id in apart:
            yield f"T{one.id} is DDL or of an engine without transactions"
