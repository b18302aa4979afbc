"""Variants of the systems for claims."""

from __future__ import annotations

from collections.abc import Callable

from paraply.models.language.system import System
from paraply.models.systems import (
    acknowledged_group,
    applier,
    applier_in_member,
    auto_position,
    batches,
    certification,
    commit_order,
    commit_pipeline,
    crash_points,
    end_to_end,
    group,
    group_in_certification,
    group_in_parallel_applier,
    linear_audit,
    lock_queue,
    low_water_mark,
    member_in_applier,
    members,
    merged_parts,
    minimiser,
    one_copy,
    parallel_group,
    prefix_test,
    quorum,
    restart,
    returning_group,
    rotation,
    semi_sync,
    stable_rounds,
    trackers,
)

Build = Callable[[], System]
"""Builds a new mutable system."""


def variant_of_applier(**switches: object) -> Build:
    """Return certifier and applier of one member."""
    return lambda: applier.parallel_applier(applier.Dialect(**switches))  # type: ignore[arg-type]


def variant_of_certification(**switches: object) -> Build:
    """Return the certifier."""
    return lambda: certification.certification(certification.Rules(**switches))  # type: ignore[arg-type]


def variant_of_commit_order(**switches: object) -> Build:
    """Return the commit-order queue with row locks."""
    return lambda: commit_order.commit_order(commit_order.Rules(**switches))  # type: ignore[arg-type]


def variant_of_lock_queue(**switches: object) -> Build:
    """Return the commit-order queue with locks taken one by one."""
    return lambda: lock_queue.lock_queue(lock_queue.Rules(**switches))  # type: ignore[arg-type]


def variant_of_semi_sync(**switches: object) -> Build:
    """Return source and replica with crashes."""
    return lambda: semi_sync.semi_sync(semi_sync.Rules(**switches))  # type: ignore[arg-type]


def variant_of_members(**switches: object) -> Build:
    """Return two members with independent garbage collection."""
    return lambda: members.members(members.Rules(**switches))  # type: ignore[arg-type]


def variant_of_tracker(**switches: object) -> Build:
    """Return a dependency tracker and a replica."""
    return lambda: trackers.tracker(trackers.Rules(**switches))  # type: ignore[arg-type]


def variant_of_restart(**switches: object) -> Build:
    """Return a replica that crashes and restarts."""
    return lambda: restart.restart(restart.Rules(**switches))  # type: ignore[arg-type]


def variant_of_low_water_mark(**switches: object) -> Build:
    """Return the coordinator with its low-water mark."""
    return lambda: low_water_mark.low_water_mark(low_water_mark.Rules(**switches))  # type: ignore[arg-type]


def variant_of_batches(**switches: object) -> Build:
    """Return one MariaDB domain in conservative mode."""
    return lambda: batches.batches(batches.Rules(**switches))  # type: ignore[arg-type]


def variant_of_rotation(**switches: object) -> Build:
    """Return a rotating source."""
    return lambda: rotation.rotation(rotation.Rules(**switches))  # type: ignore[arg-type]


def variant_of_quorum(**switches: object) -> Build:
    """Return several replicas and a promotion."""
    return lambda: quorum.quorum(quorum.Rules(**switches))  # type: ignore[arg-type]


def variant_of_crash_points(**switches: object) -> Build:
    """Return a replica with two engines."""
    return lambda: crash_points.crash_points(crash_points.Rules(**switches))  # type: ignore[arg-type]


def variant_of_end_to_end(**switches: object) -> Build:
    """Return one member from certification to storage."""
    return lambda: end_to_end.end_to_end(end_to_end.Rules(**switches))  # type: ignore[arg-type]


def variant_of_applier_in_member(**switches: object) -> Build:
    """Return applier and member, the applier leading."""
    return lambda: applier_in_member.applier_in_member(applier_in_member.Rules(**switches))  # type: ignore[arg-type]


def variant_of_member_in_applier(**switches: object) -> Build:
    """Return applier and member, the member leading."""
    return lambda: member_in_applier.member_in_applier(member_in_applier.Rules(**switches))  # type: ignore[arg-type]


def variant_of_group_in_certification(**switches: object) -> Build:
    """Return a group and certification, the group leading."""
    return lambda: group_in_certification.group_in_certification(
        group_in_certification.Rules(**switches)  # type: ignore[arg-type]
    )


def variant_of_group_in_parallel_applier(**switches: object) -> Build:
    """Return a group and the applier of one member, the group leading."""
    return lambda: group_in_parallel_applier.group_in_parallel_applier(
        group_in_parallel_applier.Rules(**switches)  # type: ignore[arg-type]
    )


def variant_of_commit_pipeline(**switches: object) -> Build:
    """Return group commit with a wait that may time out."""
    return lambda: commit_pipeline.commit_pipeline(commit_pipeline.Rules(**switches))  # type: ignore[arg-type]


def variant_of_stable_rounds(**switches: object) -> Build:
    """Return members that report, and a collector."""
    return lambda: stable_rounds.stable_rounds(stable_rounds.Rules(**switches))  # type: ignore[arg-type]


def variant_of_one_copy(**switches: object) -> Build:
    """Return a group with clients, certification and members that apply in order."""
    return lambda: one_copy.one_copy(one_copy.Rules(**switches))  # type: ignore[arg-type]


def variant_of_linear_audit(**switches: object) -> Build:
    """Return the audit's pass over a log."""
    return lambda: linear_audit.linear_audit(linear_audit.Rules(**switches))  # type: ignore[arg-type]


def variant_of_merged_parts(**switches: object) -> Build:
    """Return a log in parts that are merged."""
    return lambda: merged_parts.merged_parts(merged_parts.Rules(**switches))  # type: ignore[arg-type]


def variant_of_minimiser(**switches: object) -> Build:
    """Return the minimiser of counterexamples."""
    return lambda: minimiser.minimiser(minimiser.Rules(**switches))  # type: ignore[arg-type]


def variant_of_prefix_test(**switches: object) -> Build:
    """Return the test of a replica's states."""
    return lambda: prefix_test.prefix_test(prefix_test.Rules(**switches))  # type: ignore[arg-type]


def variant_of_group(**switches: object) -> Build:
    """Return a group with sessions, collection, joiners and crashes."""
    return lambda: group.group(group.Rules(**switches))  # type: ignore[arg-type]


def variant_of_parallel_group(**switches: object) -> Build:
    """Return a group whose members number transactions and apply them in parallel."""
    return lambda: parallel_group.parallel_group(parallel_group.Rules(**switches))  # type: ignore[arg-type]


def variant_of_acknowledged_group(**switches: object) -> Build:
    """Return that group with sessions that wait for acknowledgements."""
    return lambda: acknowledged_group.acknowledged_group(acknowledged_group.Rules(**switches))  # type: ignore[arg-type]


def variant_of_returning_group(**switches: object) -> Build:
    """Return that group with members that come back with their own data."""
    return lambda: returning_group.returning_group(returning_group.Rules(**switches))  # type: ignore[arg-type]


def variant_of_auto_position(**switches: object) -> Build:
    """Return a source, a connection by GTIDs and a replica, with crashes."""
    return lambda: auto_position.auto_position(auto_position.Rules(**switches))  # type: ignore[arg-type]
