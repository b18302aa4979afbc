"""Crashes of source and replica, and what positions and logs cover after them."""

from __future__ import annotations

import os
from pathlib import Path

from ci.counterexamples.registry import script
from ci.counterexamples.stage import Stage, Task
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import Flavour, Server, wait_until_applied
from paraply.adapters.servers.binlog_dump import log_end
from paraply.adapters.servers.replication import receive_from

_MARIADB = (Flavour.MARIADB,)
_ROWS = (
    "CREATE TABLE d.t (a INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
    "INSERT INTO d.t VALUES (1, 0), (2, 0)",
)
_PLAIN = ("CREATE TABLE d.p (a INT NOT NULL) ENGINE=InnoDB",)
"""Without a key, so that a second insert of a row is no error."""


def _inserted(server: Server, table: str = "p") -> list[int]:
    return [int(a) for (a,) in server.query(f"SELECT a FROM d.{table} ORDER BY a")]


def _position(stage: Stage, server: Server) -> str:
    variable = "@@gtid_slave_pos" if stage.is_mariadb else "@@global.gtid_executed"
    return str(stage.value(server, f"SELECT {variable}")).replace("\n", "")


def _skip_start(stage: Stage) -> str:
    return f"--skip-{stage.applier.lower()}-start"


def _cut(stage: Stage, file: Path, count: int, whose: str) -> list[str]:
    """Cut the last transactions off a stopped server's log; return their GTIDs."""
    lost = [one for one in read_transactions([str(file)]) if one.complete][-count:]
    os.truncate(file, lost[0].start.offset)
    gtids = [one.gtid for one in lost]
    stage.note(f"{whose} loses {', '.join(gtids)} from its log, as by a power loss")
    return gtids


def _gtids(stage: Stage, server: Server) -> set[str]:
    return {one.gtid for one in stage.logged(server)}


@script("source-loses-its-log", "C19", "C74")
def source_loses_its_log(stage: Stage) -> None:
    """A source with `sync_binlog=0` is killed and loses the end of its log, which its replica has.
    Is the replica ahead? The source commits again: does one GTID name two transactions?"""
    source, replica = stage.pair(source=["--sync-binlog=0"], tables=_PLAIN)
    for row in (1, 2, 3):
        source.query(f"INSERT INTO d.p VALUES ({row})")
    wait_until_applied(source, replica)
    replica.query(f"STOP {stage.applier} IO_THREAD")
    file = source.binary_logs()[-1]
    source.kill()
    lost = _cut(stage, file, 2, "the source")
    source.start()
    ahead = set(lost) & (_gtids(stage, replica) - _gtids(stage, source))
    stage.decide(
        "C19", is_reproduced=ahead == set(lost),
        seen=f"the replica has {', '.join(lost)}, the source's log does not; executed at the"
        f" source: {stage.executed(source)}",
    )  # fmt: skip
    for row in (11, 12, 13):
        source.query(f"INSERT INTO d.p VALUES ({row})")
    again = sorted(set(lost) & _gtids(stage, source))
    replica.query(f"START {stage.applier} IO_THREAD")
    stage.comes(lambda: 13 in _inserted(replica), 10)
    error = str(stage.status(replica, "Last_IO_Error") or "") or stage.error(replica)
    kept = _inserted(replica)
    missing = sorted({11, 12, 13} - set(kept))
    stage.decide(
        "C74", is_reproduced=bool(again) and bool(missing),
        seen=f"given again: {', '.join(again) or 'none'}; the replica has rows {kept} and lacks"
        f" {missing}"
        f"; {error[:160] or 'no error is reported'}",
    )  # fmt: skip


@script("replica-loses-its-log", "C73")
def replica_loses_its_log(stage: Stage) -> None:
    """A replica with `sync_binlog=0` is killed and loses the end of its own log; its engine keeps
    the transactions. Does its position cover them, or are they applied again?"""
    source, replica = stage.pair(replica=["--sync-binlog=0"], tables=_PLAIN)
    for row in (1, 2, 3):
        source.query(f"INSERT INTO d.p VALUES ({row})")
    wait_until_applied(source, replica)
    file = replica.binary_logs()[-1]
    replica.kill()
    lost = _cut(stage, file, 2, "the replica")
    replica.options = (*replica.options, _skip_start(stage))
    replica.start()
    position, rows = _position(stage, replica), _inserted(replica)
    stage.note(f"after the restart: position {position}, rows {rows}")
    replica.query(f"START {stage.applier}")
    source.query("INSERT INTO d.p VALUES (4)")
    stage.comes(lambda: 4 in _inserted(replica), 10)
    after, error = _inserted(replica), stage.error(replica)
    stage.decide(
        "C73", is_reproduced=after != [1, 2, 3, 4],
        seen=f"without {', '.join(lost)} in its log: position {position}, rows {rows}, then"
        f" {after} {error[:120]}".rstrip(),
    )  # fmt: skip


