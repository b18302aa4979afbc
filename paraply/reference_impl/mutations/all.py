"""Import this module to register every mutant."""

from __future__ import annotations

from paraply.reference_impl.applier import deadlock_mutants, recovery_mutants, wake_up_mutants
from paraply.reference_impl.applier import mutants as applier
from paraply.reference_impl.mariadb import assumption_mutants, commit_mutants, waiting_mutants
from paraply.reference_impl.mariadb import mutants as mariadb_modes
from paraply.reference_impl.mariadb_gtid import (
    gap_free_mutants,
    positions_mutants,
    topology_mutants,
)
from paraply.reference_impl.mutations import (
    certification,
    chunked_collection,
    garbage_collection,
    group_commits,
    retries,
    sessions,
    stored_numbers,
    timestamps,
    trackers,
    view_changes,
    write_sets,
)
from paraply.reference_impl.semi_sync import mutants as semi_sync
from paraply.reference_impl.semi_sync import recovery_mutants as semi_sync_recovery
from paraply.reference_impl.semi_sync import wait_mutants as semi_sync_waits
from paraply.reference_impl.wl4648 import merging_mutants
from paraply.reference_impl.wl4648 import mutants as wl4648

__all__ = [
    "applier",
    "assumption_mutants",
    "certification",
    "chunked_collection",
    "commit_mutants",
    "deadlock_mutants",
    "gap_free_mutants",
    "garbage_collection",
    "group_commits",
    "mariadb_modes",
    "merging_mutants",
    "positions_mutants",
    "recovery_mutants",
    "retries",
    "semi_sync",
    "semi_sync_recovery",
    "semi_sync_waits",
    "sessions",
    "stored_numbers",
    "timestamps",
    "topology_mutants",
    "trackers",
    "view_changes",
    "waiting_mutants",
    "wake_up_mutants",
    "wl4648",
    "write_sets",
]
