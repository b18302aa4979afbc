"""The live target ``existing``: servers that run already."""

from __future__ import annotations

from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.workload import WORKLOADS

OF_THE_WORKERS = (
    "no_conflicting_parallel_apply",
    "engine_commits_follow_the_log",
    "starts_respect_last_committed",
)

EXISTING = LiveTarget(
    name="existing",
    summary="servers that are already there (--dsn SOURCE REPLICA...): writes into a schema of its"
    " own, asks for the rest",
    module="paraply.adapters.live.existing.lab",
    takes=("clients", "duration_s"),
    modes=("as-configured",),
    workloads=tuple(WORKLOADS),
    properties=(
        "readers_see_prefixes",
        "reads_never_go_back",
        "replica_logs_domains_in_order",
        *OF_THE_WORKERS,
        "no_event_is_applied_twice",
        "no_event_is_lost",
        "final_state_is_the_sources",
        "tables_end_as_the_sources",
    ),
)
