"""Statements that are false in a faulty system.

Each drops one guard, assumption or reading of a theorem.
"""

from __future__ import annotations

from functools import partial

from paraply.models.claims.claim import SMALL, TWO, Counterexample
from paraply.models.claims.commits.refuted import REFUTED_OF_COMMITS
from paraply.models.claims.exactly_once.refuted import REFUTED_OF_EXACTLY_ONCE
from paraply.models.claims.group.refuted import REFUTED_OF_THE_GROUP
from paraply.models.claims.ourselves.refuted import REFUTED_ABOUT_OURSELVES
from paraply.models.claims.progress.refuted import REFUTED_OF_PROGRESS
from paraply.models.claims.refinement.refuted import REFUTED_OF_REFINEMENT
from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import (
    variant_of_applier,
    variant_of_certification,
    variant_of_commit_order,
    variant_of_crash_points,
    variant_of_end_to_end,
    variant_of_low_water_mark,
    variant_of_members,
    variant_of_quorum,
    variant_of_restart,
    variant_of_semi_sync,
    variant_of_tracker,
)

PAIR = Scope(low=0, high=2, size=1)

with_open_snapshots = partial(
    variant_of_certification, snapshots_are_closed=False, speaks_of_refusals=False
)
"""Without A4, which only refusals need."""
_wherever_ddl_runs = partial(variant_of_end_to_end, ddl_is_apart=False, speaks_of_tables=False)

