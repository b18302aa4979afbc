"""What a member applies before it takes writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import MemberStream, member_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBeforeItsBacklog(Violation):
    """A member takes a write before it has applied what it begins with."""

    member: str
    transaction: TransactionId
    missing: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} took T{self.transaction} from a client before it had applied "
            f"T{self.missing}, certified before it was online or the last primary left"
        )


def members_wait_for_their_backlog(history: History) -> bool:
    """Members that become online first apply what they have certified, as stated."""
    return certification(history) and bool(history.header.options.get("waits_for_backlog"))


def _writes(history: History) -> Iterator[tuple[MemberStream, int, int]]:
    """Yield writes of members that had a backlog, and when each came online or lost its primary."""
    writes: dict[str, list[int]] = {}
    for index, event in enumerate(history.events):
        if event.kind is EventKind.SUBMITTED:
            writes.setdefault(event.member, []).append(index)
    is_single_primary = bool(history.header.options.get("single_primary"))
    for stream in member_streams(history):
        online: int | None = None
        joined: dict[str, int] = {}
        for index, event in stream.events:
            if event.kind in (EventKind.CRASHED, EventKind.STARTED):
                online, joined = None, {}
            elif event.kind is EventKind.ONLINE and event.member in event.members:
                online = index if online is None else online
            elif event.kind is EventKind.VIEW_INSTALLED:
                # One that left before and came back is no primary for its writes of then.
                has_lost_its_primary = any(
                    came < write < index
                    for one, came in joined.items()
                    if one not in event.members
                    for write in writes.get(one, ())
                )
                if is_single_primary and online is not None and has_lost_its_primary:
                    online = index
                joined = {one: joined.get(one, index) for one in event.members}
            elif event.kind is EventKind.SUBMITTED and _has_backlog(stream, online):
                assert online is not None
                yield stream, online, index


def _has_backlog(stream: MemberStream, online: int | None) -> bool:
    return online is not None and any(one.event_index < online for one in stream.remote)


@always(
    of=members_wait_for_their_backlog,
    source="group_replication_consistency=BEFORE_ON_PRIMARY_FAILOVER; WL#8440, recovery",
    witness=lambda history: sum(1 for _ in _writes(history)),
)
def members_write_after_their_backlog(history: History) -> tuple[WroteBeforeItsBacklog, ...]:
    """A member takes writes when it has applied all that it certified before it was online.

    A new primary has also applied all that it certified before the last one left.
    """
    return tuple(
        WroteBeforeItsBacklog(
            member=stream.member,
            transaction=history.events[index].transaction or TransactionId(0),
            missing=one.transaction.id,
        )
        for stream, online, index in _writes(history)
        for one in stream.remote
        if one.event_index < online and not stream.had_committed(one.transaction.id, index)
    )
