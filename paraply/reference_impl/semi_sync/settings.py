"""Settings of source and replicas; defaults follow MDEV-162."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WaitPoint(Enum):
    """Place of a group's wait."""

    AFTER_SYNC = "after_sync"
    """Before the engine commit (rpl_semi_sync_master_wait_before_commit=1)."""
    AFTER_COMMIT = "after_commit"
    """After it, before the answer."""


class Recovery(Enum):
    """Recovery of unacknowledged transactions."""

    WAITS = "waits"
    """Wait for a replica (first remedy of MDEV-162)."""
    BARRED = "barred"
    """Commit; admit no client before a replica catches up (second remedy)."""
    COMMITS = "commits"
    """Commit and open, as stock servers do: the hole of the text."""


class Staging(Enum):
    """How groups pass stages."""

    CHAINED = "chained"
    """Each release follows the next acquisition."""
    GLOBAL_MUTEX = "global_mutex"
    """prepare_commit_mutex covers all stages."""
    MYSQL_ORDERED = "mysql_ordered"
    """FLUSH, SYNC and COMMIT queues merge groups, which wait under LOCK_commit.

    binlog_order_commits=ON.
    """
    MYSQL_UNORDERED = "mysql_unordered"
    """Transactions wait and commit alone (binlog_order_commits=OFF)."""

    @property
    def is_mysql(self) -> bool:
        """Return whether stage queues merge groups."""
        return self in (Staging.MYSQL_ORDERED, Staging.MYSQL_UNORDERED)


class Abandon(Enum):
    """Why a wait ends early; values are event notes."""

    TIME_OUT = "time-out"
    """rpl_semi_sync_*_timeout frees every waiter and switches semi-sync off."""
    KILL_QUERY = "KILL QUERY"
    """Kill the leader; its clients receive OK."""
    KILL_CONNECTION = "KILL CONNECTION"
    """Kill the leader and its clients' connections."""
    SWITCHED_OFF = "switched off"
    """SET GLOBAL rpl_semi_sync_*_enabled=0 frees every waiter."""
    TOO_FEW_REPLICAS = "too few replicas"
    """Too few connections remain (wait_no_slave=0)."""
    ASYNCHRONOUS = "asynchronous"
    """Semi-sync was already off."""
    SHUTDOWN = "shutdown"
    """The shutdown ends the wait."""


BY_HAND = {
    "time_out": Abandon.TIME_OUT,
    "kill_query": Abandon.KILL_QUERY,
    "kill_connection": Abandon.KILL_CONNECTION,
    "switch_off": Abandon.SWITCHED_OFF,
}
"""Values of ``abandon_by``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a cluster, and bounds of a run."""

    clients: int
    """Transactions, one per client."""
    replicas: int
    wait_point: WaitPoint
    recovery: Recovery
    staging: Staging
    acknowledgements: int
    """wait_for_slave_count."""
    keeps_relay_log: bool
    """A restart retains unapplied transactions."""
    rotation_waits: bool
    """Rotation holds LOCK_log while prepared transactions are pending (bug 44058).

    As in MySQL 5.6, groups in an AFTER_COMMIT wait are pending.
    """
    dump_takes_lock_log: bool
    """The dump thread needs LOCK_log (before binlog_end_pos)."""
    sync_binlog: int
    """1 sends synced transactions; 0 sends written ones."""
    waits_without_replicas: bool
    """rpl_semi_sync_master_wait_no_slave."""
    replicas_return: bool
    silent_crashes: bool
    """Replica crashes close no connection (power loss)."""
    shutdown_waits: bool
    """SHUTDOWN WAIT FOR ALL SLAVES: waiters and dump thread remain."""
    truncates: bool
    """A returning source cuts its prepared tail (MDEV-21117, --init-rpl-role=SLAVE)."""
    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    """Bound on early ends of waits."""
    abandon_by: str
    """``any``, or a key of ``BY_HAND``."""
    shutdowns: int
    loses_source: bool
    """The run may lose the source and promote a replica."""
    loses_replicas: int
    """Replicas lost with the source."""
    source_returns: bool
    """The old source may return as a replica."""

    @property
    def abandoning(self) -> tuple[Abandon, ...]:
        """Return the allowed early ends of a wait."""
        return tuple(BY_HAND.values()) if self.abandon_by == "any" else (BY_HAND[self.abandon_by],)
