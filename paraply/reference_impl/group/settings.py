"""How the members of a group are configured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How all members of a group are configured.

    Attributes:
        is_single_primary: only one member takes writes, and conflict detection starts off.
        preserves_commit_order: remote transactions commit in the order of the relay log.
        block_size: group_replication_gtid_assignment_block_size.
        preemptive_rows_threshold: items at which preemptive collection strikes; 0 turns it off,
            and so do several primaries: nothing would be left to refuse their conflicts with.
        waits_for_backlog: a new primary, or a member that comes online, takes no writes before
            it has applied what was certified until then (BEFORE_ON_PRIMARY_FAILOVER).
        sessions_commit_apart: a session learns that its transaction is certified, and commits it,
            some time after the member has certified it; else in the same step.
    """

    is_single_primary: bool = False
    preserves_commit_order: bool = True
    block_size: int = 1
    preemptive_rows_threshold: int = 0
    waits_for_backlog: bool = True
    sessions_commit_apart: bool = False

    @property
    def collects_preemptively(self) -> bool:
        """Return whether a member may forget certification info before it is stable."""
        return self.is_single_primary and self.preemptive_rows_threshold > 0
