"""The order of commits at a replica, and row locks against it."""

from __future__ import annotations

from contextlib import closing

from ci.counterexamples.registry import script
from ci.counterexamples.stage import Stage
from paraply.adapters.live.forging import forge_commit_ids, forge_last_committed
from paraply.adapters.servers import Flavour, Server, replicate, wait_until_applied

_MYSQL, _MARIADB = (Flavour.MYSQL,), (Flavour.MARIADB,)
_ROWS = (
    "CREATE TABLE d.t (a INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
    "INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)",
)


def _seen(stage: Stage, server: Server) -> str:
    rows = server.query("SELECT a FROM d.t WHERE v = 1 ORDER BY a")
    return f"rows {[a for (a,) in rows]}, executed {stage.executed(server)}"


def _two_at_once(stage: Stage, source: Server) -> None:
    stage.commit_together(
        source, ["UPDATE d.t SET v = 1 WHERE a = 1"], ["UPDATE d.t SET v = 1 WHERE a = 2"]
    )
    first, second = stage.last(source, 2)
    stage.note(f"the source commits {first.gtid} (row 1), then {second.gtid} (row 2), in one group")


def _is_set(stage: Stage, server: Server, row: int) -> bool:
    return bool(stage.value(server, f"SELECT v FROM d.t WHERE a = {row}") == 1)


@script("commit-order-off", "C11", "C12", "C27", on=_MYSQL)
def commit_order_off(stage: Stage) -> None:
    """Two transactions without a common row; the replica's row of the first is locked, and
    `replica_preserve_commit_order` is OFF. Does the second commit and show itself first?"""
    source, replica = stage.pair(
        replica=["--replica-preserve-commit-order=OFF"], tables=_ROWS
    )  # fmt: skip
    with stage.held(replica, "d.t WHERE a = 1"):
        _two_at_once(stage, source)
        overtakes = stage.comes(lambda: _is_set(stage, replica, 2), 20)
        seen = _seen(stage, replica)
        place = stage.status(replica, "Exec_Master_Log_Pos")
        stage.note(f"a reader of the replica sees {seen}; Exec_Source_Log_Pos {place}")
    wait_until_applied(source, replica)
    order = [one.gtid.rpartition(":")[2] for one in stage.last(replica, 2)]
    in_source = [one.gtid.rpartition(":")[2] for one in stage.last(source, 2)]
    stage.decide(
        "C11", is_reproduced=overtakes and order != in_source,
        seen=f"the replica's log has {' before '.join(order)}, the source's"
        f" {' before '.join(in_source)}",
    )  # fmt: skip
    stage.decide("C12", is_reproduced=overtakes, seen=f"a reader saw {seen}")
    stage.decide(
        "C27", is_reproduced=overtakes,
        seen=f"one log position ({place}) stays before the gap; only the set {seen} says it all",
    )  # fmt: skip


@script("commit-order-on", "C11", "C12", "C27", on=_MARIADB)
def commit_order_on(stage: Stage) -> None:
    """The same on MariaDB, which has no such option within one domain. Does the second transaction
    wait for its turn?"""
    source, replica = stage.pair(tables=_ROWS)
    with stage.held(replica, "d.t WHERE a = 1"):
        _two_at_once(stage, source)
        stage.until(
            lambda: any("prior transaction to commit" in one for one in stage.states(replica)),
            "a worker that waits for its turn",
        )
        overtakes = stage.comes(lambda: _is_set(stage, replica, 2))
        seen = _seen(stage, replica)
    wait_until_applied(source, replica)
    stage.decide(
        "C11", "C12", "C27", is_reproduced=overtakes,
        seen="while the first is held the second is at 'Waiting for prior transaction to"
        f" commit', and a reader sees {seen}",
    )  # fmt: skip


def _forge(stage: Stage, source: Server) -> None:
    """Stop the source, claim that all may overlap, and start it again."""
    file = source.binary_logs()[-1]
    source.stop()
    changed = (forge_commit_ids if stage.is_mariadb else forge_last_committed)(file)
    source.start()
    stage.note(f"{changed} stamps of {file.name} forged: all may overlap; the checksums are right")


