"""Group Replication: certification, garbage collection, joins and definitions."""

from __future__ import annotations

import time
from contextlib import closing

from ci.counterexamples.registry import script
from ci.counterexamples.stage import Stage, Task
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import Flavour, Server
from paraply.adapters.servers.group_replication import APPLIER_CHANNEL, GroupReplication
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import waits_for

_MYSQL = (Flavour.MYSQL,)
_TABLES = (
    "CREATE DATABASE d",
    "CREATE TABLE d.gate (a INT PRIMARY KEY, v INT NOT NULL)",
    "CREATE TABLE d.t (a INT PRIMARY KEY, v INT NOT NULL)",
    "INSERT INTO d.gate VALUES (1, 0)",
    "INSERT INTO d.t VALUES (1, 0), (2, 0)",
)
_COLLECTION_S = 60
"""Members tell each other what they have executed once a minute."""
_ROWS_KEPT = (
    "SELECT count_transactions_rows_validating FROM"
    " performance_schema.replication_group_member_stats WHERE member_id = @@server_uuid"
)


def _group(stage: Stage, size: int = 2) -> GroupReplication:
    group = GroupReplication.provision(
        stage.room, stage.installation, size=size, is_multi_primary=True
    )
    group.bootstrap()
    group.members[0].run(list(_TABLES))
    group.wait_until_equal()
    stage.note(f"{size} members of {stage.installation.version_text} run as a group")
    return group


def _value(stage: Stage, server: Server, row: int) -> int:
    return int(stage.value(server, f"SELECT v FROM d.t WHERE a = {row}"))


def _received(server: Server) -> list[LoggedTransaction]:
    """Return what a member's certifier wrote for its applier, with the stamps that it gave."""
    files = sorted(server.datadir.glob(f"relay-{APPLIER_CHANNEL}.[0-9]*"))
    return [one for one in read_transactions([str(file) for file in files]) if one.complete]


def _refused(server: Server, statement: str) -> str:
    """Return the error of a statement, or empty."""
    try:
        server.query(statement)
    except ParaplyError as reason:
        return str(reason.__cause__)
    return ""


@script(
    "session-that-has-not-seen", "C06", "C08", "C49", "C57", "C64", "C51", "C55", "C65", on=_MYSQL
)
def session_that_has_not_seen(stage: Stage) -> None:
    """At the second member a table is locked, so that its applier cannot apply the first member's
    change of row 1. A further change of row 1 follows: does it start before? A session at the
    second member changes row 1 without having seen the first change: is it certified?"""
    group = _group(stage)
    first, second = group.members
    with closing(second.connect()) as session, session.cursor() as cursor:
        cursor.execute("LOCK TABLES d.gate READ")
        first.run(
            ["BEGIN", "UPDATE d.gate SET v = 1", "UPDATE d.t SET v = 1 WHERE a = 1", "COMMIT"]
        )
        first.query("UPDATE d.t SET v = 2 WHERE a = 1")
        executed = stage.executed(second)
        stage.note(f"member1 executed {stage.executed(first)}, member2 {executed}")
        starts = stage.comes(lambda: _value(stage, second, 1) == 2, 3)
        error = _refused(second, "UPDATE d.t SET v = 7 WHERE a = 1")
        stage.note(f"the session at member2 that had not seen it: {error or 'certified'}")
        cursor.execute("UNLOCK TABLES")
    group.wait_until_equal()
    values = [_value(stage, member, 1) for member in group.members]
    stage.decide(
        "C06", "C08", "C49", "C57", "C64", is_reproduced=not error or len(set(values)) > 1,
        seen=f"member2, executed {executed}, refuses its session: {error[:120]}; row 1 is"
        f" {values} in the end",
    )  # fmt: skip
    last = [
        (one.gtid.rpartition(":")[2], one.last_committed, one.sequence_number)
        for one in _received(second)[-2:]
    ]
    stage.decide(
        "C51", "C55", "C65", is_reproduced=starts or len(set(values)) > 1,
        seen=f"stamps {last} (number, last_committed, sequence_number) at member2: the second is"
        " not applied while the first is held",
    )  # fmt: skip


@script("definitions-in-a-group", "C53", "C59", on=_MYSQL)
def definitions_in_a_group(stage: Stage) -> None:
    """A session at the second member inserts a row; before it commits, the first member drops a
    column of this table. Is the row certified, and can the first member apply it?"""
    group = _group(stage)
    first, second = group.members
    first.run(["CREATE TABLE d.c (a INT PRIMARY KEY, x INT, y VARCHAR(9))"])
    group.wait_until_equal()
    with closing(second.connect(autocommit=False)) as session, session.cursor() as cursor:
        cursor.execute("INSERT INTO d.c VALUES (1, 5, 'old')")
        first.query("ALTER TABLE d.c DROP COLUMN x")
        stage.note(f"member1 altered the table: executed {stage.executed(first)}")
        time.sleep(1)
        error = ""
        try:
            session.commit()
        except Exception as reason:
            error = str(reason)
        stage.note(f"member2 commits its row of three columns: {error or 'confirmed'}")
    time.sleep(5)
    states = {
        member.name: [view.state for view in group.view(member) if view.uuid == member.server_uuid]
        for member in group.members
    }
    lines = [
        line.partition("] ")[2] or line
        for line in first.log.read_text(errors="replace").splitlines()
        if "d.c" in line and "ERROR" in line
    ]
    rows = {}
    for member in group.members:
        rows[member.name] = list(member.query("SELECT * FROM d.c"))
    differ = rows[first.name] != rows[second.name]
    stage.decide(
        "C53", "C59", is_reproduced=not error and (differ or states[first.name] != ["ONLINE"]),
        seen=f"the commit is {error or 'confirmed'}; states {states}, rows {rows};"
        f" {(lines or ['no error line'])[0][:200]}",
    )  # fmt: skip


