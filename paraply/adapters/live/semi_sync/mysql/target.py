"""The live target ``mysql-semisync``."""

from __future__ import annotations

from paraply.adapters.live.semi_sync.loss import MYSQL_WAYS
from paraply.adapters.live.semi_sync.mariadb import documented_of
from paraply.adapters.live.target import LiveTarget

MYSQL_SEMI_SYNC = LiveTarget(
    name="mysql-semisync",
    summary="a MySQL source that waits for one replica to receive, and then is lost",
    module="paraply.adapters.live.semi_sync.mysql.lab",
    takes=("workers", "clients", "duration_s"),
    modes=("AFTER_SYNC", "AFTER_COMMIT"),
    workloads=("mixed",),
    faults={way.name: way.meaning for way in MYSQL_WAYS.values()},
    documented={
        **documented_of(MYSQL_WAYS),
        # A killed session keeps waiting; its visible transaction is lost with the source.
        **{
            f"AFTER_COMMIT/{kill}": ("visible_only_after_acknowledgement", "what_was_seen_survives")
            for kill in ("kill-connection", "kill-query")
        },
    },
    properties=(
        "visible_only_after_acknowledgement",
        "confirmed_only_after_acknowledgement",
        "what_was_seen_survives",
        "what_was_confirmed_survives",
        "waits_are_abandoned_only_for_cause",
        "readers_at_the_source_see_prefixes",
        "position_covers_only_what_is_applied",
        "recovery_decides_by_the_binlog",
        "replicas_receive_prefixes",
        "gtids_are_not_given_twice",
    ),
)
