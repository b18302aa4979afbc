"""Theorems of progress: what is pending is done eventually, in every weakly fair run."""

from __future__ import annotations

from paraply.models.claims.claim import Theorem
from paraply.models.systems.variants import variant_of_lock_queue

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
        source="thd_rpl_deadlock_check; Commit_order_manager::check_and_report_deadlock",
    ),
)
