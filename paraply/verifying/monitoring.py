"""Follows two logs of the same transactions as runs of theorems' systems.

Logs are cut where the target has exactly the beginning of the source's log: what comes after such a
place is a run by itself, and all parts together are the whole run. A transaction that the target
logs again is followed by itself. What logs do not show is taken when it restrains least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.monitors import TWO_LOGS
from paraply.verifying.inputs import open_log
from paraply.verifying.previous_gtids import had_before
from paraply.verifying.recording import Header, record
from paraply.vocabulary.counting import counted
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.verdict import Verdict, combine

PART = 40
"""Transactions that are followed together, where the log can be cut."""
TARGET = "target"


def monitor_logs(
    source: Sequence[str], target: Sequence[str], theorems: Sequence[str]
) -> list[MonitorFinding]:
    """Return what the monitors of these theorems say of the logs."""
    with closing(record(open_log(source), None)) as one, closing(
        record(open_log(target), None, is_target=True)
    ) as other:  # fmt: skip
        had = had_before(one.report), had_before(other.report)
        sent = [header for header in one.headers() if not had[1](header.name)]
        done = [header for header in other.headers() if not had[0](header.name)]
        is_whole = all(file.read_to_end for log in (one, other) for file in log.report.files)
        unknown = "" if is_whole else "a log was not read to its end"
        if not (one.has_gtids and other.has_gtids):
            unknown = "the logs do not name their transactions"
    return [monitor_headers(name, sent, done, unknown) for name in theorems]


def monitor_headers(
    theorem: str, sent: Sequence[Header], done: Sequence[Header], unknown: str = ""
) -> MonitorFinding:
    """Return what a theorem's monitor says of what was sent and done; ``unknown`` is a reason."""
    names = {header.name for header in sent}
    extra = [header for header in done if header.name not in names]
    if extra:
        unknown = unknown or (
            f"{counted(len(extra), 'transaction')} of the target, {extra[0].name} first, "
            "not of the source"
        )
    monitor = TWO_LOGS[theorem]
    verdicts, steps, told = [], 0, {Verdict.UNKNOWN: unknown} if unknown else {}
    for part in _parts(sent, [header for header in done if header.name in names]):
        found = monitor.judge(part)
        verdicts.append(found.verdict)
        steps += found.steps
        told.setdefault(found.verdict, f"from {part.transactions[0].gtid} on: {found.reason}")
    verdict = combine([*verdicts, *([Verdict.UNKNOWN] if unknown else ())])
    held = f"{counted(len(verdicts), 'part')} of the logs, each a run"
    reason = held if verdict is Verdict.HOLDS else told.get(verdict, "nothing in common")
    return monitor.finding(verdict, reason, steps)


def _parts(sent: Sequence[Header], done: Sequence[Header]) -> Iterator[History]:
    for domain in dict.fromkeys(header.domain for header in sent):
        places: dict[str, int] = {}
        for header in sent:
            if header.domain == domain:
                places.setdefault(header.name, len(places))
        names, came, again = list(places), list[int](), list[int]()
        for header in done:
            if header.name in places:
                came.append(places[header.name])
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
