"""Settings of a composed system."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.group.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition(Settings):
    """Settings of members with tables and appliers.

    Attributes:
        rows: keys of the table's rows.
        workers: replica_parallel_workers.
        acknowledgements: other members that must have received a transaction before its own member
            commits it (rpl_semi_sync_source_wait_for_replica_count, AFTER_SYNC).
        after_commit: they must before its client is answered; the commit does not wait
            (AFTER_COMMIT).
        one_commit_order: own transactions commit among those of others, as certified; else any time
            after their certification, as in MySQL.
    """

    rows: tuple[str, ...] = ()
    workers: int = 2
    acknowledgements: int = 1
    after_commit: bool = False
    one_commit_order: bool = True
