"""A transaction changes the version that it was certified against.

So only certification order decides the data. A session changes rows before sending; an applier, at
commit. It uses a table from its first recorded row on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paraply.properties.group.stream import Certified, MemberStream, member_streams
from paraply.properties.logs.statement_tables import get_statement_tables
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification, certified_definitions
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import (
    INITIAL_STATE,
    Transaction,
    TransactionId,
    TransactionKind,
)
from paraply.vocabulary.write_set import Item, format_item, sorted_items, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAnotherVersion(Violation):
    """A changed row lacks the previous certified version."""

    member: str
    transaction: TransactionId
    what: str
    certified: TransactionId
    found: TransactionId

    def __str__(self) -> str:
        found = f"T{self.found} had left it" if self.found else "it was at first"
        return (
            f"{self.member}: T{self.transaction} changed {self.what} as {found}; "
            f"certified before it was {_whose(self.certified)}"
        )


class ChangedUnderAnotherDefinition(ChangedAnotherVersion):
    """A changed row's table lacks the previous certified definition."""

    __slots__ = ()

    def __str__(self) -> str:
        found = f"as T{self.found} had" if self.found else "before anybody had"
        return (
            f"{self.member}: T{self.transaction} changed rows of {self.what} {found} altered it; "
            f"certified before it was {_whose(self.certified)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LastVersionLost(Violation):
    """A caught-up member lacks the last certified version."""

    member: str
    what: str
    certified: TransactionId
    found: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} is left with {self.what} of T{self.found}; certified last was "
            f"T{self.certified}"
        )


def _whose(writer: TransactionId) -> str:
    return "nobody" if writer == INITIAL_STATE else f"T{writer}"


def _a_row_is_changed_again(history: History) -> bool:
    return any(change.certified != INITIAL_STATE for change in _row_changes(history))


def _a_table_is_used_after_ddl(history: History) -> bool:
    return any(change.certified != INITIAL_STATE for change in _table_uses(history))


@always(
    of=certification,
    source="proofs, P31; WL#8440 EX2: the change would silently fail",
    witness=_a_row_is_changed_again,
)
def changes_land_as_certified(history: History) -> list[ChangedAnotherVersion]:
    """Every change of a row finds the version of the certified writer before it."""
    return [
        ChangedAnotherVersion(**change._asdict())
        for change in _row_changes(history)
        if change.found != change.certified
    ]


@always(
    of=certified_definitions,
    source="proofs, P32; MySQL manual, group replication limitations: concurrent DDL",
    witness=_a_table_is_used_after_ddl,
)
def definitions_are_as_certified(history: History) -> list[ChangedUnderAnotherDefinition]:
    """Every change of a row finds its table as the certified DDL before it left it."""
    return [
        ChangedUnderAnotherDefinition(**change._asdict())
        for change in _table_uses(history)
        if change.found != change.certified
    ]


def _a_member_has_all(history: History) -> bool:
    return any(writers > 1 for *_, writers in _ends(history))


@always(
    of=certification,
    source="proofs, P33; WL#8440 EX2: members that diverge silently",
    witness=_a_member_has_all,
)
def members_converge(history: History) -> list[LastVersionLost]:
    """A member that has committed all that was certified has the last certified rows and tables."""
    return [
        LastVersionLost(member=member, what=what, certified=certified, found=found)
        for member, what, certified, found, _ in _ends(history)
        if certified != found
    ]


class _Change(NamedTuple):
    member: str
    transaction: TransactionId
    what: str
    certified: TransactionId
    found: TransactionId


Names = Callable[[Transaction], Iterable[str]]
Moments = dict[tuple[str, TransactionId | None], int]
"""Member and transaction -> index of an event."""


def _row_changes(history: History) -> Iterator[_Change]:
    return _changes(history, _rows, _rows, {})


def _table_uses(history: History) -> Iterator[_Change]:
    first: Moments = {}
    for index, event in enumerate(history.events):
        if event.kind is EventKind.ROW_APPLIED:
            first.setdefault((event.member, event.transaction), index)
    return _changes(history, used_tables, altered_tables, first)


def _rows(transaction: Transaction) -> list[str]:
    return [format_item(item) for item in sorted_items(transaction.write_set)]


def used_tables(transaction: Transaction) -> list[str]:
    """Return the tables whose rows a transaction changes, in lower case."""
    written = {row.table.lower() for row in transaction.rows}
    return sorted(written | {_table(item) for item in transaction.write_set} - {""})


def _table(item: Item) -> str:
    return table_of(item).lower()


def altered_tables(transaction: Transaction) -> Iterable[str]:
    """Return the tables whose definition a transaction changes."""
    if transaction.kind is not TransactionKind.DDL:
        return ()
    return get_statement_tables(transaction.statement, "").tables


def _changes(history: History, needs: Names, leaves: Names, applied: Moments) -> Iterator[_Change]:
    sent = {
        (event.member, event.transaction): index
        for index, event in enumerate(history.events)
        if event.kind is EventKind.SUBMITTED
    }
    for stream in member_streams(history):
        before = _certified_before(stream, needs, leaves)
        stored: dict[str, TransactionId] = {}
        for _, is_commit, one in _in_time(stream, sent, applied):
            if is_commit:
                stored.update(dict.fromkeys(leaves(one), one.id))
                continue
            for what, writer in before[one.id].items():
                found = stored.get(what, INITIAL_STATE)
                yield _Change(stream.member, one.id, what, certified=writer, found=found)


def _ends(
    history: History,
) -> Iterator[tuple[str, str, TransactionId, TransactionId, int]]:
    for stream in member_streams(history):
        known = [one.transaction.id for one in _positive(stream)]
        if not all(one in stream.committed_at for one in known):
            continue
        writers: dict[str, list[TransactionId]] = {}
        for one in _positive(stream):
            for what in (*_rows(one.transaction), *altered_tables(one.transaction)):
                writers.setdefault(what, []).append(one.transaction.id)
        for what, all_of_it in sorted(writers.items()):
            _, found = max((stream.committed_at[one], one) for one in all_of_it)
            yield stream.member, what, max(all_of_it), found, len(all_of_it)


def _positive(stream: MemberStream) -> list[Certified]:
    known = (one for one in (*stream.certified, *stream.elsewhere) if one.is_positive)
    return list({one.transaction.id: one for one in known}.values())


def _certified_before(
    stream: MemberStream, needs: Names, leaves: Names
) -> dict[TransactionId, dict[str, TransactionId]]:
    known = [one.transaction for one in _positive(stream)]
    last: dict[str, TransactionId] = {}
    before: dict[TransactionId, dict[str, TransactionId]] = {}
    for one in sorted(known, key=lambda one: one.id):
        before[one.id] = {what: last.get(what, INITIAL_STATE) for what in needs(one)}
        last.update(dict.fromkeys(leaves(one), one.id))
    return before


def _in_time(
    stream: MemberStream, sent: Moments, applied: Moments
) -> list[tuple[int, bool, Transaction]]:
    moments: list[tuple[int, bool, Transaction]] = []
    for one in _positive(stream):
        if one.transaction.id in stream.committed_at:
            moments.append((stream.committed_at[one.transaction.id], True, one.transaction))
    for one in stream.certified:
        if one.transaction.origin == stream.member:
            at = sent.get((stream.member, one.transaction.id))
        else:
            at = stream.committed_at.get(one.transaction.id)
            at = applied.get((stream.member, one.transaction.id), at)
        if at is not None and one.is_positive:
            moments.append((at, False, one.transaction))
    return sorted(moments, key=lambda moment: (moment[0], moment[1], moment[2].id))
