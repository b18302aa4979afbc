"""Why no property catches the surviving mutants of the reference, found by reading the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE = "the function is gone from today's code; "
OWN_TABLE = (
    "clients may execute beside a DDL; the lock that the applier meets reads the kind, and holds"
)
CIRCLE = "a circle within a domain ends all the same by `must_kill`, and one across by its time-out"
MORE_COPIES = "recovery copies also what came after the view change, each transaction once"
AS_WRITTEN = "`watermark=as_written` is known to save wrong positions, so no breach was unexpected"
LIMIT = "queues hold more parts than their limit, which bounds memory and no order"
CREATED = "no other statement uses the created table, so that its write set suffices"

REASONS: Mapping[str, str] = {
    "applier.replica:Replica.must_yield": GONE
    + "a later holder was rolled back without need: slower, and not wrong",
    "certification.certifier:Certifier.find_conflict": "the transaction is refused all the same; "
    "only the stated item differs",
    "certification.dialects:wait_for_the_window": "barriers of `wl8440_literal` wait for too few "
    "transactions also without the change, so no breach was unexpected",
    "certification.garbage_collection:CollectionRound.on_executed_set": "a later report of the "
    "same member or one more reporter gives another stable set, which is also right",
    "certification.lc_sn:ParallelizationIndexes.__init__": "all numbers are one higher and keep "
    "their order",
    "certification.subject:_Stream.collect": "a collection may repeat the last stable set, which "
    "is allowed",
    "composed.applier:Applier.on_lock_wait": "the worker asks again instead of waiting, and gets "
    "the row only when it is free",
    "composed.applier:Applier.step_of": "a view change waits for the same transactions before it "
    "begins, instead of before it commits",
    "composed.member:ComposedMember.flushable": "engine commits keep their order by `is_turn_of`; "
    "only flushes come earlier",
    "composed.member:ComposedMember.recover_binary_log": "the donor sends what the recovery "
    "leaves out",
    "composed.member:Execution.alters": OWN_TABLE,
    "composed.member:Execution.uses_table": OWN_TABLE,
    "group.group:Group.step_recovery": MORE_COPIES,
    "group.member:Member.on_members_known": "all members elect the same second candidate, and no "
    "property names the right one",
    "group.member:Member.reporters": "a round waits also for members in recovery, so that less is "
    "collected",
    "mariadb.driver:Driver.driver_steps": "in mode `none` the one worker gets its next groups "
    "earlier and applies them in the same order",
    "mariadb.groups:EventGroup.begin_again": "a retry may be killed again",
    "mariadb.locking:LockingDriver": CIRCLE,
    "mariadb.replica:ParallelReplica.on_error": "other domains apply all that is queued before "
    "they stop",
    "mariadb.replica:ParallelReplica.on_row_error": "an error is retried up to the limit, and then "
    "stops the replica as before",
    "mariadb.source:GroupCommitSource.commit_id": "commit ids are one higher and make the same "
    "groups",
    "mariadb_gtid.applying:ApplyingReplica.new_row": "each transaction raises an exception; a DDL "
    "loses its position, as `table_with_ddl` is known to",
    "mariadb_gtid.applying:ApplyingReplica.on_dispatch": "workers are numbered from 2; runs that "
    "need the last one raise an exception, which is no verdict",
    "mariadb_gtid.applying:ApplyingReplica.on_group": "a log that need not be synced is synced: "
    "safer than asked",
    "mariadb_gtid.binlog_files:Binlog.may_start_in": "open: the code gives no reason",
    "mariadb_gtid.gap_free:GapFreeServers.numbered": "a commit raises an exception, which is no "
    "verdict; a transaction that fails has no number to judge",
    "mariadb_gtid.gap_free:GapFreeServers.on_begin": "a schema gets another name",
    "mariadb_gtid.gap_free:GapFreeServers.on_received": "the wrong transactions are recorded as "
    "filtered",
    "mariadb_gtid.network:Network.on_write": "a schema gets a letter as its name",
    "mariadb_gtid.network:Network.schema_of": "`out_of_order`, the only dialect that reads it, was "
    "known to break every order",
    "mariadb_gtid.position_store:RelayLogInfo.on_engine_commit": "`relay_log_info` is known to "
    "start from wrong positions, so no breach was unexpected",
    "mariadb_gtid.replica:PositionReplica.on_crash": "a stop that a crash interrupts takes place "
    "after the restart",
    "semi_sync.faults:Faults.forget": "a rotation or a shutdown follows the restart, and ends by "
    "itself",
    "semi_sync.faults:Faults.on_promoted": "a breach needs replicas that differ at the loss, and "
    "an acknowledgement by the more advanced one alone",
    "semi_sync.replication:Replication.replica_steps": "a replica that is down at the loss stays "
    "down, and the run ends without a promotion",
    "semi_sync.staging:Staging.on_engine_commit": "a group waits although semi-sync is off, until "
    "it is acknowledged",
    "semi_sync.waiting:Waiting.begin_wait": "with AFTER_COMMIT a wait is given up one stage early",
    "source_subject:SourceRun.execute": CREATED,
    "wl4648.merging:MergingReplica.on_engine_commit": "the watermark counts too few transactions, "
    "and a restart repeats more",
    "wl4648.merging:is_full": "a transaction of four rows stays alone: fewer are merged",
    "wl4648.parts:SerializableRowsReplica.can_read_on": "a breach needs a read of a locked row "
    "between the commits of two parts",
    "wl4648.parts:SerializableRowsReplica.on_read_row": "reads show one row each, which fits every "
    "order",
    "wl4648.parts:TableReplica.may_distribute": LIMIT,
    "wl4648.recovery:WatermarkAsWritten.counter": AS_WRITTEN,
}
"""By the start of the name, without the package of the reference."""


def reason_of(one: Mapping[str, Any]) -> str:
    """Return the reason for a survivor.

    Raises:
        LookupError: no reason is stored.
    """
    name = start_of(one)
    found = next((text for start, text in REASONS.items() if name.startswith(start)), None)
    if found is None:
        raise LookupError(f"{name} has no reason in {__name__}")
    return found


def start_of(one: Mapping[str, Any]) -> str:
    """Return the name that a key must begin: without the package of the reference."""
    return str(one["name"]).removeprefix("paraply.reference_impl.")
