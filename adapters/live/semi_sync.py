"""MariaDB semi-synchronous replication: who sees what before a replica has it, and what a loss of
the source leaves.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress

from adapters.binlog.transactions import read_transactions
from adapters.live.observed import Tag
from adapters.live.semi_sync_told import Moment, MomentKind, semi_sync_history
from adapters.live.semi_sync_ways import WAYS, Way, wait_for_waiter
from adapters.live.source_log import JOURNAL, Keys, source_log
from adapters.live.strikes import wait_until
from adapters.live.target import HEALTHY, LiveRequest, LiveRound
from adapters.live.translation import SOURCE, Run
from adapters.live.workload import Clients, create_statements, schema_name
from adapters.servers import Server, ServerRoom, find_mariadb, replicate, wait_until_applied
from vocabulary.log import LoggedTransaction

_SCHEMA = schema_name(0)
_DURABLE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1", "--binlog-row-metadata=FULL")
_FOR_EVER_MS = 600_000
"""A time-out that never comes: falling back to asynchronous would hide everything."""
_WARM_UP = 40
_TAG_OF_THE_WAITER = 900_000


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield one round after the other, each on servers of its own (``LiveTarget.run``)."""
    for number in range(1, request.rounds + 1):
        request.say(f"round {number} of {request.rounds}")
        with ServerRoom(keep=request.keep) as room:
            yield SemiSyncLab(request, room).round(number)


class Waiter:
    """A client whose one transaction will wait for its acknowledgement."""

    def __init__(self, server: Server, tag: Tag) -> None:
        self.tag = tag
        self.is_confirmed = False
        self._connection = server.connect(autocommit=True, read_timeout=60)
        self.connection_id = int(self._connection.thread_id())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import pymysql

        with suppress(pymysql.MySQLError, OSError), self._connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {_SCHEMA}.journal VALUES ({self.tag})")
            self.is_confirmed = True

    def end(self) -> None:
        """Return when the client has its answer, or has lost its connection."""
        self._thread.join(60)


