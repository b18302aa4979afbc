"""Row changes and commits of group members: start, locks, acknowledgement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from paraply.properties.registry import Exemption, Violation, always, sometimes
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item, format_item

_ENDS = frozenset({EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK, EventKind.FAILED})
_DOWN = frozenset({EventKind.CRASHED, EventKind.STOPPED})
_WAITING = frozenset({EventKind.ENGINE_COMMITTED, EventKind.CLIENT_ACKNOWLEDGED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LockIgnored(Violation):
    """A row changes while another transaction has changed it."""

    member: str
    transaction: TransactionId
    holder: TransactionId
    item: Item

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} changed {format_item(self.item)}, which "
            f"T{self.holder} had changed and not yet committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedAgainstStamp(Violation):
    """A worker begins before its member's last_committed permits."""

    member: str
    transaction: TransactionId
    timestamp: LogicalTimestamp
    missing: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} {self.timestamp} and began it before "
            f"T{self.missing} had committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedUnacknowledged(Violation):
    """A member commits its own transaction too early."""

    member: str
    transaction: TransactionId
    heard: tuple[str, ...]
    needed: int

    def __str__(self) -> str:
        heard = ", ".join(self.heard) or "no other member"
        return f"{self.member} {self._done} when {heard} had it; {self.needed} must"

    @property
    def _done(self) -> str:
        return f"committed T{self.transaction} of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredUnacknowledged(CommittedUnacknowledged):
    """A member answers its client too early."""

    @property
    def _done(self) -> str:
        return f"answered the client of T{self.transaction}"


Early = TypeVar("Early", bound=CommittedUnacknowledged)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedBeforeFlushed(Violation):
    """A member commits its own transaction before what its binary log has first."""

    member: str
    transaction: TransactionId
    first: TransactionId | None

    def __str__(self) -> str:
        log = "nothing" if self.first is None else f"T{self.first}"
        return (
            f"{self.member} committed T{self.transaction} of its own; next in its binary log was "
            f"{log}"
        )


def _is_changed(event: Event) -> bool:
    return event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK


def _holders(history: History) -> Iterator[tuple[Event, Item, TransactionId | None]]:
    """Yield each row change with the uncommitted transaction that changed the row before."""
    held: dict[tuple[str, Item], TransactionId] = {}
    for event in history.events:
        one = event.transaction
        if event.kind in _DOWN:
            held = {key: holder for key, holder in held.items() if key[0] != event.member}
        elif event.kind in _ENDS:
            held = {
                key: holder
                for key, holder in held.items()
                if (key[0], holder) != (event.member, one)
            }
        elif _is_changed(event) and one is not None:
            for item in event.items:
                holder = held.setdefault((event.member, item), one)
                yield event, item, None if holder == one else holder


def _clients_and_workers_change_rows(history: History) -> bool:
    origin = {one.id: one.origin for one in history.transactions}
    changes = {
        (event.member, origin.get(event.transaction) == event.member)
        for event in history.events_of(EventKind.ROW_APPLIED)
        if event.transaction is not None
    }
    return any((member, False) in changes for member, is_own in changes if is_own)


@always(
    of=recorded(EventKind.CERTIFIED, EventKind.ROW_APPLIED),
    source="MDEV-162: row locks are held until the engine commit; InnoDB: lock_release",
    witness=_clients_and_workers_change_rows,
)
def rows_stay_locked_until_the_end(history: History) -> list[LockIgnored]:
    """On one member no transaction changes a row that another has changed and not committed."""
    return [
        LockIgnored(member=event.member, transaction=event.transaction, holder=holder, item=item)
        for event, item, holder in _holders(history)
        if holder is not None and event.transaction is not None
    ]


@dataclass(slots=True)
class _Log:
    """What a member has stamped since its start; ``fenced`` are those before the last (0, 0)."""

    stamps: dict[TransactionId, LogicalTimestamp] = field(default_factory=dict)
    done: set[TransactionId] = field(default_factory=set)

    def before(self, transaction: TransactionId) -> Iterator[TransactionId]:
        """Yield what must be done before the transaction begins."""
        mine = self.stamps[transaction]
        earlier: list[TransactionId] = []
        for one in self.stamps:
            if one == transaction:
                break
            earlier.append(one)
        fences = [place for place, one in enumerate(earlier) if self.stamps[one].is_view_change]
        for place, one in enumerate(earlier):
            if (
                mine.is_view_change
                or (fences and place <= fences[-1])
                or must_wait(mine.last_committed, self.stamps[one].sequence_number)
            ):
                yield one


