"""Assignment and order of MariaDB's sequence numbers.

Holes are allowed. Numbers that fall within a domain require a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.gtid.histories import domain_of, entries_of, has_domains, sequence_of
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import LOG_GOES_BACK, numbered_logs, numbered_logs_of_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

SET_BY_SESSION = "gtid_seq_no"
"""Flag of a number set by the session."""
OUT_OF_ORDER = "1950"
"""Strict mode's error, as a note prefix."""
WARNING = "warning"
BINLOG_POSITION = "gtid_binlog_pos"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceWentBack(Violation):
    """A domain's number does not rise."""

    member: str
    earlier: str
    later: str

    def __str__(self) -> str:
        return f"{self.member} logged {self.later} after {self.earlier}"


class SmallerNumberUnnoticed(SequenceWentBack):
    """A number falls without a warning."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.member} logged {self.later} after {self.earlier} and said nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberNotNext(Violation):
    """A new number is not the greatest plus 1."""

    member: str
    transaction: TransactionId
    gtid: str
    greatest: int

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} {self.gtid}, having seen {self.greatest} in "
            "its domain"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidNamesTwo(Violation):
    """One GTID names two transactions."""

    gtid: str
    first: TransactionId
    second: TransactionId

    def __str__(self) -> str:
        return f"{self.gtid} names T{self.first} and T{self.second}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidChanged(Violation):
    """A transaction's GTID differs between servers."""

    member: str
    transaction: TransactionId
    gtid: str
    expected: str

    def __str__(self) -> str:
        return f"{self.member} logged T{self.transaction} as {self.gtid}; it is {self.expected}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedInOrder(Violation):
    """Strict mode rejects a rising number."""

    member: str
    gtid: str
    recent: str

    def __str__(self) -> str:
        return f"{self.member} refused {self.gtid} after {self.recent or 'nothing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WarnedInOrder(Violation):
    """A server warns of a rising number."""

    member: str
    gtid: str
    recent: str
    note: str

    def __str__(self) -> str:
        return f"{self.member} logged {self.gtid} after {self.recent or 'nothing'}: {self.note}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPositionInvented(Violation):
    """``gtid_binlog_pos`` names an unlogged GTID."""

    member: str
    gtid: str

    def __str__(self) -> str:
        return f"{self.member} states {self.gtid} in gtid_binlog_pos and has never logged it"


def _logged(history: History) -> Iterator[tuple[Event, str]]:
    """Yield each logged group and its domain's previous GTID.

    A group logged again after a crash has none.
    """
    recent: dict[tuple[str, int | None], str] = {}
    logged: set[tuple[str, TransactionId | None]] = set()
    crashed: set[str] = set()
    for event in history.events_of(EventKind.FLUSHED, EventKind.CRASHED):
        if event.kind is EventKind.CRASHED:
            crashed.add(event.member)
        elif has_domains(history):
            key = (event.member, domain_of(event.gtid))
            is_again = event.member in crashed and (event.member, event.transaction) in logged
            yield event, "" if is_again else recent.get(key, "")
            recent[key] = event.gtid
            logged.add((event.member, event.transaction))


def _is_smaller(gtid: str, recent: str) -> bool:
    return bool(recent) and sequence_of(gtid) <= sequence_of(recent)


@sometimes(of=numbered_logs_of_sources, source="On holes in the global transaction ID sequences")
def a_hole_is_logged(history: History) -> bool:
    """A server logged a number more than one above the last of its domain."""
    return any(
        sequence_of(event.gtid) > sequence_of(recent) + 1 for event, recent in _logged(history)
    )


@sometimes(
    of=numbered_logs_of_sources,
    source="detected when a server replicates a GTID with a smaller sequence number",
)
def a_smaller_number_arrives(history: History) -> bool:
    """A number not above the last of its domain was logged, or refused."""
    return any(_is_smaller(event.gtid, recent) for event, recent in _logged(history)) or any(
        _refusals(history)
    )


def _refusals(history: History) -> Iterator[Event]:
    return (e for e in history.events_of(EventKind.FAILED) if e.note.startswith(OUT_OF_ORDER))


def _two_are_logged(history: History) -> bool:
    return any(recent for _, recent in _logged(history))


