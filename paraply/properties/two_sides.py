"""The other side of each safety property: who forbids to hold back more than it requires.

A subject that serialises everything breaks few safety properties. So each one names its *twins*,
properties of precision or progress that such a subject breaks, or one of a few reasons why holding
back cannot be its breach. Where a schedule decides when each step comes, the earliest moment is not
in the history: there the twin demands that the step comes at all, or in some history of a campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from paraply.properties.registry import Expectation, Property


class Alone(Enum):
    """Why a safety property needs no twin."""

    EXACT = "it states exactly what must be: too much breaks it as well as too little"
    ITSELF = "it demands a step, or forbids a needless one: it is the side of precision itself"
    SEQUENCE = "it orders the steps of one thread, connection or transaction, not those of two"
    NEVER = "it forbids a step that is wrong at any moment: no step waits for it"
    RECORD = "it compares what is recorded: no step waits for it"
    RESULT = "it judges a state; the steps that lead there are judged from both sides"
    CHOICE = "what it forbids is optional: an operator may order less"


TWINS: dict[str, str] = {
    # apply
    "logs_are_synced_before_the_next_step": (
        "waiting_costs_no_sync leaders_take_all_that_wait syncs_take_the_whole_queue "
        "logs_are_synced_only_if_configured"
    ),
    "engine_commits_follow_the_log": "waiting_costs_no_sync applier_reaches_the_end",
    "sessions_keep_their_order": "applier_reaches_the_end",
    "saved_positions_are_executed": (
        "saved_positions_keep_up positions_are_saved_when_due "
        "restarts_begin_after_the_saved_position"
    ),
    "workers_are_those_configured": (
        "transactions_start_as_soon_as_they_may workers_of_a_domain_take_turns "
        "all_configured_workers_are_busy"
    ),
    "jobs_have_at_most_the_configured_transactions": "small_neighbours_are_merged",
    "row_waits_last_until_the_holder_ends": (
        "rows_are_waited_for_while_held rows_are_granted_in_turn"
    ),
    "changed_rows_are_locked_until_the_end": (
        "rows_are_waited_for_while_held position_rows_block_only_the_same_row "
        "position_rows_never_wait"
    ),
    "crashed_servers_are_silent": "crashed_replicas_come_back applier_reaches_the_end",
    "logged_numbers_rise_above_last_committed": (
        "sequence_numbers_are_contiguous last_committed_is_minimal"
    ),
    "domains_apply_without_conflict": (
        "speculation_begins_at_once batches_begin_at_once rollbacks_have_a_reason"
    ),
    "domains_are_read_in_order": "snapshots_show_the_newest_versions",
    "domains_commit_in_order": "waiting_costs_no_sync leaders_take_all_that_wait",
    "replica_logs_domains_in_order": "waiting_costs_no_sync leaders_take_all_that_wait",
    "engine_commits_follow_the_replicas_log": "leaders_take_all_that_wait",
    "domains_keep_their_worker_limit": "workers_of_a_domain_take_turns",
    "errors_without_speculation_are_final": "sound_log_never_fails",
    "serial_modes_have_one_order": "batches_begin_at_once",
    "irreversible_changes_wait_for_all_before": "speculation_begins_at_once",
    "nothing_after_an_error_is_applied": "errors_undo_only_what_follows",
    "errors_let_nothing_new_begin": "errors_undo_only_what_follows",
    "only_later_transactions_are_killed": "rollbacks_have_a_reason",
    "no_conflicting_parallel_apply": (
        "transactions_start_as_soon_as_they_may speculation_begins_at_once batches_begin_at_once "
        "rows_are_waited_for_while_held"
    ),
    "starts_respect_last_committed": (
        "transactions_start_as_soon_as_they_may coordinators_sleep_below_the_mark_only"
    ),
    "parts_are_shown_when_all_rows_are_changed": "applier_reaches_the_end",
    "channels_hold_one_row": "applier_reaches_the_end",
    "stopped_servers_are_silent": "replica_never_stalls",
    "stops_leave_nothing_under_way": "replica_never_stalls",
    "sleepers_are_woken_for_cause": (
        "coordinators_sleep_below_the_mark_only applier_reaches_the_end"
    ),
    "attempts_end_with_the_configured_retries": "applier_does_not_give_up sound_log_never_fails",
    "queues_have_at_most_the_configured_groups": "transactions_are_queued_at_once",
    "coordinators_run_ahead_within_their_limit": "a_coordinator_runs_ahead_of_its_workers",
    "source_restarts_drain_the_workers": "transactions_are_queued_at_once",
    "retries_wait_for_all_before": "retries_begin_at_once replica_never_stalls",
    # certification
    "first_certified_wins": "only_conflicts_are_refused refusals_are_deserved",
    "gtids_are_unique": "gtid_numbers_leave_no_gap gtids_come_from_their_origins_block",
    "collection_never_changes_a_decision": (
        "certification_info_is_bounded reported_rounds_end_in_a_collection"
    ),
    "stable_set_is_executed_everywhere": "two_rounds_of_reports_make_stable",
    "nothing_needed_is_purged": "certification_info_is_bounded reported_rounds_end_in_a_collection",
    "window_covers_what_was_purged": "last_committed_is_minimal",
    "only_stored_items_are_purged": "certification_info_is_bounded",
    "executed_gtids_are_refused": "only_used_gtids_are_refused",
    "last_committed_is_below_sequence_number": "last_committed_is_minimal",
    "sequence_numbers_increase": (
        "sequence_numbers_are_contiguous collections_skip_at_most_one_number"
    ),
    "conflicting_transactions_are_ordered": (
        "last_committed_is_minimal complete_write_sets_wait_for_their_writers"
    ),
    "barriers_are_ordered_with_all": "last_committed_is_minimal",
    "timestamps_keep_session_order": "last_committed_is_minimal",
    "equal_keys_share_an_item": "items_are_shared_for_a_reason",
    "whole_values_have_items_of_their_own": "items_are_shared_for_a_reason",
    "children_share_an_item_with_their_parents": "items_are_shared_for_a_reason",
    "numbering_sources_commit_in_log_order": (
        "numbering_sources_commit_what_they_log a_source_logs_beside_an_uncommitted_one"
    ),
    "files_end_with_committed_transactions": "a_source_begins_a_file",
    # group
    "write_sets_depend_on_earlier_writers": "a_write_set_runs_beside_an_unseen_one",
    "senders_saw_writers_of_other_members": "a_write_set_runs_beside_an_unseen_one",
    "members_write_after_their_backlog": "clients_are_served_to_the_end",
    "only_the_primary_takes_writes": "clients_are_served_to_the_end",
    "remote_transactions_commit_as_certified": "members_end_at_rest",
    "own_transactions_commit_after_what_they_saw": "only_conflicts_are_refused",
    "joiners_catch_up_before_they_are_online": "members_end_at_rest",
    "joiners_recover_from_online_donors": "joiners_give_up_for_want_of_donors members_end_at_rest",
    "workers_begin_beside_no_ddl": "members_end_at_rest",
    "no_update_is_lost": "only_conflicts_are_refused refusals_are_deserved",
    "members_commit_in_one_order": "members_end_at_rest",
    "members_start_as_they_stamped": "last_committed_is_minimal members_end_at_rest",
    "own_commits_wait_for_other_members": "members_end_at_rest",
    "members_commit_as_flushed": "members_end_at_rest",
    "what_a_group_confirmed_survives": "members_end_at_rest",
    "members_cut_off_confirm_nothing": "members_end_at_rest",
    "members_answer_when_others_have_it": "members_end_at_rest",
    "members_serve_the_configured_clients": "clients_are_served_to_the_end",
    "members_show_only_what_they_committed": "snapshots_show_the_newest_versions",
    "members_show_prefixes_of_one_order": "snapshots_show_the_newest_versions",
    "members_show_prefixes_of_their_commits": "snapshots_show_the_newest_versions",
    "member_reads_never_go_back": "snapshots_show_the_newest_versions",
    "rows_stay_locked_until_the_end": "rows_are_waited_for_while_held",
    "view_changes_are_applied_alone": "members_end_at_rest",
    "no_delivery_crosses_a_view": "members_end_at_rest",
    "recovery_reaches_the_view_change": "recovery_stops_at_the_view_change",
    # gtid
    "replicas_receive_from_who_accepted_them": (
        "known_positions_are_accepted sources_refuse_where_they_have_purged"
    ),
    "domains_are_applied_as_received": "replicas_come_to_rest",
    "schemas_are_applied_as_received": "replicas_come_to_rest",
    "unknown_positions_are_refused": "known_positions_are_accepted",
    "elected_source_has_what_survivors_have": "clients_are_served_to_the_end",
    "position_rows_rise_in_their_domain": "position_rows_are_counted_one_by_one",
    "position_covers_only_what_is_applied": (
        "position_covers_all_that_is_applied shown_positions_keep_up"
    ),
    "promoted_servers_write_alone": "clients_are_served_to_the_end",
    "backups_take_over_from_lost_servers": "clients_are_served_to_the_end",
    "received_groups_are_applied_before_a_promotion": "clients_are_served_to_the_end",
    "sequences_rise_within_a_domain": "only_smaller_numbers_are_refused",
    "smaller_numbers_are_noticed": (
        "only_smaller_numbers_are_refused only_smaller_numbers_are_warned_of"
    ),
    "binlog_positions_are_logged": "binlog_positions_end_with_what_is_logged",
    # readers
    "session_reads_never_go_back": "sessions_read_their_writes",
    "readers_see_prefixes": "snapshots_show_the_newest_versions",
    "reads_never_go_back": "snapshots_show_the_newest_versions",
    "replica_reads_fit_one_order": "snapshots_show_the_newest_versions",
    # semi_sync
    "acknowledgements_follow_receipt": "receipts_are_heard",
    "barred_sources_take_no_clients": (
        "sources_at_rest_have_served_their_clients sources_stall_only_for_replicas"
    ),
    "acknowledgements_take_a_round_trip": "commits_wait_for_two_round_trips",
    "syncs_and_commits_take_their_time": "commits_wait_for_two_round_trips",
    "visible_only_after_acknowledgement": (
        "receipts_are_heard sources_stall_only_for_replicas snapshots_show_the_newest_versions"
    ),
    "confirmed_only_after_acknowledgement": (
        "receipts_are_heard sources_stall_only_for_replicas clients_are_answered_at_once"
    ),
    "what_was_seen_survives": "receipts_are_heard sources_stall_only_for_replicas",
    "what_was_confirmed_survives": "receipts_are_heard sources_stall_only_for_replicas",
    "waits_are_abandoned_only_for_cause": (
        "nothing_waits_while_semi_sync_is_off sources_stall_only_for_replicas"
    ),
    "readers_at_the_source_see_prefixes": "snapshots_show_the_newest_versions",
    "stages_follow_the_binary_log": (
        "syncs_take_the_whole_queue commits_take_the_whole_queue commits_reach_their_end"
    ),
    "replicas_are_never_ahead": "connected_replicas_get_the_log",
    "replicas_receive_prefixes": "connected_replicas_get_the_log",
    "returned_sources_have_nothing_extra": "source_is_refused_only_with_reason",
    "promoted_replicas_are_most_advanced": "lost_sources_are_succeeded",
    "waiting_shutdowns_send_everything": "sources_stall_only_for_replicas",
    "shutdowns_answer_their_clients": "sources_stall_only_for_replicas",
    "rotations_wait_for_logged_commits": "sources_stall_only_for_replicas commits_reach_their_end",
}
"""Safety property -> the properties that a subject breaks if it holds back too much for it."""

ALONE: dict[Alone, str] = {
    Alone.EXACT: """
        applied_exactly_once attempts_are_counted_one_by_one backups_have_what_their_position_covers
        clients_begin_as_stated certifications_are_counted_one_by_one
        commit_groups_meet_only_in_queues current_positions_add_own_writes
        executed_sets_name_what_is_logged files_list_what_was_logged_before
        filters_leave_out_what_they_name first_numbers_are_two
        irreversible_changes_are_final_at_once lost_sources_come_back_as_stated
        next_number_is_greatest_seen_plus_one numbers_begin_again_in_each_file
        only_beginnings_are_fences positions_are_written_where_they_are_kept
        purges_stop_at_the_slowest_server recovery_decides_by_the_binlog
        replicas_log_what_they_commit restarted_replicas_have_what_is_kept
        row_changes_fail_when_they_must row_changes_have_their_images servers_keep_their_strict_mode
        slave_positions_end_with_what_was_passed snapshots_know_their_place
        sources_have_what_follows_their_backup sources_have_what_follows_their_purge
        sources_refuse_where_they_have_purged stable_sets_are_what_reports_have_in_common
        stated_gtid_sets_name_their_transactions view_changes_are_zero_zero views_follow_one_another
    """,
    # A replica that applies late breaks sessions_read_their_writes. How long a session waits before
    # it reads is its client's choice, and not recorded.
    Alone.ITSELF: """
        applier_does_not_give_up applier_reaches_the_end auto_position_finds_what_it_asks
        certified_transactions_are_executed broadcasts_tell_what_is_executed
        clients_are_served_to_the_end commit_order_rolls_back_the_later commits_reach_their_end
        conflicts_are_on_written_rows crashed_replicas_come_back errors_cancel_every_part
        executed_sets_close_their_holes failed_appliers_leave_nothing_open
        joiners_give_up_for_want_of_donors known_positions_are_accepted lost_sources_are_succeeded
        members_recover_what_they_synced no_event_is_lost nothing_is_sent_again
        only_known_groups_are_passed_over numbering_sources_commit_what_they_log
        only_older_changes_are_discarded only_smaller_numbers_are_refused
        position_covers_all_that_is_applied preemptive_collections_count_all_as_stable
        received_groups_are_applied_or_passed_over recovered_positions_cover_the_synced_log
        replica_never_stalls replicas_connect_unless_refused replicas_ask_for_what_they_lack
        replicas_come_to_rest retries_are_certified_again sessions_read_their_writes
        shown_positions_keep_up shutdowns_that_end_waits_take_place snapshots_show_every_row
        sound_log_never_fails
        source_is_refused_only_with_reason sources_at_rest_have_served_their_clients
        sources_stall_only_for_replicas state_has_one_entry_per_domain
        stopped_positions_cover_the_last_commit survivors_follow_the_promoted_server
        transactions_apply_whole transactions_end_where_they_began
    """,
    Alone.SEQUENCE: """
        attempts_take_their_steps_in_order crashed_replicas_ask_again jobs_take_rows_in_one_order
        rotations_are_read_between_files session_writes_are_logged_in_order
        session_writes_follow_its_reads single_threads_end_what_they_took_up
        sources_log_what_they_have_prepared sources_send_in_the_order_of_their_log
        waits_are_abandoned_at_the_wait_point workers_apply_one_job_at_a_time
        workers_keep_the_order_of_their_queues
    """,
    Alone.NEVER: """
        lost_clients_get_no_answer members_are_announced_online_once no_event_is_applied_twice
        no_row_is_given_out_after_an_error replicas_follow_others row_errors_end_the_attempt
        servers_recover_once_after_a_crash stable_sets_only_grow steps_run_out
    """,
    Alone.RECORD: """
        commit_groups_are_counted_one_by_one commit_ids_number_the_groups
        definitions_are_sent_with_their_statement gtid_numbers_are_in_range
        gtid_sets_are_in_shortest_form gtids_are_not_given_twice gtids_name_one_transaction
        joiners_certify_as_their_donors members_agree_on_views members_agree_on_who_is_online
        members_decide_alike stopped_replicas_name_who_accepted_them versions_are_of_their_writers
    """,
    Alone.RESULT: """
        a_single_position_exists changes_land_as_certified definitions_are_as_certified
        final_state_is_the_sources gap_free_states_are_the_sources logs_agree_within_a_domain
        members_converge members_end_in_one_state members_execute_the_same
        replica_ends_in_the_sources_state replica_states_existed_on_the_source
        restart_reaches_the_sources_state rows_apply_as_logged stop_points_are_prefixes
        surviving_rows_apply_as_logged tables_end_as_the_sources
    """,
    Alone.CHOICE: "purges_leave_what_replicas_read sources_rotate_and_stop_when_ordered",
}
"""Reason -> the safety properties that need no twin for it."""

_REASONS = {name: reason for reason, names in ALONE.items() for name in names.split()}


def twins_of(name: str) -> tuple[str, ...]:
    """Return the names of a safety property's twins."""
    return tuple(TWINS.get(name, "").split())


def reason_alone(name: str) -> Alone | None:
    """Return why a safety property needs no twin, or None."""
    return _REASONS.get(name)


def other_side(prop: Property) -> str:
    """Return a property's other side in words, empty for situations, precision and speed."""
    if prop.expectation is Expectation.SOMETIMES or not prop.is_safety:
        return ""
    if twins := twins_of(prop.name):
        return f"Twins: {', '.join(twins)}"
    reason = reason_alone(prop.name)
    return f"No twin: {reason.value}" if reason is not None else ""


def placings(name: str) -> Iterator[str]:
    """Yield the names of the tables that have a property; a safety property is in one."""
    if name in TWINS:
        yield "TWINS"
    for reason, names in ALONE.items():
        yield from (reason.name for each in names.split() if each == name)
