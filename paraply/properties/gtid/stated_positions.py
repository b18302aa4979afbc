"""What a server shows of its position, asks for, and passes over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.exactly_once import FILTERED
from paraply.properties.gtid.failover import REFUSED
from paraply.properties.gtid.histories import (
    Covering,
    domain_of,
    entries_of,
    has_domains,
    sequence_of,
)
from paraply.properties.gtid.rules import BINLOG_POSITION
from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import (
    followed_sources,
    log_goes_back,
    named_sources,
    numbered_logs_of_sources,
    positions_of_replicas,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

CURRENT_POSITION, SLAVE_POSITION = "gtid_current_pos", "gtid_slave_pos"
OWN, DUPLICATE = "own", "duplicate"
"""Notes of SKIPPED events."""
FILTER = "filter"
"""Option: a server leaves out a domain (IGNORE_DOMAIN_IDS), or a schema."""
LEFT_OUT = frozenset({("s3", 1), ("r1", "db1")})
"""Servers, and what each leaves out: a domain of MariaDB GTIDs, otherwise a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBehind(Violation):
    """A shown position leaves out a transaction that ended long before."""

    member: str
    position: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} showed position {self.position or '(empty)'} when the worker of "
            f"T{self.transaction} had gone on to another transaction"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPositionWrong(Violation):
    """``gtid_current_pos`` is not the later of what is applied and what the server wrote."""

    member: str
    stated: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.member} states ({self.stated}) in gtid_current_pos; what it applied and wrote "
            f"ends with ({self.expected})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedForWhatItHas(Violation):
    """A replica asks for a transaction that it has."""

    member: str
    source: str
    position: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} has T{self.transaction} and asks {self.source} for what follows "
            f"{self.position or 'nothing'}, before it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOverWrongly(Violation):
    """A replica passes a transaction over that it neither wrote nor has."""

    member: str
    transaction: TransactionId
    why: str

    def __str__(self) -> str:
        return f"{self.member} passed T{self.transaction} over as {self.why}, which it is not"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterIgnored(Violation):
    """A replica applies what it is to leave out, or leaves out another domain."""

    member: str
    transaction: TransactionId
    is_applied: bool

    def __str__(self) -> str:
        done = "applied" if self.is_applied else "left out"
        return f"{self.member} {done} T{self.transaction} against its filter"


def _shown(history: History) -> Iterator[tuple[Event, frozenset[TransactionId]]]:
    """Yield each shown position, and what it has to cover.

    A worker takes its next transaction when the position covers the one before.
    """
    ended: dict[tuple[str, int], TransactionId] = {}
    due: dict[str, set[TransactionId]] = {}
    for event in history.events:
        member, worker, one = event.member, event.worker, event.transaction
        if event.kind in (EventKind.STARTED, EventKind.RECOVERED):
            due[member] = set()
            ended = {key: left for key, left in ended.items() if key[0] != member}
        elif event.kind is EventKind.READ and event.gtid_set + event.note:
            yield event, frozenset(due.get(member, ()))
        elif worker is None or one is None:
            continue
        elif event.kind is EventKind.ENGINE_COMMITTED:
            ended[member, worker] = one
        elif event.kind is EventKind.BEGUN and (member, worker) in ended:
            due.setdefault(member, set()).add(ended.pop((member, worker)))


@always(
    of=positions_of_replicas,
    source="facts on MariaDB 2: gtid_slave_pos is the last applied; MASTER_GTID_WAIT",
    witness=lambda history: sum(bool(due) for _, due in _shown(history)),
)
def shown_positions_keep_up(history: History) -> tuple[ShownBehind, ...]:
    """A shown position covers what a worker has applied since the start, once it has gone on."""
    covering = Covering(history)
    return tuple(
        ShownBehind(member=event.member, position=event.gtid_set, transaction=min(left))
        for event, due in _shown(history)
        if (left := due - covering.covered_by(event.gtid_set))
    )


def _current(history: History) -> Iterator[tuple[Event, tuple[str, ...]]]:
    """Yield each stated ``gtid_current_pos``, and what it has to be."""
    own = {(one.origin, one.gtid) for one in history.transactions}
    logged: dict[str, str] = {}
    current: dict[str, Event] = {}
    for event in history.events_of(EventKind.POSITION_SAVED, EventKind.STOPPED):
        if event.kind is EventKind.STOPPED and event.member in current:
            position = {domain_of(gtid): gtid for gtid in entries_of(event.gtid_set)}
            for gtid in entries_of(logged.get(event.member, "")):
                applied = position.get(domain_of(gtid), "")
                is_own = (event.member, gtid) in own
                if is_own and sequence_of(gtid) > sequence_of(applied):
                    position[domain_of(gtid)] = gtid
            yield current.pop(event.member), tuple(sorted(position.values()))
        elif event.note == BINLOG_POSITION:
            logged[event.member] = event.gtid_set
        elif event.note == CURRENT_POSITION:
            current[event.member] = event


