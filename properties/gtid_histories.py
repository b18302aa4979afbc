"""Histories of servers with MariaDB GTIDs: logs by domain, positions as text, data as it changes.

What the checks of positions, of sequence numbers and of fail-over share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vocabulary.events import Event, EventKind
from vocabulary.history import History
from vocabulary.transactions import Transaction, TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A position that a member stated, and the data it had at that moment."""

    event: Event
    data: frozenset[TransactionId]

    @property
    def is_at_rest(self) -> bool:
        """Return whether nothing was under way: stopped in good order, or just recovered."""
        return self.event.kind in (EventKind.STOPPED, EventKind.RECOVERED)


def has_domains(history: History) -> bool:
    """Return whether the transactions have MariaDB GTIDs."""
    return any(one.domain is not None and one.gtid for one in history.transactions)


def domain_logs(history: History) -> dict[int, list[Transaction]]:
    """Return the transactions of each domain, in source order."""
    logs: dict[int, list[Transaction]] = {}
    for transaction in history.transactions:
        if transaction.domain is not None:
            logs.setdefault(transaction.domain, []).append(transaction)
    return logs


def entries_of(position: str) -> tuple[str, ...]:
    """Return the entries of a position or GTID set: one per domain, or one per server."""
    return tuple(entry.strip() for entry in position.split(",") if entry.strip())


def domain_of(gtid: str) -> int | None:
    """Return the domain of a MariaDB GTID; None for text that is none."""
    parts = gtid.split("-")
    return int(parts[0]) if len(parts) == 3 and all(part.isdigit() for part in parts) else None


def sequence_of(gtid: str) -> int:
    """Return the sequence number of a MariaDB GTID; 0 for text that is none."""
    return int(gtid.rsplit("-", 1)[1]) if domain_of(gtid) is not None else 0


def covered_by(position: str, logs: dict[int, list[Transaction]]) -> dict[int, list[Transaction]]:
    """Return what a position says was applied: in each domain all up to the GTID it names.

    A GTID that the log does not have covers nothing.
    """
    covered: dict[int, list[Transaction]] = {domain: [] for domain in logs}
    for gtid in entries_of(position):
        domain = domain_of(gtid)
        if domain is None:
            continue
        log = logs.get(domain, [])
        places = [place for place, one in enumerate(log) if one.gtid == gtid]
        if places:
            covered[domain] = log[: places[-1] + 1]
    return covered


def reports(history: History) -> Iterator[Report]:
    """Yield every position that a member stated, with its data then."""
    data: dict[str, set[TransactionId]] = {}
    for event in history.events:
        mine = data.setdefault(event.member, set())
        if event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            mine.add(event.transaction)
        elif event.kind is EventKind.RECOVERED:
            mine.clear()
            mine.update(event.transactions)
        if event.kind in (EventKind.STOPPED, EventKind.RECOVERED, EventKind.READ):
            yield Report(event=event, data=frozenset(mine))
