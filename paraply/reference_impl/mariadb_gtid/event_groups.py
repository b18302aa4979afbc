"""Event groups, and a source that writes them by schedule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.mariadb_gtid import MariadbGtid, MariadbPosition
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

SOURCE_SERVER_ID = 1
NON_TRANSACTIONAL = "non_transactional"
"""Flag: no rollback (MyISAM)."""
SET_BY_SESSION = "gtid_seq_no"
"""Flag: the session set the number."""


class EventGroup(NamedTuple):
    """A logged transaction."""

    transaction: TransactionId
    gtid: MariadbGtid
    is_transactional: bool = True
    """False for DDL and MyISAM."""
    engine: int = 0

    @property
    def domain(self) -> int:
        """Return the replication domain."""
        return self.gtid.domain


@dataclass(slots=True, kw_only=True)
class PositionSource:
    """Writes a source log without conflicts.

    ``rewinds`` bounds smaller GTIDs (gtid_seq_no or a second server, without strict mode).
    """

    domains: int
    engines: int
    has_unsafe_changes: bool
    rewinds: int
    _greatest: dict[int, int] = field(default_factory=dict)
    _next_server: int = SOURCE_SERVER_ID + 1

    def write(self, schedule: Schedule, recorder: Recorder, count: int) -> tuple[EventGroup, ...]:
        """Write ``count`` groups."""
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
    """Return each domain's later groups."""
    skipping = {gtid.domain: gtid for gtid in position}
    rest = []
    for group in log:
        if group.domain not in skipping:
            rest.append(group)
        elif skipping[group.domain] == group.gtid:
            del skipping[group.domain]
    return rest
