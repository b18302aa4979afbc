"""Settings of source and replicas; defaults follow MDEV-162."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WaitPoint(Enum):
    """Place of a group's wait."""

    AFTER_SYNC = "after_sync"
    """rpl_semi_sync_master_wait_before_commit=1."""
    AFTER_COMMIT = "after_commit"
    """Before the client's answer."""


class Recovery(Enum):
    """Recovery of unacknowledged transactions."""

    WAITS = "waits"
    """For a replica (first remedy of MDEV-162)."""
    BARRED = "barred"
    """Commit; wait before opening (second remedy)."""
    COMMITS = "commits"
    """Commit and open (stock servers; hole of the text)."""


class Staging(Enum):
    """How groups pass stages."""

    CHAINED = "chained"
    """Each release follows the next acquisition."""
    GLOBAL_MUTEX = "global_mutex"
    """prepare_commit_mutex covers all stages."""
    MYSQL_ORDERED = "mysql_ordered"
    """Queues merge groups, which wait under LOCK_commit (binlog_order_commits=ON)."""
    MYSQL_UNORDERED = "mysql_unordered"
    """Transactions commit alone (binlog_order_commits=OFF)."""

    @property
    def is_mysql(self) -> bool:
        """Return whether queues merge groups."""
        return self in (Staging.MYSQL_ORDERED, Staging.MYSQL_UNORDERED)


class Abandon(Enum):
    """Why a wait ends early; event note."""

    TIME_OUT = "time-out"
    """rpl_semi_sync_*_timeout ends all waits and semi-sync."""
    KILL_QUERY = "KILL QUERY"
    """Clients receive OK."""
    KILL_CONNECTION = "KILL CONNECTION"
    """Clients lose their connections."""
    SWITCHED_OFF = "switched off"
    """SET GLOBAL rpl_semi_sync_*_enabled=0 ends all waits."""
    TOO_FEW_REPLICAS = "too few replicas"
    """Too few connections (wait_no_slave=0)."""
    ASYNCHRONOUS = "asynchronous"
    """Semi-sync was already off."""
    SHUTDOWN = "shutdown"


BY_HAND = {
    "time_out": Abandon.TIME_OUT,
    "kill_query": Abandon.KILL_QUERY,
    "kill_connection": Abandon.KILL_CONNECTION,
    "switch_off": Abandon.SWITCHED_OFF,
}
"""Values of ``abandon_by``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings and bounds."""

    clients: int
    """One transaction each."""
    replicas: int
    wait_point: WaitPoint
    recovery: Recovery
    staging: Staging
    acknowledgements: int
    """wait_for_slave_count."""
    keeps_relay_log: bool
    rotation_waits: bool
    """Rotation waits under LOCK_log for prepared transactions (bug 44058).

    As in MySQL 5.6, these include AFTER_COMMIT waits.
    """
    dump_takes_lock_log: bool
    """As before binlog_end_pos."""
    sync_binlog: int
    """1 sends synced, 0 written transactions."""
    waits_without_replicas: bool
    """rpl_semi_sync_master_wait_no_slave."""
    replicas_return: bool
    silent_crashes: bool
    """Power loss closes no connection."""
    shutdown_waits: bool
    """SHUTDOWN WAIT FOR ALL SLAVES."""
    truncates: bool
    """Cut the prepared tail (MDEV-21117, --init-rpl-role=SLAVE)."""
    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    abandon_by: str
    """``any``, or a key of ``BY_HAND``."""
    shutdowns: int
    loses_source: bool
    loses_replicas: int
    """Lost with the source."""
    source_returns: bool

    @property
    def abandoning(self) -> tuple[Abandon, ...]:
        """Return the allowed reasons."""
        return tuple(BY_HAND.values()) if self.abandon_by == "any" else (BY_HAND[self.abandon_by],)
