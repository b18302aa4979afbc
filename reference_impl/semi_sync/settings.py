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
    """Whether a rotation holds LOCK_log until no prepared transaction is pending (bug 44058)."""
    waits_without_replicas: bool
    """rpl_semi_sync_master_wait_no_slave."""
    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    """How often a wait may be given up: time-out, KILL, switching semi-sync off."""
    loses_source: bool
    """Whether the source is lost for good at some moment, and a replica promoted."""
