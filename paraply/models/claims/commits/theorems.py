"""Theorems about batches, rotation, sets and crash points."""

from __future__ import annotations

from paraply.models.claims.claim import RECOVERY, Theorem, about, smaller_only, there_too
from paraply.models.systems.variants import (
    variant_of_batches,
    variant_of_crash_points,
    variant_of_quorum,
    variant_of_rotation,
    variant_of_semi_sync,
)

BATCHES = variant_of_batches(name="conservative_batches")
"""MariaDB's conservative mode, one domain."""

ROTATIONS = (
    variant_of_rotation(name="rotation"),
    variant_of_rotation(name="rotation[waits]", waits_for_xids=True),
)
"""MDEV-181, and a dump thread without LOCK_log."""

QUORUM = variant_of_quorum(name="quorum")

THEOREMS_OF_COMMITS = (
    Theorem(
        id="P23",
        claim="Conservative batches are safe with revocation: no attempt changes a row before its "
        "earlier writers have committed, though batches overlap in their commits.",
        systems=(BATCHES,),
        statements=("conflicting_rows_are_ordered",),
        assumes=("A7", "A8", "A9"),
        delimited_by=("C31", "C32", "C33", "C34", "C35", "C36"),
        standing=about("parallel modes of an asynchronous MariaDB replica"),
        source="rpl_parallel.cc; MDEV-7458, MDEV-8302; WL#4648 C2",
    ),
    Theorem(
        id="P24",
        claim="Conservative batches do not deadlock: what holds up the first uncommitted "
        "transaction is killed.",
        systems=(BATCHES,),
        statements=(
            "the_head_may_start",
            "the_head_is_never_blocked",
            "whoever_the_head_waits_for_is_killed",
        ),
        assumes=("A7", "A8", "A9"),
        delimited_by=("C37",),
        standing=about("parallel modes of an asynchronous MariaDB replica"),
        source="thd_rpl_deadlock_check; MDEV-5914",
    ),
    Theorem(
        id="P25",
        claim="Rotation without waiting for XIDs is deadlock free, if the dump thread reads "
        "without LOCK_log; then even one that waits is.",
        systems=ROTATIONS,
        statements=("somebody_can_move", "rotations_end"),
        assumes=(),
        delimited_by=("C38", "C39"),
        standing=about("the commit stages of one source"),
        source="MDEV-162, pending XID issue; MDEV-181; MySQL bug 44058",
    ),
    Theorem(
        id="P26",
        claim="Semi-synchronous commits end: every group commits after six steps of its own, "
        "counted by a measure that each step makes smaller.",
        systems=ROTATIONS,
        statements=("steps_run_out", "all_steps_are_taken", "somebody_can_move"),
        assumes=(),
        delimited_by=("C40",),
        standing=about("the commit stages of one source"),
        source="MDEV-162 stages 1 to 4",
    ),
    Theorem(
        id="P27",
        claim="With any number of replicas that crash and restart, what is visible is on every "
        "replica of an acknowledging set.",
        systems=(QUORUM,),
        statements=("visible_is_at_a_whole_set",),
        assumes=("A18",),
        delimited_by=("C41", "C42", "C74"),
        standing=there_too(
            "P56.what_readers_see_is_at_others", but="servers that restart with their own logs"
        ),
        source="rpl_semi_sync_source_wait_for_replica_count; AckContainer",
    ),
    Theorem(
        id="P28",
        claim="Fail-over loses no visible transaction, if each acknowledging set meets each "
        "electing set and the replica that has most is promoted.",
        systems=(QUORUM,),
        statements=("what_was_seen_survives",),
        assumes=("A10", "A18"),
        delimited_by=("C43", "C44"),
        standing=smaller_only("the group model promotes no replica"),
        source="MDEV-162; quorum intersection",
    ),
    Theorem(
        id="P29",
        claim="The position equals the data at every crash point of a commit, though the two are "
        "in different engines; so nothing is lost or repeated.",
        systems=(variant_of_crash_points(name="crash_points"),),
        statements=(
            "position_equals_data",
            "one_position_tells_all",
            "nothing_is_applied_twice",
            "nothing_is_passed_over",
        ),
        assumes=("A17",),
        delimited_by=("C45", "C46", "C47", "C73"),
        standing=about("positions of an asynchronous MariaDB replica"),
        source="MariaDB rpl_slave_state; two-phase commit with the binary log; MDEV-6549",
    ),
    Theorem(
        id="P30",
        claim="No phantom visibility: under AFTER_SYNC, while the wait stands, whatever a client "
        "saw is on the replica, across any number of crashes, if clients are kept out until it "
        "caught up.",
        systems=(variant_of_semi_sync(name="semi_sync[barred]", recovery="barred"),),
        statements=("no_phantom_visibility",),
        assumes=("A5",),
        delimited_by=("C14", "C15", "C16"),
        standing=there_too("P56.what_readers_see_is_at_others", but=RECOVERY),
        source="MDEV-162, the alternative for the DBA",
    ),
)
