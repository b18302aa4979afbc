"""Semi-synchronous replication: what clients see, and what a promoted replica lacks."""

from __future__ import annotations

import time
from contextlib import suppress

from ci.counterexamples.registry import script
from ci.counterexamples.stage import STEADY_S, Stage, Task
from paraply.adapters.servers import Flavour, Server, replicate, wait_until_applied

_FOR_EVER_MS = 600_000
_DURABLE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1")
_TABLE = ("CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB",)
_WAITING = "semi-sync ACK"


def plugin(stage: Stage) -> str:
    """Return the prefix of the source's variables."""
    return "rpl_semi_sync_master" if stage.is_mariadb else "rpl_semi_sync_source"


def source_options(stage: Stage, wait_point: str, *more: str) -> tuple[str, ...]:
    """Return the options of a source that waits for acknowledgements."""
    role = "master" if stage.is_mariadb else "source"
    load = () if stage.is_mariadb else ("--plugin-load-add=semisync_source.so",)
    return (
        *_DURABLE,
        *load,
        f"--loose-rpl-semi-sync-{role}-enabled=1",
        f"--loose-rpl-semi-sync-{role}-wait-point={wait_point}",
        f"--loose-rpl-semi-sync-{role}-timeout={_FOR_EVER_MS}",
        *more,
    )


def replica_options(stage: Stage) -> tuple[str, ...]:
    """Return the options of a replica that acknowledges."""
    role = "slave" if stage.is_mariadb else "replica"
    load = () if stage.is_mariadb else ("--plugin-load-add=semisync_replica.so",)
    return (
        *_DURABLE,
        *load,
        f"--loose-rpl-semi-sync-{role}-enabled=1",
        f"--skip-{role}-start",
    )


def _waiting_pair(
    stage: Stage, wait_point: str, *more: str, replicas: int = 1
) -> tuple[Server, list[Server]]:
    """Start a source that waits for acknowledgements, and its replicas."""
    source = stage.start("source", *source_options(stage, wait_point, *more))
    copies = [
        stage.start(f"replica{number}", *replica_options(stage))
        for number in range(1, replicas + 1)
    ]
    name = plugin(stage)
    for copy in copies:
        source.query(f"SET GLOBAL {name}_enabled=0")
        replicate(source, copy)
    source.query(f"SET GLOBAL {name}_enabled=1")
    status = f"SHOW GLOBAL STATUS LIKE '{name}_clients'"
    stage.until(
        lambda: source.query(status)[0][1] == str(replicas), f"{replicas} semi-sync replicas"
    )
    source.run(["CREATE DATABASE d", *_TABLE])
    for copy in copies:
        wait_until_applied(source, copy)
    stage.note(f"{wait_point}: a source of {stage.installation.version_text}, {replicas} replicas")
    return source, copies


def _stop_receiving(stage: Stage, replica: Server) -> None:
    replica.query(f"STOP {stage.applier} IO_THREAD")
    stage.note(f"{replica.name} stops receiving")


def _is_waiting(stage: Stage, server: Server) -> bool:
    return any(_WAITING in state for state in stage.states(server))


def _rows(server: Server) -> list[int]:
    return [int(a) for (a,) in server.query("SELECT a FROM d.t ORDER BY a")]


@script("after-commit-shows-early", "C14")
def after_commit_shows_early(stage: Stage) -> None:
    """AFTER_COMMIT: a commit waits for a replica that does not receive. Does another session see
    the row, which is lost with the source?"""
    source, (replica,) = _waiting_pair(stage, "AFTER_COMMIT")
    _stop_receiving(stage, replica)
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    stage.until(lambda: _is_waiting(stage, source), "a commit that waits")
    seen, gtid = _rows(source), stage.last(source, 1)[0].gtid
    stage.note(f"while {gtid} waits, another session of the source sees {seen}")
    source.kill()
    task.wait(5)
    kept = _rows(replica)
    stage.decide(
        "C14", is_reproduced=seen == [1] and kept == [],
        seen=f"{gtid}: rows {seen} were seen at the source, the promoted replica has {kept}",
    )  # fmt: skip