@always(
    of=numbered_logs,
    exemptions=(LOG_GOES_BACK,),
    source="sequence number is unique per domain_id and allows to order; gtid_strict_mode",
    witness=_two_are_logged,
)
def sequences_rise_within_a_domain(history: History) -> tuple[SequenceWentBack, ...]:
    """In every log the sequence numbers of a domain rise."""
    return tuple(
        SequenceWentBack(member=event.member, earlier=recent, later=event.gtid)
        for event, recent in _logged(history)
        if _is_smaller(event.gtid, recent)
    )


@always(
    of=numbered_logs_of_sources,
    source="It also allows to give a warning if multiple masters are being written",
    witness=a_smaller_number_arrives,
)
def smaller_numbers_are_noticed(history: History) -> tuple[SmallerNumberUnnoticed, ...]:
    """A number not above the last of its domain is refused, or at least warned of."""
    return tuple(
        SmallerNumberUnnoticed(member=event.member, earlier=recent, later=event.gtid)
        for event, recent in _logged(history)
        if _is_smaller(event.gtid, recent) and not event.note.startswith(WARNING)
    )


def _server_writes_after_replicating(history: History) -> bool:
    replicated = set()
    for event, _ in _logged(history):
        if event.transaction is None:
            continue
        if history.transaction(event.transaction).origin != event.member:
            replicated.add(event.member)
        elif event.member in replicated:
            return True
    return False


@always(
    of=numbered_logs_of_sources,
    source="will be set to one more than the received sequence number",
    witness=_server_writes_after_replicating,
)
def next_number_is_greatest_seen_plus_one(history: History) -> tuple[NumberNotNext, ...]:
    """A server numbers its own transaction one above the greatest it has seen in the domain.

    Excludes numbers set by sessions. Restored servers have seen the backup's.
    """
    greatest: dict[tuple[str, int | None], int] = {}
    found = []
    for event in history.events_of(EventKind.FLUSHED, EventKind.RECOVERED):
        seen = [event.gtid] if event.kind is EventKind.FLUSHED else entries_of(event.gtid_set)
        for gtid in seen:
            key = (event.member, domain_of(gtid))
            before = greatest.get(key, 0)
            greatest[key] = max(before, sequence_of(gtid))
            if event.kind is not EventKind.FLUSHED or event.transaction is None:
                continue
            transaction = history.transaction(event.transaction)
            is_free = SET_BY_SESSION in transaction.flags or transaction.domain is None
            is_next = sequence_of(gtid) == before + 1
            if transaction.origin == event.member and not is_free and not is_next:
                found.append(
                    NumberNotNext(
                        member=event.member, transaction=transaction.id, gtid=gtid, greatest=before
                    )
                )
    return tuple(found)


def _logged_on_two_servers(history: History) -> bool:
    first: dict[TransactionId | None, str] = {}
    return any(
        first.setdefault(event.transaction, event.member) != event.member
        for event, _ in _logged(history)
    )


@always(
    of=numbered_logs_of_sources,
    source="On session variable server_id; uniqueness",
    witness=_logged_on_two_servers,
)
def gtids_name_one_transaction(history: History) -> tuple[GtidNamesTwo | GtidChanged, ...]:
    """A GTID names one transaction, and a transaction keeps its GTID on every server."""
    named: dict[str, TransactionId] = {}
    given: dict[TransactionId, str] = {}
    found: list[GtidNamesTwo | GtidChanged] = []
    for event, _ in _logged(history):
        if event.transaction is None or not event.gtid:
            continue
        first = named.setdefault(event.gtid, event.transaction)
        if first != event.transaction:
            found.append(GtidNamesTwo(gtid=event.gtid, first=first, second=event.transaction))
        expected = given.setdefault(event.transaction, event.gtid)
        if expected != event.gtid:
            found.append(
                GtidChanged(
                    member=event.member,
                    transaction=event.transaction,
                    gtid=event.gtid,
                    expected=expected,
                )
            )
    return tuple(found)


def _something_is_refused(history: History) -> bool:
    return any(_refusals(history)) or bool(a_hole_is_logged(history))