_STATED = (
    Counterexample(
        id="C01", title="AL1 as written lets a transaction without write set run beside others",
        system=variant_of_applier(name="wl8440_literal", fence_without_write_set=False),
        statement="without_write_set_is_alone", scope=SMALL, steps=4,
        source="WL#8440 AL1 step 1 against EX4",
    ),
    Counterexample(
        id="C02", title="the window read literally gives LC = SN: the transaction waits for itself",
        system=variant_of_applier(name="wl8440_literal", window="literal"),
        statement="last_committed_is_below", scope=SMALL, steps=2,
        source="WL#8440 garbage collection against EX6",
    ),
    Counterexample(
        id="C03", title="without a new window, garbage collection loses a dependency",
        system=variant_of_applier(name="no_window", window="none"),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=5, source="WL#8440 EX5",
    ),
    Counterexample(
        id="C04", title="LC read as one parent instead of a prefix",
        system=variant_of_applier(name="pairwise", prefix=False),
        statement="conflicting_rows_are_ordered", scope=Scope(high=3, size=2), steps=7,
        source="WL#8440 EX3 (T6 does depend on T5 only)",
    ),
    Counterexample(
        id="C05", title="a view change that is not applied alone",
        system=variant_of_applier(name="no_barrier", barrier=False),
        statement="view_change_is_a_barrier", scope=SMALL, steps=4,
        source="WL#8440 View_change_log_event",
    ),
    Counterexample(
        id="C06", title="a local transaction that had not seen an earlier writer",
        system=variant_of_applier(name="blind_local", local_sees_earlier=False),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=5, source="assumption A1",
    ),
    Counterexample(
        id="C07", title="garbage collection before every later snapshot contains the stable set",
        system=with_open_snapshots(name="no_a2", stable_is_seen=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=4,
        source="assumption A2; third-party report of diverging members",
    ),
    Counterexample(
        id="C08", title="a stored version without the writer's own GTID",
        system=with_open_snapshots(name="without_own_gtid", own_gtid_in_version=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=2,
        source="WL#8440 definition of snapshot version against EX2",
    ),
    Counterexample(
        id="C09", title="purging items that are not stable",
        system=with_open_snapshots(name="purge_any", purge_stable_only=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=3,
        source="Certifier::garbage_collect",
    ),
    Counterexample(
        id="C10", title="an unjustified refusal, from a snapshot with a hole",
        system=variant_of_certification(name="open_snapshots", snapshots_are_closed=False,
            stable_is_seen=False, speaks_of_winners=False),
        statement="refusals_are_deserved", scope=Scope(high=0, low=0, size=3), steps=3,
        source="assumption A4; members without preserve commit order",
    ),
    Counterexample(
        id="C11", title="commit order off: a later transaction commits first",
        system=variant_of_commit_order(name="order_off", preserve_commit_order=False),
        statement="commit_order_preserved", scope=SMALL, steps=5,
        source="replica_preserve_commit_order=OFF",
    ),
    Counterexample(
        id="C12", title="commit order off: a reader sees a state that never existed",
        system=variant_of_commit_order(name="order_off", preserve_commit_order=False),
        statement="readers_see_prefixes", scope=SMALL, steps=6,
        source="MySQL manual, replication and transaction inconsistencies: gaps",
    ),
    Counterexample(
        id="C13", title="commit order with conflicting transactions in parallel: deadlock",
        system=variant_of_commit_order(name="conflicts_overlap", conflicts_wait=False),
        statement="the_head_is_never_blocked", scope=SMALL, steps=5,
        source="WL#4648 C1; MySQL bug 87796",
    ),
    Counterexample(
        id="C14", title="AFTER_COMMIT: seen before any replica has it",
        system=variant_of_semi_sync(name="after_commit", after_sync=False),
        statement="no_phantom_visibility", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_wait_point=AFTER_COMMIT",
    ),
    Counterexample(
        id="C15", title="recovery commits what no replica has",
        system=variant_of_semi_sync(name="hole", recovery="commits"),
        statement="no_phantom_visibility", scope=SMALL, steps=4,
        source="MDEV-162, crash of the master; MySQL bug 99370",
    ),
    Counterexample(
        id="C16", title="the wait is abandoned: seen without acknowledgement",
        system=variant_of_semi_sync(name="abandoned", wait_stands=False),
        statement="no_phantom_visibility", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_timeout",
    ),
    Counterexample(
        id="C17", title="the wait is abandoned: a client gets an answer for what no replica has",
        system=variant_of_semi_sync(name="abandoned", wait_stands=False),
        statement="confirmed_survives", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_timeout",
    ),
    Counterexample(
        id="C18", title="un-chained mutexes: a later group overtakes",
        system=variant_of_semi_sync(name="unchained", chained=False, recovery="none"),
        statement="no_overtaking", scope=SMALL, steps=11,
        source="MDEV-162: take the next lock before releasing the previous one",
    ),
    Counterexample(
        id="C19", title="events sent before they are durable: the replica is ahead after a crash",
        system=variant_of_semi_sync(name="sent_early", send_after_sync=False),
        statement="replica_is_not_ahead", scope=SMALL, steps=2,
        source="sync_binlog other than 1",
    ),
    Counterexample(
        id="C20", title="members that collect apart, without the assumption on snapshots",
        system=variant_of_members(name="members_without_a2", stable_is_seen=False),
        statement="what_a_refuses_b_refuses", scope=TWO, steps=3,
        source="a third party's report: collection bypasses the order of delivery",
    ),
    Counterexample(
        id="C21", title="a history that is emptied without a barrier",
        system=variant_of_tracker(name="reset_forgets", reset_raises_start=False),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=4,
        source="Writeset_trx_dependency_tracker: m_writeset_history_start",
    ),
    Counterexample(
        id="C22", title="a commit-order parent that misses an earlier writer",
        system=variant_of_tracker(name="locks_released_early", locks_until_commit=False),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=3,
        source="assumption A6; MySQL bug 94814, REPAIR beside INSERT",
    ),
    Counterexample(
        id="C23", title="the mark of the replica is not contiguous",
        system=variant_of_tracker(
            name="galera_with_holes", lowers_to_commit_order=False, contiguous_mark=False
        ),
        statement="conflicting_rows_are_ordered", scope=Scope(high=3, size=2), steps=6,
        source="Galera apply monitor, last_left; WL#8440 EX3 read as one parent",
    ),
    Counterexample(
        id="C24", title="executed transactions are not skipped after a crash",
        system=variant_of_restart(name="no_skip", skips_executed=False),
        statement="nothing_is_applied_twice", scope=Scope(high=2, size=1), steps=6,
        source="WL#8440, GTID auto-skip",
    ),
    Counterexample(
        id="C25", title="after a crash the applier begins with the newest file",
        system=variant_of_restart(name="newest_file", begins_before_the_missing=False),
        statement="nothing_is_passed_over", scope=Scope(high=2, size=1), steps=2,
        source="WL#8440, applier recovery: seek the current relay log",
    ),
    Counterexample(
        id="C26", title="the position is saved after the data, not with it",
        system=variant_of_restart(
            name="saved_apart", by_position=True, commits_in_order=True, saves_with_data=False
        ),
        statement="position_equals_data", scope=Scope(high=2, size=1), steps=3,
        source="MariaDB: DDL and non-transactional engines; MDEV-6549",
    ),
    Counterexample(
        id="C27", title="out of order in one domain there is no single position",
        system=variant_of_restart(name="out_of_order", by_position=True),
        statement="position_equals_data", scope=Scope(high=2, size=1), steps=5,
        source="MariaDB global transaction id, out-of-order apply",
    ),
    Counterexample(
        id="C28", title="a dialect that makes everybody wait for the one before",
        system=variant_of_applier(name="serial", minimal=False),
        statement="last_committed_is_minimal", scope=SMALL, steps=2,
        source="MySQL bug 110071: over-serialising is a fault too",
    ),
    Counterexample(
        id="C29", title="the low-water mark is the highest job done",
        system=variant_of_low_water_mark(name="highest_done", is_prefix=False),
        statement="starts_respect_last_committed", scope=Scope(high=4, size=1), steps=6,
        source="google/mysql-ripple and gh-ost: marks that are no prefix",
    ),
    Counterexample(
        id="C30", title="a group that begins without waiting for the one before",
        system=variant_of_low_water_mark(name="groups_overlap", groups_wait=False),
        statement="starts_respect_last_committed", scope=Scope(high=2, size=1), steps=2,
        source="gh-ost pull request 1454: rotation",
    ),
    *REFUTED_OF_COMMITS,
    Counterexample(
        id="C48", title="purging what this member has not executed",
        system=_wherever_ddl_runs(name="purges_unexecuted", purges_executed_only=False),
        statement="changes_land_as_certified", scope=PAIR, steps=3,
        source="assumption A11; a member whose executed set is not in the intersection",
    ),
    Counterexample(
        id="C49", title="a certified local transaction that had not seen a version of its row",
        system=_wherever_ddl_runs(name="blind_session", snapshot_is_executed=False),
        statement="changes_land_as_certified", scope=PAIR, steps=2,
        source="WL#8440 EX2: the snapshot version must be inside the executed set",
    ),
    Counterexample(
        id="C50", title="a session that gives up its row locks between certification and commit",
        system=_wherever_ddl_runs(name="no_row_locks", row_locks=False),
        statement="changes_land_as_certified", scope=PAIR, steps=4,
        source="row locks are held until the engine commit",
    ),
    Counterexample(
        id="C51", title="workers that do not wait for LC",
        system=_wherever_ddl_runs(name="no_lc_wait[rows]", waits_for_lc=False),
        statement="changes_land_as_certified", scope=PAIR, steps=5,
        source="WL#8440 EX2: the change would silently fail",
    ),
    Counterexample(
        id="C52", title="a joiner that lets sessions in before the view change waited",
        system=_wherever_ddl_runs(name="no_barrier", barrier=False),
        statement="changes_land_as_certified", scope=Scope(low=0, high=3, size=1), steps=6,
        source="WL#8440 View_change_log_event; EX7",
    ),
    Counterexample(
        id="C53", title="DDL on one member beside users of the table on another",
        system=variant_of_end_to_end(name="ddl_beside_users", ddl_is_apart=False),
        statement="definitions_are_as_certified", scope=PAIR, steps=2,
        source="assumption A12; MySQL manual, group replication limitations: concurrent DDL",
    ),
    Counterexample(
        id="C54", title="a local DDL without metadata lock",
        system=variant_of_end_to_end(name="no_metadata_locks", metadata_locks=False),
        statement="definitions_are_as_certified", scope=PAIR, steps=4,
        source="metadata locking; WL#8440 leaves local DDL to it",
    ),
    Counterexample(
        id="C55", title="workers that do not wait for LC: what was certified first is stored last",
        system=variant_of_end_to_end(name="no_lc_wait", waits_for_lc=False),
        statement="members_converge", scope=PAIR, steps=8,
        source="WL#8440 EX2; members that diverge silently",
    ),
    *REFUTED_OF_REFINEMENT,
    Counterexample(
        id="C67", title="a member that purges items which are not stable decides otherwise",
        system=variant_of_members(name="purges_any", purge_stable_only=False),
        statement="what_a_refuses_b_refuses", scope=TWO, steps=2,
        source="Certifier::garbage_collect; members that diverge",
    ),
    Counterexample(
        id="C130", title="a snapshot with a hole, and members that collect apart",
        system=variant_of_members(name="members_open_snapshots", snapshots_are_closed=False),
        statement="what_a_refuses_b_refuses", scope=Scope(high=0, low=0, size=3), steps=4,
        source="assumption A4; members without preserve commit order",
        elsewhere="C10 is the same hole.",
    ),
    *REFUTED_OF_PROGRESS,
    Counterexample(
        id="C70", title="wider lock sets: the head waits for a row that a later transaction locked",
        system=variant_of_commit_order(name="wider_locks", locks_are_writes=False),
        statement="the_head_is_never_blocked", scope=SMALL, steps=5,
        source="assumption A14; no primary key, gap locks, foreign keys",
    ),
    Counterexample(
        id="C71", title="the executed GTID is recorded after the data, not with it",
        system=variant_of_restart(name="gtid_apart", gtid_with_data=False),
        statement="nothing_is_applied_twice", scope=Scope(high=2, size=1), steps=6,
        source="assumption A15; mysql.gtid_executed and engines without transactions",
    ),
    Counterexample(
        id="C72", title="a crash loses relay log that the receiver does not fetch again",
        system=variant_of_restart(name="relay_log_lost", relay_log_survives=False),
        statement="nothing_is_passed_over", scope=Scope(high=2, size=1), steps=3,
        source="assumption A16; sync_relay_log without relay_log_recovery",
    ),
    Counterexample(
        id="C73", title="the replica's binary log loses its end after an engine committed",
        system=variant_of_crash_points(name="log_not_synced", log_is_synced=False),
        statement="position_equals_data", scope=Scope(high=2, size=1), steps=5,
        source="assumption A17; sync_binlog other than 1 on the replica",
    ),
    Counterexample(
        id="C74", title="a restarted source gives the numbers of lost groups to others",
        system=variant_of_quorum(name="source_not_synced", source_is_synced=False),
        statement="visible_is_at_a_whole_set", scope=Scope(low=0, high=1, size=1), steps=6,
        source="assumption A18; sync_binlog other than 1 at the source",
    ),
    Counterexample(
        id="C137", title="AFTER_COMMIT, the wait is abandoned: a client gets an answer for what "
        "no replica has",
        system=variant_of_semi_sync(
            name="abandoned_after_commit", after_sync=False, wait_stands=False),
        statement="confirmed_survives", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_timeout; rpl_semi_sync_source_wait_point=AFTER_COMMIT",
    ),
    *REFUTED_ABOUT_OURSELVES,
    *REFUTED_OF_THE_GROUP,
    *REFUTED_OF_EXACTLY_ONCE,
)  # fmt: skip

COUNTEREXAMPLES: tuple[Counterexample, ...] = tuple(
    sorted(_STATED, key=lambda entry: int(entry.id[1:]))
)
