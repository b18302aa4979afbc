"""Ways to make a transaction visible, or to lose it, that semi-synchronous replication leaves open.

In each one transaction waits for an acknowledgement that cannot come: the only replica does not
receive any more. Then something ends the wait, or the source, or the relay log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from adapters.live.observed import Tag
from adapters.live.semi_sync_told import MomentKind
from adapters.live.workload import schema_name
from adapters.servers.server import Server


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
            cursor.execute(f"INSERT INTO {schema_name(0)}.journal VALUES ({self.tag})")
            self.is_confirmed = True

    def end(self) -> None:
        """Return when the client has its answer, or has lost its connection."""
        self._thread.join(60)


class Lab(Protocol):
    """What a way needs to know of the servers of a round."""

    source: Server
    plugin: str

    def note(self, kind: MomentKind, tags: Iterable[Tag] = (), *, note: str = "") -> None:
        """Keep a moment."""

    def add_empty_replica(self) -> Server:
        """Start a replica that has no data at all."""

    def follow_from(self, replica: Server, file: str, offset: int) -> None:
        """Let a replica receive from a place in the source's log, and apply nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way: what is done while the transaction waits."""

    name: str
    meaning: str
    act: Callable[[Lab, Waiter], None]
    receives: bool = False
    """Whether the replica still receives, and only does not apply."""
    waits: bool = True
    """Whether the transaction waits at all, so that one can look while it does."""
    prepare: tuple[str, ...] = ()
    """What is told the source first."""


def restart_source(lab: Lab, waiter: Waiter) -> None:
    """Kill the source while the transaction waits, and start it again."""
    lab.source.kill()
    waiter.end()
    lab.source.start()
    lab.note(MomentKind.RESTARTED)


def _kill(lab: Lab, waiter: Waiter, what: str) -> None:
    lab.source.query(f"KILL {what} {waiter.connection_id}")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note=f"KILL {what}")


def time_out(lab: Lab, waiter: Waiter) -> None:
    """Let the wait time out."""
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="time-out")


def _lose_the_replica(lab: Lab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="too few replicas")


def switch_off(lab: Lab, waiter: Waiter) -> None:
    """Switch semi-synchronous replication off at the source."""
    lab.source.query(f"SET GLOBAL {lab.plugin}_enabled=0")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="switched off")


def _connect_empty(lab: Lab, waiter: Waiter) -> None:
    """Let a replica without any data connect at the end of the log: it counts as a receipt."""
    empty = lab.add_empty_replica()
    file, offset, *_ = lab.source.query("SHOW MASTER STATUS")[0]
    lab.follow_from(empty, str(file), int(offset))
    waiter.end()


def _receive(lab: Lab, waiter: Waiter) -> None:
    """Let the wait end as it should: what comes after the loss of the source is the fault."""
    waiter.end()


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way(name="restart-source", act=restart_source,
            meaning="the source is killed while a commit waits, and started again"),
        Way(name="kill-connection", act=lambda lab, one: _kill(lab, one, "CONNECTION"),
            meaning="KILL CONNECTION of the session that waits"),
        Way(name="kill-query", act=lambda lab, one: _kill(lab, one, "QUERY"),
            meaning="KILL QUERY of the session that waits"),
        Way(name="no-replica", act=_lose_the_replica, waits=False,
            prepare=("SET GLOBAL rpl_semi_sync_master_wait_no_slave=0",),
            meaning="the only replica is killed, and rpl_semi_sync_master_wait_no_slave is off"),
        Way(name="time-out", act=time_out,
            prepare=("SET GLOBAL rpl_semi_sync_master_timeout=3000",),
            meaning="rpl_semi_sync_master_timeout passes"),
        Way(name="switch-off", act=switch_off,
            meaning="SET GLOBAL rpl_semi_sync_master_enabled=0"),
        Way(name="empty-replica", act=_connect_empty,
            meaning="control: an empty replica connects at the end of the binary log"),
        Way(name="discard-relay-log", act=_receive, receives=True,
            meaning="control: STOP SLAVE, START SLAVE before what was received is applied"),
    )
}  # fmt: skip
