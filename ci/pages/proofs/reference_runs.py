"""The reference implementation's run for each counterexample.

Sizes and options are minimal; programs come from minimised random schedules.
``ci/pages/proofs/replays.py`` checks them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ci.pages.proofs.replays import ReferenceRun
from paraply.models.recorded import (
    by_gtid,
    mariadb,
    members,
    quorums,
    replicas,
    returning_groups,
    sources,
    whole_members,
)
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue

UNORDERED = "logical_clock_unordered"

_ONE_FILE: dict[str, OptionValue] = {"rotations": 0, "collections": 0, "sessions": 1}
_CALM: dict[str, OptionValue] = {"joins": 0, "departures": 0}
_STAYS: dict[str, OptionValue] = {"abandons": 0, "loses_source": False, "rotations": 0}
_WORKERS = Workload(
    transactions=4, rows=3, dialect=UNORDERED,
    options={**_ONE_FILE, "workers": 3, "reads": 0, "barriers": False},
)  # fmt: skip


def _applier(transactions: int, **options: OptionValue) -> Workload:
    return Workload(
        transactions=transactions, rows=3, dialect=UNORDERED,
        options={**_ONE_FILE, "reads": 0, "barriers": False, **options},
    )  # fmt: skip


def _certifier(transactions: int, rows: int, **options: OptionValue) -> Workload:
    alone: dict[str, OptionValue] = {"views": 0, "collections": 0, "locals": False, "lag": 0}
    return Workload(transactions=transactions, rows=rows, options={**alone, **options})


def _semi_sync(transactions: int, dialect: str = "", **options: OptionValue) -> Workload:
    return Workload(
        transactions=transactions, rows=1, dialect=dialect, options={**_STAYS, **options}
    )


def _group(transactions: int, rows: int, **options: OptionValue) -> Workload:
    return Workload(transactions=transactions, rows=rows, options={**_CALM, **options})


RUNS: dict[str, ReferenceRun] = {
    "C01": ReferenceRun(
        subject="applier",
        fault="stamps=wl8440_literal", breaks="no_conflicting_parallel_apply",
        workload=_applier(3, stamps="wl8440_literal", barriers=True),
        reading=replicas.log_and_starts,
        program="AgIAAAADAAEAAAAAAA",
    ),
    "C02": ReferenceRun(
        mutant="collection_opens_the_window_at_next",
        breaks="last_committed_is_below_sequence_number",
        workload=_certifier(3, 2, collections=1), reading=members.timestamps,
        program="AAEAAA",
    ),
    "C03": ReferenceRun(
        mutant="collection_opens_no_window", breaks="window_covers_what_was_purged",
        workload=_certifier(4, 2, collections=1, barriers=False), reading=members.timestamps,
        program="AAAAAQABAA",
    ),
    "C04": ReferenceRun(
        mutant="last_committed_is_one_parent", breaks="starts_respect_last_committed",
        workload=_WORKERS, reading=replicas.log_and_starts,
        program="AQEBAQEFAAEBAQABAQ",
    ),
    "C05": ReferenceRun(
        mutant="view_change_is_applied_beside_others", breaks="view_changes_are_applied_alone",
        reading=partial(members.timestamps, member="r2"),
        program="AAAAAQABAAIEAQABAQICAgABAAABAAAAAgACAQICAQAAAgECAQEAAAEAAAAAAAAAAAAAAAA",
    ),
    "C06": ReferenceRun(
        mutant="snapshot_is_what_was_certified", breaks="conflicting_transactions_are_ordered",
        workload=_group(3, 1), reading=members.timestamps,
        program="AgMAAQICAgAAAAAAAAAAAAAAAA",
    ),
    "C07": ReferenceRun(
        mutant="broadcast_bypasses_the_queue", breaks="first_certified_wins",
        reading=members.certification,
        program="AgADAAMBAAEBAAADAgMCAAEBAgABAQECAQAAAQACAQMAAAAAAAAAAAAAAAAAAA",
    ),
    "C08": ReferenceRun(
        mutant="version_lacks_the_writers_gtid", breaks="first_certified_wins",
        workload=_certifier(2, 1, lag=1, barriers=False), reading=members.certification,
        program="AQ",
    ),
    "C09": ReferenceRun(
        mutant="round_purges_everything", breaks="first_certified_wins",
        workload=_group(2, 1), reading=members.certification,
        program="AAQAAwABBAAAAAAAAAAAAAAAAAAAAA",
    ),
    "C10": ReferenceRun(
        subject="group",
        fault="preserve_commit_order=false", breaks="refusals_are_deserved",
        workload=_group(
            3, 2, preserve_commit_order=False, broadcasts=0, barriers=False, sessions=2
        ),
        reading=members.certification,
        because="only_conflicts_are_refused judges closed snapshots only, for such a refusal is "
        "by design",
        program="AAAAAQAAAgMDAAAAAA",
    ),
    "C11": ReferenceRun(
        subject="applier",
        fault="dialect=logical_clock_unordered", breaks="engine_commits_follow_the_log",
        workload=_applier(3), reading=replicas.commit_order,
        program="AAAAAAEBAQ",
    ),
    "C12": ReferenceRun(
        subject="applier",
        fault="dialect=logical_clock_unordered", breaks="readers_see_prefixes",
        workload=_applier(3, reads=2), reading=replicas.commit_order,
        program="AAAAAAABAQEBAAAA",
    ),
    "C13": ReferenceRun(
        mutant="deadlock_is_not_reported", breaks="applier_reaches_the_end",
        workload=Workload(transactions=3, rows=2, options={"reads": 0}),
        reading=replicas.commit_order,
        program="AAABAAABAAABAQ",
    ),
    "C14": ReferenceRun(
        subject="semi_sync",
        fault="dialect=after_commit", breaks="visible_only_after_acknowledgement",
        workload=_semi_sync(1, "after_commit", source_crashes=0), reading=sources.semi_sync,
        program="AAAAAQAAAAA",
    ),
    "C15": ReferenceRun(
        subject="semi_sync",
        fault="dialect=stock_recovery", breaks="visible_only_after_acknowledgement",
        workload=_semi_sync(1, "stock_recovery"), reading=sources.semi_sync,
        program="AAAAAQEAAAA",
    ),
    "C16": ReferenceRun(
        mutant="killed_waiter_commits_in_silence", breaks="visible_only_after_acknowledgement",
        workload=_semi_sync(1, source_crashes=0, abandons=1), reading=sources.semi_sync,
        program="AAEAAAABAAAA",
    ),
    "C17": ReferenceRun(
        mutant="killed_waiter_commits_in_silence", breaks="confirmed_only_after_acknowledgement",
        workload=_semi_sync(1, source_crashes=0, abandons=1), reading=sources.semi_sync,
        program="AAEAAAAAAAA",
    ),
    "C18": ReferenceRun(
        mutant="mutexes_are_not_chained", breaks="stages_follow_the_binary_log",
        workload=_semi_sync(2, source_crashes=0), reading=sources.semi_sync,
        program="AQAAAAAAAAABAAAAAAA",
    ),
    "C19": ReferenceRun(
        subject="semi_sync",
        fault="sync_binlog=0", breaks="replicas_are_never_ahead",
        workload=_semi_sync(1, sync_binlog=0), reading=sources.semi_sync,
        program="AAAAAAAAAAAA",
    ),
    "C20": ReferenceRun(
        mutant="broadcast_bypasses_the_queue", breaks="members_decide_alike",
        reading=members.two_members,
        program="AAABAQEBAgABAQECAAIAAAABAAIBAgAAAAAAAAABAQEDAAAAAAAAAAAAAAA",
    ),
    "C21": ReferenceRun(
        mutant="full_history_leaves_no_trace", breaks="conflicting_transactions_are_ordered",
        reading=sources.bounds_at_source,
        program="AAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ),
    "C22": ReferenceRun(
        mutant="commit_parent_of_the_first_statement",
        breaks="conflicting_transactions_are_ordered",
        workload=Workload(transactions=3, rows=2, options={"flavours": False, "rotations": 0}),
        reading=sources.bounds_at_source,
        program="AAAAAAAAAAEBAQABAAE",
    ),
    "C23": ReferenceRun(
        mutant="last_committed_is_one_parent", breaks="starts_respect_last_committed",
        workload=_WORKERS, reading=replicas.bounds_on_replica,
        because="the bound is last_committed; the reference has no Galera certification index",
        program="AQEBAQEFAAEBAQABAQ",
    ),
    "C24": ReferenceRun(
        mutant="executed_again_after_crash", breaks="applied_exactly_once",
        workload=_applier(3, crashes=1, barriers=True), reading=replicas.restart,
        program="AwAFAAAAAQ",
    ),
    "C25": ReferenceRun(
        mutant="recovery_from_newest_file", breaks="applied_exactly_once",
        workload=_applier(3, crashes=1, rotations=1), reading=replicas.restart,
        program="AAAAAQAAAQ",
    ),
    "C26": ReferenceRun(
        mutant="position_row_commits_after", breaks="position_covers_all_that_is_applied",
        workload=Workload(transactions=2, rows=2, options={"domains": 1}),
        reading=replicas.restart,
        program="AAMAAAAAAAABAAAAAAAAAAAAAAAA",
    ),
    "C27": ReferenceRun(
        mutant="checkpoint_is_highest", breaks="saved_positions_are_executed",
        workload=_applier(4, crashes=0, checkpoints=1, recovery="positions"),
        reading=replicas.restart,
        program="AAAAAAAAAAEBAQE",
    ),
    "C28": ReferenceRun(
        mutant="local_items_bear_a_number", breaks="last_committed_is_minimal",
        workload=_certifier(3, 2, locals=True, barriers=False), reading=members.timestamps,
        program="AQEAAAAA",
    ),
    "C29": ReferenceRun(
        mutant="low_water_mark_is_highest_done", breaks="starts_respect_last_committed",
        workload=_WORKERS, reading=replicas.low_water_mark,
        program="AAIBAAAAAAEBAQABAAAAAA",
    ),
    "C30": ReferenceRun(
        mutant="low_water_mark_survives_rotation", breaks="starts_respect_last_committed",
        workload=_applier(3, workers=3, rotations=1), reading=replicas.low_water_mark,
        program="AAEBAAABAAABAAAA",
    ),
    "C31": ReferenceRun(
        mutant="commit_start_is_not_revoked", breaks="sound_log_never_fails",
        reading=mariadb.batches,
        program="AAEAAAEBAQEAAQAAAAAAAAAAAQEBAAAAAAAAAAAAAAAA",
    ),
    "C32": ReferenceRun(
        mutant="rollback_precedes_revocation", breaks="sound_log_never_fails",
        reading=mariadb.batches,
        program="AAIAAQABAQAAAAABAAAAAAACAgICAgAAAAAAAQAAAA",
    ),
    "C33": ReferenceRun(
        mutant="commit_ids_are_all_equal", breaks="sound_log_never_fails",
        reading=mariadb.batches,
        program="AAEBAQEBAQACAgI",
    ),
    "C34": ReferenceRun(
        mutant="started_commit_fails_for_a_moment", breaks="sound_log_never_fails",
        workload=Workload(transactions=2), reading=mariadb.batches,
        program="AQADAAAAAAAAAQIBAAE",
    ),
    "C35": ReferenceRun(
        mutant="kill_outlives_its_reason", breaks="sound_log_never_fails",
        reading=mariadb.batches,
        program="AAABAgEAAAEAAQAAAAEAAAAAAAA",
    ),
    "C36": ReferenceRun(
        mutant="batch_has_no_barrier", breaks="commit_groups_never_overlap",
        reading=mariadb.batches,
        program="AAAAAgAAAAAAAAACAAMDAwEAAAAAAAAAAA",
    ),
    "C37": ReferenceRun(
        mutant="row_waits_are_not_reported", breaks="replica_never_stalls",
        reading=mariadb.batches,
        workload=Workload(
            transactions=4, rows=2, dialect="conservative", options={"extra_locks": "domain"}
        ),
        is_stuck=True,
        program="AAAAAAABAAEBAAEAAAAAAAAAAAAAAAAAAAAA",
    ),
    "C38": ReferenceRun(
        mutant="rotation_waits_under_lock_log", breaks="commits_reach_their_end",
        reading=sources.rotation,
        is_stuck=True,
        program="AAAAAAI",
    ),
    "C39": ReferenceRun(
        subject="semi_sync",
        fault="dump_takes_lock_log=true", breaks="commits_reach_their_end",
        workload=_semi_sync(2, dump_takes_lock_log=True, source_crashes=0),
        reading=sources.rotation,
        is_stuck=True,
        program="AQAA",
    ),
    "C40": ReferenceRun(
        mutant="relay_log_is_discarded_at_restart", breaks="steps_run_out",
        workload=Workload(
            transactions=1, rows=1, options={**_STAYS, "replica_crashes": 1, "reads": 0}
        ),
        reading=sources.rotation,
        because="one round of it: as often as a crash throws the relay log away, it is sent again",
        program="AAAAAgE",
    ),
    "C41": ReferenceRun(
        mutant="one_acknowledgement_suffices", breaks="visible_only_after_acknowledgement",
        reading=quorums.quorum,
        program="AAEDAAAAAwEE",
    ),
    "C42": ReferenceRun(
        mutant="relay_log_is_discarded_at_restart", breaks="what_was_seen_survives",
        reading=quorums.quorum,
        program="AAAAAAAAAgAAAgM",
    ),
    "C43": ReferenceRun(
        mutant="too_few_replicas_are_asked", breaks="what_was_seen_survives",
        reading=quorums.quorum,
        program="AAEBAwAAAAACAwE",
    ),
    "C44": ReferenceRun(
        mutant="any_replica_is_promoted", breaks="what_was_seen_survives",
        reading=quorums.quorum,
        program="AAABBAECAAMF",
    ),
    "C45": ReferenceRun(
        mutant="position_row_commits_before", breaks="position_covers_only_what_is_applied",
        workload=Workload(
            transactions=1, rows=1,
            options={"domains": 1, "retries": 0, "reads": 0, "cleanups": 0, "stops": 0},
        ),
        reading=mariadb.crash_points,
        program="AAAB",
    ),
    "C46": ReferenceRun(
        mutant="recovery_commits_the_unlogged", breaks="position_covers_all_that_is_applied",
        because="the second engine is the binary log, which holds the position",
        unread="there the other engine is one that commits, here it is the binary log itself",
        program="AAAAAAAAAAABAAEBAAAAAAAAAAA",
    ),
    "C47": ReferenceRun(
        mutant="position_row_is_forgotten_on_retry", breaks="position_covers_all_that_is_applied",
        workload=Workload(transactions=2, rows=2, options={"domains": 1, "cleanups": 0}),
        reading=mariadb.crash_points,
        program="AAQDAQABAgAAAAAA",
    ),
    "C48": ReferenceRun(
        mutant="stable_set_is_a_union", breaks="changes_land_as_certified",
        reading=whole_members.end_to_end,
        program="AQMAAQACAAIAAwACAQECAAEBAAAEAgEAAAAAAAAAAAAAAAAAAAAAAA",
    ),
    "C49": ReferenceRun(
        mutant="snapshot_is_what_was_certified", breaks="changes_land_as_certified",
        workload=_group(3, 1, barriers=False),
        reading=whole_members.end_to_end,
        program="AQMAAAEAAAAAAAAAAAAAAAAAAA",
    ),
    "C50": ReferenceRun(
        mutant="session_gives_up_its_rows", breaks="changes_land_as_certified",
        workload=_group(2, 1), reading=whole_members.end_to_end,
        program="AAEBAQAAAAA",
    ),
    "C51": ReferenceRun(
        mutant="worker_ignores_last_committed", breaks="changes_land_as_certified",
        workload=_group(2, 1), reading=partial(whole_members.end_to_end, member="r2"),
        program="AAABAAABAgAA",
    ),
    "C52": ReferenceRun(
        mutant="joiner_starts_before_recovery_is_done", breaks="changes_land_as_certified",
        workload=Workload(transactions=2, rows=2),
        reading=partial(whole_members.end_to_end, member="r2"),
        program="AAECAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ),
    "C53": ReferenceRun(
        subject="group",
        fault="ddl_is_apart=false", breaks="definitions_are_as_certified",
        workload=_group(
            2, 1, alterations=1, ddl_is_apart=False, broadcasts=0, barriers=False
        ),
        reading=whole_members.end_to_end,
        program="AQEBAAAA",
    ),
    "C54": ReferenceRun(
        mutant="metadata_lock_is_not_taken", breaks="definitions_are_as_certified",
        workload=_group(2, 1), reading=partial(whole_members.end_to_end, member="r2"),
        program="AQEAAAAAAAAA",
    ),
    "C55": ReferenceRun(
        mutant="worker_ignores_last_committed", breaks="members_converge",
        workload=_group(2, 1), reading=partial(whole_members.end_to_end, member="r2"),
        program="AAABAAABAgAA",
    ),
    "C68": ReferenceRun(
        mutant="worker_that_waits_for_a_row_is_not_called_back", breaks="applier_reaches_the_end",
        workload=Workload(transactions=4, rows=3, options={"reads": 0}),
        unread="a lasso breaks no state, and locks beside writes are no events of a history",
        because="three workers wait in the same circle of two rows and a turn",
        program="AQEAAAEAAAACAQAAAQEBAQ",
    ),
    "C69": ReferenceRun(
        mutant="row_waiter_asks_again", breaks="row_waits_last_until_the_holder_ends",
        workload=Workload(transactions=3, rows=3, options={"reads": 0}),
        unread="a recorded run ends, so it is no run without end",
        because="the waiter does not sleep in the queue of the row, so any other transaction can "
        "take the freed row first",
        program="AAAAAAEBAAABAQAAAQ",
    ),
    "C133": ReferenceRun(
        mutant="composed_crash_recovery_forgets_gtids", breaks="applier_does_not_give_up",
        workload=Workload(
            transactions=1, rows=1, members=2, dialect="mysql_9_7",
            options={"joins": 1, "departures": 1, "broadcasts": 0, "reads": 0, "alterations": 0,
                     "barriers": False, "deletes": False, "sessions": 1,
                     "one_commit_order": False},
        ),
        reading=returning_groups.gtids_apart, program="AAEAAAEAAQcCAAAAAAAAAAA",
        because="there the second commit finds a row that is no longer as the first found it",
    ),
    "C137": ReferenceRun(
        mutant="killed_waiter_commits_in_silence", breaks="confirmed_only_after_acknowledgement",
        workload=_semi_sync(1, "after_commit", source_crashes=0, abandons=1),
        reading=partial(sources.semi_sync, by_transaction=True), program="AAAAAgAAAAA",
    ),
}  # fmt: skip
"""By the counterexample's identifier."""