@script("after-sync-recovery", "C15")
def after_sync_recovery(stage: Stage) -> None:
    """AFTER_SYNC: the source is killed while a commit waits for a replica that does not receive,
    and started again. Does recovery show what no replica has?"""
    source, (replica,) = _waiting_pair(stage, "AFTER_SYNC")
    _stop_receiving(stage, replica)
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    stage.until(lambda: _is_waiting(stage, source), "a commit that waits")
    before, gtid = _rows(source), stage.last(source, 1)[0].gtid
    stage.note(f"while {gtid} waits, another session sees {before}")
    source.kill()
    task.wait(5)
    source.start()
    seen, kept = _rows(source), _rows(replica)
    stage.note(f"after the restart a session sees {seen}; the replica has {kept}")
    stage.decide(
        "C15", is_reproduced=before == [] and seen == [1] and kept == [],
        seen=f"{gtid}: rows {before} before the crash, {seen} after recovery, {kept} on the"
        " replica",
    )  # fmt: skip


@script("wait-times-out", "C16", "C17")
def wait_times_out(stage: Stage) -> None:
    """AFTER_SYNC with a time-out of one second, and a replica that does not receive. Is the row
    seen, and confirmed, without any acknowledgement?"""
    source, (replica,) = _waiting_pair(stage, "AFTER_SYNC")
    _stop_receiving(stage, replica)
    source.query(f"SET GLOBAL {plugin(stage)}_timeout=1000")
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    confirmed = task.wait(15)
    seen, gtid = _rows(source), stage.last(source, 1)[0].gtid
    source.kill()
    kept = _rows(replica)
    stage.decide(
        "C16", is_reproduced=seen == [1] and kept == [],
        seen=f"{gtid}: a session saw {seen}; the promoted replica has {kept}",
    )  # fmt: skip
    stage.decide(
        "C17", is_reproduced=confirmed and kept == [],
        seen=f"{gtid}: its client {'got its answer' if confirmed else 'got no answer'}, the"
        f" promoted replica has {kept}",
    )  # fmt: skip


@script("acknowledging-sets", "C43", "C44")
def acknowledging_sets(stage: Stage) -> None:
    """Two replicas, one acknowledgement; one replica does not receive. The source is lost, and this
    one is promoted. Does it lack what a client saw confirmed?"""
    source, (first, second) = _waiting_pair(stage, "AFTER_SYNC", replicas=2)
    _stop_receiving(stage, second)
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    confirmed, gtid = task.wait(15), stage.last(source, 1)[0].gtid
    stage.until(lambda: _rows(first) == [1], "the first replica applied it")
    seen = _rows(source)
    source.kill()
    kept = _rows(second)
    stage.decide(
        "C43", "C44", is_reproduced=confirmed and seen == [1] and kept == [],
        seen=f"{gtid} was confirmed; replica1 has {_rows(first)}, the promoted replica2 {kept}",
    )  # fmt: skip


@script("two-acknowledgements", "C41", on=(Flavour.MYSQL,))
def two_acknowledgements(stage: Stage) -> None:
    """Two acknowledgements are required, and one of two replicas does not receive. Is the commit
    released by one?"""
    source, (_, second) = _waiting_pair(
        stage, "AFTER_SYNC", "--loose-rpl-semi-sync-source-wait-for-replica-count=2", replicas=2
    )
    _stop_receiving(stage, second)
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    stage.until(lambda: _is_waiting(stage, source), "a commit that waits")
    released = task.wait(STEADY_S)
    seen = _rows(source)
    second.query(f"START {stage.applier} IO_THREAD")
    ended = task.wait(20)
    stage.decide(
        "C41", is_reproduced=released or seen != [],
        seen=f"{stage.last(source, 1)[0].gtid} waited {STEADY_S:.0f} s with one acknowledgement,"
        f" rows {seen}; {'confirmed' if ended else 'not confirmed'} after the second",
    )  # fmt: skip


