"""Logs by domain, positions and data, for the GTID checks.

A MariaDB position is each domain's last GTID. A MySQL position is the executed set; its log counts
as one domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.gtid_set import GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId

POSITION_ITEM = "rpl_slave_state"
"""Item prefix of the position table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A position and the member's data then."""

    event: Event
    data: frozenset[TransactionId]

    @property
    def is_at_rest(self) -> bool:
        """Return whether the member stopped or just recovered."""
        return self.event.kind in (EventKind.STOPPED, EventKind.RECOVERED)


def has_domains(history: History) -> bool:
    """Return whether the transactions have MariaDB GTIDs."""
    return any(one.domain is not None and one.gtid for one in history.transactions)


_MARIADB_GTID = re.compile(r"([0-9]{1,10})-[0-9]{1,10}-[0-9]{1,20}")


def entries_of(position: str) -> tuple[str, ...]:
    """Return a state's entries, per domain or server."""
    return tuple(entry.strip() for entry in position.split(",") if entry.strip())


def domain_of(gtid: str) -> int | None:
    """Return a MariaDB GTID's domain, otherwise None."""
    found = _MARIADB_GTID.fullmatch(gtid)
    return int(found[1]) if found else None


def last_of_domains(position: str) -> dict[int | None, str]:
    """Return a state's last entry of each domain."""
    return {domain_of(one): one for one in entries_of(position)}


def sequence_of(gtid: str) -> int:
    """Return a MariaDB GTID's sequence number, otherwise 0."""
    return int(gtid.rsplit("-", 1)[1]) if domain_of(gtid) is not None else 0


def executed_set(text: str) -> GtidSet | None:
    """Return a MySQL state's GTID set, otherwise None."""
    try:
        return parse_gtid_set(text) if ":" in text else None
    except ParaplyError:
        return None


@dataclass(slots=True)
class Covering:
    """Maps positions to the transactions that they cover."""

    history: History
    logs: dict[int | None, list[Transaction]] = field(init=False)
    """In source order; None without domains."""
    _executed: dict[TransactionId, GtidSet] = field(init=False)

    def __post_init__(self) -> None:
        is_by_domain = has_domains(self.history)
        self.logs = {}
        for one in self.history.transactions:
            if one.domain is not None or not is_by_domain:
                self.logs.setdefault(one.domain, []).append(one)
        numbered = ((one.id, executed_set(one.gtid)) for one in self.logs.get(None, ()))
        self._executed = {one: gtid for one, gtid in numbered if gtid is not None}

    def is_position(self, position: str) -> bool:
        """Return whether the position refers to this history."""
        return has_domains(self.history) or executed_set(position) is not None

    def covered_by(self, position: str) -> frozenset[TransactionId]:
        """Return all transactions up to a domain's GTID, or in an executed set.

        Unknown GTIDs cover nothing.
        """
        executed = executed_set(position)
        if executed is not None:
            return frozenset(one for one, gtid in self._executed.items() if gtid <= executed)
        covered: set[TransactionId] = set()
        for gtid in entries_of(position):
            domain = domain_of(gtid)
            log = [] if domain is None else self.logs.get(domain, [])
            places = [place for place, one in enumerate(log) if one.gtid == gtid]
            if places:
                covered.update(one.id for one in log[: places[-1] + 1])
        return frozenset(covered)


def reports(history: History) -> Iterator[Report]:
    """Yield every stated position."""
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
