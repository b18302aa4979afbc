"""The live target ``mysql``."""

from __future__ import annotations

from paraply.adapters.live.pair.mysql.faults import (
    COMMIT_ORDER_OFF,
    CUT_SOURCE_LOG,
    FORGED,
    FORGED_IDEMPOTENT,
    MYSQL_FAULTS,
)
from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.workload import WORKLOADS

DATABASE = "database"
OF_THE_LOGICAL_CLOCK = ("starts_respect_last_committed",)
"""DATABASE mode ignores it."""
_ORDER = "engine_commits_follow_the_log"
_READS = ("readers_see_prefixes", "reads_never_go_back")
_ENDS = ("final_state_is_the_sources", "tables_end_as_the_sources")
OF_THE_WINDOWS = ("no_conflicting_parallel_apply", _ORDER, *OF_THE_LOGICAL_CLOCK)

MYSQL = LiveTarget(
    name="mysql",
    summary="a MySQL source with one or two parallel replicas",
    module="paraply.adapters.live.pair.mysql.lab",
    modes=("logical-clock", DATABASE),
    workloads=tuple(WORKLOADS),
    faults={fault.name: fault.meaning for fault in MYSQL_FAULTS.values()},
    documented={
        **{f"{mode}/{COMMIT_ORDER_OFF}": (_ORDER, *_READS) for mode in ("logical-clock", DATABASE)},
        # Either may come first: a missing row, or two transactions without an error.
        f"logical-clock/{FORGED}": ("no_conflicting_parallel_apply", "sound_log_never_fails"),
        f"logical-clock/{FORGED_IDEMPOTENT}": (
            "no_conflicting_parallel_apply",
            *_READS,
            *_ENDS,
        ),
        # Another transaction reuses the GTID of one that InnoDB lost. A replica with the lost one
        # is refused (1236), or silently skips the new one if it exists by then.
        **{
            f"{mode}/{CUT_SOURCE_LOG}": (
                *_READS,
                *_ENDS,
                "position_covers_only_what_is_applied",
                "stop_points_are_prefixes",
                "no_event_is_lost",
                "sound_log_never_fails",
            )
            for mode in ("logical-clock", DATABASE)
        },
    },
    rare=(FORGED, CUT_SOURCE_LOG),
    properties=(
        *OF_THE_WINDOWS,
        *_READS,
        "no_event_is_applied_twice",
        "no_event_is_lost",
        "position_covers_only_what_is_applied",
        "position_covers_all_that_is_applied",
        "stop_points_are_prefixes",
        "sound_log_never_fails",
        *_ENDS,
    ),
)
