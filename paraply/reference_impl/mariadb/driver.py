"""The SQL driver thread: reads the log, decides batches, deals groups."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.mariadb.groups import Entry, EventGroup, Stage
from paraply.reference_impl.mariadb.modes import Rules
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.mariadb_gtid import MariadbPosition, parse_mariadb_gtid
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

MEMBER = "r1"
SOURCE = "source"
ALL_DOMAINS = -1
"""The single entry without domains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Server variables, and limits of optional steps."""

    rules: Rules
    workers: int = 2
    """slave_parallel_threads."""
    domain_workers: int = 0
    """slave_domain_parallel_threads; 0: whole pool."""
    queued_max: int = 2
    """slave_parallel_max_queued, in groups (bytes on servers)."""
    retries_max: int = 10
    """slave_transaction_retries."""
    is_eager: bool = False
    """See ``take_silent_steps``."""
    reads: int = 0
    stops: int = 0
    """STOP SLAVE with START SLAVE."""
    failures: int = 0
    timeouts: int = 0
    """Temporary outside errors (innodb_lock_wait_timeout)."""


class Driver:
    """State of the driver thread."""

    def __init__(
        self,
        log: Sequence[Transaction],
        recorder: Recorder,
        settings: Settings,
        *,
        store: RowStore,
        extra_locks: dict[TransactionId, Item] | None = None,
    ) -> None:
        self.log = tuple(log)
        self.recorder = recorder
        self.settings = settings
        self.rules = settings.rules
        self.store = store
        self.extra_locks = extra_locks or {}
        self.reads_left, self.stops_left = settings.reads, settings.stops
        self.failures_left, self.timeouts_left = settings.failures, settings.timeouts
        self.rest: deque[Transaction] = deque(self.log)
        self.entries: dict[int, Entry] = {}
        self.queues: dict[int, deque[EventGroup]] = {
            number: deque() for number in range(1, settings.workers + 1)
        }
        self.owners: dict[int, tuple[int, int]] = {}
        """Busy worker -> its domain and slot."""
        self.position = MariadbPosition()
        self.executed: list[TransactionId] = []
        self.is_stopping = False
        self.has_failed = False
        """Whether the log caused a final error."""
        self.sub_id = 0
        self.source_run = 0

    @property
    def under_way(self) -> list[EventGroup]:
        """Return unfinished groups in log order."""
        groups = [group for queue in self.queues.values() for group in queue]
        return sorted(groups, key=lambda group: group.sub_id)

    @property
    def is_idle(self) -> bool:
        """Return whether all queues are empty."""
        return not any(self.queues.values())

    def driver_steps(self) -> Iterator[Step]:
        """Yield the next deal, if possible."""
        if self.is_stopping or not self.rest or self.must_drain(self.rest[0]):
            return
        entry, worker = self.entry_of(self.rest[0]), None
        if self.rules.mode or self.is_idle:
            worker = self.worker_for(entry)
        if worker is not None:
            yield Step("queue", lambda: self.on_queue(entry, worker))

    def must_drain(self, transaction: Transaction) -> bool:
        """Return whether a source restart must wait for workers.

        Its format description event waits: commit ids may repeat.
        """
        return transaction.clock != self.source_run and not self.is_idle

    def entry_of(self, transaction: Transaction) -> Entry:
        """Return the transaction's scheduling entry."""
        key = self.key_of(transaction)
        if key not in self.entries:
            limit = self.settings.domain_workers or self.settings.workers
            slots = min(limit, self.settings.workers) if self.rules.mode else 1
            self.entries[key] = Entry([None] * slots)
        return self.entries[key]

    def key_of(self, transaction: Transaction) -> int:
        """Return the domain, or ALL_DOMAINS."""
        domain = transaction.domain
        return ALL_DOMAINS if domain is None or not self.rules.has_domains else domain

    def worker_for(self, entry: Entry) -> int | None:
        """Return the slot's or an idle worker."""
        worker = entry.slots[entry.next_slot]
        if worker is not None:
            has_room = len(self.queues[worker]) < self.settings.queued_max
            return worker if has_room else None
        idle = (number for number, queue in self.queues.items() if not queue)
        return next(idle, None)

    def on_queue(self, entry: Entry, worker: int) -> None:
        """Decide and queue the next group."""
        transaction = self.rest.popleft()
        self.sub_id += 1
        self.source_run = transaction.clock
        decision = self.rules.decide(entry, transaction)
        group = EventGroup(
            transaction=transaction, sub_id=self.sub_id, entry=entry, batch=decision.batch,
            speculation=decision.speculation, worker=worker,
            before=entry.groups[-1] if entry.groups else None,
        )  # fmt: skip
        entry.queued_count += 1
        entry.groups.append(group)
        self.queues[worker].append(group)
        entry.slots[entry.next_slot] = worker
        self.owners[worker] = (self.key_of(transaction), entry.next_slot)
        entry.next_slot = (entry.next_slot + 1) % len(entry.slots)
        self.record(EventKind.SCHEDULED, group)

    def release(self, group: EventGroup) -> None:
        """Remove a group; free an empty worker."""
        group.stage = Stage.DONE
        queue = self.queues[group.worker]
        queue.remove(group)
        if not queue:
            key, slot = self.owners.pop(group.worker)
            self.entries[key].slots[slot] = None

    def resume(self) -> None:
        """Reread from the earliest domain's position."""
        reached = {gtid.domain: str(gtid) for gtid in self.position}
        rest: deque[Transaction] = deque()
        for transaction in self.log:
            domain = ALL_DOMAINS if transaction.domain is None else transaction.domain
            if domain not in reached:
                rest.append(transaction)
            elif reached[domain] == transaction.gtid:
                del reached[domain]
        self.rest = rest
        self.entries.clear()

    def advance(self, transaction: Transaction) -> None:
        """Advance the domain's position."""
        if transaction.gtid:
            self.position = self.position.advance(parse_mariadb_gtid(transaction.gtid))

    def record(self, kind: EventKind, group: EventGroup, /, **fields: Any) -> None:
        """Record a group's event."""
        self.recorder.record(
            kind, member=MEMBER, worker=group.worker, transaction=group.id, attempt=group.attempt,
            **fields,
        )  # fmt: skip
