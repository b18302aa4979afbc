"""MySQL: a source, one or two parallel replicas, and worker windows."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paraply.adapters.live.observed import Member
from paraply.adapters.live.pair.lab import PairLab, rounds_of
from paraply.adapters.live.pair.mysql.faults import MYSQL_FAULTS
from paraply.adapters.live.pair.mysql.target import DATABASE, OF_THE_LOGICAL_CLOCK, OF_THE_WINDOWS
from paraply.adapters.live.pair.windows import OPTIONS as WINDOW_OPTIONS
from paraply.adapters.live.pair.windows import WindowStory, forget_windows, windows_of
from paraply.adapters.live.readers import JournalReader, SnapshotReader
from paraply.adapters.live.source_log import SourceLog, source_log
from paraply.adapters.live.target import MODE_GONE, LiveRequest, LiveRound
from paraply.adapters.live.translation import SOURCE, Run, source_events
from paraply.adapters.live.workload import Clients, Load
from paraply.adapters.servers import Server, find_mysql
from paraply.adapters.servers.replication import executed_position
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction, TransactionKind

_CHANGED_TABLE = re.compile(r"TABLE `?(\w+)`?\.`?(\w+)`?", re.IGNORECASE)
_DATABASES_MIN = 4
"""DATABASE mode parallelises only across databases."""


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds, on new servers after a replica stopped."""
    return rounds_of(request, MysqlLab)


class MysqlLab(PairLab):
    """A source and replicas with worker windows."""

    applier = "REPLICA"

    def __init__(self, request: LiveRequest) -> None:
        is_by_database = request.mode == DATABASE
        domains = max(request.domains, _DATABASES_MIN) if is_by_database else request.domains
        super().__init__(request, find_mysql(request.basedir), MYSQL_FAULTS, domains=domains)

    def _replica_options(self) -> Sequence[str]:
        # Later 9.x versions lack the variable and have LOGICAL_CLOCK only.
        schedule = "--loose-replica-parallel-type=LOGICAL_CLOCK"
        if self.request.mode == DATABASE:
            schedule = "--replica-parallel-type=DATABASE"
        return (
            *WINDOW_OPTIONS,
            f"--replica-parallel-workers={self.request.workers}",
            schedule,
            "--replica-preserve-commit-order=ON",
            "--replica-transaction-retries=100",
            "--skip-replica-start",
            *(self.fault.replica_options if self.fault else ()),
        )

    def _started(self, name: str, options: Sequence[str]) -> Server:
        try:
            return super()._started(name, options)
        except ParaplyError as error:
            if "replica-parallel-type" in error.text:
                raise ParaplyError(
                    MODE_GONE,
                    server=self.installation.version_text,
                    mode=self.request.mode,
                    reason="it was removed",
                ) from error
            raise

    def round(self, number: int) -> LiveRound:
        """Run one round.

        Without a fault under load the replicas begin with a backlog, which parallel work requires.
        """
        request = self.request
        seed = request.seed + number - 1
        inject = None if self.fault is None else self.fault.inject
        self._begin()
        for replica in self.replicas:
            if inject is None:
                replica.query("STOP REPLICA SQL_THREAD")
            forget_windows(replica)
        clients = Clients(
            [self.source],
            workload=self.workload,
            clients=request.clients,
            seed=seed,
            round_number=number,
            transactions=request.transactions,
            domains=len(self.schemas),
        )
        members = [Member(name=replica.name) for replica in self.replicas]
        notes: Sequence[str] = ()
        began = time.monotonic()
        with self._reading(members, number):
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
                member.applier_error = self._error_on_the_way(replica)
        for member, replica in zip(members, self.replicas, strict=True):
            self._look_at_rest(member, replica)
        return self._told(number, seed, members, load, notes)

    def _look_at_rest(self, member: Member, replica: Server) -> None:
        self.is_spoilt = self.is_spoilt or bool(member.applier_error)
        member.log = self._log(replica)
        member.final = self._final(replica, is_whole=not member.applier_error)

    def _told(
        self, number: int, seed: int, members: Sequence[Member], load: Load, notes: Sequence[str]
    ) -> LiveRound:
        log = source_log(self._log(self.source), self.keys)
        log.transactions = tuple(map(of_one_table, log.transactions))
        why_no_windows = self._why_no_windows(members)
        windows = [[] if why_no_windows else windows_of(replica) for replica in self.replicas]
        stories = [
            WindowStory(log, member, self.keys, seen)
            for member, seen in zip(members, windows, strict=True)
        ]
        evidence: dict[str, int | str] = {
            "server": self.installation.version_text,
            "transactions": len(log.transactions),
            "confirmed": len(load.confirmed),
            "refused": sum(load.refused.values()),
            "reads": sum(len(member.snapshots) for member in members),
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
            unknown=self._unknown(why_no_windows),
            notes=(
                *notes,
                *(f"{m.name}: {m.applier_error}" for m in members if m.applier_error),
            ),
        )

    def _why_no_windows(self, members: Sequence[Member]) -> str:
        if any(restart.is_crash for member in members for restart in member.restarts):
            # Earlier windows are lost, and the rest alone proves nothing.
            return "performance_schema, which has the workers' windows, is lost in a crash"
        if self.fault is not None and self.fault.reuses_gtids:
            return (
                "GTIDs name two transactions under this fault: a window does not tell whose it is"
            )
        return ""

    def _unknown(self, why_no_windows: str) -> dict[str, str]:
        if why_no_windows:
            return dict.fromkeys(OF_THE_WINDOWS, why_no_windows)
        if self.request.mode != DATABASE:
            return {}
        return dict.fromkeys(OF_THE_LOGICAL_CLOCK, "DATABASE mode looks at no timestamps")

    def _history(
        self, number: int, seed: int, log: SourceLog, stories: Sequence[WindowStory]
    ) -> History:
        request = self.request
        run = Run(
            subject=f"live mysql {self.installation.version_text}",
            dialect=self.installation.dialect,
            seed=seed,
            options={
                "mode": request.mode,
                "fault": request.fault,
                "workload": self.workload,
                "workers": request.workers,
                "clients": request.clients,
                "databases": len(self.schemas),
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

    def position(self, server: Server) -> str:
        """Return the executed set."""
        return executed_position(server)

    stated_position = position

    def reader(self, server: Server, *, session: str, round_number: int) -> SnapshotReader:
        """Return a reader of tables and journal."""
        return JournalReader(server, self.schemas, session=session, round_number=round_number)


def of_one_table(one: Transaction) -> Transaction:
    """Return a schema change as a writer of its one table.

    In an asynchronous log its numbers give its dependencies: it is no barrier. No client of ours
    writes rows into the table.
    """
    named = _CHANGED_TABLE.search(one.statement) if one.kind is TransactionKind.DDL else None
    if named is None:
        return one
    item = ".".join(named.groups())
    return replace(one, kind=TransactionKind.ROWS, write_set=frozenset({item}))
