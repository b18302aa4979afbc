"""MySQL replicas under load: no conflicting parallel apply, and order where it is preserved."""

from __future__ import annotations

import pytest

from paraply.adapters.live.pair.mysql.faults import (
    COMMIT_ORDER_OFF,
    CUT_SOURCE_LOG,
    FORGED,
    FORGED_IDEMPOTENT,
)
from paraply.adapters.live.pair.mysql.target import DATABASE, MYSQL
from paraply.adapters.live.target import HEALTHY, LiveRequest
from paraply.adapters.servers import find_mysql
from paraply.vocabulary.errors import ParaplyError
from tests.live.runs import broken, documented, held, run

pytestmark = [pytest.mark.live(minutes=7), pytest.mark.long(each=1, by_row=True)]
MODE = "logical-clock"
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
def test_replica_keeps_what_its_settings_promise(fault):
    is_control = fault == COMMIT_ORDER_OFF
    result = run("mysql", MODE, fault, until={ORDER} if is_control else (), transactions=1_500)
    # Whether a reader meets a gap while it is open takes luck; that there are some does not.
    assert broken(result) <= documented("mysql", MODE, fault)
    assert (ORDER in broken(result)) == is_control
    assert (ORDER in held(result)) != is_control
    assert held(result) >= {"position_covers_only_what_is_applied", "stop_points_are_prefixes"}
    assert result.evidence["reads"]
    assert result.evidence["windows"] == result.evidence["transactions"] >= 1_500
    assert result.evidence["unknown_gtids"] == 0
    # The models allow what an ordered replica does, and refuse what the control does.
    for model in ("commit_order", "last_committed"):
        assert result.evidence[f"steps_followed_by_{model}"] >= 500
    assert (result.evidence["segments_refused_by_commit_order"] > 0) == is_control
    assert result.evidence["segments_refused_by_last_committed"] == 0


@pytest.mark.parametrize(
    ("fault", "transactions"),
    [
        ("kill-replica", 600),
        ("cut-relay-log", 600),
        ("stop-start", 600),
        ("cut-network", 600),
        # The load ends with the first blow, after which the applier may not stop any more.
        ("kill-waiter", 200),
    ],
)
def test_struck_pair_breaks_nothing(fault, transactions):
    result = run("mysql", MODE, fault, transactions=transactions)
    assert not broken(result)
    assert result.evidence["unknown_gtids"] == 0
    # On a slow machine the load ends before the fault has struck three times.
    assert bool(result.evidence["restarts"]) == (fault != "cut-network")
    assert held(result) >= {
        "no_event_is_lost",
        "no_event_is_applied_twice",
        "position_covers_only_what_is_applied",
        "position_covers_all_that_is_applied",
        "stop_points_are_prefixes",
    }


def test_forged_timestamps_stop_a_replica_or_let_it_apply_what_conflicts():
    wrong = documented("mysql", MODE, FORGED)
    result = run("mysql", MODE, FORGED, until=wrong, transactions=600)
    assert broken(result)
    assert broken(result) <= wrong
    assert result.evidence["unknown_gtids"] == 0


def test_forged_timestamps_that_idempotent_mode_hides_are_found():
    # Whether readers come in the middle takes luck; what is wrong in the end stays.
    wrong = "tables_end_as_the_sources"
    result = run("mysql", MODE, FORGED_IDEMPOTENT, until={wrong}, transactions=60)
    assert broken(result) >= {wrong, "no_conflicting_parallel_apply"}
    assert broken(result) <= documented("mysql", MODE, FORGED_IDEMPOTENT)
    # The server itself notices nothing, and keeps the order of commits.
    assert held(result) >= {"sound_log_never_fails", "no_event_is_lost", ORDER}
    assert result.evidence["windows"] == result.evidence["transactions"] >= 60
    assert result.evidence["unknown_gtids"] == 0


def test_replica_has_what_the_log_of_its_source_lost():
    result = run("mysql", MODE, CUT_SOURCE_LOG, transactions=600)
    # Whether GTIDs are given anew takes luck, and whether the replica is refused or skips them.
    assert broken(result) <= documented("mysql", MODE, CUT_SOURCE_LOG)
    assert result.evidence["unknown_gtids"]


def test_mode_that_the_version_does_not_have_is_named(installation):
    if installation.version < (9, 7, 0):
        pytest.skip("this version may still have the DATABASE mode")
    with pytest.raises(ParaplyError, match=r"P622.*no mode database"):
        next(iter(MYSQL.run(LiveRequest(mode=DATABASE, transactions=10))))
