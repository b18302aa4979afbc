"""Asynchronous replication between two servers of one family."""

from __future__ import annotations

import secrets
import time
from typing import Any

from paraply.adapters.servers.binlog_dump import LogPlace
from paraply.adapters.servers.errors import REPLICA_BEHIND, REPLICA_STOPPED
from paraply.adapters.servers.reachable import Reachable
from paraply.adapters.servers.server import Server
from paraply.vocabulary.errors import ParaplyError

_USER = "repl"
_PASSWORD = secrets.token_hex(16)
_CHECKPOINT_SECONDS_MAX = 10


def replicate(source: Server, replica: Server, *, port: int = 0) -> None:
    """Make ``replica`` follow ``source`` by GTID, and wait for it.

    ``port`` is that of a :class:`Link` to the source.
    """
    port = port or source.port
    for node in (source, replica):
        node.run(
            [
                "SET SESSION sql_log_bin=0",
                f"CREATE USER IF NOT EXISTS '{_USER}'@'127.0.0.1' IDENTIFIED BY '{_PASSWORD}'",
                f"GRANT REPLICATION SLAVE ON *.* TO '{_USER}'@'127.0.0.1'",
            ]
        )
    how: tuple[str, ...]
    if replica.is_mariadb:
        how = ("MASTER_USE_GTID=slave_pos", "MASTER_CONNECT_RETRY=1")
        start = "START SLAVE"
    else:
        how = ("SOURCE_AUTO_POSITION=1", "SOURCE_CONNECT_RETRY=1", "SOURCE_RETRY_COUNT=1000")
        start = "START REPLICA"
    replica.run([_change_source(replica, port, *how), start])
    wait_until_applied(source, replica)


def receive_from(source: Server, replica: Server, file: str, offset: int) -> None:
    """Make ``replica`` receive from a place without applying.

    The source requires the account of :func:`replicate`.
    """
    if replica.is_mariadb:
        how = ("MASTER_USE_GTID=no", f"MASTER_LOG_FILE='{file}'", f"MASTER_LOG_POS={offset}")
        start = "START SLAVE IO_THREAD"
    else:
        how = ("SOURCE_AUTO_POSITION=0", f"SOURCE_LOG_FILE='{file}'", f"SOURCE_LOG_POS={offset}")
        start = "START REPLICA IO_THREAD"
    replica.run([_change_source(replica, source.port, *how), start])


def _change_source(replica: Server, port: int, *how: str) -> str:
    if replica.is_mariadb:
        statement, word = "CHANGE MASTER TO", "MASTER"
        # Replicas since 11.4 verify by default, and older sources have no certificate.
        how = (*how, "MASTER_SSL_VERIFY_SERVER_CERT=0")
    else:
        statement, word = "CHANGE REPLICATION SOURCE TO", "SOURCE"
        how = (*how, "GET_SOURCE_PUBLIC_KEY=1")
    where = (
        f"{word}_HOST='127.0.0.1'", f"{word}_PORT={port}",
        f"{word}_USER='{_USER}'", f"{word}_PASSWORD='{_PASSWORD}'",
    )  # fmt: skip
    return f"{statement} {', '.join((*where, *how))}"


def begin_binary_log(server: Server) -> str:
    """Begin a binary log file and return its name.

    MariaDB writes a checkpoint into it at some later time. If that comes between a transaction's
    binlog write and its engine commit, a snapshot's ``binlog_snapshot_position`` includes the
    transaction, which the snapshot does not show. So wait for it, at most 10 s: a prepared XA
    transaction holds it back.
    """
    server.query("FLUSH NO_WRITE_TO_BINLOG BINARY LOGS")
    name = server.binary_logs()[-1].name
    deadline = time.monotonic() + _CHECKPOINT_SECONDS_MAX
    while server.is_mariadb and time.monotonic() < deadline:
        # Columns: log name, position, event type, server id, end position, information.
        events = server.query(f"SHOW BINLOG EVENTS IN '{name}'")
        if any(row[2] == "Binlog_checkpoint" and row[5] == name for row in events):
            break
        time.sleep(0.02)
    return name


def executed_position(server: Reachable) -> str:
    """Return the executed GTID set or position."""
    variable = "@@gtid_binlog_pos" if server.is_mariadb else "@@global.gtid_executed"
    return str(server.query(f"SELECT {variable}")[0][0]).replace("\n", "")


def wait_until_applied(source: Reachable, replica: Reachable, *, seconds_max: float = 60) -> None:
    """Wait until the replica has applied the source's present log.

    Raises:
        ParaplyError: P60x, its applier stopped, or idled for ``seconds_max``.
    """
    position = executed_position(source)
    if replica.is_mariadb:
        wait = f"SELECT MASTER_GTID_WAIT('{position}', 1)"
    else:
        wait = f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{position}', 1)"
    deadline = time.monotonic() + seconds_max
    reached = ""
    while position:
        if replica.query(wait)[0][0] == 0:
            return
        error = applier_error(replica)
        if error:
            raise ParaplyError(REPLICA_STOPPED, where=replica.name, reason=error)
        applied = executed_position(replica)
        if applied != reached:
            reached, deadline = applied, time.monotonic() + seconds_max
        elif time.monotonic() > deadline:
            raise ParaplyError(
                REPLICA_BEHIND,
                where=replica.name,
                position=position,
                seconds=seconds_max,
                applied=applied,
            )


def is_receiving(replica: Reachable, **arguments: Any) -> bool:
    """Return whether it is connected or reads received data; with driver ``arguments``."""
    return _status(replica, **arguments).get(f"{_threads(replica)}_IO_Running") == "Yes"


def has_read_relay_log(replica: Reachable) -> bool:
    """Return whether the applier has read all that was received; workers may still apply it."""
    state = _status(replica).get(f"{_threads(replica)}_SQL_Running_State")
    return "has read all relay log" in str(state)


def applied_place(replica: Reachable) -> LogPlace:
    """Return a source log place before which all is applied."""
    status, peer = _status(replica), "Master" if replica.is_mariadb else "Source"
    return LogPlace(
        file=str(status[f"Relay_{peer}_Log_File"]), offset=int(status[f"Exec_{peer}_Log_Pos"])
    )


def applier_error(replica: Reachable) -> str:
    """Return why receiver or applier stopped, else empty."""
    status, threads = _status(replica), _threads(replica)
    for thread in ("SQL", "IO"):
        # A disconnected receiver is "Connecting" and has an error too.
        if status.get(f"{threads}_{thread}_Running") == "No":
            reason = status.get(f"Last_{thread}_Error")
            if reason:
                return str(reason)
    return ""


def _threads(replica: Reachable) -> str:
    return "Slave" if replica.is_mariadb else "Replica"


def _status(replica: Reachable, **arguments: Any) -> dict[str, Any]:
    import pymysql.cursors

    with (
        replica.connect(cursorclass=pymysql.cursors.DictCursor, **arguments) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SHOW {_threads(replica).upper()} STATUS")
        return cursor.fetchone() or {}
