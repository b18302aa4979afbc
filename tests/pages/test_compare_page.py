"""What docs/compare.md says one learns, asked again of other seeds."""

from __future__ import annotations

import pytest

from paraply.auditing.comparing import CompareRequest, compare

APPLIERS = ("c3", "c3-c1", "c2-c1", "p3", "mysql-writeset", "mariadb", "rule-by-primary-key")


def speedups(workload, seed):
    """Return the speed-ups of some appliers, by name."""
    request = CompareRequest(workload=workload, transactions=500, seed=seed, appliers=APPLIERS)
    result = compare(request)
    return {
        line.applier.name: line.measured.speedup(result.bounds.work) for line in result.lines
    }, {line.applier.name: line.measured for line in result.lines}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_page_says_holds_for_other_seeds(seed):
    hot, measures = speedups("hot-keys", seed)
    oltp, _ = speedups("oltp", seed)
    assert hot["c3"] > 1.15 * hot["mysql-writeset"]
    for speed in (hot, oltp):
        assert speed["c3"] > 1.4 * speed["c3-c1"]
    assert oltp["mariadb-optimistic"] > 1.15 * oltp["mariadb-conservative"]
    assert hot["mariadb-optimistic"] < 1.1 * hot["mariadb-conservative"]
    assert measures["c3-c1"].gap_max == 0 < measures["c3"].gap_max
    assert not measures["rule-by-primary-key"].ends_as_serial


def test_huge_transaction_is_gained_from_by_whoever_cuts_it():
    hot, _ = speedups("hot-keys", 0)
    huge, measures = speedups("one-huge", 0)
    assert huge["p3"] > hot["p3"]
    for name in ("c3-c1", "mysql-writeset", "mariadb-optimistic"):
        assert huge[name] < hot[name]
    assert measures["c3"].gap_max > 100
