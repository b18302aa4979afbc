"""MySQL replicas under load: no conflicting parallel apply, and order where it is preserved."""

from __future__ import annotations

import pytest

import properties.all  # noqa: F401
from adapters.live.mysql import MysqlLab
from adapters.live.mysql_faults import COMMIT_ORDER_OFF, FORGED
from adapters.live.mysql_target import DATABASE, MYSQL
from adapters.live.target import HEALTHY, LiveRequest
from adapters.servers import find_mysql
from properties.parallel_apply import two_transactions_overlap
from properties.registry import property_named, verdict_of
from tests.live.decoding import compare_with_own_tool
from vocabulary.errors import ParaplyError
from vocabulary.verdict import Verdict

pytestmark = pytest.mark.live
ORDER = "engine_commits_follow_the_log"


@pytest.fixture(scope="module", autouse=True)
def installation():
    try:
        found = find_mysql()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    return found


@pytest.mark.parametrize("fault", [HEALTHY, COMMIT_ORDER_OFF])
def test_replica_keeps_what_its_settings_promise(fault, tmp_path):
    request = LiveRequest(mode="logical-clock", fault=fault, transactions=1_500, seed=5)
    with MysqlLab(request) as lab:
        one = lab.round(1)
        broken = {name for name in MYSQL.properties if broken_by(one.history, name)}
        # Whether a reader meets a gap while it is open takes luck; that there are some does not.
        documented = set(MYSQL.documented.get(f"logical-clock/{fault}", ()))
        assert broken <= documented
        assert (ORDER in broken) == (fault == COMMIT_ORDER_OFF)
        assert int(one.evidence["reads"]) > 0
        for name in ("position_covers_only_what_is_applied", "stop_points_are_prefixes"):
            assert holds(one.history, name), name
        assert two_transactions_overlap(one.history)
        assert one.evidence["windows"] == one.evidence["transactions"]
        assert one.evidence["unknown_gtids"] == 0
        assert int(one.evidence["workers"]) > 2
        replica = lab.replicas[0]
        relayed = sorted(replica.datadir.glob("*relay-bin.0*"))
        assert compare_with_own_tool(lab.source, lab.source.binary_logs(), tmp_path) >= 1_500
        assert compare_with_own_tool(replica, replica.binary_logs(), tmp_path) >= 1_500
        compare_with_own_tool(replica, relayed, tmp_path)


@pytest.mark.parametrize(
    "fault", ["kill-replica", "cut-relay-log", "stop-start", "cut-network", FORGED]
)
def test_struck_pair_breaks_what_is_documented_and_nothing_else(fault):
    request = LiveRequest(mode="logical-clock", fault=fault, transactions=600, seed=5)
    (one,) = MYSQL.run(request)
    broken = {name for name in MYSQL.properties if broken_by(one.history, name)}
    print(f"live: {fault}, {one.evidence}, {one.notes}")
    assert broken <= set(MYSQL.documented.get(f"logical-clock/{fault}", ()))
    assert bool(broken) == (fault == FORGED)
    assert one.evidence["unknown_gtids"] == 0
    # On a slow machine the load ends before the fault has struck three times.
    assert bool(one.evidence["restarts"]) == (fault not in ("cut-network", FORGED))
    if fault != FORGED:
        held = {name for name in MYSQL.properties if holds(one.history, name)}
        assert held >= {
            "no_event_is_lost",
            "no_event_is_applied_twice",
            "position_covers_only_what_is_applied",
            "position_covers_all_that_is_applied",
            "stop_points_are_prefixes",
        }


def holds(history, name):
    return verdict_of(history, property_named(name)) is Verdict.HOLDS


def broken_by(history, name):
    return bool(property_named(name).violations(history))


def test_mode_that_the_version_does_not_have_is_named(installation):
    if installation.version < (9, 7, 0):
        pytest.skip("this version may still have the DATABASE mode")
    with pytest.raises(ParaplyError, match=r"P622.*no mode database"):
        next(iter(MYSQL.run(LiveRequest(mode=DATABASE, transactions=10))))
