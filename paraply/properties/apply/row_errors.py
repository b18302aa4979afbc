"""When a row change fails, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import RESTARTS, apply_streams
from paraply.properties.registry import Exemption, Violation, always, sometimes
from paraply.properties.vocabularies import attempts_of_workers, numbered_rows, relay_log
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item

ERRORS = frozenset(
    {
        Outcome.MISSING_BEFORE_IMAGE,
        Outcome.DUPLICATE_KEY,
        Outcome.MISSING_PARENT,
        Outcome.DEADLOCK,
        Outcome.ERROR,
    }
)
_GOES_ON = frozenset(
    {
        EventKind.ROW_APPLIED,
        EventKind.PREPARED,
        EventKind.FLUSHED,
        EventKind.SYNCED,
        EventKind.ENGINE_COMMITTED,
    }
)
_ENDS = frozenset(
    {EventKind.ROLLED_BACK, EventKind.FAILED, EventKind.RETRIED, EventKind.BEGUN, EventKind.SKIPPED}
)
_CHANGES = frozenset({*_GOES_ON, *_ENDS, EventKind.VISIBLE})

Worker = tuple[str, TransactionId, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WentOnAfterError(Violation):
    """A worker continues an attempt whose row change failed."""

    member: str
    transaction: TransactionId
    error: str
    step: str

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} {self.step} after its row met a {self.error}"


def failing_attempts(history: History) -> bool:
    """Row changes of workers fail."""
    return attempts_of_workers(history) and any(map(_is_error, history.events))


def _is_error(event: Event) -> bool:
    return event.kind is EventKind.ROW_APPLIED and event.outcome in ERRORS


def _after_errors(history: History) -> Iterator[tuple[Outcome, Event]]:
    """Yield each error and the next step of its worker in the same transaction."""
    failed: dict[Worker, Outcome] = {}
    for event in history.events:
        if event.kind in RESTARTS:
            failed = {worker: one for worker, one in failed.items() if worker[0] != event.member}
        if event.transaction is None:
            continue
        worker = (event.member, event.transaction, event.worker)
        if worker in failed and event.kind in _GOES_ON | _ENDS:
            yield failed.pop(worker), event
        if _is_error(event) and event.outcome is not None:
            failed[worker] = event.outcome


@sometimes(of=failing_attempts, source="slave_worker_exec_job_group: error of an event")
def a_row_change_fails_in_an_attempt(history: History) -> bool:
    """A worker's row change failed, and a step of its transaction followed."""
    return any(True for _ in _after_errors(history))


