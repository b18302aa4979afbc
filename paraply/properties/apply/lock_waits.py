"""Row locks, commit-order deadlocks, and what a crashed server does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import ENDS, LOST, RESTARTS, ApplyStream, apply_streams
from paraply.properties.registry import Exemption, Violation, always, fields, sometimes
from paraply.properties.vocabularies import attempts_of_workers, recorded
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item

COMMIT_ORDER_DEADLOCK = "commit order deadlock"
"""Note of a ROLLED_BACK event; ``other`` waits for the victim's row and commits before it."""

LOCAL_READER = "local reader"
"""Note of a lock wait for a reader at the replica, which commits with its READ event."""

_READER = TransactionId(-1)
_MOVES = frozenset({EventKind.ROW_APPLIED, EventKind.FLUSHED, EventKind.ENGINE_COMMITTED})
_RETURNS = frozenset({EventKind.STARTED, EventKind.RECOVERED})


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEndedEarly(Violation):
    """A transaction goes on although the holder of its row has not ended."""

    member: str
    transaction: TransactionId
    holder: TransactionId

    def __str__(self) -> str:
        holder = "a reader" if self.holder == _READER else f"T{self.holder}"
        return f"{self.member}: T{self.transaction} went on while {holder} held its row"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTwice(Violation):
    """Two unfinished transactions change one row."""

    member: str
    item: Item
    holder: TransactionId
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} changed {self.item} before T{self.holder}, which "
            "had changed it, was committed or rolled back"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongVictim(Violation):
    """The earlier of two deadlocked transactions is rolled back."""

    member: str
    victim: TransactionId
    waiter: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.victim} was rolled back for T{self.waiter}, a later one"


@dataclass(frozen=True, slots=True, kw_only=True)
class NobodyWaited(Violation):
    """A transaction is rolled back for one that does not wait for it."""

    member: str
    victim: TransactionId
    other: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.victim} was rolled back for T{self.other}, which did not wait "
            "for its row"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActedAfterCrash(Violation):
    """A crashed server acts before it starts again."""

    member: str
    kind: EventKind
    time: int

    def __str__(self) -> str:
        return f"{self.member}: {self.kind.value} at {self.time}, after it had crashed"


def _is_lock_wait(event: Event) -> bool:
    return event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.LOCK_WAIT


def _holder(event: Event) -> TransactionId | None:
    """Return whom a lock wait is for, if recorded."""
    return _READER if event.note == LOCAL_READER else event.other


def _is_rolled_back_for_order(event: Event) -> bool:
    return event.kind is EventKind.ROLLED_BACK and event.note == COMMIT_ORDER_DEADLOCK


def row_waits(history: History) -> bool:
    """Appliers record waits for rows, and the holders."""
    return any(_is_lock_wait(event) and _holder(event) is not None for event in history.events)


@sometimes(of=row_waits, source="InnoDB: lock_wait_suspend_thread")
def a_transaction_waits_for_a_row(history: History) -> bool:
    """A transaction waited for a row that another one held."""
    return row_waits(history)


def _waits(history: History) -> Iterator[str]:
    """Yield the member of each wait for a known holder."""
    for event in history.events_of(EventKind.ROW_APPLIED):
        if _is_lock_wait(event) and _holder(event) is not None:
            yield event.member


def _waits_outside_appliers(history: History) -> Iterator[str]:
    appliers = {stream.member for stream in apply_streams(history)}
    for member in _waits(history):
        if member not in appliers:
            yield f"no scheduled or begun of {member}"


def _may_ask_again(history: History) -> bool:
    return history.header.recorded_by.startswith("paraply conform")


@always(
    gaps=(_waits_outside_appliers,),
    of=row_waits,
    exemptions=(
        Exemption(
            applies=_may_ask_again,
            because="an applier under test may ask for the row again and is refused again",
        ),
    ),
    source="InnoDB: lock_wait_suspend_thread, lock_release",
    witness=lambda history: sum(1 for _ in _ends_of_waits(history)),
)
def row_waits_last_until_the_holder_ends(history: History) -> tuple[WaitEndedEarly, ...]:
    """A transaction that waits for a row goes on, unless it fails, after the holder's end only."""
    return tuple(end for end, is_early in _ends_of_waits(history) if is_early)


def _ends_of_waits(history: History) -> Iterator[tuple[WaitEndedEarly, bool]]:
    """Yield each wait of an applier that ends, and whether it ends before its holder has ended."""
    for stream in apply_streams(history):
        waits: dict[tuple[TransactionId, int | None], TransactionId] = {}
        for _, event in stream.events:
            one = _READER if event.kind is EventKind.READ else event.transaction
            ended = list(waits) if event.kind in RESTARTS else []
            if one is not None:
                waiter = one, event.worker
                if event.kind in _MOVES and waiter in waits and event.outcome is not Outcome.ERROR:
                    yield _end_of_wait(stream, one, waits.pop(waiter)), True
                if _is_lock_wait(event) and (holder := _holder(event)) is not None:
                    waits[waiter] = holder
                elif event.kind in ENDS or one == _READER:
                    ended = [key for key, holder in waits.items() if one in (key[0], holder)]
            for key in ended:
                yield _end_of_wait(stream, key[0], waits.pop(key)), False


