"""One-copy equivalence: the members together act as one server.

Certification is the order of that server. A transaction's images state what it read; readers and
the audit at rest show what members have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from paraply.properties.group.stream import is_rest, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item, format_item

AUDITOR = "auditor"
"""Session that reads a member at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateLost(Violation):
    """A certified change did not read the certified change before it."""

    transaction: TransactionId
    earlier: TransactionId
    row: str

    def __str__(self) -> str:
        return (
            f"T{self.transaction} changed {self.row} without having read what T{self.earlier} had "
            f"left, which was certified before it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndsWithAnotherRow(Violation):
    """A member at rest has an old row."""

    member: str
    item: Item
    found: TransactionId
    certified: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} ends with {format_item(self.item)} of T{self.found}; certified last "
            f"was T{self.certified}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitsInverted(Violation):
    """A member commits against the order of certification."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} committed T{self.later} before T{self.earlier}, which was certified "
            f"first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOfNoPrefix(Violation):
    """A reader sees a later writer and misses an earlier one."""

    member: str
    seen: TransactionId
    missed: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw T{self.seen} and missed T{self.missed}, which was "
            f"certified before it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UncommittedSeen(Violation):
    """A reader sees a transaction before its commit."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw T{self.transaction} before {self.member} had committed it"
        )


def certified_rows(history: History) -> bool:
    """Members certify transactions with row images."""
    return certification(history) and any(one.rows for one in history.transactions)


def audited_members(history: History) -> bool:
    """Members of a group are read at rest."""
    return certification(history) and any(
        event.session == AUDITOR for event in history.events_of(EventKind.READ)
    )


def one_commit_order(history: History) -> bool:
    """Members promise to commit in the order of certification, own transactions too."""
    return certification(history) and bool(history.header.options.get("one_commit_order"))


def _certified(history: History) -> list[Transaction]:
    """Return what some member certified, in order."""
    positive = {
        event.transaction
        for event in history.events_of(EventKind.CERTIFIED)
        if event.outcome is Outcome.POSITIVE
    }
    return [one for one in history.transactions if one.id in positive]


def _key(row: RowWrite) -> tuple[str, object]:
    image = row.after if row.before is None else row.before
    assert image is not None
    return row.table, image[0]


def _chains(
    history: History,
) -> Iterator[tuple[TransactionId, TransactionId, RowWrite, RowImage | None]]:
    """Yield each certified change, the earlier writer, and what that left."""
    left: dict[tuple[str, object], tuple[TransactionId, RowImage | None]] = {}
    for one in _certified(history):
        for row in one.rows:
            if _key(row) in left:
                earlier, image = left[_key(row)]
                yield one.id, earlier, row, image
            left[_key(row)] = one.id, row.after


@sometimes(of=certified_rows, source="Bernstein, Hadzilacos, Goodman 1987: a counter of clients")
def a_certified_row_is_read_and_changed(history: History) -> bool:
    """Two certified transactions change one row one after the other."""
    return next(_chains(history), None) is not None


@sometimes(of=certified_rows, source="certification keeps the key of a row that is gone")
def a_deleted_row_is_inserted_again(history: History) -> bool:
    """A certified transaction inserts a row that the certified one before it had deleted."""
    return any(
        image is None and row.operation is Operation.INSERT for _, _, row, image in _chains(history)
    )


@always(
    of=certified_rows,
    source="Bernstein, Hadzilacos, Goodman 1987, one-copy serializability; WL#6833",
    witness=a_certified_row_is_read_and_changed,
)
def no_update_is_lost(history: History) -> list[UpdateLost]:
    """Every certified change of a row read what the certified change before it had left."""
    return [
        UpdateLost(transaction=one, earlier=earlier, row=str(_key(row)[1]))
        for one, earlier, row, image in _chains(history)
        if row.before != image
    ]


def _audits(history: History) -> Iterator[tuple[str, dict[Item, TransactionId]]]:
    """Yield members at rest in the last view, with what the auditor saw there."""
    views = {event.view: event.members for event in history.events_of(EventKind.VIEW_INSTALLED)}
    newest = views[max(view or 0 for view in views)] if views else ()
    seen: dict[str, dict[Item, TransactionId]] = {}
    for event in history.events:
        if event.kind is EventKind.READ and event.session == AUDITOR:
            seen[event.member] = {one.item: one.writer for one in event.observed}
        elif is_rest(event) and event.member in seen and event.member in newest:
            yield event.member, seen[event.member]