class SemiSyncLab:
    """A source, a replica that acknowledges, and readers at the source."""

    plugin = "rpl_semi_sync_master"
    """What the names of the source's variables begin with."""

    def __init__(self, request: LiveRequest, room: ServerRoom) -> None:
        self.request = request
        self.room = room
        self.installation = find_mariadb(request.basedir)
        self.moments: list[Moment] = []
        self._received: frozenset[Tag] = frozenset()
        """What the replica had received when its relay log was about to be discarded."""
        self.way: Way | None = None if request.fault == HEALTHY else WAYS[request.fault]
        self.source = room.start(
            self.installation,
            name="source",
            options=(
                *_DURABLE,
                "--rpl-semi-sync-master-enabled=1",
                f"--rpl-semi-sync-master-wait-point={request.mode}",
                "--rpl-semi-sync-master-timeout=10",
            ),
        )
        self.replica = room.start(
            self.installation, name="replica1", options=self._replica_options()
        )
        self.source.run(list(create_statements(_SCHEMA)))
        replicate(self.source, self.replica)
        self._wait_until_on()

    def _replica_options(self) -> tuple[str, ...]:
        return (
            *_DURABLE,
            "--rpl-semi-sync-slave-enabled=1",
            f"--slave-parallel-threads={self.request.workers}",
            "--skip-slave-start",
            # What was received stays to be looked at.
            "--relay-log-purge=OFF",
            "--relay-log=relay",
        )

    def _wait_until_on(self) -> None:
        """Wait until semi-sync is on with one replica, and forbid it to fall back."""
        tag = _TAG_OF_THE_WAITER

        def is_on() -> bool:
            nonlocal tag
            tag += 1
            self.source.query(f"INSERT INTO {_SCHEMA}.journal VALUES ({tag})")
            return self._status("status") == "ON" and self._status("clients") == "1"

        wait_until(is_on, "semi-sync replica", self.source)
        self.source.query(f"SET GLOBAL {self.plugin}_timeout={_FOR_EVER_MS}")

    def _status(self, name: str) -> str:
        like = f"SHOW GLOBAL STATUS LIKE '{self.plugin}_{name}'"
        return str(self.source.query(like)[0][1])

    def round(self, number: int) -> LiveRound:
        """Load, one way of losing, the loss of the source, and the promotion of the replica."""
        request = self.request
        seed = request.seed + number - 1
        self.source.query("FLUSH NO_WRITE_TO_BINLOG BINARY LOGS")
        mark = self.source.binary_logs()[-1].name
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
                # Everything ends here, in the middle of the load.
                reader.stop()
                self.source.kill()
                self._confirm(clients.load.confirmed)
                clients.stop(5)
                # Whoever was told so in the last moment was told so before the loss.
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
            self.replica.query(f"STOP SLAVE {'SQL' if way.receives else 'IO'}_THREAD")
        else:
            self.replica.kill()
            self.note(MomentKind.REPLICA_CRASHED, member=self.replica.name)
        waiter = Waiter(self.source, number * 1_000_000 + _TAG_OF_THE_WAITER)
        if way.waits and not way.receives:
            wait_for_waiter(self, waiter)
            self.read()
        way.act(self, waiter)
        self.read()
        if waiter.is_confirmed:
            self._confirm([waiter.tag])
        self.source.kill()
        self.note(MomentKind.LOST)
        if way.receives:
            self._received = self._tags_received(self.replica)
            self.replica.run(["STOP SLAVE", "START SLAVE"])
        if not way.waits:
            self.replica.start()
            self.note(MomentKind.REPLICA_BACK, self._tags(), member=self.replica.name)
        told = "its client was told so" if waiter.is_confirmed else "its client got no answer"
        return [f"{way.name}: {way.meaning}; {told}"]

    def add_empty_replica(self) -> Server:
        """Start a replica that has no data at all."""
        return self.room.start(self.installation, name="replica2", options=self._replica_options())

    def follow_from(self, replica: Server, file: str, offset: int) -> None:
        """Let a replica receive from a place in the source's log, and apply nothing."""
        replica.run(
            [
                f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={self.source.port},"
                " MASTER_USER='repl', MASTER_PASSWORD='repl-password', MASTER_USE_GTID=no,"
                f" MASTER_LOG_FILE='{file}', MASTER_LOG_POS={offset}",
                "START SLAVE IO_THREAD",
            ]
        )

    # What is seen

    def note(
        self, kind: MomentKind, tags: Iterable[Tag] = (), *, note: str = "", member: str = SOURCE
    ) -> None:
        """Keep a moment."""
        self.moments.append(Moment(kind=kind, tags=frozenset(tags), note=note, member=member))

    def _tags(self) -> frozenset[Tag]:
        """Return what the replica's journal has."""
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
        """Read the journal at the source in one snapshot, with its place in the binary log."""
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
        """Return what is in a server's relay logs, or was applied from them."""
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
        """Wait until the replica has applied all that its relay log has."""

        def is_idle() -> bool:
            import pymysql.cursors

            with self.replica.connect(cursorclass=pymysql.cursors.DictCursor) as connection:
                cursor = connection.cursor()
                cursor.execute("SHOW SLAVE STATUS")
                status = cursor.fetchone() or {}
            return (status["Master_Log_File"], status["Read_Master_Log_Pos"]) == (
                status["Relay_Master_Log_File"], status["Exec_Master_Log_Pos"],
            )  # fmt: skip

        wait_until(is_idle, "end of the relay log", self.replica)

    def _told(
        self, number: int, seed: int, mark: str, clients: Clients, notes: list[str]
    ) -> LiveRound:
        received = {"replica1": self._received | self._tags_received(self.replica)}
        if self.way is None or self.way.waits:
            # A replica that was started again has no relay log any more.
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
                subject=f"live mariadb-semisync {self.installation.version_text}",
                dialect="mariadb_" + "_".join(map(str, self.installation.version[:2])),
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
        """Return what stays unknown because this fault does not bring it about."""
        kinds = {moment.kind for moment in self.moments}
        unknown = {}
        if MomentKind.RESTARTED not in kinds:
            unknown["recovery_decides_by_the_binlog"] = "the source does not come back"
        if MomentKind.ABANDONED not in kinds:
            unknown["waits_are_abandoned_only_for_cause"] = "no wait is abandoned"
        return unknown


class _JournalReader:
    """Reads at the source, over and over; one thread, since the server's answer is shared."""

    def __init__(self, lab: SemiSyncLab) -> None:
        self._lab = lab
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """End after the read under way."""
        self._stop.set()
        self._thread.join(30)

    def _run(self) -> None:
        import pymysql

        while not self._stop.wait(0.03):
            with suppress(pymysql.MySQLError, OSError):
                self._lab.read()


def _tags_of(logged: LoggedTransaction) -> Iterator[Tag]:
    for change in logged.rows:
        if change.table.endswith(JOURNAL) and change.after is not None:
            tag = change.after[0]
            if isinstance(tag, int):
                yield tag
