"""Event groups of a source's binary log, and a source that writes them as the schedule says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.mariadb_gtid import MariadbGtid, MariadbPosition
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

SOURCE_SERVER_ID = 1
NON_TRANSACTIONAL = "non_transactional"
"""Flag of a transaction on tables of an engine that cannot roll back (MyISAM)."""
SET_BY_SESSION = "gtid_seq_no"
"""Flag of a transaction whose sequence number its session had set."""


class EventGroup(NamedTuple):
    """One transaction as the log has it."""

    transaction: TransactionId
    gtid: MariadbGtid
    is_transactional: bool = True
    """False for DDL and for engines without transactions: such a change cannot be taken back."""
    engine: int = 0
    """Which transactional engine it writes to, from 0."""

    @property
    def domain(self) -> int:
        """Return the replication domain."""
        return self.gtid.domain


@dataclass(slots=True, kw_only=True)
class PositionSource:
    """Writes the log that one replica is to apply; nothing in it conflicts with anything.

    ``rewinds`` is how often a GTID may go back to a smaller number (no strict mode, a session
    sets gtid_seq_no, or a second server writes in the same domain).
    """

    domains: int
    engines: int
    has_unsafe_changes: bool
    rewinds: int
    _greatest: dict[int, int] = field(default_factory=dict)
    _next_server: int = SOURCE_SERVER_ID + 1

    def write(self, schedule: Schedule, recorder: Recorder, count: int) -> tuple[EventGroup, ...]:
        """Write ``count`` groups and list their transactions."""
        return tuple(self._write_one(schedule, recorder) for _ in range(count))

    def _write_one(self, schedule: Schedule, recorder: Recorder) -> EventGroup:
        number = recorder.next_id()
        domain = schedule.choose(range(self.domains), "domain")
        gtid, is_set = self._next_gtid(schedule, domain)
        kinds = ["rows", "ddl", NON_TRANSACTIONAL] if self.has_unsafe_changes else ["rows"]
        kind = schedule.choose(kinds, "kind")
        engine = schedule.choose(range(self.engines), "engine") if kind == "rows" else 0
        flags = {kind} & {NON_TRANSACTIONAL} | ({SET_BY_SESSION} if is_set else set())
        recorder.add(Transaction(
            id=number,
            kind=TransactionKind.DDL if kind == "ddl" else TransactionKind.ROWS,
            gtid=str(gtid), domain=domain, flags=frozenset(flags),
            write_set=frozenset({f"row{number}"}),
        ))  # fmt: skip
        return EventGroup(number, gtid, kind == "rows", engine)

    def _next_gtid(self, schedule: Schedule, domain: int) -> tuple[MariadbGtid, bool]:
        greatest = self._greatest.get(domain, 0)
        if self.rewinds and greatest > 1 and schedule.choose([False, True], "goes back"):
            self.rewinds -= 1
            self._next_server += 1
            return MariadbGtid(domain, self._next_server - 1, greatest - 1), True
        self._greatest[domain] = greatest + 1
        return MariadbGtid(domain, SOURCE_SERVER_ID, greatest + 1), False


def groups_after(log: tuple[EventGroup, ...], position: MariadbPosition) -> list[EventGroup]:
    """Return what comes after a position: in each domain, what follows the GTID it names.

    The domains are at different places of the log, so each is skipped for itself.
    """
    skipping = {gtid.domain: gtid for gtid in position}
    rest = []
    for group in log:
        if group.domain not in skipping:
            rest.append(group)
        elif skipping[group.domain] == group.gtid:
            del skipping[group.domain]
    return rest
