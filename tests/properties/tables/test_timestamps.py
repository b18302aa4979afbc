"""The table check finds what its definition says, in one piece, in chunks and compiled."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.tables.compiled.timestamps import (
    Columns,
    SummaryFold,
    TableChecker,
    check_in_chunks,
    check_whole,
)
from paraply.properties.tables.timestamps import (
    ChunkSummary,
    TableCounts,
    TableRow,
    check_all_pairs,
    summarise,
)
from paraply.vocabulary.verdict import Verdict


def without_ends(summary, *, left, right):
    """Return a summary without ends where no neighbour exists."""
    firsts, lasts = ({} if left else summary.firsts), ({} if right else summary.lasts)
    return replace(summary, firsts=firsts, lasts=lasts)


@st.composite
def tables(draw):
    """Histories whose timestamps are right but for one chance in eight per row."""
    rows = []
    for history in range(draw(st.integers(1, 3))):
        writers, sn = {}, 0
        for _ in range(draw(st.integers(0, 12))):
            kind = draw(st.integers(0, 15))
            if kind == 0:
                rows.append(TableRow(history, 0, 0, ()))
                writers, sn = {}, 0
                continue
            items = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
            sn += draw(st.integers(1, 2))
            lc = max((writers.get(item, 0) for item in items), default=0)
            if kind == 1:
                lc = max(0, lc - 1)
            elif kind == 2:
                sn = max(1, sn - draw(st.integers(1, 3)))
            rows.append(TableRow(history, lc, sn, items))
            writers |= dict.fromkeys(items, sn)
    return rows


def columns(rows):
    return Columns(
        *(
            np.array([getattr(row, name) for row in rows], np.int64)
            for name in ("history", "lc", "sn")
        ),
        np.cumsum([0, *(len(row.items) for row in rows)], dtype=np.int32),
        np.array([item for row in rows for item in row.items], np.int64),
    )


def merged(rows, cuts):
    total = ChunkSummary()
    edges = [0, *sorted(cuts), len(rows)]
    for begin, end in itertools.pairwise(edges):
        total += summarise(rows[begin:end])
    return total


@given(tables())
def test_linear_check_agrees_with_all_pairs(rows):
    counts = summarise(rows).counts
    faulty = counts.malformed + counts.not_rising + counts.unordered
    assert (faulty == 0) is check_all_pairs(rows)
    assert (counts.verdict is Verdict.VIOLATED) is bool(faulty)


@pytest.mark.long
@given(tables(), st.data())
def test_summaries_merge_to_that_of_the_whole_in_any_grouping(rows, data):
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    assert merged(rows, cuts) == summarise(rows)
    edges = [0, *sorted(cuts), len(rows)]
    parts = [summarise(rows[b:e]) for b, e in itertools.pairwise(edges)]
    right = ChunkSummary()
    for part in reversed(parts):
        right = part + right
    assert right == summarise(rows)


CUTS = st.lists(st.integers(0, 36), max_size=4)


def pieces(table, cuts):
    """The table, cut into slices of itself."""
    edges = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    return [table.slice(begin, end) for begin, end in itertools.pairwise(edges)]


def summary_of(blocks, slots):
    checker = TableChecker(slots=slots)
    checker.add(columns([TableRow(0, 7, 5, (1, 2)), TableRow(1, 0, 0, ())]))
    checker.begin()
    for block in blocks:
        checker.add(block)
    return checker.summary()


@pytest.mark.long
@given(tables(), CUTS, CUTS, st.sampled_from((2, 4, 64)))
def test_kernels_give_what_the_readable_check_gives(rows, cuts, blocks, slots):
    whole, expected = columns(rows), summarise(rows)
    assert check_whole(whole) == expected.counts
    assert summary_of([whole], slots).readable() == expected
    assert summary_of(pieces(whole, blocks), slots).readable() == expected
    fold = SummaryFold()
    for stretch in pieces(whole, cuts):
        fold.add(summary_of(pieces(stretch, blocks), slots))
    assert fold.counts == expected.counts


def test_ends_that_nothing_joins_are_left_out_of_a_summary():
    rows = [TableRow(0, 0, 1, (1,)), TableRow(0, 1, 2, (1, 2))]
    checker = TableChecker(joins_left=False)
    checker.add(columns(rows))
    found = checker.summary(joins_right=False).readable()
    assert found == without_ends(summarise(rows), left=True, right=True)
    assert checker.summary().readable() == without_ends(summarise(rows), left=True, right=False)


@pytest.mark.parametrize("low", [-(2**63), -1, 2**63 - 5])
def test_numbers_at_the_ends_of_their_range_are_compared_rightly(low):
    numbers = (low, low + 1, low + 2, -(2**63), 2**63 - 1, 0, 5)
    rows = [
        TableRow(0, lc, sn, (item, -item))
        for sn, (lc, item) in enumerate(itertools.product(numbers, (0, 2**63 - 1)), start=low)
        if lc or sn
    ][:4]
    rows += [TableRow(0, lc, 7, (0,)) for lc in numbers]
    assert summary_of([columns(rows)], 4).readable() == summarise(rows)
    assert check_in_chunks(columns(rows), 2) == summarise(rows).counts


def ordered(transactions, items, seed):
    """One history of many transactions with right timestamps, as columns."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, items, (transactions, 2))
    writers = {}
    rows = []
    for at, pair in enumerate(chosen.tolist(), start=1):
        rows.append(TableRow(0, max(writers.get(item, 0) for item in pair), at, tuple(pair)))
        writers |= dict.fromkeys(pair, at)
    return rows


