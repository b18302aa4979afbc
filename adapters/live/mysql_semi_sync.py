"""MySQL semi-synchronous replication: the same story as MariaDB's, told by other statements.

MySQL has no snapshot that knows its place in the binary log: what reads see is judged by what they
show alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adapters.live.mysql_semi_sync_target import RESTART, SWITCH_OFF, TIME_OUT
from adapters.live.semi_sync import SemiSyncLab, Waiter
from adapters.live.semi_sync_told import Moment, MomentKind
from adapters.live.semi_sync_ways import Way
from adapters.live.strikes import wait_until
from adapters.live.target import HEALTHY, LiveRequest, LiveRound
from adapters.live.workload import create_statements, schema_name
from adapters.servers import Server, ServerRoom, find_mysql, replicate, wait_until_applied

_SCHEMA = schema_name(0)
_DURABLE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1", "--binlog-row-metadata=FULL")
_WAITING = "Waiting for semi-sync ACK"
_TAG_OF_THE_WAITER = 900_000


def run(request: LiveRequest) -> Iterator[LiveRound]:
    """Yield one round after the other, each on servers of its own (``LiveTarget.run``)."""
    for number in range(1, request.rounds + 1):
        request.say(f"round {number} of {request.rounds}")
        with ServerRoom(keep=request.keep) as room:
            yield MysqlSemiSyncLab(request, room).round(number)


def _restart(lab: SemiSyncLab, waiter: Waiter) -> None:
    lab.source.kill()
    waiter.end()
    lab.source.start()
    lab.note(MomentKind.RESTARTED)


def _time_out(lab: SemiSyncLab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="time-out")


def _switch_off(lab: SemiSyncLab, waiter: Waiter) -> None:
    lab.source.query("SET GLOBAL rpl_semi_sync_source_enabled=0")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="switched off")


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(name=RESTART, act=_restart, meaning="the source is killed while a commit waits"),
        Way(
            name=TIME_OUT,
            act=_time_out,
            prepare=("SET GLOBAL rpl_semi_sync_source_timeout=3000",),
            meaning="rpl_semi_sync_source_timeout passes",
        ),
        Way(name=SWITCH_OFF, act=_switch_off, meaning="rpl_semi_sync_source_enabled=0"),
    )
}


class MysqlSemiSyncLab(SemiSyncLab):
    """A MySQL source, a replica that acknowledges, and readers at the source."""

    plugin = "rpl_semi_sync_source"

    def __init__(self, request: LiveRequest, room: ServerRoom) -> None:
        self.request = request
        self.room = room
        self.installation = find_mysql(request.basedir)
        self.moments: list[Moment] = []
        self._received = frozenset()
        self.way = None if request.fault == HEALTHY else WAYS[request.fault]
        self.source = room.start(
            self.installation,
            name="source",
            options=(
                *_DURABLE,
                "--plugin-load-add=semisync_source.so",
                "--loose-rpl-semi-sync-source-enabled=1",
                f"--loose-rpl-semi-sync-source-wait-point={request.mode}",
                "--loose-rpl-semi-sync-source-timeout=10",
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
            "--plugin-load-add=semisync_replica.so",
            "--loose-rpl-semi-sync-replica-enabled=1",
            f"--replica-parallel-workers={self.request.workers}",
            "--skip-replica-start",
            "--relay-log-purge=OFF",
            "--relay-log=relay",
        )

    def _lose(self, way: Way, number: int) -> list[str]:
        wait_until_applied(self.source, self.replica)
        self.source.run([*way.prepare, "SELECT 1"])
        self.replica.query("STOP REPLICA IO_THREAD")
        waiter = Waiter(self.source, number * 1_000_000 + _TAG_OF_THE_WAITER)

        def is_waiting() -> bool:
            # Columns: id, user, host, database, command, seconds, state, statement.
            rows = self.source.query("SHOW PROCESSLIST")
            return any(
                row[0] == waiter.connection_id and str(row[6]).startswith(_WAITING) for row in rows
            )

        wait_until(is_waiting, "wait for an acknowledgement", self.source)
        self.read()
        way.act(self, waiter)
        self.read()
        if waiter.is_confirmed:
            self._confirm([waiter.tag])
        self.source.kill()
        self.note(MomentKind.LOST)
        told = "its client was told so" if waiter.is_confirmed else "its client got no answer"
        return [f"{way.name}: {way.meaning}; {told}"]

    def read(self) -> None:
        """Read the journal at the source."""
        rows = self.source.query(f"SELECT w FROM {_SCHEMA}.journal", read_timeout=20)
        self.note(MomentKind.READ, (int(tag) for (tag,) in rows))

    def _drain(self) -> None:
        def is_idle() -> bool:
            status = _replica_status(self.replica)
            return (status["Source_Log_File"], status["Read_Source_Log_Pos"]) == (
                status["Relay_Source_Log_File"],
                status["Exec_Source_Log_Pos"],
            )

        wait_until(is_idle, "end of the relay log", self.replica)

    def round(self, number: int) -> LiveRound:
        """Load, one way of losing, the loss of the source, and the promotion of the replica."""
        told = super().round(number)
        header = replace(
            told.history.header,
            subject=f"live mysql-semisync {self.installation.version_text}",
            dialect="mysql_" + "_".join(map(str, self.installation.version[:2])),
        )
        return replace(told, history=replace(told.history, header=header))


def _replica_status(replica: Server) -> dict[str, object]:
    import pymysql.cursors

    with replica.connect(cursorclass=pymysql.cursors.DictCursor) as connection:
        cursor = connection.cursor()
        cursor.execute("SHOW REPLICA STATUS")
        return dict(cursor.fetchone() or {})
