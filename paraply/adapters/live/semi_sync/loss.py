"""Ways in which semi-synchronous replication shows or loses a transaction.

A transaction waits for the only replica, which no longer receives. Then the wait, the source or the
relay log ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from paraply.adapters.live.observed import Tag
from paraply.adapters.live.semi_sync.history import MomentKind
from paraply.adapters.live.workload import schema_name
from paraply.adapters.servers.binlog_dump import log_end
from paraply.adapters.servers.replication import receive_from
from paraply.adapters.servers.server import Server

_KILL_SECONDS_MAX = 10
"""Longer waits never end."""
_ANSWER_SECONDS_MAX = 180


class Waiter:
    """A client with one waiting transaction."""

    def __init__(self, server: Server, tag: Tag) -> None:
        self.tag = tag
        self.is_confirmed = False
        self._connection = server.connect(autocommit=True, read_timeout=_ANSWER_SECONDS_MAX)
        self.connection_id = int(self._connection.thread_id())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import pymysql

        with suppress(pymysql.MySQLError, OSError), self._connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {schema_name(0)}.journal VALUES ({self.tag})")
            self.is_confirmed = True

    def end(self) -> None:
        """Wait for the answer or disconnection."""
        self._thread.join(_ANSWER_SECONDS_MAX)


class Lab(Protocol):
    """The servers as a way uses them."""

    source: Server
    plugin: str

    def note(self, kind: MomentKind, tags: Iterable[Tag] = (), *, note: str = "") -> None:
        """Record a moment."""

    def is_waiting(self, waiter: Waiter) -> bool:
        """Return whether a transaction waits for acknowledgement."""

    def add_empty_replica(self) -> Server:
        """Start a replica without data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """An action while the transaction waits."""

    name: str
    meaning: str
    act: Callable[[Lab, Waiter], None]
    receives: bool = False
    """Whether the replica only stops applying."""
    waits: bool = True
    """Whether the transaction waits observably."""
    prepare: tuple[str, ...] = ()


def _restart_source(lab: Lab, waiter: Waiter) -> None:
    lab.source.kill()
    waiter.end()
    lab.source.start()
    lab.note(MomentKind.RESTARTED)


def _kill(lab: Lab, waiter: Waiter, what: str) -> None:
    """A server that keeps waiting after the kill abandoned nothing."""
    lab.source.query(f"KILL {what} {waiter.connection_id}")
    deadline = time.monotonic() + _KILL_SECONDS_MAX
    while lab.is_waiting(waiter):
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note=f"KILL {what}")


def _time_out(lab: Lab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="time-out")


def _lose_the_replica(lab: Lab, waiter: Waiter) -> None:
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="too few replicas")


def _switch_off(lab: Lab, waiter: Waiter) -> None:
    lab.source.query(f"SET GLOBAL {lab.plugin}_enabled=0")
    waiter.end()
    lab.note(MomentKind.ABANDONED, {waiter.tag}, note="switched off")


def _connect_empty(lab: Lab, waiter: Waiter) -> None:
    """Its connection at the end of the log counts as a receipt."""
    empty = lab.add_empty_replica()
    end = log_end(lab.source)
    receive_from(lab.source, empty, end.file, end.offset)
    waiter.end()


def _receive(lab: Lab, waiter: Waiter) -> None:
    waiter.end()


def ways_of(plugin: str, *, no_replica: str, discarding: str) -> dict[str, Way]:
    """Return the ways by name; ``plugin`` prefixes the source's variables.

    ``no_replica`` makes a source without replicas wait; ``discarding`` describes how relay logs
    vanish.
    """
    ways = (
        Way(name="restart-source", act=_restart_source,
            meaning="the source is killed while a commit waits, and started again"),
        Way(name="kill-connection", act=lambda lab, one: _kill(lab, one, "CONNECTION"),
            meaning="KILL CONNECTION of the session that waits"),
        Way(name="kill-query", act=lambda lab, one: _kill(lab, one, "QUERY"),
            meaning="KILL QUERY of the session that waits"),
        Way(name="no-replica", act=_lose_the_replica, waits=False,
            prepare=(f"SET GLOBAL {plugin}_{no_replica}=0",),
            meaning=f"the only replica is killed, and {plugin}_{no_replica} is off"),
        Way(name="time-out", act=_time_out,
            prepare=(f"SET GLOBAL {plugin}_timeout=3000",), meaning=f"{plugin}_timeout passes"),
        Way(name="switch-off", act=_switch_off, meaning=f"SET GLOBAL {plugin}_enabled=0"),
        Way(name="empty-replica", act=_connect_empty,
            meaning="control: an empty replica connects at the end of the binary log"),
        Way(name="discard-relay-log", act=_receive, receives=True,
            meaning=f"control: {discarding} before what was received is applied"),
    )  # fmt: skip
    return {way.name: way for way in ways}


MARIADB_WAYS = ways_of(
    "rpl_semi_sync_master", no_replica="wait_no_slave", discarding="STOP SLAVE, START SLAVE"
)
MYSQL_WAYS = ways_of(
    "rpl_semi_sync_source",
    no_replica="wait_no_replica",
    discarding="the replica is started again with relay_log_recovery",
)