def _begins(
    history: History,
) -> Iterator[tuple[str, TransactionId, LogicalTimestamp, TransactionId, bool]]:
    """Yield a begin, an earlier transaction that it must wait for, and whether that is done."""
    logs: dict[str, _Log] = {}
    for event in history.events:
        log = logs.setdefault(event.member, _Log())
        one = event.transaction
        if event.kind is EventKind.STARTED:
            logs[event.member] = _Log()
        elif one is None:
            continue
        elif event.kind is EventKind.CERTIFIED and event.timestamp is not None:
            log.stamps[one] = event.timestamp
        elif event.kind in (EventKind.ENGINE_COMMITTED, EventKind.SKIPPED):
            log.done.add(one)
        elif event.kind is EventKind.BEGUN and one in log.stamps:
            for other in log.before(one):
                yield event.member, one, log.stamps[one], other, other in log.done


def _a_worker_has_to_wait(history: History) -> bool:
    return next(_begins(history), None) is not None


@always(
    of=recorded(EventKind.CERTIFIED, EventKind.BEGUN),
    source="WL#8440, replication path; Mts_submode_logical_clock::wait_for_last_committed_trx",
    witness=_a_worker_has_to_wait,
)
def members_start_as_they_stamped(history: History) -> list[StartedAgainstStamp]:
    """A member's worker begins only when all up to the member's own last_committed is committed."""
    return [
        StartedAgainstStamp(member=member, transaction=one, timestamp=timestamp, missing=other)
        for member, one, timestamp, other, is_done in _begins(history)
        if not is_done
    ]


@sometimes(of=recorded(EventKind.CERTIFIED, EventKind.BEGUN), source="decision 0002")
def a_members_workers_overlap(history: History) -> bool:
    """Two workers of one member have transactions under way."""
    running: dict[str, set[TransactionId | None]] = {}
    for event in history.events:
        mine = running.setdefault(event.member, set())
        if event.kind is EventKind.BEGUN:
            mine.add(event.transaction)
            if len(mine) > 1:
                return True
        elif event.kind in _ENDS:
            mine.discard(event.transaction)
        elif event.kind in _DOWN:
            mine.clear()
    return False


def waits_of_members(history: History) -> bool:
    """Members that certify wait for a stated number of acknowledgements."""
    return EventKind.CERTIFIED in history.kinds and bool(
        history.header.options.get("acknowledgements")
    )


@dataclass(slots=True)
class _Waits:
    """Follows who has to acknowledge, and who has.

    A member receives what is certified after its first view; the origin's view at the decision says
    who is in the group.
    """

    needed: int
    up: set[str] = field(default_factory=set)
    first_view: dict[str, int] = field(default_factory=dict)
    view: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    decided_in: dict[tuple[str, TransactionId], tuple[int, tuple[str, ...]]] = field(
        default_factory=dict
    )
    heard: dict[TransactionId, set[str]] = field(default_factory=dict)

    def follow(self, event: Event) -> tuple[set[str], set[str]] | None:
        """Return receivers and those that have it, at a commit or answer."""
        member, one = event.member, event.transaction
        if event.kind is EventKind.STARTED:
            self.up.add(member)
        elif event.kind in _DOWN:
            self.up.discard(member)
            self.first_view.pop(member, None)
            self.decided_in = {
                key: view for key, view in self.decided_in.items() if key[0] != member
            }
            for having in self.heard.values():
                having.discard(member)
        elif event.kind is EventKind.VIEW_INSTALLED and event.view is not None:
            self.first_view.setdefault(member, event.view)
            self.view[member] = event.view, event.members
        elif one is None:
            return None
        elif event.kind is EventKind.CERTIFIED and member in self.view:
            self.decided_in[member, one] = self.view[member]
        elif event.kind is EventKind.ACKNOWLEDGED:
            self.heard.setdefault(one, set()).add(member)
        elif event.kind in _WAITING and (member, one) in self.decided_in:
            number, members = self.decided_in[member, one]
            receivers = {
                other
                for other in self.up & set(members) - {member}
                if self.first_view.get(other, number + 1) <= number
            }
            return receivers, self.heard.get(one, set()) & receivers
        return None


