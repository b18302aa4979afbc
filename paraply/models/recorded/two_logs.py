"""Follows two logs of the same transactions as runs of theorems' systems.

Logs are cut where the target has exactly the beginning of the source's log: what comes after such a
place is a run by itself, and all parts together are the whole run. A transaction that the target
logs again is followed by itself. What logs do not show is taken when it restrains least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.monitors import TWO_LOGS
from paraply.vocabulary.counting import counted
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.verdict import Verdict, combine

PART = 40
"""Transactions that are followed together, where the log can be cut."""
TARGET = "target"


class Logged(Protocol):
    """A transaction in a log."""

    @property
    def name(self) -> str:
        """Return its name, equal in both logs."""

    @property
    def domain(self) -> int:
        """Return the domain, which has an order of its own."""


def monitor_orders(
    theorem: str, sent: Sequence[Logged], done: Sequence[Logged], unknown: str = ""
) -> MonitorFinding:
    """Return what a theorem's monitor says of both orders; ``unknown`` is a reason."""
    names = {one.name for one in sent}
    extra = [one for one in done if one.name not in names]
    if extra:
        unknown = unknown or (
            f"{counted(len(extra), 'transaction')} of the target, {extra[0].name} first, "
            "not of the source"
        )
    monitor = TWO_LOGS[theorem]
    verdicts, steps, told = [], 0, {Verdict.UNKNOWN: unknown} if unknown else {}
    for part in _parts(sent, [one for one in done if one.name in names]):
        found = monitor.judge(part)
        verdicts.append(found.verdict)
        steps += found.steps
        told.setdefault(found.verdict, f"from {part.transactions[0].gtid} on: {found.reason}")
    verdict = combine([*verdicts, *([Verdict.UNKNOWN] if unknown else ())])
    held = f"{counted(len(verdicts), 'part')} of the logs, each a run"
    reason = held if verdict is Verdict.HOLDS else told.get(verdict, "nothing in common")
    return monitor.finding(verdict, reason, steps)


def _parts(sent: Sequence[Logged], done: Sequence[Logged]) -> Iterator[History]:
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
        if again:
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
