"""The live target ``mariadb``."""

from __future__ import annotations

from paraply.adapters.live.faults import FAULTS
from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.workload import WORKLOADS

_SPECULATING_OR_GROUPED = ("conservative", "optimistic", "aggressive")
"""``minimal`` ignores commit ids."""
_HIDDEN_ERRORS = (
    "domains_apply_without_conflict",
    "domains_are_read_in_order",
    "final_state_is_the_sources",
    "tables_end_as_the_sources",
)

MARIADB = LiveTarget(
    name="mariadb",
    summary="a MariaDB source with one or two parallel replicas",
    module="paraply.adapters.live.pair.mariadb.lab",
    modes=("optimistic", "conservative", "aggressive", "minimal"),
    workloads=tuple(WORKLOADS),
    faults={fault.name: fault.meaning for fault in FAULTS.values()},
    documented={
        **{
            # An ALTER TABLE that was under way is logged by crash recovery, without the flag that
            # keeps replicas from applying others beside it (seen on 10.11.19).
            f"{mode}/kill-source-ddl": (
                "domains_apply_without_conflict",
                "domains_commit_in_order",
                "domains_are_read_in_order",
                "replica_logs_domains_in_order",
                "position_covers_only_what_is_applied",
                "stop_points_are_prefixes",
                "sound_log_never_fails",
            )
            for mode in (*_SPECULATING_OR_GROUPED, "minimal")
        },
        **{
            # A schema change writes its position in a transaction of its own.
            f"{mode}/kill-replica-ddl": (
                "position_covers_all_that_is_applied",
                "sound_log_never_fails",
            )
            for mode in (*_SPECULATING_OR_GROUPED, "minimal")
        },
        **{
            # A worker that is killed after its transaction is in the binary log, but before it has
            # waited for the end of the commits before it, takes the kill for a failure: the
            # position lacks what is logged (queue_for_group_commit, seen on 10.11.19).
            f"{mode}/kill-waiter": (
                "position_covers_all_that_is_applied",
                "sound_log_never_fails",
            )
            for mode in (*_SPECULATING_OR_GROUPED, "minimal")
        },
        **{
            # The source reuses its lost GTIDs; a replica that has
            # the lost transactions silently skips the new ones (seen on 10.11.19). In its log, the
            # GTID of a lost transaction stands for the new one, earlier than that was applied.
            f"{mode}/cut-source-log": (
                *_HIDDEN_ERRORS,
                "domains_commit_in_order",
                "position_covers_only_what_is_applied",
                "position_covers_all_that_is_applied",
                "stop_points_are_prefixes",
                "no_event_is_lost",
                "sound_log_never_fails",
            )
            for mode in (*_SPECULATING_OR_GROUPED, "minimal")
        },
        **{
            f"{mode}/{fault}": broken
            for mode in _SPECULATING_OR_GROUPED
            for fault, broken in (
                ("forged-commit-ids", ("sound_log_never_fails",)),
                ("forged-idempotent", _HIDDEN_ERRORS),
            )
        },
    },
    rare=("kill-replica-ddl", "kill-source-ddl", "kill-waiter", "cut-source-log"),
    properties=(
        "domains_commit_in_order",
        "replica_logs_domains_in_order",
        "domains_apply_without_conflict",
        "domains_are_read_in_order",
        "no_event_is_applied_twice",
        "no_event_is_lost",
        "position_covers_only_what_is_applied",
        "position_covers_all_that_is_applied",
        "stop_points_are_prefixes",
        "sound_log_never_fails",
        "final_state_is_the_sources",
        "tables_end_as_the_sources",
        "gtids_name_one_transaction",
    ),
)
