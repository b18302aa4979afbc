"""Settings of a group's members."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Common settings of all members.

    Attributes:
        is_single_primary: one member accepts writes; conflict detection starts off.
        preserves_commit_order: remote commits follow the relay log.
        block_size: group_replication_gtid_assignment_block_size.
        preemptive_rows_threshold: items that start preemptive collection; 0 or several primaries
            turn it off: conflict detection needs the items.
        waits_for_backlog: a new primary or online member rejects writes until it has applied
            earlier transactions (BEFORE_ON_PRIMARY_FAILOVER).
        sessions_commit_apart: commit is a step after certification.
    """

    is_single_primary: bool = False
    preserves_commit_order: bool = True
    block_size: int = 1
    preemptive_rows_threshold: int = 0
    waits_for_backlog: bool = True
    sessions_commit_apart: bool = False

    @property
    def collects_preemptively(self) -> bool:
        """Return whether members purge unstable items."""
        return self.is_single_primary and self.preemptive_rows_threshold > 0
