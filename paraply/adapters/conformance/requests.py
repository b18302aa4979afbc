"""Workers' database requests: begin, rows, commit.

A request waits for the schedule and for locks; one that closes a cycle of waits becomes the
deadlock victim. Which thread of a program takes a transaction is chance, so requests are ordered by
transaction, and a history has places instead of the program's worker numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from paraply.adapters.conformance.database import ERRNO, Applied, Database
from paraply.adapters.conformance.locks import closes_a_cycle
from paraply.adapters.conformance.messages import change_of
from paraply.adapters.conformance.protocol import Message, ProtocolError
from paraply.adapters.conformance.source import SourceLog
from paraply.vocabulary.events import Event, EventKind, Observation, Outcome
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items

REPLICA = "replica"
LOCK_TIMEOUTS_MAX = 8
"""More time-outs in a run are a stall."""
_NOTE_CHARACTERS_MAX = 200
_READS_MAX = 50


class RunRecorder:
    """Records the replica's events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._now = 0

    def next_step(self) -> None:
        """Advance to the next step."""
        self._now += 1

    def record(self, kind: EventKind, *, note: str = "", **fields: Any) -> None:
        """Add an event."""
        self.events.append(
            Event(
                kind,
                LogicalTime(self._now),
                member=REPLICA,
                note=note[:_NOTE_CHARACTERS_MAX],
                **fields,
            )
        )


@dataclass(slots=True)
class Attempt:
    """A worker's open database transaction for logged transactions."""

    holder: int
    transactions: tuple[Transaction, ...]
    number: int
    worker: int
    place: int
    written: dict[TransactionId, set[Item]] = field(default_factory=dict)
    changes: list[RowWrite] = field(default_factory=list)

    def member(self, message: Message) -> Transaction:
        """Return the message's transaction; ``ProtocolError`` if foreign."""
        for transaction in self.transactions:
            if transaction.id == message.get("txn"):
                return transaction
        raise ProtocolError(
            f"worker {self.worker} speaks of transaction {message.get('txn')!r}, "
            f"it has {self.transactions[0].id} open"
        )


@dataclass(slots=True)
class Request:
    """A request without an answer yet."""

    message: Message
    worker: int
    members: tuple[TransactionId, ...]
    """Transactions that it concerns, as far as they are known."""
    place: int = 0
    """The lowest number from 1 that no other worker has; kept until the transaction ends."""
    is_blocked: bool = False


