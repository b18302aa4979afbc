"""Theorems of progress: what is pending is done eventually, in every weakly fair run."""

from __future__ import annotations

from paraply.models.claims.claim import Theorem, about, smaller_only, there_too
from paraply.models.systems.variants import (
    variant_of_commit_pipeline,
    variant_of_lock_queue,
    variant_of_stable_rounds,
)

THEOREMS_OF_PROGRESS = (
    Theorem(
        id="P36",
        kind="progress",
        claim="A LOGICAL_CLOCK applier with commit order and row locks finishes its log, if "
        "workers lock exactly their write sets.",
        systems=(
            variant_of_lock_queue(
                name="lock_queue[exact]", locks_are_writes=True, calls_back="waiting_for_turn"
            ),
        ),
        statements=("the_log_is_finished", "no_row_is_waited_for"),
        assumes=("A14",),
        delimited_by=("C68",),
        standing=smaller_only("the group model has no theorems of progress"),
        source="WL#4648 C3; Commit_order_manager; Manna and Pnueli 1991, rule F-WELL",
    ),
    Theorem(
        id="P37",
        kind="progress",
        claim="With any lock sets the applier finishes its log, if a worker that holds a row gives "
        "way to the earliest transaction that wants it, and this transaction gets the row.",
        systems=(variant_of_lock_queue(name="lock_queue"),),
        statements=("the_log_is_finished",),
        assumes=(),
        delimited_by=("C68", "C69"),
        standing=smaller_only("the group model has no theorems of progress"),
        source="thd_rpl_deadlock_check; Commit_order_manager::check_and_report_deadlock",
    ),
    Theorem(
        id="P38",
        kind="progress",
        claim="MariaDB's optimistic and conservative modes finish their log, if whoever holds a "
        "row is killed and retried for the earliest transaction that wants it.",
        systems=(
            variant_of_lock_queue(name="lock_queue[optimistic]", starts_after="nothing"),
            variant_of_lock_queue(name="lock_queue[conservative]", starts_after="batches"),
        ),
        statements=("the_log_is_finished", "the_head_commits_with_its_rows"),
        assumes=(),
        delimited_by=("C75",),
        standing=about("parallel modes of an asynchronous MariaDB replica"),
        source="slave_parallel_mode; rpl_parallel.cc, retry_event_group; thd_rpl_deadlock_check",
    ),
    Theorem(
        id="P39",
        kind="progress",
        claim="The oldest uncommitted transaction never waits for ever on a member with live "
        "sessions, if a session gives way to the earliest worker that wants its row.",
        systems=(variant_of_lock_queue(name="lock_queue[sessions]", sessions="give_way"),),
        statements=("the_log_is_finished",),
        assumes=(),
        delimited_by=("C76",),
        standing=smaller_only("the group model has no theorems of progress"),
        source="trx_kill_blocking, high-priority transactions of group replication; Galera's "
        "brute-force aborts",
    ),
    Theorem(
        id="P40",
        kind="progress",
        claim="Every group in the binary log commits under semi-sync, if waits time out, whatever "
        "replicas do; or, without a time-out, if a replica goes on receiving.",
        systems=(
            variant_of_commit_pipeline(name="commit_pipeline"),
            variant_of_commit_pipeline(
                name="commit_pipeline[receives]", times_out=False, receives=True
            ),
        ),
        statements=("every_written_group_commits", "what_commits_is_durable"),
        assumes=(),
        delimited_by=("C77",),
        standing=about("the commit stages of one source"),
        source="MDEV-162; rpl_semi_sync_source_timeout",
    ),
    Theorem(
        id="P41",
        kind="progress",
        claim="What was certified can be purged in the end: every member that is not expelled "
        "executes and reports it, and what all have reported becomes stable.",
        systems=(variant_of_stable_rounds(name="stable_rounds"),),
        statements=(
            "everybody_executes_or_leaves",
            "everybody_reports_or_leaves",
            "a_round_makes_it_stable_or_meets_who_lacks_it",
            "stable_is_executed_everywhere",
        ),
        assumes=(),
        delimited_by=("C78",),
        standing=there_too("P49.stable_is_applied_at_every_member", but="progress"),
        source="Certifier::garbage_collect; group_replication_member_expel_timeout",
    ),
)
