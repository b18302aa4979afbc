"""A recorded group run as a history: who was asked, and what each member's log answered."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.live.group_clients import NO_CLIENTS, ClientStory, GroupClients
from adapters.live.translation import Run
from vocabulary.events import Event, EventKind, Outcome
from vocabulary.group_trace import GroupTrace, MemberUuid, TransactionDelivered, ViewInstalled
from vocabulary.gtid_set import Gtid
from vocabulary.history import EvidenceTier, History, OptionValue
from vocabulary.timestamps import LogicalTime, LogicalTimestamp
from vocabulary.transactions import Transaction, TransactionId, TransactionKind


def history_of_trace(
    trace: GroupTrace,
    *,
    seed: int,
    options: dict[str, OptionValue],
    clients: GroupClients = NO_CLIENTS,
) -> History:
    """Return the history of a group run; members are ``r1``, ``r2`` ... as the trace has them.

    A member answers for what was delivered while it was in the view. What it had certified when
    it left in order is not in its log any more: of that nothing is told.
    """
    delivered = list(trace.transactions)
    names = {uuid: f"r{number}" for number, uuid in enumerate(trace.members, start=1)}
    version = "_".join(trace.server_version.split()[-1].split(".")[:2])
    run = Run(
        subject=f"live mysql-gr {trace.server_version}",
        dialect=f"mysql_{version}",
        seed=seed,
        options=options,
    )
    story = ClientStory(clients, names, len(delivered))
    transactions = [_transaction(number, step, names) for number, step in enumerate(delivered, 1)]
    return run.history(
        names.values(),
        (*transactions, *story.lost),
        _events(trace, names, story, clients.cut_off),
        tier=EvidenceTier.COMMIT_ORDER,
    )


def _transaction(
    number: int, step: TransactionDelivered, names: dict[MemberUuid, str]
) -> Transaction:
    items = frozenset(step.items)
    if step.is_create_select:
        kind = TransactionKind.CTAS
    elif items or step.is_empty:
        kind = TransactionKind.ROWS
    else:
        kind = TransactionKind.DDL
    if step.is_empty:
        # It changes nothing, and so is in nobody's way: an item that nobody else has.
        items = frozenset({f"nothing of T{number}"})
    return Transaction(
        id=TransactionId(number),
        kind=kind,
        origin=names[step.origin],
        write_set=items,
        gtid="" if step.specified is None else str(step.specified),
    )


def _events(
    trace: GroupTrace, names: dict[MemberUuid, str], clients: ClientStory, cut_off: MemberUuid
) -> Iterator[Event]:
    last = _last_answers(trace)
    present: tuple[MemberUuid, ...] = ()
    committed = _Committed()
    number = views = 0
    for place, step in enumerate(trace.steps):
        if isinstance(step, ViewInstalled):
            present = step.members
            views += 1
            if cut_off in step.left:
                yield from clients.cut_off(views)
            for uuid in present:
                yield Event(
                    kind=EventKind.VIEW_INSTALLED,
                    time=LogicalTime(0),
                    member=names[uuid],
                    view=views,
                    members=tuple(names[one] for one in present),
                )
        elif isinstance(step, TransactionDelivered):
            number += 1
            yield from committed.seen_by(step, names[step.origin])
            committed.note(step, TransactionId(number))
            for uuid in present:
                if place <= last[uuid, views]:
                    yield _certified(step, TransactionId(number), uuid, names[uuid])
            yield from clients.on_decided(step, TransactionId(number))
    yield from clients.ends()


class _Committed:
    """What members are known to have committed: what their own later transactions have seen.

    When a member commits is in no log. The snapshot of a transaction is its origin's executed set
    when it was sent, so that all of it had been committed there before it was certified.
    """

    def __init__(self) -> None:
        self._pending: dict[MemberUuid, dict[Gtid, TransactionId]] = {}

    def note(self, step: TransactionDelivered, transaction: TransactionId) -> None:
        """Take what the members decided."""
        for uuid, logged in step.decided.items():
            self._pending.setdefault(uuid, {})[logged.gtid] = transaction

    def seen_by(self, step: TransactionDelivered, origin: str) -> Iterator[Event]:
        """Yield the commits at the origin that a transaction shows to have happened."""
        pending = self._pending.get(step.origin, {})
        seen = [gtid for gtid in pending if gtid in step.snapshot]
        for gtid in seen:
            yield Event(
                kind=EventKind.ENGINE_COMMITTED,
                time=LogicalTime(0),
                member=origin,
                transaction=pending.pop(gtid),
            )


def _last_answers(trace: GroupTrace) -> dict[tuple[MemberUuid, int], int]:
    """Return, by member and view, the last step of which the member's log can tell."""
    last: dict[tuple[MemberUuid, int], int] = {}
    answered: dict[MemberUuid, int] = {}
    present: tuple[MemberUuid, ...] = ()
    views = 0
    for place, step in enumerate(trace.steps):
        if isinstance(step, ViewInstalled):
            for uuid in present:
                stays = uuid in step.members
                last[uuid, views] = place if stays else answered.get(uuid, -1)
            present = step.members
            views += 1
        elif isinstance(step, TransactionDelivered):
            answered.update(dict.fromkeys(step.decided, place))
    return last | {(uuid, views): len(trace.steps) for uuid in present}


def _certified(
    step: TransactionDelivered, transaction: TransactionId, uuid: MemberUuid, name: str
) -> Event:
    logged = step.decided.get(uuid)
    timestamp = None
    if logged is not None and logged.last_committed is not None:
        timestamp = LogicalTimestamp.as_recorded(logged.last_committed, logged.sequence_number or 0)
    return Event(
        kind=EventKind.CERTIFIED,
        time=LogicalTime(0),
        member=name,
        transaction=transaction,
        outcome=Outcome.NEGATIVE if logged is None else Outcome.POSITIVE,
        gtid="" if logged is None else str(logged.gtid),
        timestamp=timestamp,
    )
