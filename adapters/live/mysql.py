"""MySQL: a source, one or two parallel replicas, and the windows of their workers."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from adapters.binlog.transactions import read_transactions
from adapters.live.mysql_faults import COMMIT_ORDER_OFF, MYSQL_FAULTS, MysqlFault
from adapters.live.mysql_target import DATABASE, OF_THE_LOGICAL_CLOCK, OF_THE_WINDOWS
from adapters.live.observed import Final, Member, Snapshot, Tag
from adapters.live.source_log import Keys, SourceLog, source_log
from adapters.live.target import HEALTHY, ROUND_FAILED, LiveRequest, LiveRound
from adapters.live.translation import SOURCE, Run, source_events
from adapters.live.windows import OPTIONS as WINDOW_OPTIONS
from adapters.live.windows import WindowStory, forget_windows, windows_of
from adapters.live.workload import (
    READ_TABLES,
    TABLES,
    Clients,
    Load,
    create_statements,
    schema_name,
)
from adapters.servers import Server, ServerRoom, find_mysql, replicate, wait_until_applied
from adapters.servers.link import Link
from adapters.servers.replication import applier_error, executed_position
from vocabulary.errors import ParaplyError
from vocabulary.history import EvidenceTier, History
from vocabulary.log import LoggedTransaction
from vocabulary.transactions import Transaction, TransactionKind

_OPTIONS = (
    "--binlog-row-metadata=FULL",
    "--innodb-flush-log-at-trx-commit=2",
    "--sync-binlog=0",
    "--max-connections=60",
)
_CHANGED_TABLE = re.compile(r"TABLE `?(\w+)`?\.`?(\w+)`?", re.IGNORECASE)
_CATCH_UP_SECONDS = 60.0
_DATABASES_MIN = 4
"""DATABASE mode runs in parallel only what is in different databases."""


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield one round after the other (``LiveTarget.run``), on new servers if a replica stopped."""
    number = 1
    while number <= request.rounds:
        with MysqlLab(request) as lab:
            while number <= request.rounds and not lab.is_spoilt:
                request.say(f"round {number} of {request.rounds}")
                yield lab.round(number)
                number += 1


