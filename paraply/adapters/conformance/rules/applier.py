"""A single-threaded, deterministic applier around a scheduling rule.

It does everything possible after each message, so it answers ``sync`` at once.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TextIO

from paraply.adapters.conformance.rules.rule import Rule, Transaction

Message = Mapping[str, Any]
MakeRule = Callable[[Message], Rule]


class _Worker:
    def __init__(self, number: int) -> None:
        self.number = number
        self.transaction: Transaction | None = None
        self.steps: deque[dict[str, Any]] = deque()
        self.awaits = 0
        self.tries = 0


class RuleApplier:
    """Runs a rule."""

    offered: ClassVar[tuple[str, ...]] = (
        "ddl",
        "commit_order",
        "retry",
        "crash",
        "sync",
        "reset",
    )

    def __init__(self, make: MakeRule, output: TextIO) -> None:
        self._make = make
        self._output = output
        self._next_id = 0

    def on_message(self, message: Message) -> None:
        """Process one message of the harness."""
        handler = getattr(self, f"_on_{message['type']}")
        handler(message)
        if message["type"] not in ("init", "sync"):
            self._move()
        self._output.flush()

    def _on_init(self, message: Message) -> None:
        self.rule = self._make(message)
        resume = message["resume"]
        self._done = set() if resume is None else self.rule.resumes_at(resume)
        self._workers = {number: _Worker(number) for number in self.rule.queues}
        self._waiting: deque[Transaction] = deque()
        self._order: list[int] = []
        self._finish: Message | None = None
        self._has_failed = False
        self._file = 1
        self._last_received = 0 if resume is None else resume["upto"]
        features = {*self.offered, *self.rule.features}
        self._tell(
            type="init_ok",
            in_reply_to=message["msg_id"],
            name=self.rule.name,
            features=sorted(features),
        )

    def _on_txn(self, message: Message) -> None:
        transaction = Transaction(
            id=message["id"],
            lc=message["lc"],
            sn=message["sn"],
            commit_id=message["commit_id"],
            domain=message["domain"],
            session=message["session"],
            kind=message["kind"],
            keys=tuple(message["keys"]),
            reads=tuple(message["reads"]),
            rows=tuple(message["rows"]),
            schema=message["schema"],
            file=self._file,
        )
        self._last_received = transaction.id
        self.rule.on_received(transaction)
        if transaction.id in self._done:
            self.rule.committed.add(transaction.id)
            self.rule.on_committed(transaction)
            self._tell(type="skip", txn=transaction.id)
            return
        if self.rule.drops(transaction):
            return
        self._order.append(transaction.id)
        self._waiting.append(transaction)

    def _on_rotate(self, message: Message) -> None:
        self._file += 1
        self.rule.on_rotated(message["file"])

    def _on_sync(self, message: Message) -> None:
        self._tell(type="sync_ok", in_reply_to=message["msg_id"])

    def _on_end(self, message: Message) -> None:
        self._finish = message

    _on_drain = _on_end

    def _on_ok(self, message: Message) -> None:
        for worker in self._workers.values():
            if worker.awaits == message["in_reply_to"]:
                worker.awaits = 0
                self._on_answer(worker, message)

    _on_error = _on_ok

    # Moving on

    def _move(self) -> None:
        while not self._has_failed and (self._place_next() or self._step_any()):
            pass
        finish = self._finish
        if finish is not None and not self._order and not self._has_failed:
            self._finish = None
            self._tell(type=f"{finish['type']}_ok", in_reply_to=finish["msg_id"])

    def _place_next(self) -> bool:
        if not self._waiting:
            return False
        worker = self.rule.place(self._waiting[0])
        if worker is None:
            return False
        self.rule.queues[worker].append(self._waiting.popleft())
        return True

    def _step_any(self) -> bool:
        moved = False
        for worker in self._workers.values():
            if not worker.awaits and self._step(worker):
                moved = True
        return moved

    def _step(self, worker: _Worker) -> bool:
        if worker.transaction is None:
            queue = self.rule.queues[worker.number]
            if not queue:
                return False
            worker.transaction = queue[0]
            worker.tries = 0
            self._plan(worker)
        transaction = worker.transaction
        step = worker.steps[0]
        if step["type"] == "commit" and not self.rule.may_commit(transaction, self._order):
            return False
        worker.steps.popleft()
        self._next_id += 1
        worker.awaits = self._next_id
        worker_fields = {"worker": worker.number, "txn": transaction.id}
        self._tell(msg_id=self._next_id, **worker_fields, **step)
        return True

    def _plan(self, worker: _Worker) -> None:
        transaction = worker.transaction
        assert transaction is not None
        changes: list[dict[str, Any]] = [
            {"type": "row", "i": row} if isinstance(row, int) else {"type": "row", "change": row}
            for row in self.rule.rows_of(transaction)
        ]
        if transaction.kind == "ddl":
            changes = [{"type": "execute"}]
        worker.steps = deque([{"type": "begin"}, *changes, {"type": "commit"}])

    def _on_answer(self, worker: _Worker, answer: Message) -> None:
        transaction = worker.transaction
        assert transaction is not None
        if self.rule.is_refused(answer):
            self._on_refused(worker, transaction, answer)
        elif not worker.steps:
            self._on_committed(worker, transaction)

    def _on_refused(self, worker: _Worker, transaction: Transaction, answer: Message) -> None:
        errno = answer.get("errno", 0)
        worker.tries += 1
        if self.rule.retries(errno) and worker.tries <= self.rule.retries_max:
            self._plan(worker)
            return
        self._has_failed = True
        reason = answer.get("message", "a row was not there")
        self._tell(type="fail", txn=transaction.id, reason=reason)

    def _on_committed(self, worker: _Worker, transaction: Transaction) -> None:
        worker.transaction = None
        self.rule.queues[worker.number].remove(transaction)
        self.rule.committed.add(transaction.id)
        self._order.remove(transaction.id)
        self.rule.on_committed(transaction)
        upto = self.rule.checkpoint(self._order, self._last_received)
        if upto is not None:
            self._tell(type="checkpoint", upto=upto)

    def _tell(self, **message: Any) -> None:
        self._output.write(json.dumps(message) + "\n")


def serve(make: MakeRule) -> None:
    """Serve the protocol until standard input ends."""
    applier = RuleApplier(make, sys.stdout)
    for line in sys.stdin:
        applier.on_message(json.loads(line))
