"""Commit groups: they stay together, or meet in queues, and not elsewhere."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.groups import (
    commit_groups_meet_only_in_queues,
    logs_are_synced_only_if_configured,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def run(dialect, *stages):
    """Return a run in which T1 and T2 pass stages; ``12`` means groups 1 and 2 there."""
    kinds = ("flushed", "synced", "engine_committed", "client_acknowledged")
    events = [
        f"{kind} T{one}@source group={group}"
        for kind, groups in zip(kinds, stages, strict=False)
        for one, group in enumerate(groups, start=1)
    ]
    return history_of(
        f"dialect={dialect} members=source,r1 | T1{{a}} | T2{{b}} | {' ; '.join(events)}"
    )


@pytest.mark.parametrize(
    ("dialect", "stages"),
    [
        ("after_sync", ("12", "12", "12", "12")),
        ("after_sync", ("11", "11", "11", "11")),
        ("mysql_ordered", ("12", "12", "11", "11")),
        ("mysql_ordered", ("12", "22", "22", "22")),
        ("mysql_unordered", ("12", "11", "11", "11")),
    ],
)
def test_groups_meet_where_the_design_has_a_queue(dialect, stages):
    assert verdict(run(dialect, *stages), commit_groups_meet_only_in_queues) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("dialect", "stages"),
    [
        ("after_sync", ("12", "11")),
        ("mysql_ordered", ("12", "12", "12", "11")),
        ("mysql_unordered", ("12", "12", "11")),
        ("mysql_ordered", ("11", "12")),
    ],
)
def test_group_that_meets_another_elsewhere_or_parts_is_reported(dialect, stages):
    assert verdict(run(dialect, *stages), commit_groups_meet_only_in_queues) is Verdict.VIOLATED


def test_breach_names_both_groups():
    (breach,) = commit_groups_meet_only_in_queues(run("global_mutex", "12", "11"))
    assert str(breach) == "T2 was synced in group 1; it came there in group 2"


def test_unordered_commits_without_sync_follow_the_queue_of_the_sync():
    log = "dialect=mysql_unordered members=source,r1 | T1{a} | T2{b} | prepared T1@source"
    flushed = "flushed T1@source group=1 ; flushed T2@source group=2"
    commits = "engine_committed T1@source group=1 ; engine_committed T2@source group=1"
    run = history_of(f"{log} ; {flushed} ; {commits}")
    assert verdict(run, commit_groups_meet_only_in_queues) is Verdict.HOLDS


@pytest.mark.parametrize(("synced", "is_wrong"), [("synced T1@source", True), ("stopped", False)])
def test_source_that_syncs_unasked_is_reported(synced, is_wrong):
    head = 'members=source,r1 options={"sync_binlog":0} | T1{a} | prepared T1@source ; '
    history = history_of(f"{head}flushed T1@source ; {synced}")
    expected = ["the source synced T1, and sync_binlog is 0"] if is_wrong else []
    assert list(map(str, logs_are_synced_only_if_configured(history))) == expected