@script("crash-with-unfinished-work", "C24", "C25")
def crash_with_unfinished_work(stage: Stage) -> None:
    """At the replica one transaction has committed, another is held; they are in two relay log
    files. The replica is killed and started. Is one applied twice, or passed over?

    On MySQL the later one has committed (commit order off), on MariaDB the earlier one."""
    is_mysql = not stage.is_mariadb
    more = ["--replica-preserve-commit-order=OFF", "--relay-log-recovery=OFF"] if is_mysql else []
    source, replica = stage.pair(replica=more, tables=(*_ROWS, *_PLAIN))
    held = "UPDATE d.t SET v = 1 WHERE a = 1"
    done = "INSERT INTO d.p VALUES (1)"
    with stage.held(replica, "d.t WHERE a = 1"):
        for statement in (held, done) if is_mysql else (done, held):
            source.query(statement)
            replica.query("FLUSH RELAY LOGS")
        stage.until(lambda: _inserted(replica) == [1], "one transaction committed")
        stage.note(f"before the kill: executed {stage.executed(replica)}")
        replica.kill()
    replica.start()
    stage.note(f"after the restart: position {_position(stage, replica)}")
    replica.query(f"START {stage.applier}")
    stage.comes(lambda: stage.value(replica, "SELECT v FROM d.t WHERE a = 1") == 1, 15)
    rows, value = _inserted(replica), stage.value(replica, "SELECT v FROM d.t WHERE a = 1")
    stage.decide(
        "C24", is_reproduced=rows != [1],
        seen=f"the committed one is not applied again: rows {rows}, executed"
        f" {stage.executed(replica)}",
    )  # fmt: skip
    stage.decide(
        "C25", is_reproduced=value != 1,
        seen=f"the held one, in the older file, is applied after the restart: value {value}",
    )  # fmt: skip


@script("position-after-the-data", "C26", "C71")
def position_after_the_data(stage: Stage) -> None:
    """A transaction writes a MyISAM table. The table of positions (MariaDB: `mysql.gtid_slave_pos`;
    MySQL without `log_replica_updates`: `mysql.gtid_executed`) is locked, so that the position
    cannot follow the row; then the replica is killed. Is the row inserted twice?"""
    more = ["--log-slave-updates=OFF"] if stage.is_mariadb else ["--log-replica-updates=OFF"]
    source, replica = stage.pair(
        replica=more, tables=("CREATE TABLE d.p (a INT NOT NULL) ENGINE=MyISAM",)
    )
    positions = "mysql.gtid_slave_pos" if stage.is_mariadb else "mysql.gtid_executed"
    with stage.held(replica, positions):
        source.query("INSERT INTO d.p VALUES (1)")
        gtid = stage.last(source, 1)[0].gtid
        stage.until(lambda: _inserted(replica) == [1], "the row is there")
        saved = stage.comes(lambda: gtid in _position(stage, replica), 2)
        stage.note(f"{gtid}: the row is there, its position is {'' if saved else 'not '}saved")
        replica.kill()
    replica.options = (*replica.options, _skip_start(stage))
    replica.start()
    stage.note(
        f"after the restart: position {_position(stage, replica)}, rows {_inserted(replica)}"
    )
    replica.query(f"START {stage.applier}")
    wait_until_applied(source, replica)
    rows = _inserted(replica)
    stage.decide(
        "C26", "C71", is_reproduced=rows != [1],
        seen=f"{gtid} is one insert; the replica has rows {rows} after its restart",
    )  # fmt: skip


@script("position-table-without-transactions", "C45", on=_MARIADB)
def position_table_without_transactions(stage: Stage) -> None:
    """`mysql.gtid_slave_pos` is a MyISAM table. A later transaction saves its position and waits
    for its turn behind one that is held; the replica is killed. Does the position cover what is
    lost?"""
    source, replica = stage.pair(tables=_ROWS)
    replica.run(
        [
            "STOP SLAVE", "SET SESSION sql_log_bin=0",
            "ALTER TABLE mysql.gtid_slave_pos ENGINE=MyISAM", "START SLAVE",
        ]
    )  # fmt: skip
    with stage.held(replica, "d.t WHERE a = 1"):
        stage.commit_together(
            source, ["UPDATE d.t SET v = 1 WHERE a = 1"], ["UPDATE d.t SET v = 1 WHERE a = 2"]
        )
        gtids = [one.gtid for one in stage.last(source, 2)]
        number = int(gtids[1].rpartition("-")[2])
        saved = stage.comes(
            lambda: stage.value(replica, "SELECT MAX(seq_no) FROM mysql.gtid_slave_pos") == number,
            10,
        )
        stage.note(f"{gtids[1]} is {'' if saved else 'not '}in the table, and {gtids[0]} is held")
        replica.kill()
    replica.options = (*replica.options, _skip_start(stage))
    replica.start()
    position = _position(stage, replica)
    replica.query("START SLAVE")
    source.query("INSERT INTO d.t VALUES (3, 0)")
    stage.until(lambda: bool(replica.query("SELECT 1 FROM d.t WHERE a = 3")), "the replica goes on")
    rows = list(replica.query("SELECT a, v FROM d.t ORDER BY a"))
    stage.decide(
        "C45", is_reproduced=rows != [(1, 1), (2, 1), (3, 0)],
        seen=f"position {position} after the restart; the replica goes on with the next"
        f" transaction and has rows {rows}: {', '.join(gtids)} are missing"
        if rows != [(1, 1), (2, 1), (3, 0)] else f"position {position}, rows {rows}",
    )  # fmt: skip