def _with_last(history: History) -> Iterator[tuple[Event, str]]:
    """Yield what is logged or refused, and the last of its domain; a backup has some, too."""
    recent: dict[tuple[str, int | None], str] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.FAILED, EventKind.RECOVERED):
        if event.kind is EventKind.RECOVERED:
            for gtid in entries_of(event.gtid_set):
                recent.setdefault((event.member, domain_of(gtid)), gtid)
            continue
        key = (event.member, domain_of(event.gtid))
        yield event, recent.get(key, "")
        if event.kind is EventKind.FLUSHED:
            recent[key] = event.gtid


@always(
    of=numbered_logs_of_sources,
    source="nothing will break if somehow a hole should sneak in; gtid_strict_mode",
    witness=_something_is_refused,
)
def only_smaller_numbers_are_refused(history: History) -> tuple[RefusedInOrder, ...]:
    """Strict mode refuses a number only if it is not above the last of its domain."""
    return tuple(
        RefusedInOrder(member=event.member, gtid=event.gtid, recent=before)
        for event, before in _with_last(history)
        if event.kind is EventKind.FAILED
        and event.note.startswith(OUT_OF_ORDER)
        and not _is_smaller(event.gtid, before)
    )


@always(
    of=numbered_logs_of_sources,
    source="It also allows to give a warning; holes are legal",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.FLUSHED)),
    is_safety=False,
)
def only_smaller_numbers_are_warned_of(history: History) -> tuple[WarnedInOrder, ...]:
    """A server logs without comment a number that is above the last of its domain."""
    return tuple(
        WarnedInOrder(member=event.member, gtid=event.gtid, recent=before, note=event.note)
        for event, before in _with_last(history)
        if event.kind is EventKind.FLUSHED and event.note and not _is_smaller(event.gtid, before)
    )


def _binlog_position_is_stated(history: History) -> bool:
    return any(
        event.gtid_set and event.note == BINLOG_POSITION
        for event in history.events_of(EventKind.POSITION_SAVED)
    )


@always(
    of=numbered_logs_of_sources, source="MDEV-4725, MDEV-4982", witness=_binlog_position_is_stated
)
def binlog_positions_are_logged(history: History) -> tuple[LogPositionInvented, ...]:
    """``gtid_binlog_pos`` names only what the server has logged, or was restored with."""
    logged: dict[str, set[str]] = {}
    found = []
    for event in history.events if has_domains(history) else ():
        mine = logged.setdefault(event.member, set())
        if event.kind is EventKind.FLUSHED:
            mine.add(event.gtid)
        elif event.kind is EventKind.RECOVERED:
            mine.update(entries_of(event.gtid_set))
        elif event.kind is EventKind.POSITION_SAVED and event.note == BINLOG_POSITION:
            found += [
                LogPositionInvented(member=event.member, gtid=gtid)
                for gtid in entries_of(event.gtid_set)
                if gtid not in mine
            ]
    return tuple(found)


STRICT, WARNS = "strict", "warning"
"""Ends of dialects: strict mode, and servers that warn instead; others do neither."""
MODES = (STRICT, WARNS, "silent", "out_of_order", "going_back")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlikeItsMode(Violation):
    """A server refuses, warns or logs against its mode."""

    member: str
    gtid: str
    done: str

    def __str__(self) -> str:
        return f"{self.member} {self.done} {self.gtid}, against its mode"


def stated_modes(history: History) -> bool:
    """Servers of a controlled run log MariaDB GTIDs, in a mode that their dialect names."""
    header = history.header
    is_exact = header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and header.dialect.endswith(MODES) and numbered_logs_of_sources(history)


@always(
    of=stated_modes,
    source="gtid_strict_mode, error 1950; the text: give a warning",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.FLUSHED)),
)
def servers_keep_their_strict_mode(history: History) -> tuple[UnlikeItsMode, ...]:
    """Only strict servers refuse numbers and only others warn, if they are to warn at all.

    A strict server logs no number of others that is not above the last of its domain.
    """
    dialect = history.header.dialect
    found = []
    for event, before in _with_last(history):
        if event.kind is EventKind.FAILED:
            is_wrong, done = not dialect.endswith(STRICT), "refused"
        elif event.note.startswith(WARNING):
            is_wrong, done = not dialect.endswith(WARNS), "warned of"
        else:
            is_wrong, done = dialect.endswith(STRICT) and _is_smaller(event.gtid, before), "logged"
        if is_wrong:
            found.append(UnlikeItsMode(member=event.member, gtid=event.gtid, done=done))
    return tuple(found)