@pytest.mark.parametrize("items", [3, 40, 5_000])
def test_long_history_in_chunks_is_checked_as_in_one_piece(items):
    rows = ordered(3_000, items, seed=1)
    whole = check_whole(columns(rows))
    assert whole.verdict is Verdict.HOLDS
    assert check_in_chunks(columns(rows), 100) == whole
    with ThreadPoolExecutor(2) as threads:
        assert check_in_chunks(columns(rows), 100, threads.map) == whole
    late = rows[2_500]
    rows[2_500] = TableRow(0, max(0, late.lc - 1), late.sn, late.items)
    broken = check_in_chunks(columns(rows), 100)
    assert broken.unordered == 1
    assert broken == summarise(rows).counts


def test_one_item_that_everybody_writes_keeps_summaries_small():
    rows = [TableRow(0, at - 1, at, (7,)) for at in range(1, 500)]
    found = summarise(rows)
    assert found.firsts == {7: 0}
    assert found.lasts == {7: 499}
    assert found.counts.compared == 498


def test_one_huge_transaction_is_taken_whole():
    rows = [
        TableRow(0, 0, 1, tuple(range(50_000))),
        TableRow(0, 0, 2, (49_999,)),
    ]
    assert summary_of([columns(rows)], 4).counts.unordered == 1


def test_table_without_conflicts_is_unknown():
    assert summarise([TableRow(0, 0, 1, (1,)), TableRow(0, 0, 2, (2,))]).counts.verdict is (
        Verdict.UNKNOWN
    )


def test_previous_writer_alone_is_not_enough_where_numbers_do_not_rise():
    rows = [TableRow(0, 0, 5, (1,)), TableRow(0, 5, 6, (2,)), TableRow(0, 2, 3, (1, 2))]
    counts = summarise(rows).counts
    assert counts.not_rising == 1
    assert not check_all_pairs(rows)


def test_summary_that_forgets_its_ends_loses_the_conflict():
    rows = [TableRow(0, 0, 1, (1,)), TableRow(0, 0, 2, (1,))]
    left, right = summarise(rows[:1]), summarise(rows[1:])
    assert (left + right).counts.unordered == 1
    assert (without_ends(left, left=True, right=True) + right).counts.unordered == 0


@pytest.mark.parametrize("fault", ["malformed", "not_rising", "unordered"])
def test_each_fault_alone_is_a_violation(fault):
    assert TableCounts(compared=1, **{fault: 1}).verdict is Verdict.VIOLATED
    assert TableCounts(**{fault: 1}).verdict is Verdict.VIOLATED
    assert TableCounts(compared=1).verdict is Verdict.HOLDS
    assert TableCounts().verdict is Verdict.UNKNOWN
