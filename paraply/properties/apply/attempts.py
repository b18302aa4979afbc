"""The life of one attempt: given to a worker, begun, changed rows, committed or undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import RESTARTS
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import (
    ALLOW_PARALLEL,
    TRANSACTIONAL,
    WAITED,
    attempts_of_workers,
    synced_logs,
)
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

NON_TRANSACTIONAL = "non_transactional"
"""Flag: no rollback (MyISAM)."""

_STAGES = (
    EventKind.ROW_APPLIED,
    EventKind.PREPARED,
    EventKind.FLUSHED,
    EventKind.SYNCED,
    EventKind.ENGINE_COMMITTED,
)
"""Of an attempt, in order; only row changes repeat."""
_UNDECIDED = _STAGES.index(EventKind.PREPARED)
_ENDS = frozenset({EventKind.ROLLED_BACK, EventKind.FAILED, EventKind.SKIPPED})
_WORK = frozenset({*_STAGES, EventKind.VISIBLE})
_NEXT_STEPS = frozenset({EventKind.BEGUN, EventKind.ENGINE_COMMITTED, EventKind.STOPPED})
"""Before which a transaction that is logged must be synced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutOfOrder(Violation):
    """An attempt takes a step that does not follow its last one."""

    member: str
    transaction: TransactionId
    step: str
    after: str

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} {self.step} after it had {self.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkWithoutAttempt(Violation):
    """A worker works on a transaction that it has not begun."""

    member: str
    transaction: TransactionId
    step: str
    worker: int | None

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} {self.step} T{self.transaction} "
            "without having begun it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOverloaded(Violation):
    """A worker begins a transaction during another one."""

    member: str
    worker: int
    running: TransactionId
    begun: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} began T{self.begun} while it applied "
            f"T{self.running}"
        )


@dataclass(slots=True, kw_only=True)
class _Attempt:
    worker: int | None
    number: int
    job: frozenset[TransactionId]
    stage: int = 0
    """Index of the last stage."""
    has_stage: bool = False


@dataclass(slots=True)
class _Applier:
    """One member's running attempts."""

    member: str
    history: History
    chosen: dict[TransactionId, int | None] = field(default_factory=dict)
    """Worker that the coordinator chose."""
    running: dict[TransactionId, _Attempt] = field(default_factory=dict)
    begun: set[TransactionId] = field(default_factory=set)
    """Since the last start."""
    undecided: set[TransactionId] = field(default_factory=set)
    """Prepared or logged before a crash: recovery may commit them."""

    def follow(self, event: Event) -> Iterator[Violation]:
        """Apply an event; yield its breaches."""
        one = event.transaction
        if event.kind in RESTARTS:
            self.undecided |= {
                one for one, attempt in self.running.items() if attempt.stage >= _UNDECIDED
            }
            self.chosen.clear()
            self.running.clear()
            self.begun.clear()
        elif one is None or not _is_reversible(self.history.transaction(one)):
            return
        elif event.kind is EventKind.SCHEDULED:
            self.chosen[one] = event.worker
        elif event.kind is EventKind.BEGUN:
            yield from self.begin(event, one)
        elif event.kind in _ENDS:
            self.running.pop(one, None)
            if event.kind is EventKind.ROLLED_BACK and event.worker and one not in self.begun:
                yield WorkWithoutAttempt(
                    member=self.member, transaction=one, step="rolls back", worker=event.worker
                )
        elif event.kind in _WORK and event.worker is not None:
            yield from self.work(event, one)

    def begin(self, event: Event, one: TransactionId) -> Iterator[Violation]:
        """Begin an attempt."""
        if one in self.running:
            yield StepOutOfOrder(member=self.member, transaction=one, step="begins", after="begun")
        if self.chosen.get(one, event.worker) != event.worker:
            yield WorkWithoutAttempt(
                member=self.member, transaction=one, step="begins", worker=event.worker
            )
        for other, attempt in self.running.items():
            if event.worker and attempt.worker == event.worker and one not in attempt.job:
                yield WorkerOverloaded(
                    member=self.member, worker=event.worker, running=other, begun=one
                )
        self.begun.add(one)
        self.running[one] = _Attempt(
            worker=event.worker, number=event.attempt, job=frozenset(event.transactions)
        )

    def work(self, event: Event, one: TransactionId) -> Iterator[Violation]:
        """Take a step of an attempt."""
        attempt = self.running.get(one)
        if attempt is None and one in self.undecided and event.kind is EventKind.ENGINE_COMMITTED:
            self.undecided.remove(one)
            return
        # Worker 0 gives the parts of a transaction to the others.
        is_its_worker = attempt is not None and attempt.worker in (0, event.worker)
        if attempt is None or not is_its_worker or attempt.number != event.attempt:
            yield WorkWithoutAttempt(
                member=self.member, transaction=one, step=event.kind.value, worker=event.worker
            )
            return
        if event.kind is EventKind.VISIBLE:
            return
        stage = _STAGES.index(event.kind)
        is_repeated = stage == attempt.stage and attempt.has_stage and stage > 0
        if stage < attempt.stage or is_repeated:
            yield StepOutOfOrder(
                member=self.member,
                transaction=one,
                step=event.kind.value,
                after=_STAGES[attempt.stage].value,
            )
        if event.outcome is not Outcome.LOCK_WAIT:
            attempt.stage, attempt.has_stage = stage, True
        if event.kind is EventKind.ENGINE_COMMITTED:
            del self.running[one]


