"""Importing this module registers every subject."""

from __future__ import annotations

from paraply.reference_impl.applier.subject import APPLIER
from paraply.reference_impl.certification.retries import CERTIFIER_RETRIES
from paraply.reference_impl.certification.subject import CERTIFIER
from paraply.reference_impl.composed.subject import COMPOSED
from paraply.reference_impl.group.subject import GROUP
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.reference_impl.mariadb_gtid.gap_free_subject import GAP_FREE
from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS
from paraply.reference_impl.mariadb_gtid.topology_subject import GTID_TOPOLOGY
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.semi_sync.timed_subject import SEMI_SYNC_CLOCK
from paraply.reference_impl.source_subject import SOURCE_TRACKERS
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.reference_impl.write_set_subject import WRITE_SETS

__all__ = [
    "APPLIER",
    "CERTIFIER",
    "CERTIFIER_RETRIES",
    "COMPOSED",
    "GAP_FREE",
    "GROUP",
    "GTID_POSITIONS",
    "GTID_TOPOLOGY",
    "MARIADB_PARALLEL",
    "SEMI_SYNC",
    "SEMI_SYNC_CLOCK",
    "SOURCE_TRACKERS",
    "WL4648",
    "WRITE_SETS",
]