@sometimes(of=audited_members, source="an audit of one member compares nothing")
def two_members_are_audited(history: History) -> bool:
    """Two members are read at rest after a row was certified."""
    is_written = any(one.write_set for one in _certified(history))
    return is_written and len(list(_audits(history))) > 1


@always(
    of=audited_members,
    source="MySQL manual, group replication: members converge; one copy",
    witness=two_members_are_audited,
)
def members_end_in_one_state(history: History) -> list[EndsWithAnotherRow]:
    """Every member at rest has each row as the last certified transaction left it."""
    last = {item: one.id for one in _certified(history) for item in one.write_set}
    return [
        EndsWithAnotherRow(
            member=member,
            item=item,
            found=state.get(item, INITIAL_STATE),
            certified=last.get(item, INITIAL_STATE),
        )
        for member, state in _audits(history)
        for item in sorted({*last, *state}, key=str)
        if state.get(item, INITIAL_STATE) != last.get(item, INITIAL_STATE)
    ]


def _commits(history: History) -> Iterator[tuple[str, TransactionId, TransactionId]]:
    for member in history.members:
        commits = history.events_of(EventKind.ENGINE_COMMITTED, member=member)
        for first, second in pairwise(commits):
            if first.transaction is not None and second.transaction is not None:
                yield member, first.transaction, second.transaction


@sometimes(of=one_commit_order, source="commit order is shown by two kinds of transactions")
def own_and_remote_transactions_commit_in_turn(history: History) -> bool:
    """A member commits one of its own next to another member's."""
    origin = {one.id: one.origin for one in history.transactions}
    return any(
        (origin[first] == member) != (origin[second] == member)
        for member, first, second in _commits(history)
    )


@always(
    of=one_commit_order,
    source="Galera: commit monitor; replica_preserve_commit_order for own transactions, too",
    witness=own_and_remote_transactions_commit_in_turn,
)
def members_commit_in_one_order(history: History) -> list[CommitsInverted]:
    """Every member commits in the order of certification."""
    return [
        CommitsInverted(member=member, earlier=second, later=first)
        for member, first, second in _commits(history)
        if second < first
    ]


def _snapshots(history: History) -> Iterator[tuple[str, TransactionId, TransactionId]]:
    """Yield each snapshot's newest seen and oldest missed certified writer; 0 is none."""
    writers: dict[Item, list[TransactionId]] = {}
    for one in _certified(history):
        for item in one.write_set:
            writers.setdefault(item, []).append(one.id)
    for stream in member_streams(history):
        for _, event in stream.events:
            if event.kind is EventKind.READ and event.observed:
                seen = max(one.writer for one in event.observed)
                missed = [
                    writer
                    for one in event.observed
                    for writer in writers.get(one.item, ())
                    if writer > one.writer
                ]
                yield stream.member, seen, min(missed, default=INITIAL_STATE)


@sometimes(of=one_commit_order, source="a reader that only sees all or nothing tests little")
def a_reader_lags_behind_the_group(history: History) -> bool:
    """A reader at a member sees some certified transactions and misses others."""
    return any(seen and missed for _, seen, missed in _snapshots(history))


@always(
    of=one_commit_order,
    source="Elnikety, Pedone, Zwaenepoel 2005: prefix-consistent snapshot isolation",
    witness=a_reader_lags_behind_the_group,
)
def members_show_prefixes_of_one_order(history: History) -> list[StateOfNoPrefix]:
    """Every snapshot at every member is the state after a prefix of what the group certified."""
    return [
        StateOfNoPrefix(member=member, seen=seen, missed=missed)
        for member, seen, missed in _snapshots(history)
        if INITIAL_STATE < missed < seen
    ]


def _seen_writers(history: History) -> Iterator[tuple[str, TransactionId, bool]]:
    """Yield what readers see, and whether the member had committed it."""
    for stream in member_streams(history):
        for index, event in stream.events:
            if event.kind is EventKind.READ:
                for writer in dict.fromkeys(one.writer for one in event.observed):
                    if writer != INITIAL_STATE:
                        yield stream.member, writer, stream.had_committed(writer, index)


@always(
    of=audited_members,
    source="MDEV-162: no reader sees a transaction before its engine commit",
    witness=lambda history: next(_seen_writers(history), None) is not None,
)
def members_show_only_what_they_committed(history: History) -> list[UncommittedSeen]:
    """A reader at a member sees only transactions that the member has committed in the engine."""
    return [
        UncommittedSeen(member=member, transaction=writer)
        for member, writer, is_committed in _seen_writers(history)
        if not is_committed
    ]
