"""Breaches of tables are those that are counted, whole and in chunks, readable and by sorting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.tables.breaches import KINDS, NO_ROW, TableBreach, breaches_of
from paraply.properties.tables.compiled.breaches import BreachFold, breaches_in, sorted_breaches
from paraply.properties.tables.timestamps import TableRow, summarise
from tests.properties.tables.test_timestamps import CUTS, columns, tables


def folded(rows, cuts, fold=None):
    """Return the breaches found in chunks."""
    fold = fold or BreachFold()
    found = []
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    whole = columns(rows)
    for begin, end in itertools.pairwise(edges):
        if begin < end:
            inside, chunk = breaches_in(whole.slice(begin, end), begin)
            found += [inside, fold.add(chunk)]
    return [TableBreach(*row) for row in sorted_breaches(found).tolist()]


@pytest.mark.long
@given(tables())
def test_a_breach_is_named_for_each_that_is_counted(rows):
    found = breaches_of(rows)
    counts = summarise(rows).counts
    for number, kind in enumerate(KINDS):
        assert sum(one.kind == number for one in found) == getattr(counts, kind)
    assert found == sorted(set(found))


@pytest.mark.long
@given(tables(), CUTS, st.integers(0, 36))
def test_sorting_names_the_same_breaches_in_any_chunks(rows, cuts, middle):
    expected = breaches_of(rows)
    assert folded(rows, []) == expected
    assert folded(rows, cuts) == expected
    # Two stretches of chunks, folded by their edges.
    middle = min(middle, len(rows))
    whole, outer, found = columns(rows), BreachFold(), []
    for begin, end in ((0, middle), (middle, len(rows))):
        inner = BreachFold()
        for at in range(begin, end, 3):
            inside, chunk = breaches_in(whole.slice(at, min(at + 3, end)), at)
            found += [inside, inner.add(chunk)]
        if inner.edges is not None:
            found.append(outer.add(inner.edges))
    assert [TableBreach(*row) for row in sorted_breaches(found).tolist()] == expected


def test_each_kind_is_named_with_the_row_before():
    rows = [
        TableRow(0, 0, 1, (7,)), TableRow(0, 0, 2, (7, 7, 8)), TableRow(0, 2, 2, ()),
        TableRow(1, 0, 1, (7,)),
    ]  # fmt: skip
    assert breaches_of(rows) == [
        TableBreach(1, KINDS.index("unordered"), 7, 0, history=0, lc=0, sn=2, earlier_sn=1),
        TableBreach(2, KINDS.index("malformed"), 0, NO_ROW, history=0, lc=2, sn=2, earlier_sn=0),
        TableBreach(2, KINDS.index("not_rising"), 0, 1, history=0, lc=2, sn=2, earlier_sn=2),
    ]
    assert folded(rows, [1, 2]) == breaches_of(rows)


def test_rows_without_items_break_nothing():
    inside, edges = breaches_in(columns([TableRow(0, 0, 1, ()), TableRow(0, 0, 0, ())]), 5)
    assert len(inside) == len(edges.firsts) == len(edges.lasts) == 0
    assert (edges.opening.tolist(), len(edges.closing), edges.restarts) == ([[0, 5, 0, 0, 1]], 0, 1)
    assert inside.dtype == np.int64


@pytest.mark.parametrize("pool", [50, 100_000])
def test_windows_with_more_items_than_the_smallest_table_has_slots(pool):
    rng = np.random.default_rng(pool)
    rows = [
        TableRow(
            at // 2_500,
            int(rng.integers(0, at + 1)),
            at + 1,
            tuple(rng.integers(0, pool, 5).tolist()),
        )
        for at in range(5_000)
    ]
    expected = breaches_of(rows)
    assert len(expected) > 100
    assert folded(rows, []) == expected
    assert folded(rows, [1, 1_700, 2_600]) == expected