def _end_of_wait(
    stream: ApplyStream, waiter: TransactionId, holder: TransactionId
) -> WaitEndedEarly:
    return WaitEndedEarly(member=stream.member, transaction=waiter, holder=holder)


def _changes(history: History) -> Iterator[tuple[Event, Item, TransactionId | None]]:
    """Yield each row change with the other unfinished transaction that changed the row, if any."""
    for stream in apply_streams(history):
        holders: dict[Item, TransactionId] = {}
        jobs: dict[TransactionId, frozenset[TransactionId]] = {}
        for _, event in stream.events:
            one = event.transaction
            if event.kind in RESTARTS:
                holders.clear()
            elif one is None:
                continue
            elif event.kind is EventKind.BEGUN:
                jobs[one] = frozenset({one, *event.transactions})
            elif event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK:
                for item in event.items:
                    holder = holders.setdefault(item, one)
                    yield event, item, None if holder in jobs.get(one, {one}) else holder
            elif event.kind in ENDS:
                holders = {item: who for item, who in holders.items() if who != one}
            elif event.kind is EventKind.VISIBLE:  # One part of it has committed.
                holders = {
                    item: who
                    for item, who in holders.items()
                    if who != one or item not in event.items
                }


@always(
    of=attempts_of_workers,
    source="InnoDB: a changed row stays locked until its transaction ends",
    witness=lambda history: sum(1 for _ in _changes(history)),
)
def changed_rows_are_locked_until_the_end(history: History) -> tuple[LockedTwice, ...]:
    """A row that an attempt has changed is changed by no other one before the attempt has ended."""
    return tuple(
        LockedTwice(member=event.member, item=item, holder=holder, transaction=event.transaction)
        for event, item, holder in _changes(history)
        if holder is not None and event.transaction is not None
    )


def order_deadlocks(history: History) -> bool:
    """Appliers record whom commit order rolls back."""
    return any(map(_is_rolled_back_for_order, history.events))


@sometimes(of=order_deadlocks, source="Commit_order_manager::check_and_report_deadlock")
def commit_order_rolls_a_transaction_back(history: History) -> bool:
    """A transaction held a row that one before it in commit order needed."""
    return order_deadlocks(history)


def _are_waits_told(history: History) -> bool:
    waits = list(filter(_is_lock_wait, history.events))
    return bool(waits) and all(_holder(event) is not None for event in waits)


def _untold_waits(history: History) -> Iterator[str]:
    if not _are_waits_told(history):
        yield "rolled_back without the lock_wait and its holder"


@always(
    of=order_deadlocks,
    gaps=(
        fields(EventKind.ROLLED_BACK, "other", where=_is_rolled_back_for_order),
        _untold_waits,
    ),
    source="Commit_order_manager::check_and_report_deadlock",
    witness=commit_order_rolls_a_transaction_back,
)
def commit_order_rolls_back_the_later(
    history: History,
) -> tuple[WrongVictim | NobodyWaited, ...]:
    """Who is rolled back for an earlier transaction holds a row that this one waits for."""
    waits: dict[tuple[str, TransactionId], TransactionId | None] = {}
    are_waits_told = _are_waits_told(history)
    found: list[WrongVictim | NobodyWaited] = []
    for event in history.events:
        one, other = event.transaction, event.other
        if one is None:
            continue
        waits[event.member, one] = other if _is_lock_wait(event) else None
        if not _is_rolled_back_for_order(event) or other is None:
            continue
        if one < other:
            found.append(WrongVictim(member=event.member, victim=one, waiter=other))
        elif are_waits_told and waits.get((event.member, other)) != one:
            found.append(NobodyWaited(member=event.member, victim=one, other=other))
    return tuple(found)


@sometimes(of=recorded(EventKind.CRASHED), source="crash recovery")
def something_happens_after_a_crash(history: History) -> bool:
    """A member crashed before the last event."""
    return any(event.kind is EventKind.CRASHED for event in history.events[:-1])


@always(
    of=recorded(EventKind.CRASHED),
    source="crash recovery: a server that is down does nothing",
    witness=something_happens_after_a_crash,
)
def crashed_servers_are_silent(history: History) -> tuple[ActedAfterCrash, ...]:
    """A member that crashed does nothing until it starts again.

    Recovery commits what was prepared in the crash's own step. STOPPED closes the record. Where a
    run was only observed, restarts may be unrecorded: there only members lost for good are judged.
    """
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    down: dict[str, int] = {}
    found = []
    for event in history.events:
        moment = down.get(event.member, event.time)
        if event.kind is EventKind.CRASHED:
            if is_exact or event.note.startswith(LOST):
                down[event.member] = event.time
        elif event.kind in _RETURNS:
            down.pop(event.member, None)
        elif event.kind is not EventKind.STOPPED and event.time > moment:
            found.append(
                ActedAfterCrash(member=event.member, kind=event.kind, time=int(event.time))
            )
    return tuple(found)