SAME_FAULT = {
    "C56": "C52", "C57": "C06", "C58": "C48", "C59": "C53", "C60": "C01", "C61": "C04",
    "C62": "C05", "C63": "C48", "C64": "C49", "C65": "C51", "C66": "C05", "C67": "C09",
}  # fmt: skip
"""Another counterexample with the same fault."""

_ASIDE = {"C67": partial(members.two_members, first="r2", second="r1")}

RUNS |= {
    name: replace(
        RUNS[other],
        reading=_ASIDE.get(name),
        unread=""
        if name in _ASIDE
        else f"that is of two side by side; the run is read as steps of one of them for {other}",
        because=RUNS[other].because or f"as in {other}",
    )
    for name, other in SAME_FAULT.items()
}

RUNS["C104"] = replace(RUNS["C24"], reading=by_gtid.crashes)

_RELATED = {
    "C70": ("C68", "locks beside writes are no events of a history",
            "three workers wait in a circle of two rows and a turn"),
    "C71": ("C26", "the reading names the position, not the executed set",
            "the position row of MariaDB is its record of executed GTIDs"),
    "C72": ("C42", "the reading is of several replicas, of which one forgets",
            "the relay log that is discarded is that of a semi-synchronous replica"),
    "C73": ("C19", "there the log that loses its end is the source's",
            "the binary log that loses its end is the source's"),
    "C74": ("C19", "the reading counts groups and does not compare their contents",
            "the replica is ahead of the restarted source, which gives the number again"),
}  # fmt: skip
"""The nearest run of the reference, why it is not read, and how it differs."""

RUNS |= {
    name: replace(RUNS[other], reading=None, unread=unread, because=because)
    for name, (other, unread, because) in _RELATED.items()
}