def _is_reversible(transaction: Transaction) -> bool:
    """Return whether it commits at its end only."""
    flags = transaction.flags
    is_marked = bool(flags & {ALLOW_PARALLEL, TRANSACTIONAL, WAITED})
    return (
        transaction.kind is not TransactionKind.DDL
        and NON_TRANSACTIONAL not in flags
        and (TRANSACTIONAL in flags or not is_marked)
    )


def _breaches(history: History) -> Iterator[Violation]:
    appliers: dict[str, _Applier] = {}
    for event in history.events:
        applier = appliers.setdefault(event.member, _Applier(event.member, history))
        yield from applier.follow(event)


def _attempts_end(history: History) -> int:
    return sum(event.worker is not None for event in history.events_of(EventKind.ENGINE_COMMITTED))


def _synced_and_not_logged(history: History) -> Iterator[str]:
    """Yield what workers sync that no event adds to the log."""
    logged = {(event.member, event.transaction) for event in history.events_of(EventKind.FLUSHED)}
    for event in history.events_of(EventKind.SYNCED):
        if event.worker is not None and (event.member, event.transaction) not in logged:
            yield f"no flushed of T{event.transaction} at {event.member}"


@always(
    gaps=(_synced_and_not_logged,),
    of=attempts_of_workers,
    source="WL#5569: slave_worker_exec_job_group; rpl_parallel: handle_rpl_parallel_thread",
    witness=_attempts_end,
)
def attempts_take_their_steps_in_order(history: History) -> tuple[Violation, ...]:
    """The worker that begins an attempt changes its rows, then prepares, logs and commits it."""
    return tuple(one for one in _breaches(history) if not isinstance(one, WorkerOverloaded))


@always(
    needs=(EventKind.BEGUN,),
    of=attempts_of_workers,
    source="WL#5569: a worker takes the next job when it has ended one",
    witness=_attempts_end,
)
def workers_apply_one_job_at_a_time(history: History) -> tuple[Violation, ...]:
    """A worker begins a transaction only when it has ended the one before."""
    return tuple(one for one in _breaches(history) if isinstance(one, WorkerOverloaded))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptMiscounted(Violation):
    """An attempt has another number than the next."""

    member: str
    transaction: TransactionId
    attempt: int
    before: int

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} began in attempt {self.attempt} after "
            f"{self.before} attempt{'' if self.before == 1 else 's'}"
        )


def _numbered(history: History) -> Iterator[tuple[Event, int]]:
    """Yield each begin, and the number of the transaction's last attempt since the start, or 0."""
    last: dict[tuple[str, TransactionId], int] = {}
    for event in history.events:
        if event.kind in RESTARTS:
            last = {key: number for key, number in last.items() if key[0] != event.member}
        elif event.kind is EventKind.BEGUN and event.transaction is not None:
            key = event.member, event.transaction
            yield event, last.get(key, 0)
            last[key] = event.attempt


@always(
    of=attempts_of_workers,
    source="SHOW STATUS: Slave_retried_transactions; replica_transaction_retries",
    witness=lambda history: sum(before > 0 for _, before in _numbered(history)),
)
def attempts_are_counted_one_by_one(history: History) -> tuple[AttemptMiscounted, ...]:
    """The attempts of a transaction since the start are numbers 1, 2 and so on."""
    return tuple(
        AttemptMiscounted(
            member=event.member, transaction=event.transaction, attempt=event.attempt, before=before
        )
        for event, before in _numbered(history)
        if event.attempt != before + 1 and event.transaction is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunOutOfTurn(Violation):
    """A worker begins a transaction before one that it was given earlier."""

    member: str
    worker: int
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} began T{self.later} before T{self.earlier}, "
            "which it had been given first"
        )


def _turns(history: History) -> Iterator[tuple[Event, int, TransactionId | None]]:
    """Yield each first begin of what a worker was given, and what it was given before, if any."""
    queues: dict[tuple[str, int], list[TransactionId]] = {}
    for event in history.events:
        member, worker, one = event.member, event.worker, event.transaction
        if event.kind in RESTARTS or event.kind is EventKind.STOPPED:
            queues = {key: queue for key, queue in queues.items() if key[0] != member}
        elif worker is None or one is None:
            continue
        elif event.kind is EventKind.SCHEDULED:
            queues.setdefault((member, worker), []).append(one)
        else:
            queue = queues.get((member, worker), [])
            if one in queue:
                if event.kind is EventKind.BEGUN:
                    yield event, worker, queue[0] if queue[0] != one else None
                queue.remove(one)