def _forged(stage: Stage, *transactions: str, mode: str = "conservative") -> tuple[Server, Server]:
    """Log transactions of their own, forge the log, and let a new replica receive it."""
    options = (f"--slave-parallel-mode={mode}",) if stage.is_mariadb else ()
    source = stage.start("source")
    replica = stage.start("replica", *stage.parallel(), *options)
    replicate(source, replica)
    source.run(["CREATE DATABASE d", *_ROWS])
    wait_until_applied(source, replica)
    replica.query(f"STOP {stage.applier}")
    # A file of its own: the tables' definitions stay as they are.
    source.query("FLUSH BINARY LOGS")
    source.run(["INSERT INTO d.t VALUES (90, 0)", "INSERT INTO d.t VALUES (91, 0)"])
    for one in transactions:
        source.run(["BEGIN", *one.split("; "), "COMMIT"])
    _forge(stage, source)
    replicate_later(stage, source, replica)
    return source, replica


def replicate_later(stage: Stage, source: Server, replica: Server) -> None:
    """Point the replica to the source's new port, without waiting."""
    word = "MASTER" if stage.is_mariadb else "REPLICATION SOURCE"
    port = "MASTER_PORT" if stage.is_mariadb else "SOURCE_PORT"
    replica.run([f"CHANGE {word} TO {port}={source.port}", f"START {stage.applier}"])


@script("deadlock-with-the-order", "C13", "C37")
def deadlock_with_the_order(stage: Stage) -> None:
    """A forged log lets two transactions of one row run together. The later one takes the row and
    waits for its turn; the earlier one waits for the row. Does the server end this wait?"""
    source = stage.start("source")
    mode = ("--slave-parallel-mode=optimistic",) if stage.is_mariadb else ()
    timeout = "--innodb-lock-wait-timeout=120"
    replica = stage.start("replica", *stage.parallel(), *mode, timeout)
    replicate(source, replica)
    source.run(["CREATE DATABASE d", *_ROWS])
    wait_until_applied(source, replica)
    with stage.held(replica, "d.t WHERE a = 1") as gate:
        if stage.is_mariadb:
            _conflicting(source)
        else:
            replica.query("STOP REPLICA")
            source.query("FLUSH BINARY LOGS")
            source.run(["INSERT INTO d.t VALUES (90, 0)", "INSERT INTO d.t VALUES (91, 0)"])
            _conflicting(source)
            _forge(stage, source)
            replicate_later(stage, source, replica)
        stage.until(
            lambda: any(
                "prior transaction to commit" in one or "preceding transaction to commit" in one
                for one in stage.states(replica)
            ),
            "the later transaction waits for its turn",
        )
        stage.note("the later transaction has row 2 and waits for its turn")
        gate.open()
        stage.note("the earlier one goes on, and needs row 2")
    ended = stage.comes(lambda: _is_done(stage, replica), 20)
    value = stage.value(replica, "SELECT v FROM d.t WHERE a = 2")
    name = "C37" if stage.is_mariadb else "C13"
    how = "the later one was rolled back, and both are applied in order"
    stage.decide(
        name, is_reproduced=not ended,
        seen=f"{how} (row 2 is {value})" if ended else "no progress in 20 s:"
        f" {stage.error(replica) or 'no error'}",
    )  # fmt: skip


def _conflicting(source: Server) -> None:
    source.run(
        ["BEGIN", "UPDATE d.t SET v = 1 WHERE a = 1", "UPDATE d.t SET v = 1 WHERE a = 2", "COMMIT"]
    )
    source.run(["UPDATE d.t SET v = v + 1 WHERE a = 2"])


def _is_done(stage: Stage, replica: Server) -> bool:
    return bool(stage.value(replica, "SELECT v FROM d.t WHERE a = 2") == 2)


@script("forged-batch", "C33", on=_MARIADB)
def forged_batch(stage: Stage) -> None:
    """A forged log gives one commit id to an insert and to the update of the new row. A
    conservative replica whose first row is locked: does it stop, or apply both?"""
    _, replica = _forged(
        stage,
        "UPDATE d.t SET v = 1 WHERE a = 1; INSERT INTO d.t VALUES (10, 0)",
        "UPDATE d.t SET v = 1 WHERE a = 10",
    )
    with stage.held(replica, "d.t WHERE a = 1"):
        stage.comes(lambda: bool(stage.error(replica)), 8)
    stage.comes(lambda: bool(stage.error(replica)) or _is_set(stage, replica, 10), 10)
    error = stage.error(replica)
    stage.decide(
        "C33", is_reproduced=bool(error),
        seen=f"the replica stops: {error[:220]}" if error else "both are applied:"
        f" {_seen(stage, replica)}",
    )  # fmt: skip


