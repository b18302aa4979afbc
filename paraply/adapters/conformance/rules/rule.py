"""What a scheduling rule is: the part of an applier that decides who may run beside whom.

A user's applier in Python is a subclass of :class:`Rule`. Everything else (workers, requests,
commit order, retries, crashes) is done for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

Init = Mapping[str, Any]
"""The ``init`` message, as docs/protocol.md has it."""

RETRIED = (1205, 1213)
"""Lock wait time-out and deadlock: the transaction is rolled back and may be tried again."""


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction as the harness sent it; the fields are those of ``txn``."""

    id: int
    lc: int
    sn: int
    commit_id: int | None
    domain: int | None
    session: str
    kind: str
    keys: tuple[str, ...]
    reads: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    schema: Sequence[Mapping[str, Any]] | None
    file: int
    """Which file of the source's log it is in, from 1."""
    marks: dict[str, Any] = field(default_factory=dict)
    """Whatever a rule wants to remember of it."""

    @property
    def is_alone(self) -> bool:
        """Return whether its keys are not known, so that nothing may run beside it."""
        return self.kind != "rows" or not self.keys


class Rule:
    """Decides which worker gets a transaction, and when.

    Transactions are offered in the order of the log, each until it is placed. ``queues`` holds,
    by worker, what was placed and has not committed: its first is the one under way.
    """

    name: ClassVar[str] = "rule"
    features: ClassVar[frozenset[str]] = frozenset()
    """``lc_sn``, ``commit_id`` or ``writeset``: by what it schedules."""
    retries_max: ClassVar[int] = 20

    def __init__(self, init: Init) -> None:
        self.workers: int = init["workers"]
        self.schema: Sequence[Mapping[str, Any]] = init["schema"]
        self.commit_order: bool = init["options"]["commit_order"]
        self.queues: dict[int, list[Transaction]] = {
            worker: [] for worker in range(1, self.workers + 1)
        }
        self.committed: set[int] = set()

    # To be overridden

    def place(self, transaction: Transaction) -> int | None:
        """Return the worker that gets the transaction, None while it has to wait."""
        raise NotImplementedError

    def on_received(self, transaction: Transaction) -> None:
        """Take note of a transaction, in the order of the log, before it is offered."""

    def on_rotated(self, file: str) -> None:
        """Take note that the source's log goes on in another file."""

    def on_committed(self, transaction: Transaction) -> None:
        """Take note that a transaction has committed."""

    def rows_of(self, transaction: Transaction) -> Sequence[int | Mapping[str, Any]]:
        """Return what to change, in order: numbers of its rows, or changes to make instead."""
        return range(len(transaction.rows))

    def drops(self, transaction: Transaction) -> bool:
        """Return whether the transaction is passed over for good; no right rule does that."""
        del transaction
        return False

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Return whether it may commit; ``order`` are the ids not committed, in log order."""
        return not self.commit_order or order[0] == transaction.id

    def is_refused(self, answer: Mapping[str, Any]) -> bool:
        """Return whether an answer means that the row was not changed."""
        return answer["type"] == "error" or answer.get("affected") == 0

    def retries(self, errno: int) -> bool:
        """Return whether a transaction is tried again after an error."""
        return errno in RETRIED

    def resumes_at(self, resume: Mapping[str, Any]) -> set[int]:
        """Return the ids that need not be applied, after a crash."""
        return set(resume["executed"])

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Return up to which id all is committed, to be saved now; None to save nothing."""
        return None

    # What a rule may ask

    @property
    def running(self) -> list[Transaction]:
        """Return what was placed and has not committed."""
        return [one for queue in self.queues.values() for one in queue]

    @property
    def free(self) -> list[int]:
        """Return the workers with nothing to do."""
        return [worker for worker, queue in self.queues.items() if not queue]

    def free_worker(self) -> int | None:
        """Return a worker with nothing to do, None if there is none."""
        return next(iter(self.free), None)