@always(
    of=attempts_of_workers,
    source="WL#5569: pop_jobs_item; rpl_parallel: each worker has a queue, first in, first out",
    witness=lambda history: sum(1 for _ in _turns(history)),
)
def workers_keep_the_order_of_their_queues(history: History) -> tuple[BegunOutOfTurn, ...]:
    """A worker begins transactions in the order in which it is given them."""
    return tuple(
        BegunOutOfTurn(member=event.member, worker=worker, earlier=earlier, later=event.transaction)
        for event, worker, earlier in _turns(history)
        if earlier is not None and event.transaction is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftUnsynced(Violation):
    """A worker goes on, or commits, before its transaction's log is synced."""

    member: str
    transaction: TransactionId
    step: str

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} was logged and not synced before {self.step}"


def _next_steps(history: History) -> Iterator[tuple[LeftUnsynced, bool]]:
    """Yield the first step after each transaction is logged, and whether it was synced by then."""
    syncing = {event.member for event in history.events_of(EventKind.SYNCED)}
    logged: dict[tuple[str, TransactionId], int | None] = {}
    synced: set[tuple[str, TransactionId]] = set()
    for event in history.events:
        member, one = event.member, event.transaction
        if member not in syncing:
            continue
        if event.kind in RESTARTS:
            logged = {key: worker for key, worker in logged.items() if key[0] != member}
        elif event.kind is EventKind.FLUSHED and one is not None:
            logged[member, one] = event.worker
            synced.discard((member, one))
        elif event.kind is EventKind.SYNCED and one is not None:
            synced.add((member, one))
        elif event.kind in _NEXT_STEPS:
            for (other, left), worker in list(logged.items()):
                is_its_commit = event.kind is EventKind.ENGINE_COMMITTED and left == one
                goes_on = event.kind is EventKind.BEGUN and worker == event.worker
                if other == member and (
                    is_its_commit or goes_on or event.kind is EventKind.STOPPED
                ):
                    step = LeftUnsynced(member=member, transaction=left, step=event.kind.value)
                    yield step, (other, left) in synced
                    del logged[other, left]


@always(
    of=synced_logs,
    source="MYSQL_BIN_LOG::ordered_commit: sync_binlog=1",
    witness=lambda history: sum(1 for _ in _next_steps(history)),
)
def logs_are_synced_before_the_next_step(history: History) -> tuple[LeftUnsynced, ...]:
    """A server that syncs its log does so before the engine commit and the worker's next begin."""
    return tuple(step for step, is_synced in _next_steps(history) if not is_synced)


def merging(history: History) -> bool:
    """Appliers merge transactions into jobs, as stated."""
    return bool(int(history.header.options.get("merged", 1)) > 1)


@sometimes(of=merging, source="WL#4648, C4: small transactions are merged")
def a_job_has_several_transactions(history: History) -> bool:
    """A worker began several transactions as one job."""
    return any(len(event.transactions) > 1 for event in history.events_of(EventKind.BEGUN))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalTooLate(Violation):
    """A change that cannot be rolled back is committed after it is made."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} cannot be rolled back, and was committed some "
            "time after its change"
        )


def _final_changes(history: History) -> Iterator[tuple[str, TransactionId, bool]]:
    """Yield commits of changes that cannot be rolled back, and whether they come at once."""
    changed: dict[tuple[str, TransactionId], int] = {}
    for event in history.events_of(EventKind.ROW_APPLIED, EventKind.ENGINE_COMMITTED):
        one = event.transaction
        if one is None or event.worker is None or _is_reversible(history.transaction(one)):
            continue
        if event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK:
            changed[event.member, one] = event.time
        elif event.kind is EventKind.ENGINE_COMMITTED and (event.member, one) in changed:
            yield event.member, one, changed[event.member, one] == event.time


def final_changes(history: History) -> bool:
    """Workers of a controlled run change rows that cannot be rolled back."""
    final = {one.id for one in history.transactions if not _is_reversible(one)}
    return attempts_of_workers(history) and any(
        event.transaction in final for event in history.events_of(EventKind.ROW_APPLIED)
    )


@always(
    of=final_changes,
    source="MyISAM and DDL: no rollback; a change is visible and final when it is executed",
    witness=lambda history: sum(1 for _ in _final_changes(history)),
)
def irreversible_changes_are_final_at_once(history: History) -> tuple[FinalTooLate, ...]:
    """What cannot be rolled back is committed with its last change."""
    return tuple(
        FinalTooLate(member=member, transaction=one)
        for member, one, is_at_once in _final_changes(history)
        if not is_at_once
    )