class Requests:
    """All workers' requests and open database transactions."""

    KINDS = ("begin", "row", "execute", "commit", "rollback")

    def __init__(
        self, log: SourceLog, recorder: RunRecorder, reply: Callable[[dict[str, object]], None]
    ) -> None:
        self.database = Database(log.target_schema)
        self.executed: dict[TransactionId, None] = {}
        self.open: dict[int, Attempt] = {}
        self.judges_net_rows = False
        self._log = log
        self._recorder = recorder
        self._reply_with = reply
        self._pending: dict[int, Request] = {}
        self._attempt_numbers: dict[TransactionId, int] = {}
        self._newest: dict[Item, TransactionId] = {}
        self._waits: dict[int, frozenset[int]] = {}
        self._holders = 0
        self._lock_timeouts = 0
        transactions = log.transactions
        self._commits_per_read = 1 + len(transactions) // _READS_MAX
        self._items_read = sorted_items(
            frozenset(item for one in transactions for item in one.write_set)
        )

    @property
    def is_quiet(self) -> bool:
        """Return whether no request is pending."""
        return not self._pending

    def take(self, message: Message) -> None:
        """Accept a request; ``ProtocolError`` if untimely."""
        kind, worker = message["type"], message["worker"]
        assert isinstance(worker, int)
        if worker < 1:
            raise ProtocolError(f"worker {worker} is not 1 or more")
        if worker in self._pending:
            raise ProtocolError(f"worker {worker} asks '{kind}' before its last answer")
        if (kind == "begin") == (worker in self.open):
            where = "inside" if kind == "begin" else "outside"
            raise ProtocolError(f"worker {worker} asks '{kind}' {where} of a transaction")
        place = 0
        if kind == "begin":
            named = message.get("txns", [message.get("txn")])
            assert isinstance(named, list)
            members = tuple(TransactionId(one) for one in named if isinstance(one, int))
        else:
            attempt = self.open[worker]
            members, place = tuple(one.id for one in attempt.transactions), attempt.place
        self._pending[worker] = Request(message, worker, members, place)

    def give_places(self) -> None:
        """Give the workers of new requests their places, once all of these are there."""
        new = [one for one in self._pending.values() if not one.place]
        if not new:
            return
        taken = {one.place for one in self._pending.values()}
        taken |= {one.place for one in self.open.values()}
        free = (place for place in itertools.count(1) if place not in taken)
        for request, place in zip(_in_order(new), free, strict=False):
            request.place = place

    def answerable(self) -> list[Request]:
        """Return the answerable requests, by transaction."""
        return _in_order(one for one in self._pending.values() if not one.is_blocked)

    def answer(self, request: Request, named: tuple[Transaction, ...]) -> None:
        """Execute a request on transactions ``named``."""
        match request.message["type"]:
            case "begin":
                self._on_begin(request, named)
            case "row":
                self._on_row(request)
            case "execute":
                self._on_execute(request)
            case "commit":
                self._on_commit(request)
            case _:
                self._roll_back(self.open.pop(request.worker), "asked for")
                self._reply(request, type="ok")

    def victims(self) -> list[Request]:
        """Return the possible deadlock victims."""
        return [one for one in self.answerable() if one.message["type"] == "row"]

    def kill(self, request: Request) -> None:
        """Roll back and answer with error 1213."""
        self._sacrifice(request, Outcome.DEADLOCK, "Deadlock found")

    def time_out_a_lock(self) -> bool:
        """Answer a blocked request, if any, with error 1205."""
        blocked = _in_order(one for one in self._pending.values() if one.is_blocked)
        if not blocked or self._lock_timeouts >= LOCK_TIMEOUTS_MAX:
            return False
        self._lock_timeouts += 1
        self._recorder.next_step()
        self._sacrifice(blocked[0], Outcome.LOCK_WAIT, "Lock wait timeout exceeded")
        return True

    def crash(self) -> None:
        """Drop requests and undo open transactions."""
        self.database.crash()
        self._pending.clear()
        self.open.clear()
        self._waits.clear()

    def read(self) -> None:
        """Record a reader's snapshot."""
        newest = self._newest
        observed = tuple(
            Observation(item, newest.get(item, INITIAL_STATE)) for item in self._items_read
        )
        self._recorder.record(EventKind.READ, session="reader", observed=observed)

    # Incoming requests

    def _on_begin(self, request: Request, transactions: tuple[Transaction, ...]) -> None:
        self._holders += 1
        number = 1 + max(self._attempt_numbers.get(one.id, 0) for one in transactions)
        attempt = Attempt(self._holders, transactions, number, request.worker, request.place)
        for one in transactions:
            self._attempt_numbers[one.id] = number
            self._record(EventKind.SCHEDULED if number == 1 else EventKind.RETRIED, attempt, one)
            self._record(EventKind.BEGUN, attempt, one)
        self.open[request.worker] = attempt
        self._reply(request, type="ok")

    def _on_row(self, request: Request) -> None:
        attempt = self.open[request.worker]
        transaction = attempt.member(request.message)
        index, change = _change(request.message, transaction)
        items = self._log.items_of(change)
        applied = self.database.apply(attempt.holder, change)
        self._record(
            EventKind.ROW_APPLIED,
            attempt,
            transaction,
            outcome=applied.outcome,
            row=index,
            items=items,
            other=self._holder_among(applied),
            note=applied.note,
        )
        if applied.outcome is Outcome.OK:
            attempt.written.setdefault(transaction.id, set()).update(items)
            attempt.changes.append(change)
        self._conclude(request, attempt, applied)

    def _on_execute(self, request: Request) -> None:
        attempt = self.open[request.worker]
        transaction = attempt.member(request.message)
        applied = self.database.execute(attempt.holder, transaction.statement)
        self._record(
            EventKind.ROW_APPLIED,
            attempt,
            transaction,
            outcome=applied.outcome,
            other=self._holder_among(applied),
            note=applied.note or "ddl",
        )
        self._conclude(request, attempt, applied)

    def _conclude(self, request: Request, attempt: Attempt, applied: Applied) -> None:
        if applied.outcome is Outcome.OK:
            self._reply(request, type="ok", affected=1)
        elif applied.outcome is Outcome.LOCK_WAIT:
            request.is_blocked = True
            self._waits[attempt.holder] = applied.holders
            if closes_a_cycle(self._waits, attempt.holder):
                self._sacrifice(request, Outcome.DEADLOCK, "Deadlock found")
        elif applied.outcome is Outcome.MISSING_BEFORE_IMAGE:
            # A statement without a matching row succeeds with 0 affected rows.
            self._reply(request, type="ok", affected=0)
        else:
            self._refuse(request, applied.outcome, applied.note or applied.outcome.value)

    def _on_commit(self, request: Request) -> None:
        attempt = self.open[request.worker]
        attempt.member(request.message)
        del self.open[request.worker]
        self.database.engine_commit(attempt.holder)
        self._complete_net_rows(attempt)
        for one in attempt.transactions:
            self.executed[one.id] = None
            written = attempt.written.get(one.id, ()) if one.rows else one.write_set
            self._newest.update(dict.fromkeys(written, one.id))
            self._record(EventKind.ENGINE_COMMITTED, attempt, one)
        self._free(attempt.holder)
        # A long log has readers for some commits only: each snapshot contains every row.
        if len(self.executed) % self._commits_per_read == 0:
            self.read()
        self._reply(request, type="ok")

    def _complete_net_rows(self, attempt: Attempt) -> None:
        if not self.judges_net_rows or any(one.statement for one in attempt.transactions):
            return
        wanted = [row for one in attempt.transactions for row in one.rows]
        if net_effect(attempt.changes) != net_effect(wanted):
            return
        for one in attempt.transactions:
            attempt.written.setdefault(one.id, set()).update(one.write_set)
            for row in range(len(one.rows)):
                note = "in the net effect"
                self._record(
                    EventKind.ROW_APPLIED, attempt, one, outcome=Outcome.OK, row=row, note=note
                )

    def _sacrifice(self, request: Request, outcome: Outcome, message: str) -> None:
        self._roll_back(self.open.pop(request.worker), message)
        self._refuse(request, outcome, f"{message}; try restarting transaction")

    def _roll_back(self, attempt: Attempt, note: str) -> None:
        self.database.roll_back(attempt.holder)
        for one in attempt.transactions:
            self._record(EventKind.ROLLED_BACK, attempt, one, note=note)
        self._free(attempt.holder)

    def _free(self, holder: int) -> None:
        self._waits.pop(holder, None)
        for worker, request in self._pending.items():
            attempt = self.open.get(worker)
            if attempt is not None and holder in self._waits.get(attempt.holder, ()):
                request.is_blocked = False
                del self._waits[attempt.holder]

    def _refuse(self, request: Request, outcome: Outcome, message: str) -> None:
        self._reply(request, type="error", errno=ERRNO[outcome], message=message)

    def _reply(self, request: Request, **answer: object) -> None:
        self._pending.pop(request.worker, None)
        self._reply_with({**answer, "in_reply_to": request.message["msg_id"]})

    def _holder_among(self, applied: Applied) -> TransactionId | None:
        for attempt in self.open.values():
            if attempt.holder in applied.holders:
                return attempt.transactions[0].id
        return None

    def _record(
        self, kind: EventKind, attempt: Attempt, transaction: Transaction, **fields: Any
    ) -> None:
        self._recorder.record(
            kind,
            worker=attempt.place,
            transaction=transaction.id,
            attempt=attempt.number,
            **fields,
        )


def _in_order(requests: Iterable[Request]) -> list[Request]:
    return sorted(requests, key=lambda one: (one.members, one.worker))


def net_effect(changes: Iterable[RowWrite]) -> dict[tuple[str, str], int]:
    """Return rows added (positive) and removed (negative), by table and image."""
    found: Counter[tuple[str, str]] = Counter()
    for change in changes:
        for image, count in ((change.before, -1), (change.after, 1)):
            if image is not None:
                found[change.table, repr(image)] += count
    return {row: count for row, count in found.items() if count}


def _change(message: Message, transaction: Transaction) -> tuple[int | None, RowWrite]:
    rows = transaction.rows
    if "change" in message:
        change = change_of(message["change"])
        return (rows.index(change) if change in rows else None), change
    index = message.get("i")
    if not isinstance(index, int) or not 0 <= index < len(rows):
        raise ProtocolError(f"transaction {transaction.id} has no row {index!r}")
    return index, rows[index]
