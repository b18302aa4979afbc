"""Snapshots show what has committed: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.readers.newest_versions import (
    snapshots_of_controlled_runs,
    snapshots_show_the_newest_versions,
)
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{a} | T3{b} | "
FIRST, SECOND = "engine_committed T1", "engine_committed T2"


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize(
    "events",
    [
        (FIRST, "read [a=T1 b=T0]", SECOND, "read [a=T2 b=T0]"),
        # The engine's order decides, and where it differs from the log's, both are new enough.
        (SECOND, FIRST, "read [a=T1]"),
        (SECOND, FIRST, "read [a=T2]"),
    ],
)
def test_snapshot_of_the_newest_versions_holds(events):
    assert verdict(run(*events), snapshots_show_the_newest_versions) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        ("read [a=T1]", "a reader showed a of T1"),
        ("read [a=T0]", "a reader showed the first a"),
        ("read [b=T0] ; read [a=T2]", "a reader left it out"),
    ],
)
def test_older_version_is_reported(read, shown):
    (breach,) = snapshots_show_the_newest_versions(run(FIRST, SECOND, read))
    assert str(breach) == f"r1: after T2 had committed a, {shown}"


@pytest.mark.parametrize(
    "events",
    [
        ("read [a=T0]",),
        (FIRST, "crashed", "recovered", "read [a=T0]"),
        # Another member has not committed it.
        (FIRST, "read @r2 [a=T0]"),
        # No snapshot shows the row at all.
        ("engine_committed T3", "read [a=T0]"),
    ],
)
def test_what_is_not_known_to_be_committed_decides_nothing(events):
    assert verdict(run(*events), snapshots_show_the_newest_versions) is Verdict.UNKNOWN


def test_crash_ends_only_what_was_committed_before_it():
    history = run(FIRST, "crashed", "recovered", SECOND, "read [a=T1]")
    assert len(snapshots_show_the_newest_versions(history)) == 1


def test_observed_servers_are_not_judged():
    history = run(FIRST, "read [a=T0]")
    observed = replace(history, header=replace(history.header, tier=EvidenceTier.ROW_OUTCOMES))
    assert snapshots_of_controlled_runs(history)
    assert not snapshots_of_controlled_runs(observed)
