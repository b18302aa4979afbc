"""The live target ``mysql-semisync``: what it has to choose from, and what it answers to."""

from __future__ import annotations

from adapters.live.target import LiveTarget

RESTART, TIME_OUT, SWITCH_OFF = "restart-source", "time-out", "switch-off"
_SEEN = "visible_only_after_acknowledgement"
_SEEN_LOST = "what_was_seen_survives"

MYSQL_SEMI_SYNC = LiveTarget(
    name="mysql-semisync",
    summary="a MySQL source that waits for one replica to receive, and then is lost",
    module="adapters.live.mysql_semi_sync",
    takes=("workers", "clients", "duration_s"),
    modes=("AFTER_SYNC", "AFTER_COMMIT"),
    workloads=("mixed",),
    faults={
        RESTART: "the source is killed while a commit waits, and started again",
        TIME_OUT: "rpl_semi_sync_source_timeout passes",
        SWITCH_OFF: "SET GLOBAL rpl_semi_sync_source_enabled=0",
    },
    documented={
        # What waited is there after a restart, and nobody else has it.
        f"AFTER_SYNC/{RESTART}": (_SEEN, _SEEN_LOST),
        # Where the engine commits before the wait, everybody sees what waits.
        f"AFTER_COMMIT/{RESTART}": (_SEEN, _SEEN_LOST),
        f"AFTER_COMMIT/{TIME_OUT}": (_SEEN,),
        f"AFTER_COMMIT/{SWITCH_OFF}": (_SEEN,),
    },
    properties=(
        _SEEN,
        "confirmed_only_after_acknowledgement",
        _SEEN_LOST,
        "what_was_confirmed_survives",
        "waits_are_abandoned_only_for_cause",
        "recovery_decides_by_the_binlog",
        "replicas_receive_prefixes",
        "gtids_are_not_given_twice",
    ),
)
