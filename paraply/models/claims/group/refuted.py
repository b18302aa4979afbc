"""Refuted statements about groups, joiners and hashes."""

from __future__ import annotations

from paraply.models.claims.claim import SMALL, TWO, Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import (
    variant_of_acknowledged_group,
    variant_of_group,
    variant_of_members,
    variant_of_one_copy,
    variant_of_parallel_group,
    variant_of_returning_group,
    variant_of_tracker,
)

GROUP = Scope(low=-1, high=3, size=2)
TWO_POSITIONS = Scope(low=0, high=2, size=2)

REFUTED_OF_THE_GROUP = (
    Counterexample(
        id="C88", title="a write set that lacks the hash of a row",
        system=variant_of_tracker(name="hash_is_missing", hashes="some"),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=3,
        source="MySQL bugs 86078, 111027",
        elsewhere="`paraply audit` finds such pairs in logs: it computes the keys itself.",
    ),
    Counterexample(
        id="C89", title="without certification, an update is lost across members",
        system=variant_of_one_copy(name="uncertified", certifies=False),
        statement="first_committer_wins", scope=GROUP, steps=4,
        source="asynchronous multi-source replication in a circle",
        elsewhere="The mutant `version_lacks_the_writers_gtid` of the reference lets such a pair "
        "through (C08).",
    ),
    Counterexample(
        id="C90", title="a member commits its own transactions before earlier ones of others",
        system=variant_of_one_copy(name="own_first", own_in_order=False),
        statement="members_show_prefixes", scope=GROUP, steps=3,
        source="group_replication_consistency=EVENTUAL; MySQL manual, local transactions",
        elsewhere="The mutant `composed_own_overtakes_others` of the reference.",
    ),
    Counterexample(
        id="C91", title="write skew: reads are not certified",
        system=variant_of_one_copy(name="blind_to_reads", speaks_of_reads=True),
        statement="there_is_no_write_skew", scope=GROUP, steps=4,
        source="Berenson and others 1995, A5B",
        elsewhere="Measured on Galera at SERIALIZABLE (`docs/findings.md`).",
    ),
    Counterexample(
        id="C92", title="a joiner that begins with empty certification info",
        system=variant_of_members(name="empty_joiner", joins="empty"),
        statement="what_a_refuses_b_refuses", scope=TWO, steps=2,
        source="WL#8440 View_change_log_event: why it carries certification info",
        elsewhere="The mutant `joiner_imports_nothing` of the reference.",
    ),
    Counterexample(
        id="C93", title="a joiner whose copy is older than its view change",
        system=variant_of_members(name="old_copy", joins="old_copy"),
        statement="what_a_refuses_b_refuses", scope=TWO, steps=3,
        source="a copy of certification info outside of the total order",
        elsewhere="The mutant `joiner_misses_the_first_message` of the reference.",
    ),
    Counterexample(
        id="C94", title="a report of what its member applied after a session took its snapshot",
        system=variant_of_group(name="group[whole snapshots]", claims_whole_snapshots=True),
        statement="stable_is_in_every_snapshot", scope=GROUP, steps=9,
        source="Certifier::garbage_collect: stable is what precedes all ongoing transactions",
        elsewhere="The mutant `snapshot_is_taken_early` of the reference.",
    ),
    Counterexample(
        id="C95", title="a report that overtakes what its member sent before",
        system=variant_of_group(name="group[overtaken]", reports_in_order=False),
        statement="stable_writers_are_in_snapshots", scope=GROUP, steps=11,
        source="assumption A2; a third party's report: broadcasts that bypass the queue",
        elsewhere="The mutant `broadcast_bypasses_the_queue` of the reference (C07).",
    ),
    Counterexample(
        id="C96", title="a message of a member that left is delivered after the view change",
        system=variant_of_group(name="group[late messages]", views_flush=False),
        statement="stable_writers_are_in_snapshots", scope=GROUP, steps=8,
        source="virtual synchrony: why a view change flushes",
        elsewhere="The reference's channel delivers nothing after a view change.",
    ),
    Counterexample(
        id="C97", title="a member that comes back without its donor's state",
        system=variant_of_group(name="group[stale joiner]", joins_with_state=False),
        statement="stable_is_applied_at_every_member", scope=GROUP, steps=8,
        source="assumption A11; a member that rejoins with what it had",
        elsewhere="The mutant `joiner_is_online_before_it_caught_up` of the reference.",
    ),
    Counterexample(
        id="C98", title="a worker that changes rows which a session has locked",
        system=variant_of_group(name="group[no row locks]", workers_wait=False),
        statement="changes_are_made_on_the_last_version", scope=GROUP, steps=8,
        source="row locks are held until the engine commit",
        elsewhere="The mutant `composed_unlocks_when_certified` of the reference.",
    ),
    Counterexample(
        id="C112", title="in a group, a worker that starts before its LC allows",
        system=variant_of_parallel_group(name="parallel_group[no waits]", waits_for_lc=False),
        statement="conflicting_rows_are_ordered", scope=TWO_POSITIONS, steps=11,
        source="Mts_submode_logical_clock::schedule_next_event",
        elsewhere="The mutant `worker_ignores_last_committed` of the reference (C51).",
    ),
    Counterexample(
        id="C113", title="in a group, LC lacks the numbers of its rows' items",
        system=variant_of_parallel_group(name="parallel_group[items ignored]", covers_items=False),
        statement="last_committed_covers_conflicts", scope=TWO_POSITIONS, steps=10,
        source="WL#8440 AL1 step 3a",
        elsewhere="The mutant `last_committed_is_one_parent` of the reference (C04).",
    ),
    Counterexample(
        id="C114", title="in a group, a member purges what is not stable",
        system=variant_of_parallel_group(name="parallel_group[purges]", purges_stable_only=False),
        statement="last_committed_covers_conflicts", scope=TWO_POSITIONS, steps=11,
        source="assumption A11; WL#8440 garbage collection",
        elsewhere="The mutant `stable_set_is_a_union` of the reference (C48).",
    ),
    Counterexample(
        id="C115", title="in a group, LC of a transaction without write set is only the window",
        system=variant_of_parallel_group(name="parallel_group[no fence]", fences=False),
        statement="without_write_set_is_alone", scope=TWO_POSITIONS, steps=9,
        source="WL#8440 AL1 step 1 and EX4",
        elsewhere="The stamps `wl8440_literal` of the reference (C01).",
    ),
    Counterexample(
        id="C116", title="a joiner whose first transaction has numbers, not (0, 0)",
        system=variant_of_parallel_group(name="parallel_group[no mark]", marks_first=False),
        statement="without_write_set_is_alone", scope=TWO_POSITIONS, steps=9,
        source="WL#8440 EX7; MySQL from 8.3 on: the first remote transaction after a start",
        elsewhere="The mutant `first_remote_is_not_marked` of the reference.",
    ),
    Counterexample(
        id="C117", title="a worker that changes a row which a session of its member has locked",
        system=variant_of_parallel_group(name="parallel_group[workers rush]", workers_wait=False),
        statement="rows_of_a_session_are_its_own", scope=TWO_POSITIONS, steps=7,
        source="row locks of the server",
        elsewhere="The mutant `composed_applier_robs_sent_clients` of the reference.",
    ),
    Counterexample(
        id="C118", title="a session that changes a row which a worker of its member has locked",
        system=variant_of_parallel_group(name="parallel_group[sessions rush]", sessions_wait=False),
        statement="rows_of_a_session_are_its_own", scope=TWO_POSITIONS, steps=7,
        source="row locks of the server",
        elsewhere="The mutant `composed_client_reads_without_lock` of the reference.",
    ),
    Counterexample(
        id="C119", title="without commit order, readers of a member see what is no prefix",
        system=variant_of_parallel_group(
            name="parallel_group[prefixes claimed]", commits_in_order=False, claims_prefixes=True),
        statement="members_show_prefixes", scope=TWO_POSITIONS, steps=9,
        source="MySQL bug 89195; replica_preserve_commit_order=OFF",
        elsewhere="The mutant `composed_commit_order_binds_nobody` of the reference.",
    ),
    Counterexample(
        id="C120", title="without commit order, a worker on a session's row loses an update",
        system=variant_of_parallel_group(
            name="parallel_group[any order, workers rush]", commits_in_order=False,
            workers_wait=False),
        statement="changes_are_made_on_the_last_version", scope=TWO_POSITIONS, steps=11,
        source="row locks of the server",
        elsewhere="The mutant `composed_applier_robs_sent_clients` of the reference.",
    ),
    Counterexample(
        id="C121", title="AFTER_COMMIT in a group: readers see what no other member has",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[readers after commit]", claims_for_all_readers=True),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=5,
        source="rpl_semi_sync_source_wait_point=AFTER_COMMIT",
        elsewhere="The reference's composed system with `after_commit`.",
    ),
    Counterexample(
        id="C122", title="in a group, a session that does not wait before its engine commit",
        system=variant_of_acknowledged_group(name="acknowledged_group[no wait]", waits=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=5,
        source="assumption A5: time-outs; a group without semi-sync",
        elsewhere="The mutant `composed_commit_does_not_wait` of the reference.",
    ),
    Counterexample(
        id="C123", title="in a group, a client that is answered before the acknowledgements",
        system=variant_of_acknowledged_group(name="acknowledged_group[no wait]", waits=False),
        statement="what_clients_are_told_is_at_others", scope=TWO_POSITIONS, steps=6,
        source="assumption A5: time-outs; a group without semi-sync",
        elsewhere="The mutant `composed_answer_does_not_wait` of the reference.",
    ),
    Counterexample(
        id="C124", title="in a group, one member of the set is enough",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[one of the set]", all_of_the_set=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=7,
        source="rpl_semi_sync_source_wait_for_replica_count; MySQL bug 109829",
        elsewhere="C41 is the same of the replicas of a source.",
    ),
    Counterexample(
        id="C125", title="a member acknowledges what it has not written to its relay log",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[only delivered]", of_what_is_written=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=6,
        source="delivery by the group alone: messages are in memory",
        elsewhere="The mutant `composed_sending_counts_as_receipt` of the reference.",
    ),
    Counterexample(
        id="C126", title="a joiner counts for what it has yet to copy from its donor",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[joiners count]", of_the_stream_only=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=7,
        source="distributed recovery; View_change_log_event",
        elsewhere="The reference counts no server that joined later.",
    ),
    Counterexample(
        id="C127", title="a session that waits for those that remain, though they are too few",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[few remain]", waits_for_few=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=6,
        source="rpl_semi_sync_source_wait_no_replica=OFF",
        elsewhere="The reference's composed system waits so.",
    ),
    Counterexample(
        id="C128", title="a member that counts its own log among the acknowledgements",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[counts itself]", others_only=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=6,
        source="rpl_semi_sync_source_wait_for_replica_count counts replicas",
        elsewhere="The mutant `composed_member_counts_itself` of the reference.",
    ),
    Counterexample(
        id="C129", title="an acknowledgement that counts after its member has crashed",
        system=variant_of_acknowledged_group(
            name="acknowledged_group[crashed count]", of_members_only=False),
        statement="what_readers_see_is_at_others", scope=TWO_POSITIONS, steps=8,
        source="MDEV-162: the acknowledgement stands for a copy",
        elsewhere="The mutant `composed_acknowledgement_outlives_its_member` of the reference.",
    ),
    Counterexample(
        id="C131", title="a member that comes back commits again what it has",
        system=variant_of_returning_group(name="returning_group[no skip]", skips_executed=False),
        statement="nothing_commits_twice", scope=TWO_POSITIONS, steps=10,
        source="WL#8440, GTID auto-skip; a relay log that is kept and read again",
        elsewhere="The mutant `executed_again_after_crash` of the reference.",
    ),
    Counterexample(
        id="C132", title="a member is online before it has what its donor had",
        system=variant_of_returning_group(
            name="returning_group[online at once]", recovers_first=False),
        statement="stable_is_applied_at_every_member", scope=TWO_POSITIONS, steps=9,
        source="group_replication_recovery_complete_at; View_change_log_event",
        elsewhere="The mutant `joiner_is_online_before_it_caught_up` of the reference.",
    ),
    Counterexample(
        id="C133", title="a member's GTID set lacks what its data has",
        system=variant_of_returning_group(
            name="returning_group[gtid apart]", gtid_with_data=False),
        statement="nothing_commits_twice", scope=TWO_POSITIONS, steps=11,
        source="assumption A15; engines without transactions",
    ),
    Counterexample(
        id="C134", title="a member names to its donor what a crash took from its relay log",
        system=variant_of_returning_group(
            name="returning_group[tells what is lost]", tells_what_it_has=False),
        statement="nothing_is_passed_over", scope=TWO_POSITIONS, steps=10,
        source="Retrieved_Gtid_Set and a relay log that was not synced",
        elsewhere="C100 is the same of one source and one replica.",
    ),
)  # fmt: skip
