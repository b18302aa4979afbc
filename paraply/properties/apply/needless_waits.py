"""No row is waited for that is free, or too long: the other side of row locks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.lock_waits import LOCAL_READER
from paraply.properties.apply.stream import ENDS, LOCK_WAIT_TIMEOUT, RESTARTS
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import attempts_of_workers
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item, WriteSet, format_item, sorted_items

_NO_LOCKS = (None, False, "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitedForFreeRow(Violation):
    """A transaction waits for a row that the named holder does not hold."""

    member: str
    transaction: TransactionId
    other: TransactionId
    row: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} waited for {self.row} of T{self.other}, which had "
            "not asked for it, or had ended"
        )


def _is_wait(event: Event) -> bool:
    is_wait = event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.LOCK_WAIT
    return is_wait and event.other is not None and bool(event.items)


def waits_for_written_rows(history: History) -> bool:
    """Workers of a controlled run wait for rows, and lock only those that they write."""
    has_other_locks = history.header.options.get("extra_locks") not in _NO_LOCKS
    return (
        not has_other_locks and attempts_of_workers(history) and any(map(_is_wait, history.events))
    )


@dataclass(slots=True)
class _Rows:
    """What the attempts of a member have changed or asked for, since they began."""

    touched: dict[TransactionId, set[Item]] = field(default_factory=dict)
    jobs: dict[TransactionId, tuple[TransactionId, ...]] = field(default_factory=dict)
    """Transaction -> those that are merged with it."""

    def may_hold(self, one: TransactionId, items: WriteSet) -> bool:
        """Return whether an attempt, or its merged job, has touched one of the rows."""
        return any(
            not items.isdisjoint(self.touched.get(each, ())) for each in self.jobs.get(one, (one,))
        )

    def follow(self, event: Event, one: TransactionId) -> None:
        """Apply an event of a transaction."""
        if event.kind is EventKind.BEGUN:
            self.jobs[one] = (one, *event.transactions)
        elif event.kind is EventKind.ROW_APPLIED:
            # A row that was asked for may be granted before it is changed.
            self.touched.setdefault(one, set()).update(event.items)
        elif event.kind is EventKind.VISIBLE:  # One part of it has committed.
            self.touched.get(one, set()).difference_update(event.items)
        elif event.kind in ENDS:
            self.touched.pop(one, None)


def _waits(history: History) -> Iterator[WaitedForFreeRow | None]:
    """Yield each wait for a row that its holder has touched as None, or its breach."""
    members: dict[str, _Rows] = {}
    for event in history.events:
        rows, one = members.setdefault(event.member, _Rows()), event.transaction
        if event.kind in RESTARTS:
            members[event.member] = _Rows()
        elif one is not None and _is_wait(event) and event.other is not None:
            breach = WaitedForFreeRow(
                member=event.member, transaction=one, other=event.other,
                row=", ".join(map(format_item, sorted_items(event.items))),
            )  # fmt: skip
            yield None if rows.may_hold(event.other, event.items) else breach
        if one is not None:
            rows.follow(event, one)


@always(
    of=waits_for_written_rows,
    source="InnoDB: lock_rec_lock: a free row is granted at once",
    witness=lambda history: sum(1 for _ in _waits(history)),
    is_safety=False,
)
def rows_are_waited_for_while_held(history: History) -> tuple[WaitedForFreeRow, ...]:
    """A transaction waits for a row only of one that asked for it first and has not ended.

    Rows locked beside those that are written are not recorded, and not judged.
    """
    return tuple(breach for breach in _waits(history) if breach is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderStoodStill(Violation):
    """A wait for a reader times out, and nothing keeps the reader from its next row."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} waited too long for a reader that could go on: "
            "no row was changed and uncommitted"
        )


def waits_for_readers(history: History) -> bool:
    """Workers of a controlled run wait for rows that a reader at the replica has locked."""
    return attempts_of_workers(history) and any(
        _is_wait_for_a_reader(event) for event in history.events
    )


def _is_wait_for_a_reader(event: Event) -> bool:
    return event.outcome is Outcome.LOCK_WAIT and event.note == LOCAL_READER


def _waits_for_readers(history: History) -> Iterator[ReaderStoodStill | None]:
    """Yield how each wait for a reader ends: with a breach, or without as None."""
    locked: dict[tuple[str, TransactionId], set[Item]] = {}
    waiting: set[tuple[str, TransactionId, int | None]] = set()
    for event in history.events:
        member, one = event.member, event.transaction
        if event.kind in RESTARTS:
            locked = {key: rows for key, rows in locked.items() if key[0] != member}
            waiting = {key for key in waiting if key[0] != member}
        if one is None:
            continue
        if _is_wait_for_a_reader(event):
            waiting.add((member, one, event.worker))
        elif event.kind is EventKind.ROW_APPLIED and (member, one, event.worker) in waiting:
            waiting.remove((member, one, event.worker))
            is_late = event.outcome is Outcome.ERROR and event.note == LOCK_WAIT_TIMEOUT
            may_stand = not is_late or any(rows for key, rows in locked.items() if key[0] == member)
            yield None if may_stand else ReaderStoodStill(member=member, transaction=one)
        if event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK:
            locked.setdefault((member, one), set()).update(event.items)
        elif event.kind is EventKind.VISIBLE:
            locked.get((member, one), set()).difference_update(event.items)
        elif event.kind in ENDS:
            locked.pop((member, one), None)


@always(
    of=waits_for_readers,
    source="InnoDB, innodb_lock_wait_timeout: a reader that does not wait itself commits in time",
    witness=lambda history: sum(1 for _ in _waits_for_readers(history)),
    is_safety=False,
)
def waits_for_readers_time_out_in_circles(history: History) -> tuple[ReaderStoodStill, ...]:
    """A wait for a reader times out only while a changed row, which it may need, is uncommitted."""
    return tuple(breach for breach in _waits_for_readers(history) if breach is not None)
