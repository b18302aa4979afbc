from __future__ import annotations

import pytest

from paraply.semi_sync_page import FAULTS, smallest_runs

BY_NAME = {fault.name: fault for fault in FAULTS}


def losses(name, wait_point="after_sync"):
    count, is_complete, found = smallest_runs(BY_NAME[name], wait_point)
    assert is_complete
    assert count > 40
    return set(found)


def test_safe_design_loses_nothing_in_the_whole_scope():
    assert losses("none") == set()
    assert losses("the source crashes, a remedy of MDEV-162 is in place") == set()


@pytest.mark.parametrize(
    "name",
    ["the source crashes and opens at once", "the wait is given up", "no replica, wait_no_slave=0",
     "a replica connects at the end of the log"],
)  # fmt: skip
def test_each_of_the_seven_ways_shows_what_is_then_lost(name):
    assert "visible but lost" in losses(name)


def test_seven_ways_are_all_named_on_the_page():
    named = " ".join(fault.seen_on_servers for fault in FAULTS)
    assert all(f"{letter}: " in named for letter in "abcdefg")


def test_after_commit_is_seen_before_anybody_has_it():
    assert "visible but lost" in losses("none", "after_commit")


def test_rotation_that_waits_under_lock_log_stalls():
    assert losses("a rotation waits under LOCK_log") == {"stalled"}