@script("retried-transaction", "C47")
def retried_transaction(stage: Stage) -> None:
    """A transaction is retried at the replica after a lock wait time-out, commits, and the replica
    is killed. Does its position cover it?"""
    source, replica = stage.pair(replica=["--innodb-lock-wait-timeout=1"], tables=_ROWS)
    retries = (
        "SELECT variable_value FROM information_schema.global_status"
        " WHERE variable_name = 'SLAVE_RETRIED_TRANSACTIONS'"
        if stage.is_mariadb
        else "SELECT count_transactions_retries FROM performance_schema.replication_applier_status"
    )
    with stage.held(replica, "d.t WHERE a = 1"):
        source.query("UPDATE d.t SET v = 1 WHERE a = 1")
        gtid = stage.last(source, 1)[0].gtid
        stage.until(lambda: int(stage.value(replica, retries) or 0) > 0, f"a retry of {gtid}")
    wait_until_applied(source, replica)
    times = stage.value(replica, retries)
    replica.kill()
    replica.options = (*replica.options, _skip_start(stage))
    replica.start()
    position, value = (
        _position(stage, replica),
        stage.value(replica, "SELECT v FROM d.t WHERE a = 1"),
    )
    replica.query(f"START {stage.applier}")
    wait_until_applied(source, replica)
    is_covered = position == stage.executed(source) if stage.is_mariadb else (
        stage.executed(source) == position
    )  # fmt: skip
    stage.decide(
        "C47", is_reproduced=value == 1 and not is_covered,
        seen=f"{gtid} was retried {times} times; after the kill the position is {position} and"
        f" the row has its value {value}",
    )  # fmt: skip


@script("receiver-does-not-fetch-again", "C72")
def receiver_does_not_fetch_again(stage: Stage) -> None:
    """A replica that receives by file and offset (no GTIDs), saves its place at once, and does not
    recover its relay log, is killed and loses the end of its relay log. Is the lost part passed
    over?"""
    sync = "--sync-master-info=1" if stage.is_mariadb else "--sync-source-info=1"
    source, replica = stage.pair(replica=[sync, "--relay-log-recovery=OFF"], tables=_PLAIN)
    replica.query(f"STOP {stage.applier}")
    end = log_end(source)
    receive_from(source, replica, end.file, end.offset)
    for row in (1, 2):
        source.query(f"INSERT INTO d.p VALUES ({row})")
    place = log_end(source).offset
    stage.until(
        lambda: int(stage.status(replica, "Read_Master_Log_Pos") or 0) >= place, "all is received"
    )
    replica.kill()
    file = sorted(replica.datadir.glob("*relay-bin.[0-9]*"))[-1]
    lost = _cut(stage, file, 1, "the replica's relay log")
    replica.options = (*replica.options, _skip_start(stage))
    replica.start()
    replica.query(f"START {stage.applier}")
    source.query("INSERT INTO d.p VALUES (3)")
    stage.comes(lambda: 3 in _inserted(replica), 10)
    rows = _inserted(replica)
    error = stage.error(replica) or str(stage.status(replica, "Last_IO_Error") or "")
    stage.decide(
        "C72", is_reproduced=3 in rows and 2 not in rows,
        seen=f"{lost[0]} (row 2) was lost; the replica has rows {rows};"
        f" {error[:160] or 'no error is reported'}",
    )  # fmt: skip


@script("engines-that-can-prepare", "C46")
def engines_that_can_prepare(stage: Stage) -> None:
    """Two engines without a coordinator require a second engine that can prepare a transaction.
    Which engines of this server can?"""
    server = stage.start("server")
    # Columns: engine, support, comment, transactions, XA, savepoints.
    able = sorted(str(row[0]) for row in server.query("SHOW ENGINES") if row[4] == "YES")
    stage.decide(
        "C46", is_reproduced=len(able) > 1,
        seen=f"SHOW ENGINES has XA for {', '.join(able)} only",
    )  # fmt: skip


@script("definition-lock", "C54")
def definition_lock(stage: Stage) -> None:
    """A session has changed a row and not committed; another alters the table. Does it wait?"""
    server = stage.start("server")
    server.run(["CREATE DATABASE d", *_ROWS])
    with stage.held(server, "d.t WHERE a = 1"):
        task = Task(server, ["ALTER TABLE d.t ADD COLUMN w INT"])
        waits = stage.comes(
            lambda: any("metadata lock" in state for state in stage.states(server)), 5
        )
        altered = task.is_done
    task.wait(20)
    stage.decide(
        "C54", is_reproduced=altered or not waits,
        seen="ALTER TABLE is at 'Waiting for table metadata lock' until the other session ends",
    )  # fmt: skip
