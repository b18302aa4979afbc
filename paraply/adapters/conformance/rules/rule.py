"""The scheduling rule: it decides which transactions run in parallel.

A user's Python applier subclasses :class:`Rule`, which supplies workers, requests, commit order,
retries and crashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

Init = Mapping[str, Any]
"""The ``init`` message of docs/protocol.md."""

RETRIED = (1205, 1213)
"""Lock wait time-out and deadlock: both roll the transaction back for a retry."""


@dataclass(slots=True, eq=False)
class Transaction:
    """A received transaction, with the fields of ``txn``."""

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
    """Number of the source's log file, from 1."""
    marks: dict[str, Any] = field(default_factory=dict)
    """Private notes of the rule."""

    @property
    def is_alone(self) -> bool:
        """Return whether its keys are unknown, so that it must run alone."""
        return self.kind != "rows" or not self.keys


class Rule:
    """Assigns each transaction to a worker.

    The applier offers transactions in log order, each until the rule places it. ``queues`` lists
    each worker's uncommitted transactions, the running one first.
    """

    name: ClassVar[str] = "rule"
    features: ClassVar[frozenset[str]] = frozenset()
    """The inputs it schedules by: ``lc_sn``, ``commit_id`` or ``writeset``."""
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
        """Return the transaction's worker, or None while it must wait."""
        raise NotImplementedError

    def on_received(self, transaction: Transaction) -> None:
        """Process a transaction, in log order, before its first offer."""

    def on_rotated(self, file: str) -> None:
        """Process a change of the source's log file."""

    def on_committed(self, transaction: Transaction) -> None:
        """Process a commit."""

    def rows_of(self, transaction: Transaction) -> Sequence[int | Mapping[str, Any]]:
        """Return the changes in order: row numbers, or replacement changes."""
        return range(len(transaction.rows))

    def drops(self, transaction: Transaction) -> bool:
        """Return whether to skip the transaction for good; no correct rule does."""
        del transaction
        return False

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Return whether it may commit; ``order`` lists uncommitted ids in log order."""
        return not self.commit_order or order[0] == transaction.id

    def is_refused(self, answer: Mapping[str, Any]) -> bool:
        """Return whether the database refused the row change."""
        return answer["type"] == "error" or answer.get("affected") == 0

    def retries(self, errno: int) -> bool:
        """Return whether an error causes a retry."""
        return errno in RETRIED

    def resumes_at(self, resume: Mapping[str, Any]) -> set[int]:
        """Return the ids to skip after a crash."""
        return set(resume["executed"])

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Return the id up to which all is committed, or None to save nothing."""
        return None

    # What a rule may ask

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
