"""What stamps in a log mean to a replica, and which stamps a source gives."""

from __future__ import annotations

from ci.counterexamples.registry import script
from ci.counterexamples.stage import Stage
from paraply.adapters.servers import Flavour, Server, wait_until_applied
from paraply.vocabulary.timestamps import waits_for

_MYSQL = (Flavour.MYSQL,)
_TABLE = (
    "CREATE TABLE d.t (a INT PRIMARY KEY, v INT NOT NULL)",
    "INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)",
)
_DEPENDENT = "Waiting for dependent transaction to commit"


def _stamps(stage: Stage, server: Server, count: int) -> str:
    return ", ".join(
        f"{one.gtid.rpartition(':')[2]} has last_committed {one.last_committed} and"
        f" sequence_number {one.sequence_number}"
        for one in stage.last(server, count)
    )


def _value(stage: Stage, server: Server, row: int) -> int:
    return int(stage.value(server, f"SELECT v FROM d.t WHERE a = {row}"))


@script("last-committed-is-a-prefix", "C04", "C23", "C29", "C61", on=_MYSQL)
def last_committed_is_a_prefix(stage: Stage) -> None:
    """The first transaction is held at the replica, the second commits (commit order off), the
    third names the second in last_committed. Does the third start although the first has not
    ended?"""
    source, replica = stage.pair(
        replica=["--replica-preserve-commit-order=OFF"], tables=_TABLE
    )  # fmt: skip
    with stage.held(replica, "d.t WHERE a = 1"):
        source.query("UPDATE d.t SET v = 1 WHERE a = 1")
        source.query("UPDATE d.t SET v = 1 WHERE a = 2")
        source.query("UPDATE d.t SET v = 2 WHERE a = 2")
        stamps = _stamps(stage, source, 3)
        stage.note(stamps)
        stage.until(lambda: _value(stage, replica, 2) >= 1, "the second transaction committed")
        starts = stage.comes(lambda: _value(stage, replica, 2) == 2, 3)
        waits = _DEPENDENT in stage.states(replica)
        executed = stage.executed(replica)
    wait_until_applied(source, replica)
    stage.decide(
        "C04", "C23", "C29", "C61", is_reproduced=starts,
        seen=f"with {stamps}: executed {executed}, the third is not started"
        f"{', the coordinator is at ' + repr(_DEPENDENT) if waits else ''}",
    )  # fmt: skip


@script("rotation-is-a-barrier", "C30", on=_MYSQL)
def rotation_is_a_barrier(stage: Stage) -> None:
    """The first transaction is held at the replica; the source rotates its log and commits another
    row. Does the transaction of the next file start?"""
    source, replica = stage.pair(
        replica=["--replica-preserve-commit-order=OFF"], tables=_TABLE
    )  # fmt: skip
    with stage.held(replica, "d.t WHERE a = 1"):
        source.query("UPDATE d.t SET v = 1 WHERE a = 1")
        source.query("FLUSH BINARY LOGS")
        source.query("UPDATE d.t SET v = 1 WHERE a = 2")
        stamps = _stamps(stage, source, 2)
        starts = stage.comes(lambda: _value(stage, replica, 2) == 1, 4)
        executed = stage.executed(replica)
    wait_until_applied(source, replica)
    stage.decide(
        "C30", is_reproduced=starts,
        seen=f"{stamps}, in two files: executed {executed} while the first is held",
    )  # fmt: skip


@script("definitions-run-alone", "C01", "C60", on=_MYSQL)
def definitions_run_alone(stage: Stage) -> None:
    """A transaction is held at the replica, then a DDL statement of another table and a further
    transaction follow. Does either run beside the first?"""
    source, replica = stage.pair(
        replica=["--replica-preserve-commit-order=OFF"], tables=_TABLE
    )  # fmt: skip
    with stage.held(replica, "d.t WHERE a = 1"):
        source.query("UPDATE d.t SET v = 1 WHERE a = 1")
        source.query("CREATE TABLE d.other (a INT PRIMARY KEY)")
        source.query("UPDATE d.t SET v = 1 WHERE a = 2")
        first, ddl, after = stage.last(source, 3)
        stamps = _stamps(stage, source, 3)
        starts = stage.comes(
            lambda: (
                bool(replica.query("SHOW TABLES IN d LIKE 'other'"))
                or _value(stage, replica, 2) == 1
            ),
            4,
        )
    wait_until_applied(source, replica)
    is_barrier = ddl.last_committed == first.sequence_number and (
        after.last_committed == ddl.sequence_number
    )
    stage.decide(
        "C01", "C60", is_reproduced=starts or not is_barrier,
        seen=f"{stamps}: the statement waits for all before it, and all after it wait for it",
    )  # fmt: skip


@script("history-is-emptied", "C21", "C28", on=_MYSQL)
def history_is_emptied(stage: Stage) -> None:
    """A source with the smallest write set history: rows 1, 2 and 3, then row 1 again. Does the
    last transaction depend on the first, and on nothing more than it must while the history is
    large?"""
    source = stage.start("source")
    source.run(["CREATE DATABASE d", *_TABLE])
    for row in (1, 2, 3, 1):
        source.query(f"UPDATE d.t SET v = v + 1 WHERE a = {row}")
    whole = stage.last(source, 4)
    told = _stamps(stage, source, 4)
    last, first = whole[3].last_committed, whole[0].sequence_number
    stage.decide(
        "C28", is_reproduced=last != first,
        seen=f"whole history: {told}: the last names the earlier writer of its row, and no later"
        " one",
    )  # fmt: skip
    source.query("SET GLOBAL binlog_transaction_dependency_history_size=1")
    for row in (1, 2, 3, 1):
        source.query(f"UPDATE d.t SET v = v + 1 WHERE a = {row}")
    emptied = stage.last(source, 4)
    told = _stamps(stage, source, 4)
    last, first = emptied[3].last_committed, emptied[0].sequence_number
    assert last is not None
    assert first is not None
    stage.decide(
        "C21", is_reproduced=last < first, seen=f"history of one row: {told}: the order is kept"
    )


@script("late-writer", "C22", on=_MYSQL)
def late_writer(stage: Stage) -> None:
    """A session begins, another commits a row of a table without key, then the first writes the
    same row and commits. Does its last_committed cover the writer before it?"""
    source = stage.start("source")
    source.run(
        [
            "CREATE DATABASE d", *_TABLE,
            "CREATE TABLE d.plain (a INT, v INT)", "INSERT INTO d.plain VALUES (1, 0)",
        ]
    )  # fmt: skip
    with source.connect(autocommit=False) as session, session.cursor() as cursor:
        cursor.execute("UPDATE d.t SET v = 1 WHERE a = 1")
        source.query("UPDATE d.plain SET v = v + 1 WHERE a = 1")
        cursor.execute("UPDATE d.plain SET v = v + 1 WHERE a = 1")
        session.commit()
    earlier, late = stage.last(source, 2)
    assert late.last_committed is not None
    assert earlier.sequence_number is not None
    stage.decide(
        "C22", is_reproduced=not waits_for(late.last_committed, earlier.sequence_number),
        seen=_stamps(stage, source, 2),
    )  # fmt: skip
