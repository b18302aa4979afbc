"""Refuted statements about batches, rotation, sets and crash points."""

from __future__ import annotations

from paraply.models.claims.claim import SMALL, Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import (
    variant_of_batches,
    variant_of_crash_points,
    variant_of_quorum,
    variant_of_rotation,
)

THREE = Scope(low=0, high=2, size=1)
"""Two groups of one batch, one of the next."""

SETS = Scope(low=0, high=1, size=2)

REFUTED_OF_COMMITS = (
    Counterexample(
        id="C31", title="a retry does not take back that it started to commit",
        system=variant_of_batches(name="never_revoked", revokes="never"),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=9,
        source="MDEV-7458: do not revoke commit-started on retry",
    ),
    Counterexample(
        id="C32", title="the rollback frees the rows before commit-start is taken back",
        system=variant_of_batches(name="revoked_after", revokes="after"),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=9,
        source="MDEV-8302: random duplicate keys in production",
    ),
    Counterexample(
        id="C33", title="a batch that is not free of conflicts",
        system=variant_of_batches(name="forged_commit_id", batches_share_no_row=False),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=2,
        source="assumption A7; commit ids forged equal stop a conservative replica with 1032",
    ),
    Counterexample(
        id="C34", title="a temporary error after commit-start, and the next batch has begun",
        system=variant_of_batches(name="fails_in_commit", committing_survives_errors=False),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=8,
        source="assumption A8; rpl_parallel.cc, retry_event_group",
    ),
    Counterexample(
        id="C35", title="a kill that outlives its reason",
        system=variant_of_batches(name="late_kill", kills_are_noticed=False),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=13,
        source="assumption A9; wait_for_pending_deadlock_kill",
    ),
    Counterexample(
        id="C36", title="the next batch does not wait",
        system=variant_of_batches(name="no_barrier", batches_wait=False),
        statement="conflicting_rows_are_ordered", scope=THREE, steps=2,
        source="MDEV-5189: the early scheduler compared with the last queued only",
    ),
    Counterexample(
        id="C37", title="unreported waits: no blocker is killed, and the head waits without end",
        system=variant_of_batches(name="no_reports", waits_are_reported=False),
        statement="whoever_the_head_waits_for_is_killed", scope=THREE, steps=3,
        source="MDEV-5914, MDEV-31655: a deadlock with the commit order is not reported",
    ),
    Counterexample(
        id="C38", title="a rotation keeps LOCK_log and waits for groups that wait for a replica",
        system=variant_of_rotation(
            name="rotation_deadlock", waits_for_xids=True, dump_needs_lock_log=True
        ),
        statement="somebody_can_move", scope=SMALL, steps=4,
        source="MySQL bug 44058, point 5; MDEV-162, pending XID issue",
    ),
    Counterexample(
        id="C39", title="chained mutexes and a dump thread that needs LOCK_log, without rotation",
        system=variant_of_rotation(name="dump_under_lock_log", dump_needs_lock_log=True),
        statement="somebody_can_move", scope=SMALL, steps=5,
        source="MDEV-162 stage 2 to 3, with the dump thread of that time",
    ),
    Counterexample(
        id="C40", title="a replica that comes back with less, again and again",
        system=variant_of_rotation(name="replica_forgets", replica_forgets=True),
        statement="steps_run_out", scope=SMALL, steps=8,
        source="MDEV-4698: the relay log is discarded and fetched again",
    ),
    Counterexample(
        id="C41", title="released by one acknowledgement of a set",
        system=variant_of_quorum(name="one_is_enough", all_of_the_set=False),
        statement="visible_is_at_a_whole_set", scope=SETS, steps=4,
        source="MySQL bug 109829: AckContainer takes too high a minimum",
    ),
    Counterexample(
        id="C42", title="a replica that discards its relay log takes back what it acknowledged",
        system=variant_of_quorum(name="discards_relay_log", keeps_relay_log=False),
        statement="visible_is_at_a_whole_set", scope=SETS, steps=5,
        source="MDEV-4698; measured: acknowledged transactions lost",
    ),
    Counterexample(
        id="C43", title="an electing set that meets no acknowledging set",
        system=variant_of_quorum(name="sets_apart", sets_meet=False),
        statement="what_was_seen_survives", scope=SETS, steps=7,
        source="assumption A10; wait_for_replica_count 1 of 2, and one replica at hand",
    ),
    Counterexample(
        id="C44", title="the promoted replica is not the most advanced one",
        system=variant_of_quorum(name="promotes_any", promotes_the_highest=False),
        statement="what_was_seen_survives", scope=SETS, steps=7,
        source="fail-over to an arbitrary replica",
    ),
    Counterexample(
        id="C45", title="the position table's engine has no transactions",
        system=variant_of_crash_points(name="position_in_myisam", position_is_transactional=False),
        statement="position_equals_data", scope=THREE, steps=2,
        source="MariaDB gtid_slave_pos: DDL and non-transactional engines are not crash-safe",
    ),
    Counterexample(
        id="C46", title="two engines without a coordinator",
        system=variant_of_crash_points(name="no_coordinator", has_coordinator=False),
        statement="position_equals_data", scope=THREE, steps=5,
        source="gtid_pos_auto_engines: why a position table of the same engine is made",
    ),
    Counterexample(
        id="C47", title="a retried transaction does not save its position",
        system=variant_of_crash_points(name="retry_forgets", retry_saves_position=False),
        statement="position_equals_data", scope=THREE, steps=4,
        source="MDEV-6549",
    ),
)  # fmt: skip
