"""Translate a recorded group run into a history."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.adapters.live.group.clients import NO_CLIENTS, ClientStory, GroupClients
from paraply.adapters.live.group.members import NOTHING_SEEN, GroupRows, GroupSeen, MemberCommits
from paraply.adapters.live.translation import Run
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.group_trace import (
    GroupTrace,
    MemberRecovered,
    MemberUuid,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.history import EvidenceTier, History, OptionValue
from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind


def history_of_trace(
    trace: GroupTrace,
    *,
    seed: int,
    options: dict[str, OptionValue],
    clients: GroupClients = NO_CLIENTS,
    seen: GroupSeen = NOTHING_SEEN,
) -> History:
    """Return the history of a group run; members are ``r1``, ``r2`` ... in trace order.

    A member answers for deliveries during its views. An ordered departure truncates its log, so the
    history omits its last decisions.
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
    rows = GroupRows(seen, delivered)
    told = _Story(trace, names, rows, ClientStory(clients, names, len(delivered)), clients.cut_off)
    transactions = [
        _transaction(number, step, names, rows) for number, step in enumerate(delivered, 1)
    ]
    return run.history(
        names.values(),
        (*transactions, *told.clients.lost),
        told.events(),
        tier=EvidenceTier.COMMIT_ORDER,
    )


def _transaction(
    number: int, step: TransactionDelivered, names: dict[MemberUuid, str], rows: GroupRows
) -> Transaction:
    items = frozenset(step.items)
    if step.is_create_select:
        kind = TransactionKind.CTAS
    elif items or step.is_empty:
        kind = TransactionKind.ROWS
    else:
        kind = TransactionKind.DDL
    if step.is_empty:
        # It changes nothing: a unique item avoids conflicts.
        items = frozenset({f"nothing of T{number}"})
    decided = next(iter(step.decided.values()), None)
    return Transaction(
        id=TransactionId(number),
        kind=kind,
        origin=names[step.origin],
        write_set=items | rows.rows_of(TransactionId(number)),
        gtid="" if decided is None else str(decided.gtid),
    )


class _Story:
    def __init__(
        self,
        trace: GroupTrace,
        names: dict[MemberUuid, str],
        rows: GroupRows,
        clients: ClientStory,
        cut_off: MemberUuid,
    ) -> None:
        self.clients = clients
        self._trace = trace
        self._names = names
        self._rows = rows
        self._cut_off = cut_off
        self._last = _last_answers(trace)
        self._commits = {
            uuid: MemberCommits(name, rows.story_of(uuid, name)) for uuid, name in names.items()
        }
        self._present: tuple[MemberUuid, ...] = ()
        self._online: frozenset[MemberUuid] = frozenset()
        self._number = 0
        self._views = 0

    def events(self) -> Iterator[Event]:
        for place, step in enumerate(self._trace.steps):
            if isinstance(step, ViewInstalled):
                yield from self._on_view(step)
            elif isinstance(step, MemberRecovered):
                self._online |= {step.member}
                yield from self._all_online()
            elif isinstance(step, TransactionDelivered):
                self._number += 1
                yield from self._on_delivered(place, step)
        for uuid, commits in self._commits.items():
            yield from commits.rest()
            yield from self._rows.final_read(uuid)
        yield from self.clients.ends()

    def _on_view(self, step: ViewInstalled) -> Iterator[Event]:
        self._views += 1
        if self._cut_off in step.left:
            yield from self.clients.cut_off(self._views)
        for uuid in step.joined:
            # It already had these; recovery supplies the other missed transactions.
            if uuid in self._commits and uuid in step.executed:
                yield from self._commits[uuid].executed(step.executed[uuid])
        before = self._online if self._present else frozenset(step.members)
        self._online = before.intersection(step.members).difference(step.joined)
        self._present = step.members
        for uuid in self._present:
            yield Event(
                kind=EventKind.VIEW_INSTALLED,
                time=LogicalTime(0),
                member=self._names[uuid],
                view=self._views,
                members=tuple(self._names[one] for one in self._present),
            )
        yield from self._all_online()

    def _all_online(self) -> Iterator[Event]:
        online = tuple(self._names[one] for one in self._present if one in self._online)
        for uuid in self._present:
            yield Event(
                kind=EventKind.ONLINE,
                time=LogicalTime(0),
                member=self._names[uuid],
                members=online,
            )

    def _on_delivered(self, place: int, step: TransactionDelivered) -> Iterator[Event]:
        transaction = TransactionId(self._number)
        yield from self._commits[step.origin].executed(step.snapshot)
        for uuid, logged in step.decided.items():
            self._commits[uuid].decide(logged.gtid, transaction)
        for uuid in self._present:
            if place <= self._last[uuid, self._views]:
                yield _certified(step, transaction, uuid, self._names[uuid])
        yield from self.clients.on_decided(step, transaction)


def _last_answers(trace: GroupTrace) -> dict[tuple[MemberUuid, int], int]:
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
