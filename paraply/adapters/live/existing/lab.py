"""Run a load on existing servers in a schema of our own.

The lab changes no setting, account, log or process of the servers. It reads snapshots, binary logs,
and performance_schema if enabled. It keeps only our schema's part of the logs.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from typing import Any

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.existing.checks import (
    check_replica,
    check_source,
    why_no_log,
    why_no_windows,
)
from paraply.adapters.live.existing.own_schema import (
    drop_schema,
    has_schema,
    leftovers,
    make_schema,
)
from paraply.adapters.live.existing.target import OF_THE_WORKERS
from paraply.adapters.live.observed import Final, Member, Snapshot
from paraply.adapters.live.pair.at_rest import differing_tables, error_on_the_way, tags_on
from paraply.adapters.live.pair.mysql.lab import of_one_table
from paraply.adapters.live.pair.windows import WindowStory, windows_of
from paraply.adapters.live.readers import Reader
from paraply.adapters.live.source_log import Keys, source_log
from paraply.adapters.live.target import SERVERS_UNFIT, LiveRequest, LiveRound
from paraply.adapters.live.translation import SOURCE, Run, source_events
from paraply.adapters.live.workload import TABLES, Clients, create_statements
from paraply.adapters.servers.binlog_dump import LogPlace, dump_log, log_end
from paraply.adapters.servers.caretaker import temporary_folder
from paraply.adapters.servers.existing import ExistingServer, parse_dsn
from paraply.adapters.servers.replication import executed_position, wait_until_applied
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.log import LoggedTransaction

_READ_TABLES = ("account", "swap")
"""Their rows stay, so every read shows each row's last writer."""
_CATCH_UP_SECONDS = 60.0


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds in one schema, then drop it."""
    with ExistingLab(request) as lab:
        for number in range(1, request.rounds + 1):
            request.say(f"round {number} of {request.rounds}")
            yield lab.round(number)


class ExistingLab:
    """A source, its replicas and our schema."""

    def __init__(self, request: LiveRequest) -> None:
        if len(request.servers) < 2:
            reason = "name a source and at least one replica: --dsn SOURCE REPLICA..."
            raise ParaplyError(SERVERS_UNFIT, where="existing", reason=reason)
        self.request = request
        first, *others = map(parse_dsn, request.servers)
        self.source = ExistingServer(first, name=SOURCE)
        self.replicas = [
            ExistingServer(one, name=f"replica{number}", is_read_only=True)
            for number, one in enumerate(others, start=1)
        ]
        self.schema = ""
        self.folder = temporary_folder("paraply-logs-")

    def __enter__(self) -> ExistingLab:
        try:
            check_source(self.source)
            for replica in self.replicas:
                check_replica(self.source, replica)
            self._earlier_runs()
            self.schema = make_schema(self.source, self.replicas)
            self.request.say(f"schema {self.schema} on {self.source.dsn}")
            for replica in self.replicas:
                self._follows(replica)
            self.keys = Keys(create_statements(self.schema))
            self.no_logs = {
                one.name: reason for one in self.replicas if (reason := why_no_log(one)) is not None
            }
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.schema and not self.request.keep:
            foreign = drop_schema(self.source, self.schema)
            if foreign:
                self.request.say(f"schema {self.schema} stays: it has {', '.join(foreign)}")

    def _earlier_runs(self) -> None:
        for name in leftovers(self.source):
            if not self.request.drop_leftovers:
                hint = "if no run uses it, --drop-leftovers drops it"
                self.request.say(f"schema {name} is of an earlier run: {hint}")
            elif foreign := drop_schema(self.source, name):
                self.request.say(f"schema {name} stays: it has {', '.join(foreign)}")
            else:
                self.request.say(f"schema {name} of an earlier run is dropped")
        # A name is free only once the replicas have dropped the schema, too.
        for replica in self.replicas if self.request.drop_leftovers else ():
            self._catches_up(replica)

    def _catches_up(self, replica: ExistingServer) -> None:
        try:
            wait_until_applied(self.source, replica, seconds_max=_CATCH_UP_SECONDS)
        except ParaplyError as reason:
            raise ParaplyError(SERVERS_UNFIT, where=replica.name, reason=reason) from reason

    def _follows(self, replica: ExistingServer) -> None:
        self._catches_up(replica)
        if not has_schema(replica, self.schema):
            reason_text = "it has applied all, and our schema is not there: is there a filter?"
            raise ParaplyError(SERVERS_UNFIT, where=replica.name, reason=reason_text)

    def round(self, number: int) -> LiveRound:
        """Run one round."""
        request = self.request
        starts = {
            one.name: log_end(one)
            for one in (self.source, *self.replicas)
            if one.name not in self.no_logs
        }
        clients = Clients(
            [self.source],
            workload=request.workload,
            clients=request.clients,
            seed=request.seed + number - 1,
            round_number=number,
            transactions=request.transactions,
            schema_of=lambda _: self.schema,
        )
        readers = [_Reader(replica, self.schema) for replica in self.replicas]
        began = time.monotonic()
        try:
            for reader in readers:
                reader.start()
            clients.start()
            clients.wait(max(0.0, request.duration_s - (time.monotonic() - began)))
            load = clients.stop()
            members = [self._caught_up(replica) for replica in self.replicas]
        finally:
            clients.stop(1.0)
            snapshots = [reader.stop() for reader in readers]
        for member, seen, replica in zip(members, snapshots, self.replicas, strict=True):
            member.snapshots += seen
            if member.has_log:
                member.log = self.log_since(replica, starts[replica.name])
        logged = self.log_since(self.source, starts[SOURCE])
        return self._told(number, members, logged, clients, sum(load.refused.values()))

    def _caught_up(self, replica: ExistingServer) -> Member:
        member = Member(name=replica.name, has_log=replica.name not in self.no_logs)
        member.applier_error = error_on_the_way(self.source, replica)
        is_whole = not member.applier_error
        compared = [f"{self.schema}.{table}" for table in TABLES] if is_whole else []
        position = executed_position(replica)
        with replica.connect() as connection, connection.cursor() as cursor:
            snapshot = _Reader(replica, self.schema, "final").read(cursor)
        member.final = Final(
            snapshot=snapshot,
            tags=tags_on(replica, [self.schema]),
            gtid_position=position,
            differing=differing_tables(replica, self.source, compared),
            compared=tuple(compared),
        )
        return member

    def log_since(self, server: ExistingServer, start: LogPlace) -> list[LoggedTransaction]:
        """Return our schema's part of a server's log after a place."""
        folder = self.folder / server.name
        files = dump_log(server, start, folder)
        own = [
            one
            for one in read_transactions([str(file) for file in files])
            if one.complete and is_of_schema(one, self.schema)
        ]
        shutil.rmtree(folder, ignore_errors=True)
        return own

    def _told(
        self,
        number: int,
        members: Sequence[Member],
        logged: Sequence[LoggedTransaction],
        clients: Clients,
        refused: int,
    ) -> LiveRound:
        log = source_log(logged, self.keys)
        if not self.source.is_mariadb:
            log.transactions = tuple(map(of_one_table, log.transactions))
        unknown: dict[str, str] = {}
        stories = []
        for member, replica in zip(members, self.replicas, strict=True):
            why = why_no_windows(replica)
            if why is not None:
                unknown |= dict.fromkeys(OF_THE_WORKERS, why)
            windows = [] if why is not None else windows_of(replica)
            stories.append(WindowStory(log, member, self.keys, windows))
        for why in self.no_logs.values():
            names = ("replica_logs_domains_in_order", "no_event_is_applied_twice")
            unknown |= dict.fromkeys(names, why)
        if not self.source.is_mariadb:
            unknown["replica_logs_domains_in_order"] = "there are no replication domains in MySQL"
        events = list(source_events(log))
        for story in stories:
            events += story.events()
        request = self.request
        version = self.source.version
        run = Run(
            subject=f"live existing {self.source.version_text}",
            dialect=("mariadb" if self.source.is_mariadb else "mysql")
            + f"_{version[0]}_{version[1]}",
            seed=request.seed + number - 1,
            options={
                "mode": request.mode, "workload": request.workload, "round": number,
                "clients": request.clients,
            },
        )  # fmt: skip
        has_windows = any(story.windows for story in stories)
        history = run.history(
            (SOURCE, *(member.name for member in members)),
            log.transactions,
            events,
            tier=EvidenceTier.ROW_OUTCOMES if has_windows else EvidenceTier.COMMIT_ORDER,
        )
        return LiveRound(
            number=number,
            seed=request.seed + number - 1,
            history=history.check(),
            evidence={
                "server": self.source.version_text,
                "transactions": len(log.transactions),
                "confirmed": len(clients.load.confirmed),
                "refused": refused,
                "reads": sum(len(member.snapshots) for member in members),
                "windows": sum(story.covered for story in stories),
                "unknown_gtids": sum(len(story.unknown) for story in stories),
            },
            unknown=unknown,
            notes=tuple(f"{m.name}: {m.applier_error}" for m in members if m.applier_error),
        )


class _Reader(Reader):
    pause_s = 0.02

    def __init__(self, server: ExistingServer, schema: str, session: str = "reader") -> None:
        super().__init__(server)
        self._schema = schema
        self._session = session

    def read(self, cursor: Any) -> Snapshot:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        rows: dict[str, Sequence[tuple[object, ...]]] = {}
        for table in _READ_TABLES:
            cursor.execute(f"SELECT * FROM {self._schema}.{table}")
            rows[f"{self._schema}.{table}"] = tuple(cursor.fetchall())
        cursor.execute("COMMIT")
        return Snapshot(session=self._session, rows=rows)


def is_of_schema(logged: LoggedTransaction, schema: str) -> bool:
    """Return whether a transaction concerns the schema."""
    return any(row.table.startswith(f"{schema}.") for row in logged.rows) or any(
        f"{schema}." in statement for statement in logged.statements
    )
