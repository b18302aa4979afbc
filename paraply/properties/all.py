"""Registers every property of histories on import."""

from __future__ import annotations

from paraply.properties.apply import (
    commit_order,
    consistency_levels,
    exactly_once,
    landing,
    lock_waits,
    mariadb_domains,
    mariadb_modes,
    mariadb_retries,
    parallel_apply,
    wake_ups,
    whole_transactions,
)
from paraply.properties.certification import decisions as certification
from paraply.properties.certification import garbage_collection, timestamps, write_sets
from paraply.properties.certification import retries as certification_retries
from paraply.properties.group import clients as group_clients
from paraply.properties.group import commit_order as group_commit_order
from paraply.properties.group import executed_sets, galera, view_change
from paraply.properties.group import reads as group_reads
from paraply.properties.gtid import failover, positions, replication_state
from paraply.properties.gtid import rules as gtid_rules
from paraply.properties.readers import isolation as reader_isolation
from paraply.properties.readers import replica_reads, session_guarantees
from paraply.properties.semi_sync import pace as semi_sync_pace
from paraply.properties.semi_sync import promises as semi_sync

__all__ = [
    "certification",
    "certification_retries",
    "commit_order",
    "consistency_levels",
    "exactly_once",
    "executed_sets",
    "failover",
    "galera",
    "garbage_collection",
    "group_clients",
    "group_commit_order",
    "group_reads",
    "gtid_rules",
    "landing",
    "lock_waits",
    "mariadb_domains",
    "mariadb_modes",
    "mariadb_retries",
    "parallel_apply",
    "positions",
    "reader_isolation",
    "replica_reads",
    "replication_state",
    "semi_sync",
    "semi_sync_pace",
    "session_guarantees",
    "timestamps",
    "view_change",
    "wake_ups",
    "whole_transactions",
    "write_sets",
]
