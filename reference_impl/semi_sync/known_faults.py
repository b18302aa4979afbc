"""Faults of real servers in group commit and semi-sync, and the mutants that stand for them.

The list is that of the project's survey of bug reports, release notes and own measurements, entry
by entry; a test asks that every mutant is there and is caught, and that no entry is without one
unless it says why.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """One entry: its bug numbers, what went wrong, and the mutants that do the same.

    ``instead`` says what stands for it where no mutant does.
    """

    known_as: str
    server: str
    what: str
    mutants: tuple[str, ...] = ()
    instead: str = ""


KNOWN_FAULTS = (
    KnownFault(known_as="44058 (5); the 5.6 three-way deadlock", server="MySQL",
               what="a rotation, a waiter and the dump thread wait for each other",
               mutants=("rotation_waits_under_lock_log",)),
    KnownFault(known_as="109829", server="MySQL",
               what="the last smaller slot is taken for the least acknowledged position",
               mutants=("least_slot_is_the_last_smaller", "one_acknowledgement_suffices")),
    KnownFault(known_as="99370", server="MySQL", what="unacknowledged, and committed by recovery",
               mutants=("recovery_commits_unacknowledged",)),
    KnownFault(known_as="89370", server="MySQL",
               what="reading replies starves the registration of a second replica",
               mutants=("registration_starves",)),
    KnownFault(known_as="68250", server="MySQL", what="a reply is not read until the next event",
               mutants=("reply_is_read_late",)),
    KnownFault(known_as="89331", server="MySQL",
               what="a stage's mutex is taken before the last one's is released",
               mutants=("stage_mutex_is_taken_before_release",)),
    KnownFault(known_as="92882, 73397, 80102", server="MySQL",
               what="recovery of a replica walks relay logs that are lost or were not synced",
               mutants=("recovery_ignores_bitmaps", "reading_goes_on_after_crash")),
    KnownFault(known_as="113489", server="MySQL",
               what="a crash between a new binary log and the saving of GTIDs: they are reused",
               mutants=("gtids_start_again_after_a_crash",)),
    KnownFault(known_as="105748", server="MySQL", what="AFTER consistency and a rejoin",
               instead="its cause is not public; nothing can be modelled"),
    KnownFault(known_as="sync_binlog other than 1", server="MySQL, MariaDB",
               what="a crash leaves a replica ahead",
               mutants=("replicas_are_sent_the_unsynced",)),
    KnownFault(known_as="AFTER_COMMIT", server="MySQL, MariaDB",
               what="visible before anybody has it",
               mutants=("engine_commit_does_not_wait", "client_is_told_before_the_wait",
                        "reader_sees_synced_groups")),
    KnownFault(known_as="MDEV-6775", server="MariaDB", what="binlog order is not commit order",
               mutants=("engine_commits_in_reverse", "followers_go_before_their_leader")),
    KnownFault(known_as="MDEV-6462, MDEV-6903, MDEV-7121", server="MariaDB",
               what="a crash in the middle of a group leaves half of it",
               mutants=("crash_keeps_unfinished_rows", "recovery_keeps_the_unlogged")),
    KnownFault(known_as="MDEV-24526", server="MariaDB",
               what="a checkpoint names a newer file before an older transaction committed",
               mutants=("recovery_scans_the_newest_file", "recovery_rolls_back_the_logged")),
    KnownFault(known_as="MDEV-7310", server="MariaDB",
               what="the last commit's place is wrong after a rotation inside a group commit",
               mutants=("snapshot_place_is_stale",)),
    KnownFault(known_as="MDEV-35506, MDEV-37541, MDEV-37662", server="MariaDB",
               what="the binlog write fails and the engine commits",
               mutants=("unwritten_transaction_commits",)),
    KnownFault(known_as="MDEV-14721", server="MariaDB",
               what="the dump thread leaves out part of the log",
               mutants=("dump_thread_skips_after_rotation",)),
    KnownFault(known_as="MDEV-162's crash case; measured, a", server="MariaDB",
               what="unacknowledged, and visible after recovery",
               mutants=("recovery_commits_unacknowledged", "recovery_opens_at_once",
                        "recovered_is_released_unasked", "recovered_is_released_last_first")),
    KnownFault(known_as="measured, b and c", server="MariaDB", what="KILL of a waiter commits",
               mutants=("killed_waiter_commits_in_silence",)),
    KnownFault(known_as="measured, d and e", server="MariaDB",
               what="one time-out, or the switch, lets everybody go",
               mutants=("one_timeout_frees_all", "semi_sync_stays_off")),
    KnownFault(known_as="measured, f", server="MariaDB", what="nobody is connected, nobody waits",
               mutants=("nobody_connected_counts_as_all", "wait_ends_when_one_replica_goes")),
    KnownFault(known_as="measured, g; MDEV-7591", server="MariaDB",
               what="the position that a replica asks for counts as its acknowledgement",
               mutants=("connecting_counts_as_acknowledging", "connecting_position_is_ignored")),
    KnownFault(known_as="MDEV-11853", server="MariaDB",
               what="a shutdown kills waiters before the acknowledgement",
               mutants=("shutdown_releases_as_acknowledged",)),
    KnownFault(known_as="MDEV-21117, MDEV-28461, MDEV-33465", server="MariaDB",
               what="truncation is missing, not complete, too much, or on a server that stays",
               mutants=("old_source_is_not_fenced", "truncation_leaves_one",
                        "truncation_takes_the_committed", "source_truncates_and_stays")),
    KnownFault(known_as="MDEV-4698; measured, loss of acknowledged data", server="MariaDB",
               what="an acknowledged relay log is discarded",
               mutants=("relay_log_is_discarded_at_restart", "promotion_discards_the_relay_log",
                        "promoted_before_applied")),
    KnownFault(known_as="MDEV-32960", server="MariaDB",
               what="an acknowledged transaction times out with several replicas",
               mutants=("last_reply_decides",)),
    KnownFault(known_as="positions compared by strcmp", server="MariaDB",
               what="bin.1000000 lies before bin.999999",
               mutants=("positions_compare_as_text", "acknowledged_position_off_by_one")),
    KnownFault(known_as="the text's own warnings", server="MDEV-162",
               what="un-chained mutexes, another position than the group's last, a stage left out",
               mutants=("mutexes_are_not_chained", "group_waits_for_its_first",
                        "group_skips_its_sync")),
    KnownFault(known_as="fail-over procedure", server="any", what="a replica that lags is promoted",
               mutants=("any_replica_is_promoted",)),
)  # fmt: skip