@script("next-batch", "C36", on=_MARIADB)
def next_batch(stage: Stage) -> None:
    """Two group commits; the replica's row of the first is locked, in conservative mode. Does the
    second group start?"""
    source, replica = stage.pair(replica=["--slave-parallel-mode=conservative"], tables=_ROWS)
    with stage.held(replica, "d.t WHERE a = 1"):
        _two_at_once(stage, source)
        stage.commit_together(
            source, ["UPDATE d.t SET v = 1 WHERE a = 3"], ["UPDATE d.t SET v = 1 WHERE a = 4"]
        )
        wait = "start commit"
        stage.until(
            lambda: any(wait in one for one in stage.states(replica)),
            "a worker that waits for the first group",
        )
        with closing(replica.connect(autocommit=False)) as session, session.cursor() as cursor:
            # A started worker would hold the row.
            cursor.execute("SET SESSION innodb_lock_wait_timeout=2")
            free = []
            for row in (3, 4):
                cursor.execute(f"SELECT a FROM d.t WHERE a = {row} FOR UPDATE")
                free += [a for (a,) in cursor.fetchall()]
    wait_until_applied(source, replica)
    stage.decide(
        "C36", is_reproduced=free != [3, 4],
        seen=f"the second group is at 'Waiting for prior transaction to {wait}', and"
        f" its rows {free} are unlocked",
    )  # fmt: skip


FIRST = ("UPDATE d.gate SET v = 1 WHERE a = 1", "UPDATE d.one SET v = 1 WHERE a = 2")
SECOND = ("UPDATE d.two SET v = 1 WHERE a = 1",)
THIRD = (
    "UPDATE d.gate SET v = 1 WHERE a = 3",
    "UPDATE d.one SET v = 1 WHERE a = 1",
    "UPDATE d.two SET v = 1 WHERE a = 2",
)
_WAITS = (
    "SELECT COUNT(*) FROM performance_schema.data_lock_waits w JOIN performance_schema.data_locks l"
    " ON l.engine_lock_id = w.requesting_engine_lock_id WHERE l.object_name = '{}'"
)


@script("circle-of-rows-and-a-turn", "C68", "C70", on=_MYSQL)
def circle(stage: Stage) -> None:
    """Three transactions without a common row, in tables without keys, logged as one group with
    true stamps. The first waits for a row of the third, the third for one of the second, the second
    for its turn. Does anything but `innodb_lock_wait_timeout` end this?"""
    source, replica = stage.pair(
        replica=["--innodb-lock-wait-timeout=12"],
        tables=(
            "CREATE TABLE d.gate (a INT PRIMARY KEY, v INT NOT NULL)",
            "CREATE TABLE d.one (a INT NOT NULL, v INT NOT NULL)",
            "CREATE TABLE d.two (a INT NOT NULL, v INT NOT NULL)",
            *(f"INSERT INTO d.{table} VALUES (1, 0), (2, 0)" for table in ("one", "two")),
            "INSERT INTO d.gate VALUES (1, 0), (3, 0)",
        ),
    )

    def wait_for(table: str, count: int) -> None:
        query = _WAITS.format(table)
        stage.until(lambda: stage.value(replica, query) == count, f"{count} waits for d.{table}")

    with (
        stage.held(replica, "d.gate WHERE a = 1") as first,
        stage.held(replica, "d.gate WHERE a = 3") as third,
    ):
        stage.commit_together(source, FIRST, SECOND, THIRD)
        stamps = [
            (one.gtid.rpartition(":")[2], one.last_committed) for one in stage.last(source, 3)
        ]
        stage.note(f"the source logs {stamps} (number, last_committed)")
        wait_for("gate", 2)
        third.open()
        wait_for("two", 1)
        first.open()
        wait_for("one", 1)
        stage.note(f"the circle is closed; executed {stage.executed(replica)}")
        before = stage.executed(replica)
        ended = stage.comes(lambda: stage.executed(replica) != before, 8)
    timed_out = stage.comes(
        lambda: "Lock wait timeout exceeded" in replica.log.read_text(errors="replace"), 30
    )
    stage.decide(
        "C68", "C70", is_reproduced=not ended and timed_out,
        seen="no transaction is applied for 8 s; then the error log has 'Lock wait timeout"
        " exceeded' (limit 12 s)"
        if not ended else f"it ended by itself: {stage.executed(replica)}",
    )  # fmt: skip
