"""Abstraction of recorded MariaDB replicas: row locks one by one, and who gives way.

A touch shows that its row is locked, not when its worker asked for it. So each row of a lock set
follows a lock that only its own transaction takes, as late as the record allows. A rollback that no
recorded row explains is of a lock that no record shows, such as a gap: the last earlier
transaction that could want it did.
"""

from __future__ import annotations

from paraply.models.language.concrete import Table
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import Rows, first_of_batches, places_of, scope_of
from paraply.models.recorded.touched import parts
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History


def beginning(history: History, member: str, size: int) -> History:
    """Return the first ``size`` transactions that a member commits, or some more of a batch.

    No later transaction makes one of them roll back.
    """
    return next(parts(history, member, size))


def lock_queue(part: History) -> Recorded:
    """Read the beginning of a run for ``paraply/models/systems/lock_queue.py``."""
    reading = _Queue(part)
    for number, event in enumerate(part.events):
        reading.read(event, part.events[number + 1 :])
        if reading.ended:
            break
    log, orders, rows = part.transactions, reading.orders, reading.rows
    numbered = [
        (place, number, row) for place, order in enumerate(orders)
        for number, row in enumerate(order)
    ]  # fmt: skip
    at: Table = {(place, row): -1 for place in range(-1, len(log) + 2) for row in rows.all}
    at |= {(place, row): number for place, number, row in numbered}
    start: dict[str, Table] = {
        "first": first_of_batches(log) | {(-1,): -1},
        "size": {(place,): len(order) for place, order in enumerate(orders)},
        "row_at": {(place, number): row for place, number, row in numbered},
        "place": at,
        "ws": {(place, row): True for place, _, row in numbered if row in reading.written},
        "holder": {(row,): -1 for row in rows.all},
    }  # fmt: skip
    return Recorded(
        scope=scope_of(reading.places, rows), start=start, steps=tuple(reading.steps),
        ended=reading.ended,
    )  # fmt: skip


class _Queue:
    def __init__(self, part: History) -> None:
        self.places = places_of(part)
        self.rows = Rows()
        self.orders: list[list[str]] = [[] for _ in part.transactions]
        self.written: set[str] = set()
        for event in part.events:
            if event.kind is EventKind.ROW_APPLIED and event.transaction is not None:
                place = self.places[event.transaction]
                order = self.orders[place]
                for row in map(self.rows.name, sorted(event.items)):
                    self.written.add(row)
                    if row not in order:
                        order += [self.rows.name(f"asks {place} {len(order)}"), row]
        self.steps = [RecordedStep(actions=("queue",)) for _ in part.transactions]
        self.got = [0] * len(self.orders)
        self.holder: dict[str, int] = {}
        self.undone: set[int] = set()
        self.gaps: set[str] = set()
        self.gave_way = [0] * len(self.orders)
        self.reached = [0] * len(self.orders)
        self.ended = ""
        self.started = self.committed = 0

    def read(self, event: Event, later: tuple[Event, ...]) -> None:
        assert event.transaction is not None
        place = self.places[event.transaction]
        match event.kind:
            case EventKind.BEGUN:
                for one in range(self.started, place + 1):
                    self._step("start", p=one)
                self.started = max(self.started, place + 1)
                if self.gave_way[place] < event.attempt - 1:
                    # It begins again, and gave way to no other.
                    self.gave_way[place] += 1
                    self.steps.append(RecordedStep(actions=("call_back",), parameters={"p": place}))
            case EventKind.ROW_APPLIED:
                rows = [self.rows.name(item) for item in sorted(event.items)]
                for one in sorted(self.undone):
                    if one > place and self._must_give_way(one, rows, later):
                        self._lock_gap(one, place)
                if self.ended:
                    return
                for row in rows:
                    self._lock_up_to(place, row, later)
                while self.gaps.issuperset(self.orders[place][self.got[place] :][:1] or {""}):
                    self._lock_next(place)
            case EventKind.ROLLED_BACK:
                self.undone.add(place)
            case _:
                self._step("engine_commit", p=place)
                self.committed += 1
                self._free(place)

    def _step(self, action: str, **known: int) -> None:
        self.steps.append(RecordedStep(actions=(action,), parameters=known))

    def _free(self, place: int) -> None:
        self.holder = {row: one for row, one in self.holder.items() if one != place}

    def _lock_up_to(self, place: int, row: str, later: tuple[Event, ...]) -> None:
        """Lock all that precedes a row in its transaction's order, and the row."""
        while not self.ended and row not in self.orders[place][: self.got[place]]:
            wanted = self.orders[place][self.got[place]]
            holder = self.holder.get(wanted, -1)
            if holder in self.undone and place < holder:
                self._give_way(holder, place)
            elif holder in self.undone:
                self._gave_way_before(holder, wanted, later)
            else:
                # The model refuses this while another transaction holds the row.
                self._lock_next(place)

    def _gave_way_before(self, place: int, row: str, later: tuple[Event, ...]) -> None:
        """Let a transaction give way to an earlier one, before a later one gets its row."""
        self.undone.discard(place)
        earlier = self._earlier(place, later)
        for other in earlier:
            asked = self.orders[other][self.got[other] :][:2]
            if any(one != row and self.holder.get(one) == place for one in asked):
                if self.holder.get(asked[0]) != place:
                    self._lock_next(other)
                self._give_way(place, other)
                return
        if earlier:
            self._lock_gap(place, earlier[0])

    def _earlier(self, place: int, later: tuple[Event, ...]) -> list[int]:
        """Return the earlier transactions that touch rows, in this order, and did not give up."""
        touching = (
            self.places[event.transaction] for event in later
            if event.kind is EventKind.ROW_APPLIED and event.transaction is not None
        )  # fmt: skip
        return [one for one in touching if one < place and one not in self.undone]

    def _lock_next(self, place: int) -> None:
        self._step("lock_row", p=place)
        self._take(place)

    def _take(self, place: int) -> None:
        self.holder[self.orders[place][self.got[place]]] = place
        self.got[place] += 1
        self.reached[place] = max(self.reached[place], self.got[place])

    def _must_give_way(self, place: int, rows: list[str], later: tuple[Event, ...]) -> bool:
        """Return whether an earlier transaction that now locks ``rows`` is the last to want any."""
        own = {row for row, one in self.holder.items() if one == place}
        if own & {*rows}:
            return False
        for number, event in enumerate(later):
            other = -1 if event.transaction is None else self.places[event.transaction]
            if event.kind is EventKind.BEGUN and other == place:
                return True
            if event.kind is not EventKind.ROW_APPLIED:
                continue
            if other < place:
                return False
            if own & set(map(self.rows.name, event.items)):
                return not self._earlier(place, later[number:])
        return False

    def _lock_gap(self, place: int, other: int) -> None:
        """Let a transaction roll back for a lock that no record shows."""
        if any(self.got[one] < self.reached[one] for one in (place, other)):
            self.ended = "another attempt has passed the place of a lock that no record shows"
            return
        gap = self.rows.name(f"gap {len(self.steps)}")
        self.gaps.add(gap)
        self.orders[place].insert(self.got[place], gap)
        self.orders[other].insert(self.got[other], gap)
        self._lock_next(place)
        self._give_way(place, other)

    def _give_way(self, place: int, other: int) -> None:
        """Let a transaction roll back for another one, which then has the row that it asked for."""
        self.undone.discard(place)
        self.gave_way[place] += 1
        self._step("call_back", p=place, q=other)
        self._free(place)
        self.got[place] = 0
        self._take(other)
