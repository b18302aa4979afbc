"""One run of a program on one schedule.

Offers are ordered by content, never by connection, because chance decides which thread takes which
transaction.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from paraply.adapters.conformance.adversaries import Offer, OfferKind
from paraply.adapters.wire.answers import Answer
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.connection import Connection, Door
from paraply.adapters.wire.gate import Gate
from paraply.adapters.wire.locks import LockMonitor
from paraply.adapters.wire.program import Program
from paraply.adapters.wire.rest import RestWatch
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionId

WORKERS = 8
"""Classes of transactions that a schedule may starve or rank."""
PATIENCE_S = 0.5
_STEPS_MAX = 20_000
_BUSY_S_MAX = 1.0
_LOGIN_S_MAX = 10.0
_RESTARTS_MAX = 3
_PUMP_S = 0.01
_READY_S_MAX = _START_S_MAX = 300.0


class Fault(Enum):
    """Faults on the wire."""

    DEADLOCK = "deadlock"
    """Error 1213 after a rollback at the server."""
    LOCK_TIMEOUT = "lock-timeout"
    """Error 1205; the transaction stays open."""
    LOST_BEFORE = "lost-before"
    """The connection is lost before the server gets the command."""
    LOST_AFTER = "lost-after"
    """The connection is lost after COMMIT, before its answer."""
    KILL = "kill"
    """SIGKILL and a new start."""


@dataclass(slots=True, kw_only=True)
class WireRun:
    """What the gate saw.

    Attributes:
        forced: rests after a limit: a spinning program, or a server that did not answer.
        delivered: groups of the log sent at least once.
        overlapped: two transactions were open at the same time.
        exit_code: of the last process; None if it waited for more log.
        gave_up: why the program did not go on; empty otherwise.
    """

    trace: list[str] = field(default_factory=list)
    forced: int = 0
    faults: int = 0
    delivered: int = 0
    blocked: int = 0
    overlapped: bool = False
    restarts: int = 0
    exit_code: int | None = None
    gave_up: str = ""
    stderr: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """What happens once a program that prepares itself is ready.

    Attributes:
        when: what the program writes when it is ready, and reads the log.
        load: writes the case's transactions at the server.
        rule: becomes active.
    """

    when: re.Pattern[str]
    load: Callable[[], None]
    rule: HoldRule


class Conductor:
    """Lets a schedule choose what happens next, until nothing more can happen.

    ``groups`` is 0 for a program that reads no log.
    """

    def __init__(
        self,
        gate: Gate,
        program: Program,
        monitor: LockMonitor,
        schedule: Schedule,
        *,
        groups: int,
        drains: frozenset[int] = frozenset(),
        faults: tuple[Fault, ...] = (),
        patience_s: float = PATIENCE_S,
        begin: Begin | None = None,
    ) -> None:
        self._gate = gate
        self._program = program
        self._monitor = monitor
        self._schedule = schedule
        self._groups = groups
        self._drains = drains
        self._faults_left = list(faults)
        self._patience_s = patience_s
        self._begin = begin
        self._has_to_read = True
        self.run = WireRun()

    def conduct(self) -> WireRun:
        """Run the program to its end."""
        self._program.start()
        try:
            if self._begin is not None and not self._is_ready(self._begin):
                return self.run
            for _ in range(_STEPS_MAX):
                self._settle()
                offers = self._offers()
                if offers:
                    self._note_overlap()
                    self._schedule.choose(offers).take()
                elif not self._goes_on():
                    break
            else:
                self.run.gave_up = f"it had not ended after {_STEPS_MAX:,} steps"
        finally:
            self.run.exit_code = self._program.exit_code
            self._program.kill()
            self.run.stderr = self._program.last_lines()
        return self.run

    def _is_ready(self, begin: Begin) -> bool:
        """Wait until the program reads the log and says that it is ready, then begin."""
        ends = time.monotonic() + _READY_S_MAX
        while time.monotonic() < ends and (self._program.is_running or self._gate.connections):
            self._gate.pump(_PUMP_S)
            is_read = any(one.dump is not None for one in self._gate.connections)
            if is_read and begin.when.search(self._program.output()):
                self._settle()
                begin.load()
                begin.rule.is_active = True
                return True
        said = self._program.last_lines(1)
        self.run.gave_up = "the program did not become ready" + (f": {said[0]}" if said else "")
        return False

    def _goes_on(self) -> bool:
        """Wait for timers; restart a program that has failed after a fault.

        The wait is prolonged while a program that has not read the log yet works.
        """
        started = time.monotonic()
        ends = started + self._patience_s
        watch = RestWatch()
        before = self._gate.progress
        while time.monotonic() < ends:
            if not self._program.is_running and not self._gate.connections:
                break
            if self._is_starting and watch.state_of(self._program.pid) != "rests":
                ends = min(time.monotonic() + self._patience_s, started + _START_S_MAX)
            if self._gate.pump(_PUMP_S) and (self._gate.progress > before or self._offers()):
                return True
        if self._program.is_running:
            return False
        code = self._program.exit_code
        if code == 0 and self.run.delivered >= self._groups:
            return False
        ended = f"the program ended with exit code {code}"
        if code == 0:
            ended += f" after {self.run.delivered} of {self._groups} transactions"
        if not self.run.faults:
            self.run.gave_up = f"{ended}, without an injected fault"
        elif self.run.restarts >= _RESTARTS_MAX:
            self.run.gave_up = f"{ended} again after {_RESTARTS_MAX} new starts"
        else:
            self.run.restarts += 1
            self.run.trace.append(f"start again: {ended}")
            self._start_again()
            return True
        return False

    @property
    def _is_starting(self) -> bool:
        is_read = any(one.dump is not None for one in self._gate.connections)
        return bool(self._groups and self._has_to_read and not is_read and self._program.is_running)

    def _settle(self) -> None:
        watch = RestWatch()
        started = time.monotonic()
        while True:
            if self._gate.pump(watch.pause_s()):
                watch.restart()
                continue
            if self._gate.is_connecting and time.monotonic() - started < _LOGIN_S_MAX:
                continue
            if self._waits_for_server():
                continue
            if self._gate.awaits_log and time.monotonic() - started < _BUSY_S_MAX:
                continue
            state = watch.state_of(self._program.pid) if self._program.is_running else "rests"
            if state == "rests":
                return
            if state == "spins":
                self.run.forced += 1
                return

    def _waits_for_server(self) -> bool:
        busy = self._gate.busy
        if not busy:
            return False
        waiting = self._monitor.waiting()
        for one in busy:
            if one.thread_id in waiting and not one.was_blocked:
                one.was_blocked = True
                self.run.blocked += 1
        free = [one for one in busy if one.thread_id not in waiting]
        if not free:
            return False
        if time.monotonic() - min(one.sent_at for one in free) < _BUSY_S_MAX:
            return True
        self.run.forced += 1
        return False

    def _note_overlap(self) -> None:
        under_way = [one for one in self._gate.connections if one.path or one.head is not None]
        self.run.overlapped = self.run.overlapped or len(under_way) > 1

    def _offers(self) -> list[Offer]:
        plain: list[tuple[int, str, Offer]] = []
        deliveries: list[tuple[int, str, Offer]] = []
        faults: list[tuple[int, str, Offer]] = []
        for one in self._gate.connections:
            head = one.head
            if one.held_answer is not None:
                text = f"answer of {one.sent_key}"
                plain.append((1, text, self._offer(one, text, self._release_answer)))
            elif head is not None and one.holds(head):
                text = one.key(head.text)
                plain.append((0, text, self._offer(one, text, self._release)))
                faults += self._faults_at(one, text)
            elif one.dump is not None and one.dump.remaining:
                number = one.dump.remaining[0].number
                text = f"transaction {number} of the log"
                take = self._taking(one, text, self._deliver)
                if number not in self._drains or not self._gate.has_transactions:
                    offer = Offer(OfferKind.DELIVER, take, members=(TransactionId(number),))
                    deliveries.append((2, text, offer))
        plain += deliveries
        if not plain:
            return []
        if Fault.KILL in self._faults_left:
            faults.append((9, "kill", Offer(OfferKind.CRASH, self._kill)))
        return [offer for _, _, offer in [*_sorted(plain), *_sorted(faults)]]

    def _faults_at(self, one: Connection, text: str) -> list[tuple[int, str, Offer]]:
        head = one.head
        assert head is not None
        is_autocommit = not one.in_transaction and not head.ends_transaction
        fits = {
            Fault.DEADLOCK: not head.ends_transaction or head.is_commit,
            Fault.LOCK_TIMEOUT: not head.ends_transaction,
            Fault.LOST_BEFORE: True,
            Fault.LOST_AFTER: head.is_commit or is_autocommit,
        }
        inject: dict[Fault, Callable[[Connection], None]] = {
            Fault.DEADLOCK: self._deadlock,
            Fault.LOCK_TIMEOUT: self._lock_timeout,
            Fault.LOST_BEFORE: self._lose_before,
            Fault.LOST_AFTER: self._lose_after,
        }
        found = []
        for order, (fault, does_fit) in enumerate(fits.items()):
            if does_fit and fault in self._faults_left:
                words = f"{fault.value} at {text}"
                offer = self._offer(one, words, inject[fault], OfferKind.DEADLOCK)
                found.append((order, words, offer))
        return found

    def _offer(
        self,
        one: Connection,
        text: str,
        take: Callable[[Connection], None],
        kind: OfferKind = OfferKind.ANSWER,
    ) -> Offer:
        content = zlib.crc32((one.path[0] if one.path else text).encode())
        place = 1 + content % WORKERS
        transaction = TransactionId(1 + content % max(1, self._groups))
        return Offer(kind, self._taking(one, text, take), place, members=(transaction,))

    def _taking(
        self, one: Connection, text: str, take: Callable[[Connection], None]
    ) -> Callable[[], None]:
        def do() -> None:
            self.run.trace.append(text)
            take(one)

        return do

    def _release(self, one: Connection) -> None:
        one.release()

    def _release_answer(self, one: Connection) -> None:
        one.release_answer()

    def _deliver(self, one: Connection) -> None:
        dump = one.dump
        assert dump is not None
        self._has_to_read = False
        self.run.delivered = max(self.run.delivered, dump.remaining[0].number)
        one.deliver(dump.take())
        if not dump.remaining:
            one.end_of_log()

    def _deadlock(self, one: Connection) -> None:
        self._use(Fault.DEADLOCK)
        one.refuse_with_rollback(
            1213, "40001", "Deadlock found when trying to get lock; try restarting transaction"
        )

    def _lock_timeout(self, one: Connection) -> None:
        self._use(Fault.LOCK_TIMEOUT)
        one.refuse(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")

    def _lose_before(self, one: Connection) -> None:
        self._use(Fault.LOST_BEFORE)
        self._lose([one])

    def _lose_after(self, one: Connection) -> None:
        self._use(Fault.LOST_AFTER)

        def lose(_: Answer) -> None:
            self._lose([one])

        one.release(lose)

    def _kill(self) -> None:
        self._use(Fault.KILL)
        self.run.trace.append("kill -9, and a new start")
        self._start_again()

    def _start_again(self) -> None:
        self._program.kill()
        self._lose(list(self._gate.connections))
        self._has_to_read = self.run.delivered < self._groups
        self._program.start()

    def _use(self, fault: Fault) -> None:
        self._faults_left.remove(fault)
        self.run.faults += 1

    def _lose(self, lost: list[Connection]) -> None:
        threads = frozenset(one.thread_id for one in lost)
        for one in lost:
            self._gate.drop(one)
        self._monitor.wait_until_gone(threads)


def _sorted(offers: list[tuple[int, str, Offer]]) -> list[tuple[int, str, Offer]]:
    return sorted(offers, key=lambda one: one[:2])


def addresses_of(gate: Gate, user: str) -> dict[str, str]:
    """Return the words that stand for addresses in the program's command."""
    found = {"user": user, "password": ""}
    for door in Door:
        host, port = gate.address(door)
        found[f"{door.value}_dsn"] = f"mysql://{user}@{host}:{port}/"
        found[f"{door.value}_host"] = host
        found[f"{door.value}_port"] = str(port)
    return found
