"""Errors that end a transaction for good: those without speculation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.mariadb.speculation import controlled_attempts
from paraply.properties.apply.parallel_apply import SPECULATIVE
from paraply.properties.apply.stream import FROM_OUTSIDE
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorNotFinal(Violation):
    """An attempt that does not speculate meets an error, and is not the last."""

    member: str
    transaction: TransactionId
    attempt: int

    def __str__(self) -> str:
        return (
            f"{self.member}: attempt {self.attempt} of T{self.transaction} met an error, and was "
            "to be tried again, without speculation"
        )


ROW_ERROR = "row error"
"""Note of ROLLED_BACK events."""


def _errors(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield attempts undone or failed by an error, and whether that has to be final."""
    mode = history.header.dialect
    # A history without a dialect does not tell the mode.
    may_speculate = not mode or mode.startswith(SPECULATIVE)
    for event in history.events_of(EventKind.ROLLED_BACK, EventKind.FAILED):
        if event.note in (ROW_ERROR, FROM_OUTSIDE):
            yield event, event.attempt > 1 or not may_speculate


@always(
    of=controlled_attempts,
    source="retry_event_group: rgi->speculation= SPECULATE_NO; has_temporary_error",
    witness=lambda history: sum(is_final for _, is_final in _errors(history)),
)
def errors_without_speculation_are_final(history: History) -> tuple[ErrorNotFinal, ...]:
    """A row error is final in a second attempt, and in modes that do not speculate."""
    return tuple(
        ErrorNotFinal(member=event.member, transaction=event.transaction, attempt=event.attempt)
        for event, is_final in _errors(history)
        if is_final and event.kind is EventKind.ROLLED_BACK and event.transaction is not None
    )