@always(
    of=numbered_logs_of_sources,
    source="On CHANGE MASTER TO: gtid_current_pos; facts on MariaDB 2",
    witness=lambda history: sum(1 for _ in _current(history)),
)
def current_positions_add_own_writes(history: History) -> tuple[CurrentPositionWrong, ...]:
    """``gtid_current_pos`` is ``gtid_slave_pos``, or the server's own later write, by domain.

    A write counts if it is the last of its domain in the log.
    """
    return tuple(
        CurrentPositionWrong(
            member=event.member, stated=event.gtid_set, expected=",".join(expected)
        )
        for event, expected in _current(history)
        if tuple(sorted(entries_of(event.gtid_set))) != expected
    )


@dataclass(slots=True)
class _Server:
    log: list[tuple[TransactionId, str]] = field(default_factory=list)
    data: set[TransactionId] = field(default_factory=set)

    def follow(self, event: Event) -> None:
        if event.kind is EventKind.RECOVERED:
            self.data = set(event.transactions)
        elif event.kind is EventKind.FLUSHED and event.transaction is not None:
            self.log.append((event.transaction, event.gtid))
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            self.data.add(event.transaction)


def _asked(history: History) -> Iterator[tuple[Event, str, list[TransactionId]]]:
    """Yield each request, its source, and what comes first of a domain and the replica has.

    Its own transactions are passed over wherever it starts.
    """
    servers: dict[str, _Server] = {}
    for event in history.events if has_domains(history) else ():
        mine = servers.setdefault(event.member, _Server())
        if event.kind is EventKind.STARTED and not event.note.startswith(REFUSED):
            for source in event.members:
                log = [
                    (one, gtid)
                    for one, gtid in servers.setdefault(source, _Server()).log
                    if history.transaction(one).origin != event.member
                ]
                yield event, source, [x for x in _sent_first(log, event) if x in mine.data]
        mine.follow(event)


def _sent_first(log: list[tuple[TransactionId, str]], event: Event) -> Iterator[TransactionId]:
    """Yield the first of each domain that follows the asked position, where the log has that."""
    asked = {domain_of(gtid): gtid for gtid in entries_of(event.gtid_set)}
    for domain in {domain_of(gtid) for _, gtid in log}:
        of_domain = [(one, gtid) for one, gtid in log if domain_of(gtid) == domain]
        places = [at for at, (_, gtid) in enumerate(of_domain) if gtid == asked.get(domain)]
        after = of_domain[places[-1] + 1 :] if places else of_domain
        if after and (places or domain not in asked):
            yield after[0][0]


@always(
    of=named_sources,
    source="On CHANGE MASTER TO: the slave knows where it is, in each domain",
    witness=lambda history: sum(bool(event.gtid_set) for event, _, _ in _asked(history)),
    exemptions=(
        Exemption(
            applies=log_goes_back, because="without strict mode positions may fall with the numbers"
        ),
    ),
)
def replicas_ask_for_what_they_lack(history: History) -> tuple[AskedForWhatItHas, ...]:
    """A replica asks no source for a transaction that it has, but for those it wrote itself."""
    return tuple(
        AskedForWhatItHas(
            member=event.member, source=source, position=event.gtid_set, transaction=min(has)
        )
        for event, source, has in _asked(history)
        if has
    )