class MysqlLab:
    """The servers of one run, from provisioning to the last round."""

    def __init__(self, request: LiveRequest) -> None:
        self.request = request
        self.fault: MysqlFault | None = None
        if request.fault != HEALTHY:
            self.fault = MYSQL_FAULTS[request.fault]
        self.installation = find_mysql(request.basedir)
        self.room = ServerRoom(keep=request.keep)
        self.source: Server
        self.replicas: list[Server] = []
        self.link: Link | None = None
        self.domains = request.domains
        if request.mode == DATABASE:
            self.domains = max(request.domains, _DATABASES_MIN)
        self._schema = [
            statement
            for domain in range(self.domains)
            for statement in create_statements(schema_name(domain))
        ]
        self.keys = Keys(self._schema)
        self._marks: dict[str, str] = {}
        self.is_spoilt = False
        """Whether a replica is left behind, so that the next round needs new servers."""

    def __enter__(self) -> MysqlLab:
        try:
            self._provision()
        except BaseException:
            self.room.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.room.close()

    def _provision(self) -> None:
        request = self.request
        request.say(f"starting {self.installation.version_text}")
        self.source = self.room.start(self.installation, name="source", options=_OPTIONS)
        is_ordered = request.fault != COMMIT_ORDER_OFF
        # Later 9.x has no such variable any more, and LOGICAL_CLOCK only.
        schedule = "--loose-replica-parallel-type=LOGICAL_CLOCK"
        if request.mode == DATABASE:
            schedule = "--replica-parallel-type=DATABASE"
        options = [
            *_OPTIONS,
            *WINDOW_OPTIONS,
            f"--replica-parallel-workers={request.workers}",
            schedule,
            f"--replica-preserve-commit-order={'ON' if is_ordered else 'OFF'}",
            "--replica-transaction-retries=100",
            "--skip-replica-start",
        ]
        if self.fault is not None and self.fault.needs_link:
            self.link = self.room.link(self.source)
        for number in range(1, request.replicas + 1):
            replica = self._started(f"replica{number}", options)
            self.replicas.append(replica)
            over = self.link if number == 1 else None
            replicate(self.source, replica, port=0 if over is None else over.port)
        self.source.run(self._schema)
        for replica in self.replicas:
            wait_until_applied(self.source, replica)

    def _started(self, name: str, options: Sequence[str]) -> Server:
        try:
            return self.room.start(self.installation, name=name, options=options)
        except ParaplyError as error:
            if "replica-parallel-type" in error.text:
                reason = f"{self.installation.version_text} has no DATABASE mode any more"
                raise ParaplyError(ROUND_FAILED, where=name, reason=reason) from error
            raise

    def round(self, number: int) -> LiveRound:
        """Run the load, let the replicas catch up, and tell what was seen.

        Where nothing strikes under load, the replicas begin with a backlog: an applier that keeps
        up has nothing to do at once.
        """
        request = self.request
        seed = request.seed + number - 1
        inject = None if self.fault is None else self.fault.inject
        for replica in self.replicas:
            if inject is None:
                replica.query("STOP REPLICA SQL_THREAD")
            forget_windows(replica)
        for server in (self.source, *self.replicas):
            server.query("FLUSH NO_WRITE_TO_BINLOG BINARY LOGS")
            self._marks[server.name] = server.binary_logs()[-1].name
        clients = Clients(
            [self.source],
            workload=self.workload,
            clients=request.clients,
            seed=seed,
            round_number=number,
            transactions=request.transactions,
            domains=self.domains,
        )
        members = [Member(name=replica.name) for replica in self.replicas]
        notes: Sequence[str] = ()
        began = time.monotonic()
        try:
            clients.start()
            if inject is not None:
                notes = inject(self, clients, members, random.Random(seed))
            else:
                clients.wait_for(request.transactions // 2, request.duration_s / 2)
                for replica in self.replicas:
                    replica.query("START REPLICA SQL_THREAD")
            clients.wait(max(0.0, request.duration_s - (time.monotonic() - began)))
        finally:
            load = clients.stop()
        for member, replica in zip(members, self.replicas, strict=True):
            self._catch_up(member, replica)
        return self._told(number, seed, members, load, notes)

    @property
    def workload(self) -> str:
        """Return the load: what was asked for, or what the fault needs."""
        if self.fault is not None and self.fault.workload and self.request.workload == "mixed":
            return self.fault.workload
        return self.request.workload

    def tags(self, server: Server) -> frozenset[Tag]:
        """Return the tags of all transactions that a server has."""
        return frozenset(
            int(tag)
            for table in self._tables(["journal"])
            for (tag,) in server.query(f"SELECT w FROM {table}")
        )

    def _catch_up(self, member: Member, replica: Server) -> None:
        """Wait until a replica has all, or keep the error of one that never will."""
        try:
            wait_until_applied(self.source, replica, seconds_max=_CATCH_UP_SECONDS)
        except ParaplyError as reason:
            member.applier_error = applier_error(replica)
            if not member.applier_error:
                raise ParaplyError(ROUND_FAILED, where=replica.name, reason=reason) from reason
        self.is_spoilt = self.is_spoilt or bool(member.applier_error)
        member.log = self._log(replica)
        member.final = self._final(replica, is_whole=not member.applier_error)

    def _told(
        self, number: int, seed: int, members: Sequence[Member], load: Load, notes: Sequence[str]
    ) -> LiveRound:
        log = source_log(self._log(self.source), self.keys)
        log.transactions = tuple(map(of_one_table, log.transactions))
        # After a crash the windows before it are gone, and half of them tells nothing.
        windows = [[] if self._is_crash else windows_of(replica) for replica in self.replicas]
        stories = [
            WindowStory(log, member, self.keys, seen)
            for member, seen in zip(members, windows, strict=True)
        ]
        evidence: dict[str, int | str] = {
            "server": self.installation.version_text,
            "transactions": len(log.transactions),
            "confirmed": len(load.confirmed),
            "refused": sum(load.refused.values()),
            "windows": sum(story.covered for story in stories),
            "rolled_back": sum(not w.is_committed for story in stories for w in story.windows),
            "workers": max(len({w.worker for w in story.windows}) for story in stories),
            "restarts": sum(len(member.restarts) for member in members),
            "unknown_gtids": sum(len(story.unknown) for story in stories),
        }
        return LiveRound(
            number=number,
            seed=seed,
            history=self._history(number, seed, log, stories).check(),
            evidence=evidence,
            unknown=self._unknown(),
            notes=(
                *notes,
                *(f"{m.name}: {m.applier_error}" for m in members if m.applier_error),
            ),
        )

    @property
    def _is_crash(self) -> bool:
        return self.fault is not None and self.fault.is_crash

    def _unknown(self) -> dict[str, str]:
        if self._is_crash:
            why = "performance_schema, which has the workers' windows, is lost in a crash"
            return dict.fromkeys(OF_THE_WINDOWS, why)
        if self.request.mode != DATABASE:
            return {}
        return dict.fromkeys(OF_THE_LOGICAL_CLOCK, "DATABASE mode looks at no timestamps")

    def _history(
        self, number: int, seed: int, log: SourceLog, stories: Sequence[WindowStory]
    ) -> History:
        request = self.request
        version = "_".join(map(str, self.installation.version[:2]))
        run = Run(
            subject=f"live mysql {self.installation.version_text}",
            dialect=f"mysql_{version}",
            seed=seed,
            options={
                "mode": request.mode,
                "fault": request.fault,
                "workload": self.workload,
                "workers": request.workers,
                "clients": request.clients,
                "databases": self.domains,
                "round": number,
            },
        )
        events = list(source_events(log))
        for story in stories:
            events += story.events()
        return run.history(
            (SOURCE, *(story.member.name for story in stories)),
            (
                replace(one, timestamp=None) if request.mode == DATABASE else one
                for one in log.transactions
            ),
            events,
            tier=EvidenceTier.ROW_OUTCOMES,
        )

    def _log(self, server: Server) -> list[LoggedTransaction]:
        """Return what a server has logged since the round began."""
        files = [str(file) for file in self.log_files(server)]
        return [one for one in read_transactions(files) if one.complete]

    def log_files(self, server: Server) -> list[Path]:
        """Return the log files that a server has written since the round began."""
        return [file for file in server.binary_logs() if file.name >= self._marks[server.name]]

    def _tables(self, names: Sequence[str]) -> list[str]:
        return [f"{schema_name(d)}.{table}" for d in range(self.domains) for table in names]

    def _final(self, replica: Server, *, is_whole: bool) -> Final:
        """Look at all that the replica has, at rest."""
        compared = self._tables(TABLES)
        differing = [
            table for table in compared
            if is_whole and _checksum(replica, table) != _checksum(self.source, table)
        ]  # fmt: skip
        rows = {
            table: replica.query(f"SELECT * FROM {table}") for table in self._tables(READ_TABLES)
        }
        position = executed_position(replica)
        return Final(
            snapshot=Snapshot(session="final", rows=rows, gtid_position=position),
            tags=self.tags(replica),
            gtid_position=position,
            differing=frozenset(differing),
            compared=tuple(compared) if is_whole else (),
        )


def of_one_table(one: Transaction) -> Transaction:
    """Return a schema change of the load as a writer of the one table that it names.

    In an asynchronous log a schema change is no barrier: its numbers say what it waits for. No
    client of ours writes rows into a table whose schema changes.
    """
    named = _CHANGED_TABLE.search(one.statement) if one.kind is TransactionKind.DDL else None
    if named is None:
        return one
    item = ".".join(named.groups())
    return replace(one, kind=TransactionKind.ROWS, write_set=frozenset({item}))


def _checksum(server: Server, table: str) -> object:
    return server.query(f"CHECKSUM TABLE {table}")[0][1]
