"""MariaDB: a source and one or two parallel replicas."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

from paraply.adapters.live.faults import FAULTS
from paraply.adapters.live.observed import Member, Tag
from paraply.adapters.live.pair.lab import PairLab, rounds_of
from paraply.adapters.live.pair.touches import OPTIONS as TOUCH_OPTIONS
from paraply.adapters.live.pair.touches import touches_after, trigger_statements
from paraply.adapters.live.readers import SnapshotReader, gtid_position
from paraply.adapters.live.source_log import SourceLog, source_log
from paraply.adapters.live.target import LiveRequest, LiveRound
from paraply.adapters.live.translation import MemberStory, Run, history_of
from paraply.adapters.live.workload import Clients, Load
from paraply.adapters.servers import Server, find_mariadb, replicate
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind

_TRIGGER_REPAIRS_MAX = 5


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds on one pair of servers."""
    return rounds_of(request, MariadbLab)


class MariadbLab(PairLab):
    """A source and replicas with touch triggers."""

    applier = "SLAVE"

    def __init__(self, request: LiveRequest) -> None:
        installation = find_mariadb(request.basedir)
        super().__init__(request, installation, FAULTS, domains=request.domains)
        self._touches_seen: dict[str, int] = {}
        self._has_lost_touches = False

    @property
    def records_touches(self) -> bool:
        """Return whether triggers record touches unambiguously."""
        is_kept = self.fault is None or not (self.fault.is_crash or self.fault.reuses_gtids)
        return is_kept and not self._has_lost_touches

    def _replica_options(self) -> Sequence[str]:
        return (
            f"--slave-parallel-threads={self.request.workers}",
            f"--slave-parallel-mode={self.request.mode}",
            "--slave-transaction-retries=100",
            "--skip-slave-start",
            *(TOUCH_OPTIONS if self.records_touches else ()),
            *(self.fault.replica_options if self.fault else ()),
        )

    def _provision(self) -> None:
        super()._provision()
        if self.records_touches:
            for replica in self.replicas:
                replica.run(list(trigger_statements(self.request.domains)))

    def start_applier(self, replica: Server) -> str:
        """Restart an applier after a crash; return notes.

        A crash may corrupt the plain file ``master.info``. The position is in a table: CHANGE
        MASTER with slave_pos continues at the end of the data.
        """
        try:
            return super().start_applier(replica)
        except ParaplyError as reason:
            replica.query("RESET SLAVE ALL")
            replicate(self.source, replica)
            return f"{replica.name}: CHANGE MASTER was needed after the crash: {reason}"

    def round(self, number: int) -> LiveRound:
        """Run one round."""
        request = self.request
        seed = request.seed + number - 1
        self._begin()
        members = [Member(name=replica.name) for replica in self.replicas]
        clients = Clients(
            [self.source],
            workload=self.workload,
            clients=request.clients,
            seed=seed,
            round_number=number,
            transactions=request.transactions,
            domains=request.domains,
            session_statement=lambda domain: f"SET SESSION gtid_domain_id={domain}",
        )
        retries = sum(map(retried, self.replicas))
        began = time.monotonic()
        notes: list[str] = []
        with self._reading(members, number):
            try:
                clients.start()
                if self.fault is not None and self.fault.inject is not None:
                    notes += self.fault.inject(self, clients, members, random.Random(seed))
                clients.wait(max(0.0, request.duration_s - (time.monotonic() - began)))
                load = clients.stop()
                notes += self._catch_up(members)
            finally:
                clients.stop(1.0)
        return self._told(number, seed, members, load, notes, retries)

    def _catch_up(self, members: Sequence[Member]) -> list[str]:
        notes = []
        for member, replica in zip(members, self.replicas, strict=True):
            for _ in range(_TRIGGER_REPAIRS_MAX):
                error = self._error_on_the_way(replica)
                if not is_trigger_fault(error):
                    break
                notes.append(
                    f"{replica.name}: observing trigger failed to parse; applier restarted"
                )
                # The open table keeps the faulty parse until it is reopened.
                replica.run(["STOP SLAVE", "FLUSH NO_WRITE_TO_BINLOG TABLES", "START SLAVE"])
            member.applier_error = error
            self.is_spoilt = self.is_spoilt or bool(error)
        return notes

    def _told(
        self,
        number: int,
        seed: int,
        members: Sequence[Member],
        load: Load,
        notes: Sequence[str],
        retries: int,
    ) -> LiveRound:
        if self.records_touches and any(r.is_crash for member in members for r in member.restarts):
            # A killed replica lost its unwritten records.
            self._has_lost_touches = self.is_spoilt = True
        log = source_log(self._log(self.source), self.keys)
        lost = [tag for tag in load.confirmed if tag not in log.tags and not _is_ddl(log, tag)]
        for member, replica in zip(members, self.replicas, strict=True):
            member.log = self._log(replica)
            if self.records_touches:
                seen = self._touches_seen.get(replica.name, 0)
                member.touches, self._touches_seen[replica.name] = touches_after(replica, seen)
            member.final = self._final(replica, is_whole=not member.applier_error)
        stories = [MemberStory(log, member, self.keys) for member in members]
        foreign = [gtid for story in stories for gtid in story.unknown]
        history = history_of(
            Run(
                subject=f"live mariadb {self.installation.version_text}",
                dialect=self.installation.dialect,
                seed=seed,
                options=self._options(number),
            ),
            log,
            members,
            self.keys,
        )
        notes = [
            *notes,
            *(f"{m.name}: {m.applier_error}" for m in members if m.applier_error),
        ]
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            notes.append(f"logged by a replica, and not by the source: {foreign[0]}{more}")
        if lost:
            notes.append(f"{len(lost)} confirmed transactions are not in the source's log")
        evidence: dict[str, int | str] = {
            "server": self.installation.version_text,
            "transactions": len(log.transactions),
            "confirmed": len(load.confirmed),
            "refused": sum(load.refused.values()),
            "unanswered": len(load.unanswered),
            "reads": sum(len(member.snapshots) for member in members),
            "touches": sum(len(member.touches) for member in members),
            "undone": sum(one.kind is EventKind.ROLLED_BACK for one in history.events),
            # A restart resets the counter.
            "retries": max(0, sum(map(retried, self.replicas)) - retries),
            "restarts": sum(len(member.restarts) for member in members),
            "confirmed_not_logged": len(lost),
            "unknown_gtids": len(foreign),
        }
        return LiveRound(
            number=number,
            seed=seed,
            history=history.check(),
            evidence=evidence,
            unknown=self._unknown(),
            notes=tuple(notes),
        )

    def _unknown(self) -> dict[str, str]:
        if self.fault is not None and self.fault.reuses_gtids:
            why = "GTIDs name two transactions under this fault: a touch does not tell whose it is"
        elif not self.records_touches:
            why = "attempts are not recorded under this fault: a crash would lose the record"
        elif self.request.mode == "minimal":
            why = "in this mode only commits overlap, and no two attempts are seen at once"
        else:
            return {}
        return dict.fromkeys(("domains_commit_in_order", "domains_apply_without_conflict"), why)

    def _options(self, number: int) -> dict[str, int | str | bool]:
        request = self.request
        return {
            "mode": request.mode,
            "fault": request.fault,
            "workload": self.workload,
            "workers": request.workers,
            "clients": request.clients,
            "replicas": request.replicas,
            "domains": request.domains,
            "round": number,
        }

    def reader(self, server: Server, *, session: str, round_number: int) -> SnapshotReader:
        """Return a reader of tables and log places."""
        return SnapshotReader(server, self.schemas, session=session)

    def position(self, server: Server) -> str:
        """Return the position in the table."""
        with server.connect() as connection, connection.cursor() as cursor:
            return gtid_position(cursor)

    def stated_position(self, server: Server) -> str:
        """Return the server's position variable."""
        return str(server.query("SELECT @@gtid_slave_pos")[0][0])


def is_trigger_fault(error: str) -> bool:
    """Return whether a trigger of ours stopped an applier.

    A worker killed while it opens a table may find a trigger's text "in error", which the server
    then caches with the table.
    """
    return "rigger" in error and "has an error in its body" in error


def _is_ddl(log: SourceLog, tag: Tag) -> bool:
    return any(str(tag) in one.statement for one in log.transactions if one.statement)


def retried(server: Server) -> int:
    """Return the appliers' retries since server start."""
    return int(server.query("SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'")[0][1])
