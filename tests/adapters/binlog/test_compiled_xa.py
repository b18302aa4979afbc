"""XA, savepoints and statements beside rows: kernels judge what the readable decoder reads."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paraply.properties.logs import row_replay
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.vocabulary.not_compilable import NotCompilable
from tests.adapters.binlog.test_compiled_equals_readable import (
    PRODUCTION_LOADED,
    drop_or_repeat,
    forge_rows,
)
from tests.adapters.binlog.test_left_tables import DIALECTS, REFUSED, assert_left_alike, saved
from tests.builders.log_forger import ForgedLog
from tests.builders.odd_tables import ODDITIES, odd_log, overlap, production_log
from tests.builders.xa_logs import INSIDE, with_xa


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_prepared_rows_count_from_their_commit(dialect, tmp_path):
    path = tmp_path / "xa.000001"
    log = production_log(path, dialect=dialect, seed=1)
    log = with_xa(
        log, dialect, random.Random(1), share=0.4, first=PRODUCTION_LOADED, inside=INSIDE[:1]
    )
    result, _ = assert_left_alike(log.save(path), transactions_max=40)
    assert min(result.kinds["xa"], result.kinds["rows"]) > 20
    assert result.conflicting_pairs_ordered > 50
    assert result.replay.findings


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_end_that_may_precede_its_prepare_is_a_finding(dialect, tmp_path):
    found = Counter()
    for seed in range(3):
        path = tmp_path / f"{seed}.000001"
        log = production_log(path, dialect=dialect, seed=seed)
        log = with_xa(log, dialect, random.Random(seed), share=0.3, first=PRODUCTION_LOADED)
        overlap(log, dialect, 20, PRODUCTION_LOADED)
        result, _ = assert_left_alike(log.save(path))
        found.update(each.index for each in result.violations)
    assert found["XA"]
    assert found["PRIMARY"]


@pytest.mark.long
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32),
    dialect=st.sampled_from(DIALECTS),
    oddities=st.lists(st.sampled_from(sorted(ODDITIES)), max_size=2, unique=True),
)
@example(seed=0, dialect="mariadb", oddities=["nullable-hidden"])  # Names an XA transaction.
def test_any_mixture_with_xa_gives_the_same_result(tmp_path_factory, seed, dialect, oddities):
    run_mixture(tmp_path_factory.mktemp("xa"), seed, dialect, tuple(oddities))


def xa_log(path, rng, dialect, seed, oddities=()):
    """Return a drawn log with XA, overlaps and faults."""
    log = odd_log(path, dialect=dialect, seed=seed, oddities=oddities)
    log = with_xa(log, dialect, rng, share=rng.choice((0.1, 0.5)), first=PRODUCTION_LOADED)
    if rng.random() < 0.6:
        overlap(log, dialect, rng.choice((9, 60)), PRODUCTION_LOADED)
    for fault in (lambda: forge_rows(log, rng), lambda: drop_or_repeat(log, rng)):
        if rng.random() < 0.3:
            fault()
    return ForgedLog(log.data())


def run_mixture(folder, seed, dialect, oddities):
    """Compare both engines on one drawn log; return what they found, None where one refuses."""
    rng = random.Random(seed)
    path = folder / "log.000001"
    log = xa_log(path, rng, dialect, seed, oddities)
    horizon = Horizon(keys=rng.choice((300, 10**6)), transactions=rng.choice((60, 1_000)))
    options = AuditOptions(
        horizon=horizon if rng.random() < 0.3 else Horizon(),
        replay_rows_max=rng.choice((20, 60, 10_000)),
        violations_max=rng.choice((7, 1_000)),
        replay_findings_max=rng.choice((3, 1_000)),
    )
    files = saved(log, path, rotated=rng.random() < 0.5)
    with pytest.MonkeyPatch.context() as patch:
        if rng.random() < 0.3:
            patch.setattr(row_replay, "PreparedXa", partial(PreparedXa, 2))
        try:
            return assert_left_alike(
                *files, options=options, transactions_max=rng.choice((1, 50, 8192))
            )
        except NotCompilable as reason:
            known = (*REFUSED, "DDL that may overlap more than the horizon holds")
            if not any(one in str(reason) for one in known):
                raise
            return None