def _own(history: History, kind: EventKind) -> Iterator[tuple[Event, set[str], int]]:
    origin = {one.id: one.origin for one in history.transactions}
    waits = _Waits(needed=int(history.header.options.get("acknowledgements", 0)))
    for event in history.events:
        found = waits.follow(event)
        is_own = origin.get(event.transaction or INITIAL_STATE) == event.member
        if found is not None and is_own and event.kind is kind:
            receivers, heard = found
            yield event, heard, min(waits.needed, len(receivers))


def _too_early(history: History, kind: EventKind, breach: type[Early]) -> list[Early]:
    return [
        breach(
            member=event.member,
            transaction=event.transaction,
            heard=tuple(sorted(heard)),
            needed=needed,
        )
        for event, heard, needed in _own(history, kind)
        if len(heard) < needed and event.transaction is not None
    ]


def _a_commit_needs_another(history: History) -> bool:
    return any(needed for _, _, needed in _own(history, EventKind.ENGINE_COMMITTED))


def _an_answer_needs_another(history: History) -> bool:
    return any(needed for _, _, needed in _own(history, EventKind.CLIENT_ACKNOWLEDGED))


@always(
    of=waits_of_members,
    source="MDEV-162; rpl_semi_sync_source_wait_point=AFTER_SYNC",
    witness=_a_commit_needs_another,
    exemptions=(
        Exemption(
            applies=lambda history: bool(history.header.options.get("after_commit")),
            because="AFTER_COMMIT: the client waits, and the commit does not",
        ),
    ),
)
def own_commits_wait_for_other_members(history: History) -> list[CommittedUnacknowledged]:
    """A member commits its own transaction once enough others have it in their relay logs.

    Members that crashed, or joined after the transaction, do not count.
    """
    return _too_early(history, EventKind.ENGINE_COMMITTED, CommittedUnacknowledged)


@always(
    of=waits_of_members,
    source="MDEV-162; AFTER_COMMIT promises this much",
    witness=_an_answer_needs_another,
)
def members_answer_when_others_have_it(history: History) -> list[AnsweredUnacknowledged]:
    """A member answers its client once enough others have the transaction in their relay logs.

    Members that crashed, or joined after the transaction, do not count.
    """
    return _too_early(history, EventKind.CLIENT_ACKNOWLEDGED, AnsweredUnacknowledged)


def _flushed_first(history: History) -> Iterator[tuple[Event, TransactionId | None]]:
    """Yield own commits of members at work, with the first flushed and uncommitted transaction."""
    origin = {one.id: one.origin for one in history.transactions}
    flushed: dict[str, list[TransactionId]] = {}
    decided: set[tuple[str, TransactionId]] = set()
    for event in history.events:
        member, one = event.member, event.transaction
        if event.kind in _DOWN:
            decided = {pair for pair in decided if pair[0] != member}
            flushed.pop(member, None)
        elif one is None or origin.get(one) != member:
            continue
        elif event.kind is EventKind.CERTIFIED:
            decided.add((member, one))
        elif event.kind is EventKind.FLUSHED:
            flushed.setdefault(member, []).append(one)
        elif event.kind is EventKind.ENGINE_COMMITTED and (member, one) in decided:
            mine = flushed.get(member, [])
            yield event, mine[0] if mine else None
            if one in mine:
                mine.remove(one)


@always(
    of=recorded(EventKind.CERTIFIED, EventKind.FLUSHED),
    source="binlog_order_commits=ON; MDEV-162: LOCK_commit_ordered",
    witness=lambda history: next(_flushed_first(history), None) is not None,
)
def members_commit_as_flushed(history: History) -> list[CommittedBeforeFlushed]:
    """A member commits its own transactions in the order of its binary log."""
    return [
        CommittedBeforeFlushed(member=event.member, transaction=event.transaction, first=first)
        for event, first in _flushed_first(history)
        if event.transaction is not None and event.transaction != first
    ]
