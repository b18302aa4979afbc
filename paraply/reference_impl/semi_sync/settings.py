"""What can be set of a source and its replicas; the defaults are the safe design of MDEV-162."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WaitPoint(Enum):
    """When a commit group waits for its acknowledgement."""

    AFTER_SYNC = "after_sync"
    """Before the engine commit (rpl_semi_sync_master_wait_before_commit=1)."""
    AFTER_COMMIT = "after_commit"
    """After it, before the client is told."""


class Recovery(Enum):
    """What a source does after a crash with transactions that no replica acknowledged."""

    WAITS = "waits"
    """Holds them back until a replica has them (first remedy of MDEV-162)."""
    BARRED = "barred"
    """Commits them, and lets nobody in until a replica caught up (second remedy)."""
    COMMITS = "commits"
    """Commits them and opens: the hole of the text; what stock servers do."""


class Staging(Enum):
    """How commit groups pass the stages."""

    CHAINED = "chained"
    """The next mutex is taken before the last one is released."""
    GLOBAL_MUTEX = "global_mutex"
    """One prepare_commit_mutex is held over the whole operation."""
    MYSQL_ORDERED = "mysql_ordered"
    """FLUSH, SYNC and COMMIT each with a queue and a mutex; whoever queues together goes on as one
    group. The wait is made under LOCK_commit (binlog_order_commits=ON)."""
    MYSQL_UNORDERED = "mysql_unordered"
    """No COMMIT stage: every transaction waits and commits by itself (binlog_order_commits=OFF)."""

    @property
    def is_mysql(self) -> bool:
        """Return whether stages have queues in which groups become one."""
        return self in (Staging.MYSQL_ORDERED, Staging.MYSQL_UNORDERED)


class Abandon(Enum):
    """Why a wait ends without its acknowledgement; the value is the note of the event."""

    TIME_OUT = "time-out"
    """rpl_semi_sync_*_timeout strikes: every waiter goes on, and semi-sync is off from here on."""
    KILL_QUERY = "KILL QUERY"
    """The leader that waits is killed; its clients are told OK."""
    KILL_CONNECTION = "KILL CONNECTION"
    """The same; its clients lose their connection."""
    SWITCHED_OFF = "switched off"
    """SET GLOBAL rpl_semi_sync_*_enabled=0: every waiter goes on, and nobody waits any more."""
    TOO_FEW_REPLICAS = "too few replicas"
    """The source saw so many connections close that nobody is left to wait for
    (wait_no_slave=0)."""
    ASYNCHRONOUS = "asynchronous"
    """Semi-sync was off already when the group came to its wait point."""
    SHUTDOWN = "shutdown"
    """The source is being shut down, and waits for nobody."""


BY_HAND = {
    "time_out": Abandon.TIME_OUT,
    "kill_query": Abandon.KILL_QUERY,
    "kill_connection": Abandon.KILL_CONNECTION,
    "switch_off": Abandon.SWITCHED_OFF,
}
"""The ways of giving up that the option ``abandon_by`` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How source and replicas are set up, and how often things may happen."""

    clients: int
    """Transactions, one per client."""
    replicas: int
    wait_point: WaitPoint
    recovery: Recovery
    staging: Staging
    acknowledgements: int
    """wait_for_slave_count: how many replicas must have a group."""
    keeps_relay_log: bool
    """Whether a replica that restarts keeps what it received and had not applied."""
    rotation_waits: bool
    """Whether a rotation holds LOCK_log until no prepared transaction is pending (bug 44058). As in
    MySQL 5.6, one that waits after its engine commit is still pending."""
    dump_takes_lock_log: bool
    """Whether the dump thread reads the active log under LOCK_log (before binlog_end_pos)."""
    sync_binlog: int
    """1: replicas are sent what is synced. 0: nobody syncs, and they are sent what is written."""
    waits_without_replicas: bool
    """rpl_semi_sync_master_wait_no_slave."""
    replicas_return: bool
    """Whether a replica that went away comes back."""
    silent_crashes: bool
    """Whether no crash of a replica closes its connection: a loss of power."""
    shutdown_waits: bool
    """SHUTDOWN WAIT FOR ALL SLAVES: waiters stay, and so does the dump thread."""
    truncates: bool
    """Whether a source that comes back as a replica cuts the prepared tail off its binary log
    (MDEV-21117, --init-rpl-role=SLAVE)."""
    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    """How often a wait may be given up by hand or by the clock."""
    abandon_by: str
    """``any``, or one of ``BY_HAND``."""
    shutdowns: int
    loses_source: bool
    """Whether the source is lost at some moment, and a replica promoted."""
    loses_replicas: int
    """How many replicas are lost together with the source."""
    source_returns: bool
    """Whether the old source comes back after the fail-over and asks to be a replica."""

    @property
    def abandoning(self) -> tuple[Abandon, ...]:
        """Return the ways in which a wait may be given up."""
        return tuple(BY_HAND.values()) if self.abandon_by == "any" else (BY_HAND[self.abandon_by],)
