"""Registration of semi-sync mutants, and names of their properties."""

from __future__ import annotations

from typing import Any

from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.subject import SemiSyncSubject
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue

SEEN, SURVIVES = "visible_only_after_acknowledgement", "what_was_seen_survives"
CONFIRMED, ORDER = "what_was_confirmed_survives", "stages_follow_the_binary_log"
END, RECOVERY = "commits_reach_their_end", "recovery_decides_by_the_binlog"
TOLD = "confirmed_only_after_acknowledgement"
AHEAD, CAUSE = "replicas_are_never_ahead", "waits_are_abandoned_only_for_cause"

CALM: dict[str, Any] = {"source_crashes": 0, "loses_source": False, "rotations": 0}


def semi_sync_mutant(
    name: str,
    cluster: type[Cluster],
    caught_by: str,
    source: str,
    fault: str,
    *,
    dialect: str = "after_sync",
    transactions: int = 3,
    members: int = 3,
    family: str = "semi-sync",
    **options: OptionValue,
) -> Mutant:
    """Register a cluster with a revealing scope."""
    return register_mutant(
        written_mutant(
            name=name,
            family=family,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=SemiSyncSubject(cluster),
            workload=Workload(
                transactions=transactions, members=members, dialect=dialect, options=options
            ),
        )
    )
