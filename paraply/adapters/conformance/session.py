"""One run of an applier on one schedule, recorded as a history.

The schedule picks every answer, and so the order of begins, row changes and commits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from paraply.adapters.conformance.adversaries import Offer, OfferKind
from paraply.adapters.conformance.child import ApplierDiedError, ApplierSilentError
from paraply.adapters.conformance.messages import init_message, transaction_message
from paraply.adapters.conformance.protocol import Message, ProtocolError
from paraply.adapters.conformance.requests import REPLICA, Request, Requests, RunRecorder
from paraply.adapters.conformance.source import Entry, EntryKind, SourceLog
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History, HistoryHeader
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import Schedule, SeededSchedule
from paraply.vocabulary.transactions import Transaction

STEPS_MAX = 200_000
MESSAGES_AT_ONCE_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run.

    Attributes:
        workers: from 1.
        commit_order: whether commits must follow the log.
        crashes: maximum number of restarts.
        deadlocks: maximum number of victims, as of gap locks.
        patience: seconds before an applier without ``sync`` stalls.
    """

    workers: int = 4
    commit_order: bool = False
    crashes: int = 0
    deadlocks: int = 0
    patience: float = 1.0


class Process(Protocol):
    """A running applier process or rule."""

    last_lines: deque[str]
    has_spoken: bool

    def send(self, message: Message) -> None:
        """Send a message."""
        ...

    def receive(self, timeout: float | None = None) -> Message:
        """Return the next message."""
        ...

    def receive_until_idle(self) -> list[Message]:
        """Return messages until the applier needs an answer."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


P = TypeVar("P", bound=Process)


class Launcher(Protocol[P]):
    """Starts or resets the applier."""

    def start(self) -> P:
        """Return a process before ``init``."""
        ...

    def discard(self, process: P, *, can_reset: bool = False) -> None:
        """Keep a resettable process, kill others."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """A run's history and final process state.

    Attributes:
        fault: the protocol violation or process end, or empty.
        has_stalled: nothing could move before the end.
        is_proved: ``sync`` confirmed the stall.
        is_silent: an answer was missing.
        has_spoken: the process sent a message.
    """

    history: History
    fault: str = ""
    stderr: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    has_stalled: bool = False
    is_proved: bool = False
    is_silent: bool = False
    has_spoken: bool = True


class Session:
    """Runs an applier on one schedule."""

    def __init__(
        self, launcher: Launcher[Any], log: SourceLog, schedule: Schedule, options: RunOptions
    ) -> None:
        self.features: frozenset[str] = frozenset()
        self._launcher = launcher
        self._log = log
        self._schedule = schedule
        self._options = options
        self._recorder = RunRecorder()
        self._requests = Requests(log, self._recorder, lambda answer: self._process.send(answer))
        self._process: Process = launcher.start()
        self._queue: list[Entry] = list(log.entries)
        self._sent: dict[object, Transaction] = {}
        self._name = ""
        self._awaited = ""
        self._asked = 0
        self._has_ended = False
        self._checkpoint = 0
        self._crashes_left = options.crashes
        self._deadlocks_left = options.deadlocks
        self._next_message = 0

    def run(self) -> Run:
        """Run to an end, stall or violation."""
        fault = ""
        is_silent = False
        try:
            self._init(resume=None)
            self._loop()
        except (ProtocolError, ApplierDiedError, ApplierSilentError) as error:
            fault, is_silent = str(error), isinstance(error, ApplierSilentError)
        finally:
            is_well = self._has_ended and not fault
            self._launcher.discard(self._process, can_reset=is_well and "reset" in self.features)
        return Run(
            history=self._history(is_complete=not fault),
            fault=fault,
            stderr=tuple(self._process.last_lines),
            features=self.features,
            has_stalled=not fault and not self._has_ended,
            is_proved="sync" in self.features,
            is_silent=is_silent,
            has_spoken=self._process.has_spoken,
        )

    # The loop

    def _loop(self) -> None:
        for _ in range(STEPS_MAX):
            self._take_messages()
            if self._has_ended:
                self._on_ended()
                return
            offers = self._offers()
            if offers:
                self._recorder.next_step()
                self._schedule.choose(offers, "what happens next").take()
            elif not self._requests.time_out_a_lock() and not self._speaks_after_all():
                return
        raise ProtocolError(f"no end after {STEPS_MAX:,} steps")

    def _offers(self) -> list[Offer]:
        self._requests.give_places()
        offers = [
            _offer(OfferKind.ANSWER, request, self._answer)
            for request in self._requests.answerable()
        ]
        if not self._awaited:
            offers.append(Offer(OfferKind.DELIVER, self._deliver))
        if self._deadlocks_left:
            offers += [
                _offer(OfferKind.DEADLOCK, request, self._kill)
                for request in self._requests.victims()
            ]
        if self._crashes_left and (self._requests.open or self._requests.executed):
            offers.append(Offer(OfferKind.CRASH, self._crash))
        return offers

    def _answer(self, request: Request) -> None:
        is_begin = request.message["type"] == "begin"
        self._requests.answer(request, self._named(request.message) if is_begin else ())

    def _kill(self, request: Request) -> None:
        self._deadlocks_left -= 1
        self._requests.kill(request)

    def _deliver(self) -> None:
        if not self._queue:
            self._ask("end")
            return
        entry = self._queue.pop(0)
        if entry.kind is EntryKind.ROTATE:
            self._recorder.record(EventKind.RELAY_ROTATED, note=entry.file)
            self._process.send({"type": "rotate", "file": entry.file})
        elif entry.kind is EntryKind.DRAIN:
            self._ask("drain")
        else:
            assert entry.transaction is not None
            self._sent[entry.transaction.id] = entry.transaction
            self._recorder.record(EventKind.DELIVERED, transaction=entry.transaction.id)
            self._process.send(transaction_message(entry))

    def _ask(self, kind: str) -> None:
        self._awaited = kind
        self._asked = self._message_id()
        self._process.send({"type": kind, "msg_id": self._asked})

    # Messages in

    def _take_messages(self) -> None:
        if "sync" not in self.features:
            for message in self._process.receive_until_idle():
                self._on_message(message)
            return
        number = self._message_id()
        self._process.send({"type": "sync", "msg_id": number})
        for _ in range(MESSAGES_AT_ONCE_MAX):
            message = self._process.receive()
            if message["type"] == "sync_ok":
                if message["in_reply_to"] != number:
                    raise ProtocolError(f"sync_ok answers {message['in_reply_to']}, not {number}")
                return
            self._on_message(message)
        raise ProtocolError(f"more than {MESSAGES_AT_ONCE_MAX:,} messages at once")

    def _speaks_after_all(self) -> bool:
        if "sync" in self.features:
            return False
        try:
            self._on_message(self._process.receive(self._options.patience))
        except ApplierSilentError:
            return False
        return True

    def _on_message(self, message: Message) -> None:
        kind = str(message["type"])
        if kind in Requests.KINDS:
            self._requests.take(message)
        elif kind in ("drain_ok", "end_ok"):
            self._on_finished(kind, message["in_reply_to"])
        elif kind == "skip":
            self._recorder.record(EventKind.SKIPPED, worker=0, transaction=self._known(message).id)
        elif kind == "checkpoint":
            self._on_checkpoint(message["upto"])
        elif kind == "fail":
            self._recorder.record(
                EventKind.FAILED, transaction=self._known(message).id, note=str(message["reason"])
            )
        else:
            raise ProtocolError(f"'{kind}' is out of place here")

    def _on_finished(self, kind: str, number: object) -> None:
        if kind != f"{self._awaited}_ok":
            raise ProtocolError(f"'{kind}' was not asked for")
        if number != self._asked:
            raise ProtocolError(f"'{kind}' answers {number!r}, not {self._asked}")
        if self._requests.open or not self._requests.is_quiet:
            raise ProtocolError(f"'{kind}' although transactions are open")
        self._awaited = ""
        self._has_ended = kind == "end_ok"

    def _on_checkpoint(self, upto: object) -> None:
        assert isinstance(upto, int)
        if upto < self._checkpoint:
            raise ProtocolError(f"'checkpoint' falls from {self._checkpoint} to {upto}")
        self._checkpoint = upto
        covered = tuple(one.id for one in self._log.transactions if one.id <= upto)
        self._recorder.record(EventKind.POSITION_SAVED, transactions=covered)

    def _named(self, message: Message) -> tuple[Transaction, ...]:
        ids = message.get("txns", [message.get("txn")])
        if not isinstance(ids, list) or not ids:
            raise ProtocolError(f"'txns' is {ids!r}")
        return tuple(self._known({"txn": one}) for one in ids)

    def _known(self, message: Message) -> Transaction:
        wanted = message["txn"]
        if not isinstance(wanted, int) or wanted not in self._sent:
            raise ProtocolError(f"transaction {wanted!r} was not sent")
        return self._sent[wanted]

    # Start, crash, end

    def _init(self, resume: dict[str, object] | None) -> None:
        number = self._message_id()
        seed = self._schedule.seed if isinstance(self._schedule, SeededSchedule) else 0
        self._process.send(
            init_message(
                number,
                workers=self._options.workers,
                seed=seed,
                schemas=self._requests.database.tables.schemas,
                commit_order=self._options.commit_order,
                resume=resume,
            )
        )
        answer = self._process.receive()
        if answer["type"] != "init_ok" or answer["in_reply_to"] != number:
            raise ProtocolError(f"the answer to 'init' is '{answer['type']}'")
        features = answer["features"]
        assert isinstance(features, list)
        self.features = frozenset(map(str, features))
        self._requests.judges_net_rows = "net_rows" in self.features
        self._name = f"{answer['name']} {answer.get('version', '')}".strip()
        self._recorder.record(EventKind.STARTED)

    def _crash(self) -> None:
        self._crashes_left -= 1
        self._process.kill()
        self._requests.crash()
        self._sent.clear()
        self._awaited = ""
        self._recorder.record(EventKind.CRASHED)
        self._process = self._launcher.start()
        executed = tuple(sorted(self._requests.executed))
        self._recorder.record(EventKind.RECOVERED, transactions=executed)
        self._queue = _entries_after(self._log.entries, self._checkpoint)
        self._init(resume={"upto": self._checkpoint, "executed": list(executed)})

    def _on_ended(self) -> None:
        self._recorder.next_step()
        self._requests.read()
        expected = self._log.database.contents()
        found = self._requests.database.contents()
        for table in sorted(expected.keys() | found.keys()):
            differs = expected.get(table, ()) != found.get(table, ())
            outcome = Outcome.DIFFERENT if differs else Outcome.OK
            self._recorder.record(EventKind.COMPARED, outcome=outcome, note=table)
        self._recorder.record(EventKind.STOPPED)

    def _message_id(self) -> int:
        self._next_message += 1
        return self._next_message

    def _history(self, *, is_complete: bool) -> History:
        schedule = self._schedule
        return History(
            header=HistoryHeader(
                subject=self._name,
                seed=schedule.seed if isinstance(schedule, SeededSchedule) else None,
                program=format_program(encode_program(schedule.choices)),
                options={
                    "workers": self._options.workers,
                    "commit_order": self._options.commit_order,
                },
                schema=self._log.database.tables.schemas,
                members=(REPLICA,),
                tier=EvidenceTier.CONTROLLED_RUN,
                recorded_by="paraply conform",
            ),
            transactions=self._log.transactions,
            events=tuple(self._recorder.events),
            is_complete=is_complete,
        )


def _offer(kind: OfferKind, request: Request, act: Callable[[Request], None]) -> Offer:
    what = "change" if "change" in request.message else str(request.message["type"])
    return Offer(kind, partial(act, request), request.place, what, request.members)


def _entries_after(entries: Sequence[Entry], checkpoint: int) -> list[Entry]:
    position = 0
    for number, entry in enumerate(entries):
        if entry.transaction is not None and entry.transaction.id <= checkpoint:
            position = number + 1
    return list(entries[position:])
