"""Follows two logs of the same transactions as runs of theorems' systems.

Logs are cut where the target has exactly the beginning of the source's log: what comes after such a
place is a run by itself, and all parts together are the whole run. A transaction that the target
logs again is followed by itself. What logs do not show is taken when it restrains least.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.monitors import NOT_IN_LOGS, TWO_LOGS
from paraply.models.recorded.sources import SOURCE
from paraply.vocabulary.counting import counted
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.verdict import Verdict, combine

PART = 40
"""Transactions that are followed together, where the log can be cut."""
TARGET = "target"
AHEAD = "P13"
"""Judges what the target has and the source lost."""
AHEAD_MAX = 20
"""Such transactions that are followed."""
RESTARTS = ("P17", "P18")
ONCE = ("P07", "P17", "P50")
"""Refuse a transaction that comes again."""


class Logged(Protocol):
    """A transaction in a log."""

    @property
    def name(self) -> str:
        """Return its name, equal in both logs."""

    @property
    def domain(self) -> int:
        """Return the domain, which has an order of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is known of both logs beside their transactions.

    Attributes:
        unknown: why nothing holds, or empty.
        in_progress: what a transaction may be that has not come, or empty if nothing is.
        is_contiguous: no file of the source is left out between others.
        changed: transactions of one name with other rows.
    """

    unknown: str = ""
    in_progress: str = "has not come, and may be in progress (--drained says otherwise)"
    is_contiguous: bool = True
    changed: int = 0


NOTHING_KNOWN = Status()


def monitor_orders(
    theorem: str, sent: Sequence[Logged], done: Sequence[Logged], status: Status = NOTHING_KNOWN
) -> MonitorFinding:
    """Return what a theorem's monitor says of both orders."""
    monitor = TWO_LOGS[theorem]
    if theorem in NOT_IN_LOGS:
        return monitor.finding(Verdict.UNKNOWN, NOT_IN_LOGS[theorem], 0)
    unknown, names = status.unknown, {one.name for one in sent}
    ahead = (
        list(islice(_ahead(sent, done), AHEAD_MAX))
        if theorem == AHEAD and status.is_contiguous
        else []
    )
    extra = [one for one in done if one.name not in names and one not in ahead]
    if extra:
        unknown = unknown or (
            f"{counted(len(extra), 'transaction')} of the target, {extra[0].name} first, "
            "not of the source"
        )
    if theorem == AHEAD and status.changed:
        unknown = unknown or "transactions of one name have other rows"
    verdicts, steps, told = [], 0, {Verdict.UNKNOWN: unknown} if unknown else {}
    log = _merged(sent, ahead)
    known = {one.name for one in log}
    for part in _parts(log, [one for one in done if one.name in known], theorem):
        found = monitor.judge(_stated(part, theorem, names, status))
        verdicts.append(found.verdict)
        steps += found.steps
        told.setdefault(found.verdict, f"from {part.transactions[0].gtid} on: {found.reason}")
    verdict = combine([*verdicts, *([Verdict.UNKNOWN] if unknown else ())])
    held = f"{counted(len(verdicts), 'part')} of the logs, each a run"
    reason = held if verdict is Verdict.HOLDS else told.get(verdict, "nothing in common")
    return monitor.finding(verdict, reason, steps)


def _numbered(name: str) -> tuple[str, int]:
    """Return a GTID's source, and its number there."""
    source, _, number = name.rpartition(":" if ":" in name else "-")
    return (source, int(number)) if number.isdecimal() else (name, 0)


def _ahead(sent: Sequence[Logged], done: Sequence[Logged]) -> Iterator[Logged]:
    """Yield what the only origin must have sent, and lacks between what it has."""
    names = {one.name for one in sent}
    numbers: dict[str, list[int]] = {}
    for one in sent:
        source, number = _numbered(one.name)
        numbers.setdefault(source, []).append(number)
    ends = {source: (min(those), max(those)) for source, those in numbers.items()}
    if len(ends) != 1:
        return
    for one in {one.name: one for one in done if one.name not in names}.values():
        source, number = _numbered(one.name)
        if source in ends and ends[source][0] < number < ends[source][1]:
            yield one


def _merged(sent: Sequence[Logged], ahead: Sequence[Logged]) -> list[Logged]:
    log = list(sent)
    for one in ahead:
        source, number = _numbered(one.name)
        later = (
            place
            for place, other in enumerate(log)
            if _numbered(other.name)[0] == source and _numbered(other.name)[1] > number
        )
        log.insert(next(later), one)
    return log


def _stated(part: History, theorem: str, names: Collection[str], status: Status) -> History:
    """Add the events that a theorem's reading needs beside commits of the target."""
    if theorem not in (AHEAD, *RESTARTS):
        return part
    events: list[Event] = []

    def take(kind: EventKind, member: str, one: Transaction) -> None:
        events.append(
            Event(
                kind=kind, time=LogicalTime(len(events)), member=member, transaction=one.id,
                gtid=one.gtid,
            )
        )  # fmt: skip

    for one in part.transactions:
        if theorem != AHEAD:
            take(EventKind.SCHEDULED, TARGET, one)
            continue
        # The replica receives in the order of the log.
        take(EventKind.FLUSHED, SOURCE, one)
        if one.gtid in names:
            take(EventKind.SYNCED, SOURCE, one)
        take(EventKind.DELIVERED, TARGET, one)
        take(EventKind.ENGINE_COMMITTED, SOURCE, one)
    if theorem != AHEAD:
        events += [event._replace(time=LogicalTime(len(events))) for event in part.events]
    options = {"in_progress": status.in_progress}
    return replace(part, header=replace(part.header, options=options), events=tuple(events))


def _parts(sent: Sequence[Logged], done: Sequence[Logged], theorem: str) -> Iterator[History]:
    for domain in dict.fromkeys(one.domain for one in sent):
        places: dict[str, int] = {}
        for one in sent:
            if one.domain == domain:
                places.setdefault(one.name, len(places))
        names, came, again = list(places), list[int](), list[int]()
        for one in done:
            if one.name in places:
                came.append(places[one.name])
        known: set[int] = set()
        begin, part, highest = 0, list[int](), -1
        for place in came:
            if place in known:
                again.append(place)
                continue
            known.add(place)
            part.append(place)
            highest = max(highest, place)
            if highest + 1 == len(known) and len(part) >= PART:
                yield _history(names, range(begin, highest + 1), part)
                begin, part = highest + 1, []
        if part:
            yield _history(names, range(begin, highest + 1), part)
        if again and theorem in ONCE:
            repeated = sorted(set(again))
            yield _history(names, repeated, [place for place in came if place in set(again)])


def _history(names: Sequence[str], places: Sequence[int], came: Sequence[int]) -> History:
    return History(
        header=HistoryHeader(subject="two logs", members=(TARGET,)),
        transactions=tuple(Transaction(id=TransactionId(p + 1), gtid=names[p]) for p in places),
        events=tuple(
            Event(
                kind=EventKind.ENGINE_COMMITTED, time=LogicalTime(now), member=TARGET,
                transaction=TransactionId(place + 1), gtid=names[place],
            )
            for now, place in enumerate(came)
        ),
    )  # fmt: skip