@always(
    of=failing_attempts,
    source="slave_worker_exec_job_group; handle_rpl_parallel_thread: an error ends the attempt",
    witness=a_row_change_fails_in_an_attempt,
)
def row_errors_end_the_attempt(history: History) -> list[WentOnAfterError]:
    """After a row change that fails, the worker rolls back, tries again or gives up."""
    return [
        WentOnAfterError(
            member=event.member,
            transaction=event.transaction or TransactionId(0),
            error=error.value.replace("_", " "),
            step=event.kind.value.replace("_", " "),
        )
        for error, event in _after_errors(history)
        if event.kind in _GOES_ON
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOpen(Violation):
    """An applier fails, and an attempt is neither committed nor rolled back."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} failed, and did not roll T{self.transaction} back"


def failed_runs(history: History) -> bool:
    """Workers of a run that goes on until nothing more can happen fail."""
    is_whole = attempts_of_workers(history) and history.is_complete
    return is_whole and EventKind.FAILED in history.kinds


def _left_open(history: History) -> Iterator[tuple[str, set[TransactionId]]]:
    """Yield members that have failed for good, and what they leave open."""
    open_: dict[str, set[TransactionId]] = {}
    failed: set[str] = set()
    for event in history.events:
        begun = open_.setdefault(event.member, set())
        if event.kind in RESTARTS:
            begun.clear()
            failed.discard(event.member)
        elif event.kind is EventKind.BEGUN and event.transaction is not None:
            begun.add(event.transaction)
        elif event.kind in _ENDS or event.kind is EventKind.ENGINE_COMMITTED:
            begun -= {event.transaction}
        if event.kind is EventKind.FAILED:
            failed.add(event.member)
    yield from ((member, open_[member]) for member in sorted(failed))


@always(
    needs=(EventKind.BEGUN,),
    of=failed_runs,
    source="slave_stop_workers; handle_rpl_parallel_thread: signal_error_to_sql_driver_thread",
    witness=lambda history: sum(1 for _ in _left_open(history)),
)
def failed_appliers_leave_nothing_open(history: History) -> list[LeftOpen]:
    """An applier that fails for good commits or rolls back every attempt that it has begun."""
    return [
        LeftOpen(member=member, transaction=one)
        for member, left in _left_open(history)
        for one in sorted(left)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMisjudged(Violation):
    """A row change succeeds or fails unlike the row that it finds."""

    member: str
    transaction: TransactionId
    item: Item
    outcome: Outcome
    expected: Outcome

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} changed {self.item} with outcome "
            f"{self.outcome.value}; the row that it found makes this {self.expected.value}"
        )


_JUDGED = frozenset({Outcome.OK, Outcome.DUPLICATE_KEY, Outcome.MISSING_BEFORE_IMAGE})


@dataclass(slots=True)
class _Rows:
    """Rows of one member as far as they are known: committed, and of running attempts."""

    committed: dict[Item, RowImage | None] = field(default_factory=dict)
    pending: dict[TransactionId, dict[Item, RowImage | None]] = field(default_factory=dict)

    def follow(self, event: Event, transaction: Transaction) -> tuple[Item, Outcome] | None:
        """Apply an event; return a changed row, and the outcome that it makes right, if known."""
        own = self.pending.setdefault(transaction.id, {})
        if event.kind is EventKind.ENGINE_COMMITTED:
            if not own:  # Its changes are not recorded.
                for item in transaction.write_set:
                    self.committed.pop(item, None)
            self.committed.update(self.pending.pop(transaction.id))
        elif event.kind is EventKind.VISIBLE:
            self.committed.update({item: own.pop(item) for item in event.items if item in own})
        elif event.kind in _ENDS:
            own.clear()
        elif event.outcome in _JUDGED and event.row is not None and len(event.items) == 1:
            (item,) = event.items
            return self.change(own, item, transaction.rows[event.row], event.outcome)
        return None

    def change(
        self, own: dict[Item, RowImage | None], item: Item, row: RowWrite, outcome: Outcome
    ) -> tuple[Item, Outcome] | None:
        """Change a row; return it, and the outcome that the row found makes right, if known."""
        is_known = item in own or item in self.committed
        found = own.get(item, self.committed.get(item))
        if outcome is Outcome.OK:
            own[item] = row.after
        if not is_known:
            return None
        if found == row.before:
            return item, Outcome.OK
        is_insert = row.before is None
        return item, Outcome.DUPLICATE_KEY if is_insert else Outcome.MISSING_BEFORE_IMAGE


def checked_rows(history: History) -> bool:
    """Workers change the logged rows of a relay log, with the row of each event."""
    return attempts_of_workers(history) and relay_log(history) and numbered_rows(history)


def _applies_unchecked(history: History) -> bool:
    options, dialect = history.header.options, history.header.dialect
    return options.get("exec_mode") == "idempotent" or dialect.endswith("_timestamp")


def _merges(history: History) -> bool:
    return any(len(event.transactions) > 1 for event in history.events_of(EventKind.BEGUN))


def _judged_changes(history: History) -> Iterator[RowMisjudged]:
    """Yield changes of known rows, with the outcome and the one that is right.

    After a crash, an applier with a watermark overwrites the rows of what it had begun.
    """
    for stream in apply_streams(history):
        rows = _Rows()
        for _, event in stream.events:
            if event.kind is EventKind.CRASHED:
                rows.pending.clear()
                if "watermark" in history.header.options:
                    break
            if event.transaction is None or event.kind not in _CHANGES:
                continue
            judged = rows.follow(event, history.transaction(event.transaction))
            if judged is not None and event.outcome is not None:
                item, expected = judged
                yield RowMisjudged(
                    member=stream.member, transaction=event.transaction, item=item,
                    outcome=event.outcome, expected=expected,
                )  # fmt: skip


@always(
    of=checked_rows,
    exemptions=(
        Exemption(
            applies=_applies_unchecked,
            because="slave_exec_mode=IDEMPOTENT and conflict resolution overwrite rows",
        ),
        Exemption(applies=_merges, because="a merged job changes each row once"),
    ),
    source="HA_ERR_KEY_NOT_FOUND, HA_ERR_FOUND_DUPP_KEY",
    witness=lambda history: sum(1 for _ in _judged_changes(history)),
)
def row_changes_fail_when_they_must(history: History) -> list[RowMisjudged]:
    """A row change succeeds if the row is as logged before it, and fails otherwise."""
    return [one for one in _judged_changes(history) if one.outcome is not one.expected]