@script("relay-log-is-discarded", "C40", "C42")
def relay_log_is_discarded(stage: Stage) -> None:
    """A replica receives and acknowledges, but does not apply. Its relay log is discarded three
    times (MariaDB: STOP SLAVE, START SLAVE; MySQL: restarts with relay_log_recovery). Does the
    source send the transaction each time, and is it lost with the source after the last?"""
    source, (replica,) = _waiting_pair(stage, "AFTER_SYNC")
    replica.query(f"STOP {stage.applier} SQL_THREAD")
    task = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    confirmed, gtid = task.wait(15), stage.last(source, 1)[0].gtid
    stage.note(f"{gtid} is acknowledged and confirmed, and not applied")
    sent = []
    for _ in range(3):
        _discard(stage, replica)
        stage.comes(lambda: _received(stage, replica), 15)
        sent.append(_received(stage, replica))
    stage.decide(
        "C40", is_reproduced=all(sent),
        seen=f"{gtid} was received again after {sum(sent)} of 3 discards",
    )  # fmt: skip
    _discard(stage, replica, receives=False)
    source.kill()
    replica.query(f"START {stage.applier} SQL_THREAD")
    time.sleep(STEADY_S)
    kept = _rows(replica)
    stage.decide(
        "C42", is_reproduced=confirmed and kept == [],
        seen=f"{gtid} was acknowledged and confirmed; the promoted replica has {kept}",
    )  # fmt: skip


def _discard(stage: Stage, replica: Server, *, receives: bool = True) -> None:
    if stage.is_mariadb:
        # Both threads must stop and start: then the server asks from its applied position.
        replica.run(["STOP SLAVE"])
        if receives:
            replica.run(["START SLAVE IO_THREAD"])
    else:
        replica.kill()
        replica.options = (*replica.options, "--relay-log-recovery=ON")
        replica.start()
        if receives:
            replica.query("START REPLICA IO_THREAD")


def _received(stage: Stage, replica: Server) -> bool:
    if not stage.is_mariadb:
        return bool(
            stage.value(
                replica,
                "SELECT received_transaction_set <> '' FROM"
                " performance_schema.replication_connection_status",
            )
        )
    place = int(stage.status(replica, "Read_Master_Log_Pos") or 0)
    applied = int(stage.status(replica, "Exec_Master_Log_Pos") or 0)
    return place > applied


@script("rotation-while-a-commit-waits", "C38", "C39")
def rotation_while_a_commit_waits(stage: Stage) -> None:
    """A commit waits for its acknowledgement; another session rotates the log, a third commits. The
    replica receives again. Does everything end?"""
    source, (replica,) = _waiting_pair(stage, "AFTER_SYNC")
    _stop_receiving(stage, replica)
    first = Task(source, ["INSERT INTO d.t VALUES (1)", "COMMIT"])
    stage.until(lambda: _is_waiting(stage, source), "a commit that waits")
    rotation = Task(source, ["FLUSH BINARY LOGS"])
    rotated = rotation.wait(STEADY_S)
    stage.note(f"FLUSH BINARY LOGS {'has ended' if rotated else 'waits'}")
    second = Task(source, ["INSERT INTO d.t VALUES (2)", "COMMIT"])
    time.sleep(0.5)
    replica.query(f"START {stage.applier} IO_THREAD")
    stage.note("the replica receives again")
    began = time.monotonic()
    ended = [task.wait(20) for task in (first, rotation, second)]
    seconds = time.monotonic() - began
    with suppress(Exception):
        wait_until_applied(source, replica)
    stage.decide(
        "C38", "C39", is_reproduced=not all(ended),
        seen=f"the rotation {'did not wait' if rotated else 'waited'}; commit, rotation and"
        f" second commit ended {ended} after {seconds:.1f} s; the replica has {_rows(replica)}",
    )  # fmt: skip
