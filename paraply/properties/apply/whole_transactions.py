"""Controlled runs: whole transactions, equal tables, no early stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import apply_streams, own_failures
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import applied, numbered_rows, recorded
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionTorn(Violation):
    """A committed transaction lacks row changes."""

    member: str
    transaction: TransactionId
    missing: tuple[int, ...]

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.missing))
        return f"{self.member}: T{self.transaction} committed without its row change {rows}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiverged(Violation):
    """A final table differs from the source's."""

    member: str
    table: str

    def __str__(self) -> str:
        return f"{self.member}: {self.table} ended with other rows than at the source"


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp(Violation):
    """The applier rejects a valid log."""

    member: str
    transaction: TransactionId
    why: str

    def __str__(self) -> str:
        return f"{self.member}: gave up at T{self.transaction}: {self.why}"


_MADE = (Outcome.OK, Outcome.DISCARDED)
"""Conflict resolution may discard a change."""


def _missing_rows(
    history: History,
) -> Iterator[tuple[str, TransactionId, tuple[int, ...]]]:
    """Yield each commit of a transaction with rows, and which rows were not changed."""
    made: dict[tuple[str, TransactionId], set[int | None]] = {}
    for event in history.events:
        if event.transaction is None:
            continue
        key = (event.member, event.transaction)
        if event.kind is EventKind.BEGUN:
            made[key] = set()
        elif event.kind is EventKind.ROW_APPLIED and event.outcome in _MADE:
            made.setdefault(key, set()).add(event.row)
        elif event.kind is EventKind.ENGINE_COMMITTED and key in made:
            rows = made.pop(key)
            transaction = history.transaction(event.transaction)
            # Composite changes have no number; the tables decide.
            if transaction.kind is TransactionKind.DDL or None in rows or not transaction.rows:
                continue
            missing = tuple(n for n in range(len(transaction.rows)) if n not in rows)
            yield event.member, event.transaction, missing


@always(
    of=numbered_rows,
    source="MySQL manual, replication and transaction inconsistencies",
    witness=lambda history: any(True for _ in _missing_rows(history)),
)
def transactions_apply_whole(history: History) -> tuple[TransactionTorn, ...]:
    """A transaction that commits has changed every row that it changed at the source."""
    return tuple(
        TransactionTorn(member=member, transaction=transaction, missing=missing)
        for member, transaction, missing in _missing_rows(history)
        if missing
    )


@always(
    of=recorded(EventKind.COMPARED),
    source="WL#4648, eventual consistency; pt-table-checksum",
    witness=lambda history: any(history.events_of(EventKind.COMPARED)),
)
def tables_end_as_the_sources(history: History) -> tuple[TableDiverged, ...]:
    """When all is applied, every table has the rows that it has at the source."""
    return tuple(
        TableDiverged(member=event.member, table=event.note)
        for event in history.events_of(EventKind.COMPARED)
        if event.outcome is Outcome.DIFFERENT
    )


@always(
    of=applied,
    source="Vitess PR 19535; gh-ost PR 1454",
    witness=lambda history: any(stream.has_stopped for stream in apply_streams(history)),
)
def applier_does_not_give_up(history: History) -> tuple[GaveUp, ...]:
    """The applier reaches the end of a log that a serial replay applies without an error."""
    return tuple(
        GaveUp(member=event.member, transaction=transaction, why=event.note)
        for event, transaction in own_failures(history)
    )
