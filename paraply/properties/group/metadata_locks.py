"""Metadata locks: a DDL excludes other users of its table on the member of its client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.landing import altered_tables, used_tables
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import attempts_of_workers, certified_definitions
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

_ENDS = frozenset({EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK})
_CLEARS = frozenset({EventKind.CRASHED, EventKind.STARTED, EventKind.STOPPED, EventKind.RECOVERED})


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunBesideDdl(Violation):
    """A worker begins beside a client's transaction, and one of the two alters a common table."""

    member: str
    transaction: TransactionId
    client: TransactionId
    table: str

    def __str__(self) -> str:
        return (
            f"{self.member}: a worker began T{self.transaction} beside T{self.client} of a client; "
            f"one of them alters {self.table}, which the other uses"
        )


def locked_definitions(history: History) -> bool:
    """Workers apply beside clients that certify changes of table definitions.

    Where a controlled run records no begin, a worker's transaction begins when it commits.
    """
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    begins = attempts_of_workers(history) if EventKind.BEGUN in history.kinds else is_exact
    return certified_definitions(history) and begins and EventKind.SUBMITTED in history.kinds


def _common(history: History, one: TransactionId, other: TransactionId) -> str:
    """Return a table that one transaction alters and the other uses, or nothing."""
    first, second = history.transaction(one), history.transaction(other)
    altered = {*altered_tables(first), *altered_tables(second)}
    uses = [{*used_tables(each), *altered_tables(each)} for each in (first, second)]
    return min(altered & uses[0] & uses[1], default="")


def _beside(history: History) -> Iterator[BegunBesideDdl]:
    """Yield begins of workers beside clients' transactions, with a table to exclude, if any."""
    clients: dict[str, set[TransactionId]] = {}
    has_begins = EventKind.BEGUN in history.kinds
    begins = EventKind.BEGUN if has_begins else EventKind.ENGINE_COMMITTED
    for event in history.events:
        of_member = clients.setdefault(event.member, set())
        one = event.transaction
        if event.kind in _CLEARS:
            of_member.clear()
        elif one is None:
            continue
        elif event.kind is EventKind.SUBMITTED:
            of_member.add(one)
        elif event.kind in _ENDS and one in of_member:
            of_member.discard(one)
        elif event.kind is begins and (event.worker is not None or not has_begins):
            for client in sorted(of_member):
                yield BegunBesideDdl(
                    member=event.member, transaction=one, client=client,
                    table=_common(history, one, client),
                )  # fmt: skip


@always(
    of=locked_definitions,
    source="MySQL manual, Metadata Locking; MDL_context::acquire_lock",
    witness=lambda history: sum(1 for _ in _beside(history)),
)
def workers_begin_beside_no_ddl(history: History) -> list[BegunBesideDdl]:
    """A worker begins while no client's open transaction alters a table that it uses.

    Nor does a worker begin a DDL while a client's open transaction uses the table.
    """
    return [one for one in _beside(history) if one.table]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementMissing(Violation):
    """Members certify a DDL that nobody can apply."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"T{self.transaction} is a DDL, and names no table that it alters"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementOfRows(Violation):
    """Members certify changes of rows that come with a statement, too."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"T{self.transaction} changes rows, and is sent with a statement"


def sent_definitions(history: History) -> bool:
    """Members of a controlled group certify DDLs of their clients."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and {EventKind.SUBMITTED, EventKind.CERTIFIED} <= history.kinds
        and any(one.kind is TransactionKind.DDL for one in history.transactions)
    )


def _sent(history: History, kind: TransactionKind) -> Iterator[Transaction]:
    """Yield transactions of a kind that a member certifies."""
    certified = {event.transaction for event in history.events_of(EventKind.CERTIFIED)}
    for one in history.transactions:
        if one.kind is kind and one.id in certified:
            yield one


@always(
    of=sent_definitions,
    source="a DDL is replicated as its statement (Query_log_event)",
    witness=lambda history: sum(1 for _ in _sent(history, TransactionKind.DDL)),
)
def definitions_are_sent_with_their_statement(
    history: History,
) -> tuple[StatementMissing | StatementOfRows, ...]:
    """Each certified DDL has a statement with the table that it alters, and rows have none."""
    missing = (
        StatementMissing(transaction=one.id)
        for one in _sent(history, TransactionKind.DDL)
        if not any(altered_tables(one))
    )
    needless = (
        StatementOfRows(transaction=one.id)
        for one in _sent(history, TransactionKind.ROWS)
        if one.statement
    )
    return (*missing, *needless)
