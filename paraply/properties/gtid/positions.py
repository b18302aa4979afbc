"""A replica's position agrees with its data.

A MariaDB position covers one GTID and all earlier ones per domain; a MySQL position is the executed
set. After an error, the next start repeats or loses a transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.gtid.histories import (
    POSITION_ITEM,
    Covering,
    Report,
    entries_of,
    has_domains,
    reports,
)
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import logged_domains, position_rows, positions_of_replicas
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionAhead(Violation):
    """The next start skips a covered missing transaction."""

    member: str
    position: str
    transaction: TransactionId
    when: EventKind

    def __str__(self) -> str:
        return (
            f"on {self.member}, {self.when.value}, position {self.position} covers "
            f"T{self.transaction}, which is not applied"
        )


class PositionBehind(PositionAhead):
    """The next start repeats an applied transaction."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"on {self.member}, {self.when.value}, T{self.transaction} is applied and position "
            f"{self.position or '(empty)'} does not cover it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLeftGap(Violation):
    """A stopped replica has a gap."""

    member: str
    missing: TransactionId
    applied: TransactionId
    domain: int | None
    """None without domains."""

    def __str__(self) -> str:
        log = "the log" if self.domain is None else f"domain {self.domain}"
        return (
            f"{self.member} stopped with T{self.applied} applied and T{self.missing}, before it in "
            f"{log}, not"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionRowWaited(Violation):
    """A transaction waits for a position row."""

    member: str
    transaction: TransactionId
    holder: TransactionId | None

    def __str__(self) -> str:
        holder = f"T{self.holder} commits" if self.holder else "another commits"
        return f"on {self.member} T{self.transaction} cannot write its position before {holder}"


@sometimes(of=logged_domains, source="On crash-safe slave")
def crash_finds_a_transaction_half_done(history: History) -> bool:
    """A replica crashed while a transaction was between its begin and its commit."""
    under_way: set[tuple[str, TransactionId]] = set()
    for event in history.events if has_domains(history) else ():
        if event.transaction is not None:
            key = (event.member, event.transaction)
            if event.kind is EventKind.BEGUN:
                under_way.add(key)
            elif event.kind is EventKind.ENGINE_COMMITTED:
                under_way.discard(key)
        elif event.kind is EventKind.CRASHED and event.member in {key[0] for key in under_way}:
            return True
    return False


@sometimes(
    of=logged_domains, source="the commits at the end can be done together as a single group commit"
)
def one_group_has_two_of_a_domain(history: History) -> bool:
    """Two transactions of one domain committed in one commit group."""
    seen: dict[tuple[str, int, int], TransactionId] = {}
    for event in history.events_of(EventKind.ENGINE_COMMITTED):
        if event.group is None or event.transaction is None:
            continue
        domain = history.transaction(event.transaction).domain
        if domain is not None:
            first = seen.setdefault((event.member, event.group, domain), event.transaction)
            if first != event.transaction:
                return True
    return False


def _stated(
    history: History, *, only_at_rest: bool = False
) -> Iterator[tuple[Report, frozenset[TransactionId]]]:
    """Yield each report and its covered transactions."""
    covering = Covering(history)
    for report in reports(history):
        if only_at_rest and not report.is_at_rest:
            continue
        if covering.is_position(report.event.gtid_set):
            yield report, covering.covered_by(report.event.gtid_set)


def _position_is_stated(history: History) -> bool:
    return any(entries_of(report.event.gtid_set) for report, _ in _stated(history))


def _data_is_stated(history: History) -> bool:
    return any(report.data for report, _ in _stated(history, only_at_rest=True))


@always(
    of=positions_of_replicas,
    source="On crash-safe slave; facts on MariaDB 1.8",
    witness=_position_is_stated,
)
def position_covers_only_what_is_applied(history: History) -> tuple[PositionAhead, ...]:
    """Whatever a position covers is applied: after a crash, at a stop, and whenever it is shown."""
    return tuple(
        PositionAhead(
            member=report.event.member,
            position=report.event.gtid_set,
            transaction=min(covered - report.data),
            when=report.event.kind,
        )
        for report, covered in _stated(history)
        if not covered <= report.data
    )


@always(
    of=positions_of_replicas,
    source="On crash-safe slave; facts on MariaDB 1.8",
    witness=_data_is_stated,
)
def position_covers_all_that_is_applied(history: History) -> tuple[PositionBehind, ...]:
    """Whatever is applied is covered by the position that the next start will use."""
    return tuple(
        PositionBehind(
            member=report.event.member,
            position=report.event.gtid_set,
            transaction=min(report.data - covered),
            when=report.event.kind,
        )
        for report, covered in _stated(history, only_at_rest=True)
        if not report.data <= covered
    )


@always(
    of=positions_of_replicas,
    source="facts on MariaDB 1.7: stop point; MDEV-31509",
    witness=_data_is_stated,
)
def stop_points_are_prefixes(history: History) -> tuple[StopLeftGap, ...]:
    """Where a replica stops, what it has of each domain is a prefix of the domain's log."""
    logs = Covering(history).logs
    found = []
    for report, _ in _stated(history, only_at_rest=True):
        if report.event.kind is not EventKind.STOPPED:
            continue
        for domain, log in logs.items():
            missing = None
            for one in log:
                if one.id not in report.data:
                    missing = missing or one.id
                elif missing is not None:
                    found.append(
                        StopLeftGap(
                            member=report.event.member,
                            missing=missing,
                            applied=one.id,
                            domain=domain,
                        )
                    )
                    break
    return tuple(found)


def _last_commits(history: History) -> Iterator[tuple[Event, TransactionId]]:
    """Yield each stop, and what committed last since the start or an error.

    An error may leave the change of a statement without its position.
    """
    last: dict[str, TransactionId] = {}
    for event in history.events_of(
        EventKind.STARTED,
        EventKind.CRASHED,
        EventKind.FAILED,
        EventKind.ENGINE_COMMITTED,
        EventKind.STOPPED,
    ):
        if event.kind is EventKind.STOPPED and event.member in last:
            yield event, last.pop(event.member)
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            last[event.member] = event.transaction
        else:
            last.pop(event.member, None)


@always(
    of=positions_of_replicas,
    source="On crash-safe slave: relay-log.info and gtid_slave_pos are written at each commit",
    witness=lambda history: sum(1 for _ in _last_commits(history)),
)
def stopped_positions_cover_the_last_commit(history: History) -> tuple[PositionBehind, ...]:
    """The position of a replica that stops covers what it committed last, if no error followed."""
    covering = Covering(history)
    return tuple(
        PositionBehind(
            member=event.member, position=event.gtid_set, transaction=last, when=event.kind
        )
        for event, last in _last_commits(history)
        if covering.is_position(event.gtid_set) and last not in covering.covered_by(event.gtid_set)
    )


def _synced(history: History) -> Iterator[tuple[Event, frozenset[TransactionId]]]:
    """Yield each recovery, and what the member had synced to its log before."""
    synced: dict[str, set[TransactionId]] = {}
    for event in history.events_of(EventKind.SYNCED, EventKind.RECOVERED):
        mine = synced.setdefault(event.member, set())
        if event.kind is EventKind.RECOVERED:
            yield event, frozenset(mine)
        elif event.transaction is not None:
            mine.add(event.transaction)


@always(
    of=positions_of_replicas,
    source="On crash-safe slave: sync_binlog=1, binlog crash recovery",
    witness=lambda history: sum(bool(synced) for _, synced in _synced(history)),
)
def recovered_positions_cover_the_synced_log(history: History) -> tuple[PositionBehind, ...]:
    """After a crash, the position covers whatever was synced to the replica's log."""
    covering = Covering(history)
    return tuple(
        PositionBehind(
            member=event.member,
            position=event.gtid_set,
            transaction=min(left),
            when=event.kind,
        )
        for event, synced in _synced(history)
        if (left := synced - covering.covered_by(event.gtid_set))
    )


def _two_of_a_domain_write_their_position(history: History) -> bool:
    pending: dict[tuple[str, TransactionId], int | None] = {}
    for event in history.events:
        if event.kind is EventKind.CRASHED:
            pending = {key: held for key, held in pending.items() if key[0] != event.member}
        if event.transaction is None:
            continue
        key = (event.member, event.transaction)
        if event.kind is EventKind.ROW_APPLIED and _is_position(event.items):
            domain = history.transaction(event.transaction).domain
            if any(k[0] == event.member and held == domain for k, held in pending.items()):
                return True
            pending[key] = domain
        elif event.kind in (EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK):
            pending.pop(key, None)
    return False


def _is_position(items: frozenset[int | str]) -> bool:
    return any(isinstance(item, str) and item.startswith(POSITION_ITEM) for item in items)


@always(
    of=position_rows,
    source="One row per transaction prevents concurrency issues; bad_rpl_slave_state",
    witness=_two_of_a_domain_write_their_position,
    is_safety=False,
)
def position_rows_never_wait(history: History) -> tuple[PositionRowWaited, ...]:
    """No transaction waits for another because both write their position."""
    return tuple(
        PositionRowWaited(member=event.member, transaction=event.transaction, holder=event.other)
        for event in history.events_of(EventKind.ROW_APPLIED)
        if event.outcome is Outcome.LOCK_WAIT
        and event.transaction is not None
        and _is_position(event.items)
    )
