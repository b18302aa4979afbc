"""MariaDB semi-synchronous replication: early visibility, and source loss."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.observed import Tag
from paraply.adapters.live.pair.faults import wait_until
from paraply.adapters.live.semi_sync.history import Moment, MomentKind, semi_sync_history
from paraply.adapters.live.semi_sync.loss import MARIADB_WAYS, Waiter, Way
from paraply.adapters.live.source_log import JOURNAL, Keys, source_log
from paraply.adapters.live.target import LiveRequest, LiveRound
from paraply.adapters.live.translation import SOURCE, Run
from paraply.adapters.live.workload import Clients, create_statements, schema_name
from paraply.adapters.servers import Server, ServerRoom, find_mariadb, replicate, wait_until_applied
from paraply.adapters.servers.replication import begin_binary_log, is_receiving
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction

_SCHEMA = schema_name(0)
_DURABLE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1", "--binlog-row-metadata=FULL")
ALONE_MS = 250
"""The first wait without a replica, before fallback."""
FOR_EVER_MS = 600_000
"""A fallback would hide everything."""
_WARM_UP = 40
_TAG_OF_THE_WAITER = 900_000


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield rounds, each on its own servers."""
    return rounds_of(request, SemiSyncLab)


def rounds_of(
    request: LiveRequest, make: Callable[[LiveRequest, ServerRoom], SemiSyncLab]
) -> Iterator[LiveRound]:
    """Yield rounds that end with source loss."""
    for number in range(1, request.rounds + 1):
        request.say(f"round {number} of {request.rounds}")
        with ServerRoom(keep=request.keep) as room:
            yield make(request, room).round(number)


