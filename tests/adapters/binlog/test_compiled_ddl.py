"""DDL that may overlap others' changes, in logs of which a horizon forgets the beginning."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.conflict_index import Horizon
from paraply.vocabulary.not_compilable import NotCompilable
from tests.builders.engines import audit_by_compiled, audit_by_readable, differences
from tests.builders.odd_tables import QUERY, production_log

LOADED = 20
"""Transactions that create and fill the tables."""


def overlapping_ddl(path, rng, *, by):
    """Write a log in which each transaction may overlap some before it, DDL too.

    DDL is of a table without rows; return the number of DDL that may overlap others.
    """
    log = production_log(path, dialect="mysql", seed=rng.randrange(5), size_bytes=100_000)
    for event in log.events:
        if event.code == QUERY:
            event.body[:] = event.body.replace(b"ALTER TABLE tariff", b"ALTER TABLE nobody")
    starts = [*log.starts(), len(log.events)]
    overlaps = 0
    for ordinal in range(1, len(log) + 1):
        events = log.events[starts[ordinal - 1] : starts[ordinal]]
        is_ddl = any(b"ALTER TABLE" in event.body for event in events if event.code == QUERY)
        before = ordinal - 1 - (rng.randrange(by) if ordinal > LOADED + by else 0)
        log.set_timestamp(ordinal, last_committed=before, sequence_number=ordinal)
        overlaps += is_ddl and before < ordinal - 1
    return log.save(path), overlaps


@pytest.mark.long
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32))
def test_ddl_in_a_window_that_the_horizon_holds_is_judged_by_kernels(tmp_path_factory, seed):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("ddl") / "log.000001"
    path, overlaps = overlapping_ddl(path, rng, by=rng.choice((2, 3)))
    # Small batches: what was used is known by batch.
    options = AuditOptions(horizon=Horizon(keys=10**6, transactions=100))
    readable = audit_by_readable((str(path),), None, options)
    compiled = audit_by_compiled((str(path),), None, options, transactions_max=rng.choice((1, 7)))
    assert differences(readable, compiled) == []
    assert readable.result.transactions > 2 * 100
    assert overlaps


def test_ddl_in_a_window_beyond_the_horizon_is_handed_over(tmp_path):
    path, overlaps = overlapping_ddl(tmp_path / "log.000001", random.Random(1), by=60)
    assert overlaps
    options = AuditOptions(horizon=Horizon(keys=10**6, transactions=20))
    with pytest.raises(NotCompilable, match="more than the horizon holds"):
        audit_by_compiled((str(path),), None, options)
