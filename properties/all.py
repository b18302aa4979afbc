"""Importing this module registers every property of histories."""

from __future__ import annotations

from properties import (
    certification,
    commit_order,
    consistency_levels,
    exactly_once,
    failover,
    garbage_collection,
    gtid_rules,
    mariadb_domains,
    mariadb_modes,
    mariadb_retries,
    parallel_apply,
    positions,
    replica_reads,
    replication_state,
    semi_sync,
    timestamps,
    view_change,
    wake_ups,
    whole_transactions,
    write_sets,
)

__all__ = [
    "certification",
    "commit_order",
    "consistency_levels",
    "exactly_once",
    "failover",
    "garbage_collection",
    "gtid_rules",
    "mariadb_domains",
    "mariadb_modes",
    "mariadb_retries",
    "parallel_apply",
    "positions",
    "replica_reads",
    "replication_state",
    "semi_sync",
    "timestamps",
    "view_change",
    "wake_ups",
    "whole_transactions",
    "write_sets",
]
