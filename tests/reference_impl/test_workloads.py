"""Generated streams: equal for equal seeds, sound as a log, and as skewed as they say."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.workloads.stamps import (
    CLIENTS,
    commit_groups,
    timestamps,
    tracked,
)
from paraply.reference_impl.workloads.streams import EMPTY_TABLES, STREAMS, transactions_of
from paraply.reference_impl.workloads.zipfian import Zipfian
from paraply.vocabulary.transactions import TransactionKind
from tests.reference_impl.reference_clocks import with_commit_ids


@pytest.mark.parametrize("name", STREAMS)
def test_equal_seeds_give_equal_streams_and_other_seeds_others(name):
    stream = STREAMS[name]
    log = transactions_of(stream, count=60, seed=4)
    assert transactions_of(stream, count=60, seed=4) == log
    assert transactions_of(stream, count=60, seed=5) != log
    assert [one.id for one in log] == list(range(1, 61))


@pytest.mark.parametrize("name", STREAMS)
def test_every_before_image_is_what_the_change_before_left(name):
    present = {}
    for transaction in transactions_of(STREAMS[name], count=400, seed=2):
        for row in transaction.rows:
            item = item_of(row)
            first = None if row.table in EMPTY_TABLES else (item, 0)
            assert row.before == present.get(item, first)
            assert row.before is not None or row.after is not None
            present[item] = row.after
        assert transaction.write_set == frozenset(map(item_of, transaction.rows))


def test_workloads_have_what_their_names_say():
    logs = {name: transactions_of(stream, count=400) for name, stream in STREAMS.items()}
    ddl = [one for one in logs["ddl-heavy"] if one.kind is TransactionKind.DDL]
    assert len(ddl) == 400 / 20
    sizes = Counter(len(one.rows) for one in logs["one-huge"])
    assert sizes[200] == 1
    assert max(size for size in sizes if size != 200) <= 4
    tables = {row.table for one in logs["oltp"] for row in one.rows}
    assert len(tables) == 4
    assert {len(one.rows) for one in logs["oltp"]} == {4, 10}
    written = Counter(item for one in logs["fresh-rows"] for item in one.write_set)
    assert set(written.values()) == {1}


def test_hot_keys_are_hotter_with_more_skew():
    hottest = []
    for theta in (0.0, 0.5, 0.99):
        log = transactions_of(STREAMS["hot-keys"], count=600, theta=theta)
        counts = Counter(item for one in log for item in one.write_set)
        hottest.append(counts.most_common(1)[0][1])
    assert hottest == sorted(hottest)
    assert hottest[0] < 10 < 60 < hottest[2]


def test_zipfian_ranks_come_as_often_as_the_law_says():
    zipfian, random = Zipfian(1000, 0.9), Random(0)
    counts = Counter(zipfian.draw(random) for _ in range(40_000))
    assert min(counts) == 0
    assert max(counts) < 1000
    # The approximation is exact for the first two ranks.
    for rank in (0, 1):
        expected = 40_000 / (rank + 1) ** 0.9 / zipfian.zeta
        assert abs(counts[rank] - expected) < 0.05 * expected
    assert counts[0] > counts[1] > counts[10] > counts[100]


@pytest.mark.parametrize(("size", "theta"), [(0, 0.5), (10, 1.0), (10, -0.1)])
def test_zipfian_refuses_what_it_cannot_draw(size, theta):
    with pytest.raises(ValueError, match="size="):
        Zipfian(size, theta)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_zipfian_of_few_ranks_stays_in_range(size):
    random = Random(1)
    assert {Zipfian(size).draw(random) for _ in range(300)} == set(range(size))


@pytest.mark.parametrize("name", STREAMS)
def test_members_of_a_commit_group_share_no_row_and_no_ddl(name):
    log = transactions_of(STREAMS[name], count=300)
    groups = commit_groups(log)
    assert groups == sorted(groups)
    by_group = {}
    for one, group in zip(log, groups, strict=True):
        by_group.setdefault(group, []).append(one)
    assert max(map(len, by_group.values())) <= CLIENTS
    for members in by_group.values():
        written = [item for one in members for item in one.write_set]
        assert len(set(written)) == len(written)
        assert len(members) == 1 or not any(one.is_barrier for one in members)
    logged = with_commit_ids(log, groups)
    for before, one in pairwise(logged):
        share = one.commit_id is not None and one.commit_id == before.commit_id
        assert share == (groups[before.id - 1] == groups[one.id - 1])


@pytest.mark.parametrize("tracker", [CommitOrderTracker, WritesetTracker])
@pytest.mark.parametrize("name", STREAMS)
def test_stamps_keep_conflicting_transactions_apart(name, tracker):
    log = transactions_of(STREAMS[name], count=300)
    stamps = timestamps(tracked(log), commit_groups(log), tracker())
    assert [stamp.sequence_number for stamp in stamps] == list(range(1, 301))
    last_writer, barrier = {}, 0
    for one, stamp in zip(log, stamps, strict=True):
        assert stamp.is_well_formed
        needed = one.id - 1 if one.is_barrier else barrier
        needed = max([needed, *(last_writer.get(item, 0) for item in one.write_set)])
        assert stamp.last_committed >= needed
        last_writer.update(dict.fromkeys(one.write_set, one.id))
        barrier = one.id if one.is_barrier else barrier


def test_writeset_stamps_reach_further_back_than_commit_order():
    log = transactions_of(STREAMS["fresh-rows"], count=200)
    groups = commit_groups(log)
    by_order = timestamps(tracked(log), groups, CommitOrderTracker())
    by_rows = timestamps(tracked(log), groups, WritesetTracker())
    assert all(
        one.last_committed <= other.last_committed
        for one, other in zip(by_rows, by_order, strict=True)
    )
    assert by_rows[-1].last_committed == 1