def _passed_over(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield what is passed over as own or as a duplicate, and whether it is that."""
    servers: dict[str, _Server] = {}
    for event in history.events if has_domains(history) else ():
        mine = servers.setdefault(event.member, _Server())
        if event.kind is EventKind.SKIPPED and event.transaction is not None:
            if event.note == OWN:
                yield event, history.transaction(event.transaction).origin == event.member
            elif event.note == DUPLICATE:
                yield event, event.transaction in mine.data
        mine.follow(event)


@always(
    of=named_sources,
    source="replicate_same_server_id; gtid_ignore_duplicates; facts on MariaDB 2",
    witness=lambda history: sum(1 for _ in _passed_over(history)),
)
def only_known_groups_are_passed_over(history: History) -> tuple[PassedOverWrongly, ...]:
    """A replica passes over as its own what it wrote, and as a duplicate what it has applied."""
    return tuple(
        PassedOverWrongly(member=event.member, transaction=event.transaction, why=event.note)
        for event, is_known in _passed_over(history)
        if not is_known and event.transaction is not None
    )


def filtering_servers(history: History) -> bool:
    """Replicas name their source, and state whether one of them has a filter."""
    return type(history.header.options.get(FILTER)) is bool and followed_sources(history)


def _filtered(history: History) -> Iterator[tuple[Event, TransactionId, bool]]:
    """Yield what replicas commit of others or leave out, and whether they are to leave it out."""
    left_out = LEFT_OUT if history.header.options.get(FILTER) else frozenset()
    for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.SKIPPED):
        if event.transaction is None:
            continue
        one = history.transaction(event.transaction)
        is_applied = event.kind is EventKind.ENGINE_COMMITTED
        if (one.origin != event.member) if is_applied else (event.note == FILTERED):
            schemas = {str(item).partition(".")[0] for item in one.write_set}
            parts = schemas if one.domain is None else {one.domain}
            yield event, one.id, any((event.member, part) in left_out for part in parts)


@always(
    of=filtering_servers,
    source="CHANGE MASTER TO ... IGNORE_DOMAIN_IDS; replicate-ignore-db; the text, On holes",
    witness=lambda history: sum(1 for _ in _filtered(history)),
)
def filters_leave_out_what_they_name(history: History) -> tuple[FilterIgnored, ...]:
    """A replica leaves out the domain or schema that it ignores, and applies every other."""
    return tuple(
        FilterIgnored(
            member=event.member,
            transaction=one,
            is_applied=event.kind is EventKind.ENGINE_COMMITTED,
        )
        for event, one, is_out in _filtered(history)
        if (event.kind is EventKind.ENGINE_COMMITTED) is is_out
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlavePositionWrong(Violation):
    """``gtid_slave_pos`` does not end with what was applied or passed over."""

    member: str
    stated: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.member} states ({self.stated}) in gtid_slave_pos; what it applied from others "
            f"or passed over ends with ({self.expected})"
        )


def _slave_positions(history: History) -> Iterator[tuple[Event, tuple[str, ...]]]:
    """Yield each ``gtid_slave_pos`` at a stop, and what it has to be."""
    positions: dict[str, dict[int | None, str]] = {}
    for event in history.events:
        mine = positions.setdefault(event.member, {})
        if event.kind is EventKind.STOPPED and event.note == SLAVE_POSITION:
            yield event, tuple(sorted(mine.values()))
        elif event.kind is EventKind.RECOVERED:
            mine.clear()
            mine.update((domain_of(gtid), gtid) for gtid in entries_of(event.gtid_set))
        elif event.transaction is not None:
            is_own = history.transaction(event.transaction).origin == event.member
            is_applied = event.kind is EventKind.ENGINE_COMMITTED and not is_own
            is_passed = event.kind is EventKind.SKIPPED and event.note in (OWN, FILTERED)
            if is_applied or is_passed:
                mine[domain_of(event.gtid)] = event.gtid


@always(
    of=named_sources,
    source="facts on MariaDB 2: gtid_slave_pos; replicate_same_server_id; IGNORE_DOMAIN_IDS",
    witness=lambda history: sum(bool(expected) for _, expected in _slave_positions(history)),
)
def slave_positions_end_with_what_was_passed(history: History) -> tuple[SlavePositionWrong, ...]:
    """``gtid_slave_pos`` has, of each domain, the last group of others applied or passed over."""
    return tuple(
        SlavePositionWrong(member=event.member, stated=event.gtid_set, expected=",".join(expected))
        for event, expected in _slave_positions(history)
        if tuple(sorted(entries_of(event.gtid_set))) != expected
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPositionBehind(Violation):
    """``gtid_binlog_pos`` leaves out the last transaction that the server logged in a domain."""

    member: str
    stated: str
    logged: str

    def __str__(self) -> str:
        return (
            f"{self.member} states ({self.stated}) in gtid_binlog_pos; the last that it logged in "
            f"the domain is {self.logged}"
        )


def _binlog_positions(history: History) -> Iterator[tuple[Event, str]]:
    """Yield each stated ``gtid_binlog_pos``, and the last that is logged of each domain."""
    last: dict[str, dict[int | None, str]] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.POSITION_SAVED):
        mine = last.setdefault(event.member, {})
        if event.kind is EventKind.FLUSHED:
            mine[domain_of(event.gtid)] = event.gtid
        elif event.note == BINLOG_POSITION:
            yield from ((event, gtid) for gtid in mine.values())


@always(
    of=numbered_logs_of_sources,
    source="gtid_binlog_pos: the last event group in the binary log, for each domain",
    witness=lambda history: sum(1 for _ in _binlog_positions(history)),
    is_safety=False,
)
def binlog_positions_end_with_what_is_logged(history: History) -> tuple[LogPositionBehind, ...]:
    """``gtid_binlog_pos`` has, of each domain, the last group that the server logged."""
    return tuple(
        LogPositionBehind(member=event.member, stated=event.gtid_set, logged=gtid)
        for event, gtid in _binlog_positions(history)
        if gtid not in entries_of(event.gtid_set)
    )
