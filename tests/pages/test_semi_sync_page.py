"""``docs/semi-sync.md``: every way of losing is named, shown, or excluded in the whole scope."""

from __future__ import annotations

import pytest

from ci.pages.semi_sync import in_words
from ci.pages.semi_sync_faults import FAULTS, LOSSES, smallest_losses
from ci.pages.semi_sync_tables import design_rows, old_source_rows, round_trips_per_group, timed_run
from paraply.properties.semi_sync.pace import (
    commits_per_second,
    commits_wait_for_two_round_trips,
    round_trips_overlap,
)
from paraply.reference_impl.semi_sync.settings import Staging, WaitPoint

BY_NAME = {fault.name: fault for fault in FAULTS}
SEEN, TOLD, STALLED = (name for name, _ in LOSSES)

# What the wait point AFTER_SYNC loses under each fault; nothing is meant where nothing is said.
AFTER_SYNC = {
    "crash of the source, which opens at once": {SEEN},
    "KILL of the waiter's connection": {SEEN},
    "KILL of the waiter's query": {SEEN, TOLD},
    "time-out, and later back on": {SEEN, TOLD},
    "semi-sync switched off": {SEEN, TOLD},
    "the replica stops and its loss is noticed, wait_no_slave=0": {SEEN, TOLD},
    "the replica stops silently, wait_no_slave=0": {STALLED},
    "the replica stops permanently, wait_no_slave=1": {STALLED},
    "a replica connects at the end of the log": {SEEN, TOLD},
    "a replica connects with what it has, and that does not count": {STALLED},
    "a replica restarts without its relay log": {SEEN, TOLD},
    "the promoted replica has not drained its relay log": {SEEN, TOLD},
    "the replica promoted is not the most advanced": {SEEN, TOLD},
    "source and a replica are lost together, one must acknowledge": {SEEN, TOLD},
    "shutdown, which releases waiters": {SEEN},
    "a rotation waits for pending XIDs, dump threads need LOCK_log": {STALLED},
    "dump threads need LOCK_log, no rotation": {STALLED},
    "sync_binlog=0, and a crash of the source": {STALLED},
    "crash of the source, which truncates and stays the source": {STALLED},
}


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
def test_fault_loses_what_it_is_known_to_lose_and_no_more(name):
    space = BY_NAME[name].space(WaitPoint.AFTER_SYNC)
    assert space.is_complete
    assert set(smallest_losses(space)) == AFTER_SYNC.get(name, set())


def test_seven_measured_ways_are_all_named_and_each_is_seen_and_lost():
    measured = {f.seen_on_servers[0]: f.name for f in FAULTS if f.seen_on_servers[1] == ":"}
    assert "".join(sorted(measured)) == "abcdefg"
    for name in measured.values():
        assert SEEN in AFTER_SYNC[name]


def test_after_commit_is_seen_before_anybody_has_it_and_told_only_after():
    space = BY_NAME["none"].space(WaitPoint.AFTER_COMMIT)
    assert set(smallest_losses(space)) == {SEEN}


def test_smallest_run_shows_the_loss_and_nothing_that_happens_anyway():
    space = BY_NAME["KILL of the waiter's query"].space(WaitPoint.AFTER_SYNC)
    assert in_words(space.run(smallest_losses(space)[TOLD])) == (
        "T1 flushed (source); T1 synced (source); T1 wait abandoned, KILL QUERY (source); "
        "T1 engine committed (source); T1 client acknowledged (source); crashed, lost (source); "
        "promoted sees nothing (r1)"
    )


@pytest.mark.long
def test_only_the_design_without_commit_order_breaks_order_and_prefix():
    broken = {
        words: {question for question, node in answers if node is not None}
        for words, _, answers in design_rows()
    }
    assert broken == {
        "chained mutexes (MDEV-162, MariaDB)": {"stall"},
        "one prepare_commit_mutex": set(),
        "MySQL, binlog_order_commits=ON": set(),
        "MySQL, binlog_order_commits=OFF": {"order", "gap"},
    }


@pytest.mark.long
def test_truncation_lets_the_old_source_back_and_only_asking_fences_it():
    rows = {(point, words): cells for point, words, *cells, _ in old_source_rows()}
    never, happens = "*never*", "it happens"
    assert rows["AFTER_SYNC", "truncates, check, wait kept"] == [happens, never, never]
    assert rows["AFTER_SYNC", "keeps its log, check"] == [happens, happens, never]
    assert rows["AFTER_SYNC", "keeps its log, no check"] == [happens, never, "**yes**"]
    assert rows["AFTER_COMMIT", "truncates, check, wait kept"] == [happens, happens, never]


def test_global_mutex_pays_a_round_trip_for_each_commit_whatever_the_clients():
    for clients in (1, 4, 16):
        run = timed_run(Staging.GLOBAL_MUTEX, clients, 5_000)
        assert 1.0 < round_trips_per_group(run, 5_000) < 1.1
        assert commits_per_second(run) < 1_000_000 / 5_000
        assert not round_trips_overlap(run)
        assert bool(commits_wait_for_two_round_trips(run)) is (clients > 1)


@pytest.mark.parametrize("staging", [s for s in Staging if s is not Staging.GLOBAL_MUTEX])
def test_groups_that_overlap_need_less_than_a_round_trip_each(staging):
    run = timed_run(staging, 16, 5_000)
    assert round_trips_overlap(run)
    assert round_trips_per_group(run, 5_000) < 0.6
    assert not commits_wait_for_two_round_trips(run)
    assert commits_per_second(run) > 8 * 1_000_000 / 5_000
