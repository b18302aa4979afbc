"""Scheduling rules decide which transactions run in parallel.

A user's Python applier subclasses :class:`Rule`, which does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

Init = Mapping[str, Any]
"""As in docs/protocol.md."""

RETRIED = (1205, 1213)
"""Lock wait time-out and deadlock."""


@dataclass(slots=True, eq=False)
class Transaction:
    """A received transaction with ``txn`` fields."""

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
    """Counts from 1."""
    marks: dict[str, Any] = field(default_factory=dict)
    """The rule's own notes."""

    @property
    def is_alone(self) -> bool:
        """Return whether unknown keys isolate it."""
        return self.kind != "rows" or not self.keys


class Rule:
    """Assigns each transaction to a worker.

    The applier offers transactions in log order until placed. ``queues`` lists each worker's
    uncommitted ones, the running one first.
    """

    name: ClassVar[str] = "rule"
    features: ClassVar[frozenset[str]] = frozenset()
    """Inputs: ``lc_sn``, ``commit_id`` or ``writeset``."""
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
        """Return the worker, or None to wait."""
        raise NotImplementedError

    def on_received(self, transaction: Transaction) -> None:
        """Process a transaction before its first offer."""

    def on_rotated(self, file: str) -> None:
        """Process a new log file."""

    def on_committed(self, transaction: Transaction) -> None:
        """Process a commit."""

    def rows_of(self, transaction: Transaction) -> Sequence[int | Mapping[str, Any]]:
        """Return row numbers or replacement changes, in order."""
        return range(len(transaction.rows))

    def drops(self, transaction: Transaction) -> bool:
        """Return whether to skip it; incorrect rules only."""
        del transaction
        return False

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Return whether it may commit; ``order`` lists uncommitted ids."""
        return not self.commit_order or order[0] == transaction.id

    def is_refused(self, answer: Mapping[str, Any]) -> bool:
        """Return whether the database refused."""
        return answer["type"] == "error" or answer.get("affected") == 0

    def retries(self, errno: int) -> bool:
        """Return whether it is retried."""
        return errno in RETRIED

    def resumes_at(self, resume: Mapping[str, Any]) -> set[int]:
        """Return the ids to skip."""
        return set(resume["executed"])

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Return the committed prefix to save, or None."""
        return None

    # Queries of a rule

    @property
    def running(self) -> list[Transaction]:
        """Return the placed, uncommitted transactions."""
        return [one for queue in self.queues.values() for one in queue]

    @property
    def free(self) -> list[int]:
        """Return the idle workers."""
        return [worker for worker, queue in self.queues.items() if not queue]

    def free_worker(self) -> int | None:
        """Return an idle worker, or None."""
        return next(iter(self.free), None)
