"""Both engines' judges of a part of a log, on drawn transactions."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import auditor, ranged_auditor
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.ranged_auditor import CompiledRangedAuditor, skipped
from paraply.properties.logs.compiled.state import new_state
from paraply.properties.logs.ranged_audit import RangedAuditor
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_short_logs import with_few_kept, with_short_bounds
from tests.builders.logged import NotationKeys, log
from tests.properties.test_compiled_auditor import (
    NAMES,
    Parts,
    Source,
    batches,
    differences,
    drawn_logs,
)


def ranged_by_kernels(txns, judged, options, sizes=(1,), *, is_left=False, follow_rows=True):
    left = dict.fromkeys(NAMES, "drawn") if is_left else None
    judge = CompiledRangedAuditor(NotationKeys(), Source(txns), options, left=left)
    for size, members in batches(txns, sizes):
        for is_judged, chosen in groupby(members, key=lambda txn: txn.ordinal in judged):
            part = [*chosen]
            parts = Parts(part, is_left) if size or part[0].kind is LoggedKind.ROWS else None
            if size and is_judged:
                judge.observe_batch(parts)
            elif size:
                judge.pass_over_batch(parts, follow_rows=follow_rows)
            elif is_judged:
                judge.observe(part[0], parts)
            else:
                judge.pass_over(part[0], parts, follow_rows=follow_rows)
    result = judge.result()
    result.engine, result.left_rows, result.left_tables = "readable", 0, {}
    return result


def ranged_readably(txns, judged, options, *, follow_rows=True):
    judge = RangedAuditor(NotationKeys(), options)
    for txn in txns:
        if txn.ordinal in judged:
            judge.observe(txn)
        else:
            judge.pass_over(txn, follow_rows=follow_rows)
    return judge.result()


@st.composite
def judged_of(draw, txns):
    """In each domain a stretch to judge."""
    judged = set()
    for domain in {txn.domain for txn in txns}:
        lane = [txn.ordinal for txn in txns if txn.domain == domain]
        ends = sorted(draw(st.tuples(*[st.integers(0, len(lane))] * 2)))
        judged.update(lane[slice(*ends)])
    return judged


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("dialect", "is_left"), [("mysql", True), ("mysql", False), ("mariadb", False)]
)
@settings(max_examples=50)
@given(
    data=st.data(),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    bounds=st.integers(0, 2**32),
    follow_rows=st.booleans(),
)
def test_engines_judge_a_part_of_a_drawn_log_alike(
    dialect, is_left, data, sizes, bounds, follow_rows
):
    txns = data.draw(drawn_logs(dialect, is_left))
    judged, rng = data.draw(judged_of(txns)), random.Random(bounds)
    options = with_few_kept(AuditOptions(), rng, 0.3)
    with pytest.MonkeyPatch.context() as patch:
        with_short_bounds(patch, rng, 0.3)
        try:
            found = ranged_by_kernels(
                txns, judged, options, sizes, is_left=is_left, follow_rows=follow_rows
            )
        except NotCompilable:
            assume(False)
        expected = ranged_readably(txns, judged, options, follow_rows=follow_rows)
        assert differences(expected, found) == {}


def test_pair_whose_first_transaction_is_left_out_is_no_violation():
    # Both 3 and 4 may overlap 2, which changes the same row.
    whole = log("1<0 a", "2<1 b", "3<1 b", "4<1 b")
    for judged, pairs in (({2, 3, 4}, 3), ({3, 4}, 1), ({4}, 0)):
        result = ranged_by_kernels(whole, judged, AuditOptions())
        assert len(result.violations) == result.pairs_allowed_to_overlap == pairs
        assert differences(ranged_readably(whole, judged, AuditOptions()), result) == {}


@pytest.mark.parametrize("size", [0, 1, 9])
def test_stamps_of_transactions_that_are_left_out_still_move_the_clock(size):
    # 5<2 follows 7: an applier drains there, so 6<2 does not overlap it.
    whole = log("7<6 a", "5<2 b", "6<2 b")
    assert ranged_by_kernels(whole, {2, 3}, AuditOptions(), [size]).violations == []


def test_chain_that_leaves_the_ring_is_refused_where_transactions_are_left_out(monkeypatch):
    monkeypatch.setattr(auditor, "RING_MAX", 4)
    whole = log(*(f"{number}<{number - 1} a" for number in range(1, 12)))
    assert ranged_by_kernels(whole, {1, 2, 3}, AuditOptions()).transactions == 3
    with pytest.raises(NotCompilable, match="a chain through more of the log"):
        ranged_by_kernels(whole, {1, 2, 9, 10, 11}, AuditOptions())


def test_gap_of_any_length_needs_lines_only_for_what_is_remembered(monkeypatch):
    state = new_state(workers=(1,), order=(C.CLOCK,), limits=(10, 10, 10, 10, 10, 10, 10, 10))
    state = skipped(state, 10**9)
    assert (int(state.scalars[C.S_ORDINAL]), len(state.past)) == (10**9, 1 << 12)
    oldest = state.scalars[C.S_CHAINS + C.OLDEST :: 3]
    assert (oldest == 10**9 + 1).all()
    # One touch of the transaction after it stays known through a shorter gap.
    state.scalars[C.S_ORDINAL] += 1
    state.scalars[C.S_CHAINS + C.NEXT] += 1
    state = skipped(state, 1 << 13)
    assert len(state.past) > 1 << 13
    starts = state.past[np.arange(10**9 + 2, 10**9 + 2 + (1 << 13)) % len(state.past)]
    assert (starts[:, C.H_TOUCH_START] == 1).all()
    with pytest.raises(NotCompilable, match="too many others in between"):
        skipped(state, ranged_auditor.GAP_MAX)