@script("group-without-commit-order", "C10", on=_MYSQL)
def group_without_commit_order(stage: Stage) -> None:
    """A member with several workers and `replica_preserve_commit_order` off starts a group. Is it
    accepted?"""
    group = GroupReplication.provision(
        stage.room, stage.installation, size=1, options=["--replica-preserve-commit-order=OFF"]
    )
    (member,) = group.members
    member.query("SET GLOBAL group_replication_bootstrap_group=ON")
    error = _refused(member, "START GROUP_REPLICATION")
    lines = [
        line.partition("'")[2]
        for line in member.log.read_text(errors="replace").splitlines()
        if "preserve" in line and "ERROR" in line
    ]
    stage.decide(
        "C10", is_reproduced=not error,
        seen=f"START GROUP_REPLICATION fails: {error[:80]}; {(lines or [''])[-1][:160]}",
    )  # fmt: skip


@script("joiner-is-read-only", "C52", "C56", "C05", "C62", "C66", on=_MYSQL)
def joiner_is_read_only(stage: Stage) -> None:
    """A member leaves and joins again; a table lock at it holds its recovery. Can a session write
    there before? And does a log have an event of the new view at all?"""
    group = _group(stage)
    first, second = group.members
    group.leave(second)
    first.query("UPDATE d.gate SET v = v + 1")
    with closing(second.connect()) as session, session.cursor() as cursor:
        cursor.execute("LOCK TABLES d.gate READ")
        task = Task(second, ["START GROUP_REPLICATION"])

        def state() -> str:
            own = [view.state for view in group.view(second) if view.uuid == second.server_uuid]
            return own[0] if own else ""

        stage.until(lambda: state() == "RECOVERING", "the member is RECOVERING", 60)
        time.sleep(2)
        error = _refused(second, "UPDATE d.t SET v = 9 WHERE a = 2")
        now = state()
        stage.note(f"a session at the member, {now}: {error or 'its write is accepted'}")
        cursor.execute("UNLOCK TABLES")
    task.wait(60)
    group.wait_until_online(second, size=2)
    group.wait_until_equal()
    stage.decide(
        "C52", "C56", is_reproduced=not error,
        seen=f"while the member is {now} a write fails: {error[:120]}",
    )  # fmt: skip
    kinds = {
        str(row[2])
        for file in first.binary_logs()
        for row in first.query(f"SHOW BINLOG EVENTS IN '{file.name}'")
    }
    stage.decide(
        "C05", "C62", "C66", is_reproduced="View_change" in kinds,
        seen="after three views the member's log has no View_change event, so nothing runs"
        f" beside one (kinds: {', '.join(sorted(kinds))})",
    )  # fmt: skip


@script(
    "garbage-collection", "C02", "C03", "C07", "C09", "C20", "C48", "C58", "C63", "C67", on=_MYSQL
)
def garbage_collection(stage: Stage) -> None:
    """A change of row 1 is certified and not applied at the second member for more than two rounds
    of garbage collection. Is its item kept, and a session refused that had not seen it? When all
    have executed it, the item is collected. Does the next change of row 1 still name it?"""
    group = _group(stage)
    first, second = group.members
    with closing(second.connect()) as session, session.cursor() as cursor:
        cursor.execute("LOCK TABLES d.gate READ")
        first.run(
            ["BEGIN", "UPDATE d.gate SET v = 1", "UPDATE d.t SET v = 1 WHERE a = 1", "COMMIT"]
        )
        time.sleep(2 * _COLLECTION_S + 15)
        kept = [int(stage.value(member, _ROWS_KEPT)) for member in group.members]
        stage.note(
            f"after {2 * _COLLECTION_S + 15} s the members keep {kept} rows for certification"
        )
        error = _refused(second, "UPDATE d.t SET v = 7 WHERE a = 1")
        cursor.execute("UNLOCK TABLES")
    group.wait_until_equal()
    values = [_value(stage, member, 1) for member in group.members]
    stage.decide(
        "C07", "C09", "C20", "C48", "C58", "C63", "C67",
        is_reproduced=not error or min(kept) == 0 or len(set(values)) > 1,
        seen=f"{kept} rows are kept while a member has not executed them; the session is"
        f" refused: {error[:100]}; row 1 is {values}",
    )  # fmt: skip
    collected = stage.comes(
        lambda: all(int(stage.value(member, _ROWS_KEPT)) == 0 for member in group.members),
        3 * _COLLECTION_S,
    )
    if not collected:
        stage.note(f"after {3 * _COLLECTION_S} s: not all items are collected")
        return
    stage.note("both members have collected all items")
    first.query("UPDATE d.t SET v = 3 WHERE a = 1")
    group.wait_until_equal()
    *_, earlier, later = _received(second)
    assert later.last_committed is not None
    assert later.sequence_number is not None
    assert earlier.sequence_number is not None
    told = ", ".join(
        f"{one.gtid.rpartition(':')[2]}: {one.last_committed}, {one.sequence_number}"
        for one in (earlier, later)
    )
    stage.decide(
        "C02", is_reproduced=waits_for(later.last_committed, later.sequence_number),
        seen=f"last_committed and sequence_number at member2: {told}",
    )  # fmt: skip
    stage.decide(
        "C03", is_reproduced=not waits_for(later.last_committed, earlier.sequence_number),
        seen=f"last_committed and sequence_number at member2: {told}: the order outlives the item",
    )  # fmt: skip
