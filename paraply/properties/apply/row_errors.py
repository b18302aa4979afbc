"""What follows a row change that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import attempts_of_workers
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

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
_RESTARTS = frozenset({EventKind.CRASHED, EventKind.STARTED, EventKind.RECOVERED})

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
        if event.kind in _RESTARTS:
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