class SemiSyncLab:
    """A source, an acknowledging replica, and readers."""

    target = "mariadb-semisync"
    plugin = "rpl_semi_sync_master"
    """Prefix of the source's variables."""
    applier = "SLAVE"
    waiting = "Waiting for semi-sync ACK from slave"
    """Prefix of a waiting session's state."""
    find = staticmethod(find_mariadb)
    ways: Mapping[str, Way] = MARIADB_WAYS

    def __init__(self, request: LiveRequest, room: ServerRoom) -> None:
        self.request = request
        self.room = room
        self.installation = self.find(request.basedir)
        self.moments: list[Moment] = []
        self._received: frozenset[Tag] = frozenset()
        self.way = self.ways.get(request.fault)
        self.source = room.start(
            self.installation, name="source", options=(*_DURABLE, *self._source_options())
        )
        self.replica = self._started("replica1")
        self.source.run(list(create_statements(_SCHEMA)))
        self._connect()
        self._wait_until_on()

    def _connect(self) -> None:
        replicate(self.source, self.replica)

    def _started(self, name: str) -> Server:
        options = (
            *_DURABLE,
            *self._replica_options(),
            # Keep received transactions for inspection.
            "--relay-log-purge=OFF",
            "--relay-log=relay",
        )
        return self.room.start(self.installation, name=name, options=options)

    def _source_options(self) -> tuple[str, ...]:
        return (
            "--rpl-semi-sync-master-enabled=1",
            f"--rpl-semi-sync-master-wait-point={self.request.mode}",
            f"--rpl-semi-sync-master-timeout={ALONE_MS}",
        )

    def _replica_options(self) -> tuple[str, ...]:
        return (
            "--rpl-semi-sync-slave-enabled=1",
            f"--slave-parallel-threads={self.request.workers}",
            "--skip-slave-start",
        )

    def _wait_until_on(self) -> None:
        tag = _TAG_OF_THE_WAITER

        def is_on() -> bool:
            nonlocal tag
            tag += 1
            self.source.query(f"INSERT INTO {_SCHEMA}.journal VALUES ({tag})")
            return self._status("status") == "ON" and self._status("clients") == "1"

        wait_until(is_on, "semi-sync replica", self.source)
        self.source.query(f"SET GLOBAL {self.plugin}_timeout={FOR_EVER_MS}")

    def _status(self, name: str) -> str:
        like = f"SHOW GLOBAL STATUS LIKE '{self.plugin}_{name}'"
        return str(self.source.query(like)[0][1])

    def round(self, number: int) -> LiveRound:
        """Run one way of loss and the promotion."""
        request = self.request
        seed = request.seed + number - 1
        mark = begin_binary_log(self.source)
        clients = Clients(
            [self.source], workload="rows", clients=request.clients, seed=seed,
            round_number=number, transactions=request.transactions if not self.way else _WARM_UP,
        )  # fmt: skip
        reader = _JournalReader(self)
        reader.start()
        clients.start()
        notes: list[str] = []
        try:
            if self.way is None:
                dice = random.Random(seed)
                share = request.transactions * (0.5 + dice.random() / 2)
                clients.wait_for(int(share), request.duration_s)
                # The run ends here, during the load and after a read.
                reader.stop()
                self.read()
                self.source.kill()
                self._confirm(clients.load.confirmed)
                clients.stop(5)
                # The last confirmations precede the loss.
                self._confirm(clients.load.confirmed)
                self.note(MomentKind.LOST)
            else:
                clients.wait(request.duration_s)
                reader.stop()
                self._confirm(clients.stop().confirmed)
                notes += self._lose(self.way, number)
        finally:
            reader.stop()
            clients.stop(1)
        return self._told(number, seed, mark, clients, notes)

    def _lose(self, way: Way, number: int) -> list[str]:
        wait_until_applied(self.source, self.replica)
        self.source.run([*way.prepare, "SELECT 1"])
        if way.waits:
            self.replica.query(f"STOP {self.applier} {'SQL' if way.receives else 'IO'}_THREAD")
        else:
            self.replica.kill()
            self.note(MomentKind.REPLICA_CRASHED, member=self.replica.name)
        waiter = Waiter(self.source, number * 1_000_000 + _TAG_OF_THE_WAITER)
        if way.waits and not way.receives:
            wait_until(lambda: self.is_waiting(waiter), "wait for an acknowledgement", self.source)
            self.read()
        way.act(self, waiter)
        self.read()
        still_waits = self.is_waiting(waiter)
        if waiter.is_confirmed:
            self._confirm([waiter.tag])
        self.source.kill()
        self.note(MomentKind.LOST)
        if way.receives:
            self._received = self._tags_received(self.replica)
            self._discard_relay_log()
        if not way.waits:
            self.replica.start()
            self.note(MomentKind.REPLICA_BACK, self._tags(), member=self.replica.name)
        told = "its client was told so" if waiter.is_confirmed else "its client got no answer"
        if still_waits:
            told += ", and it waited on"
        return [f"{way.name}: {way.meaning}; {told}"]

    def _discard_relay_log(self) -> None:
        self.replica.run(["STOP SLAVE", "START SLAVE"])

    def is_waiting(self, waiter: Waiter) -> bool:
        """Return whether a transaction waits for acknowledgement."""
        # Columns: id, user, host, database, command, seconds, state, statement.
        return any(
            row[0] == waiter.connection_id and str(row[6]).startswith(self.waiting)
            for row in self.source.query("SHOW PROCESSLIST")
        )

    def add_empty_replica(self) -> Server:
        """Start a replica without data."""
        return self._started("replica2")

    # Observations

    def note(
        self, kind: MomentKind, tags: Iterable[Tag] = (), *, note: str = "", member: str = SOURCE
    ) -> None:
        """Record a moment."""
        self.moments.append(Moment(kind=kind, tags=frozenset(tags), note=note, member=member))

    def _tags(self) -> frozenset[Tag]:
        rows = self.replica.query(f"SELECT w FROM {_SCHEMA}.journal")
        return frozenset(int(tag) for (tag,) in rows)

    def _confirm(self, tags: Iterable[Tag]) -> None:
        known = {
            tag
            for moment in self.moments if moment.kind is MomentKind.CONFIRMED
            for tag in moment.tags
        }  # fmt: skip
        self.note(MomentKind.CONFIRMED, set(tags) - known)

    def read(self) -> None:
        """Read the source's journal with its log place."""
        with self.source.connect(read_timeout=20) as connection, connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            cursor.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
            status = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
            cursor.execute(f"SELECT w FROM {_SCHEMA}.journal")
            tags = frozenset(int(tag) for (tag,) in cursor.fetchall())
            cursor.execute("COMMIT")
        self.moments.append(
            Moment(
                kind=MomentKind.READ,
                tags=tags,
                file=status["binlog_snapshot_file"],
                offset=int(status["binlog_snapshot_position"]),
            )
        )

    def _tags_received(self, server: Server) -> frozenset[Tag]:
        files = sorted(
            file for file in server.datadir.glob("relay.[0-9]*") if file.suffix[1:].isdigit()
        )
        return frozenset(
            tag
            for paths in ([str(file) for file in files], list(map(str, server.binary_logs())))
            for one in read_transactions(paths)
            if one.complete
            for tag in _tags_of(one)
        )

    def _drain(self) -> None:
        def is_idle() -> bool:
            # The loss may truncate the transaction in transit.
            return not is_receiving(self.replica) and (
                self._tags_received(self.replica) <= self._tags()
            )

        wait_until(is_idle, "end of the relay log", self.replica)

    def _told(
        self, number: int, seed: int, mark: str, clients: Clients, notes: list[str]
    ) -> LiveRound:
        received = {"replica1": self._received | self._tags_received(self.replica)}
        if self.way is None or (self.way.waits and not self.way.receives):
            # A restarted or discarding replica has no relay log any more.
            self._drain()
        tags = self._tags()
        self.moments.append(Moment(kind=MomentKind.PROMOTED, tags=tags, member="replica1"))
        received["replica1"] |= tags
        for other in self.room.servers[2:]:
            received[other.name] = self._tags_received(other)
        files = sorted(self.source.datadir.glob("bin.[0-9]*"))
        logged = [
            one
            for one in read_transactions([str(file) for file in files if file.name >= mark])
            if one.complete
        ]
        log = source_log(logged, Keys(create_statements(_SCHEMA)))
        history = semi_sync_history(
            Run(
                subject=f"live {self.target} {self.installation.version_text}",
                dialect=self.installation.dialect,
                seed=seed,
                options={
                    "mode": self.request.mode, "fault": self.request.fault, "round": number,
                    "acknowledgements": 1, "sync_binlog": 1,
                    "waits_without_replicas": self.way is None or self.way.waits,
                },
            ),
            log, logged, self.moments, received,
        )  # fmt: skip
        seen = {
            tag
            for moment in self.moments if moment.kind in (MomentKind.READ, MomentKind.CONFIRMED)
            for tag in moment.tags
        }  # fmt: skip
        lost = sorted(log.tags[tag] for tag in seen & log.tags.keys() - tags)
        if lost:
            notes.append(f"seen or confirmed, and not on the promoted replica: T{lost[0]}")
        return LiveRound(
            number=number,
            seed=seed,
            history=history.check(),
            evidence={
                "server": self.installation.version_text,
                "transactions": len(log.transactions),
                "confirmed": len(clients.load.confirmed),
                "refused": sum(clients.load.refused.values()),
                "unanswered": len(clients.load.unanswered),
                "reads": sum(one.kind is MomentKind.READ for one in self.moments),
                "seen_and_lost": len(lost),
            },
            unknown=self._unknown(),
            notes=tuple(notes),
        )

    def _unknown(self) -> dict[str, str]:
        kinds = {moment.kind for moment in self.moments}
        unknown = {}
        if MomentKind.RESTARTED not in kinds:
            unknown["recovery_decides_by_the_binlog"] = "the source does not come back"
        if MomentKind.ABANDONED not in kinds:
            unknown["waits_are_abandoned_only_for_cause"] = "no wait is abandoned"
        return unknown


class _JournalReader:
    """One thread, because sessions share the server's answer."""

    def __init__(self, lab: SemiSyncLab) -> None:
        self._lab = lab
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(30)

    def _run(self) -> None:
        import pymysql

        while not self._stop.wait(0.03):
            with suppress(pymysql.MySQLError, OSError, ParaplyError):
                self._lab.read()


def _tags_of(logged: LoggedTransaction) -> Iterator[Tag]:
    for change in logged.rows:
        if change.table.endswith(JOURNAL) and change.after is not None:
            tag = change.after[0]
            if isinstance(tag, int):
                yield tag
