"""Servers that come back: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.returns import (
    crashed_replicas_come_back,
    lost_sources_are_succeeded,
    lost_sources_come_back_as_stated,
    promoted_replicas_are_most_advanced,
    replicas_return,
    restarted_replicas_have_what_is_kept,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = (
    "T1{a} | T2{b} | prepared T1@source ; flushed T1@source ; flushed T2@source ; "
    "delivered T1@r1 ; delivered T2@r1 ; engine_committed T1@r1 ; "
)


def run(options, *events):
    return history_of(f"members=source,r1 options={{{options}}} | {LOG}{' ; '.join(events)}")


@pytest.mark.parametrize(
    ("keeps", "having", "is_right"),
    [("true", "1,2", True), ("true", "1", False), ("false", "1", True), ("false", "1,2", False)],
)
def test_restarted_replica_has_what_it_keeps(keeps, having, is_right):
    history = run(
        f'"keeps_relay_log":{keeps}', "crashed @r1", f"recovered @r1 transactions={having}"
    )
    assert verdict(history, restarted_replicas_have_what_is_kept) is (
        Verdict.HOLDS if is_right else Verdict.VIOLATED
    )


def test_breach_tells_what_the_replica_should_have():
    (breach,) = restarted_replicas_have_what_is_kept(
        run('"keeps_relay_log":false', "crashed @r1", "recovered @r1 transactions=1,2")
    )
    assert str(breach) == "r1 restarted with T1 T2; it should have T1"


REST = 'stopped @source note="at rest"'
BACK = "recovered @r1 transactions=1,2"


@pytest.mark.parametrize(
    ("returns", "events", "expected"),
    [
        ("true", ("crashed @r1", BACK, REST), Verdict.HOLDS),
        ("true", ("crashed @r1", REST), Verdict.VIOLATED),
        ("true", ("crashed @r1",), Verdict.UNKNOWN),
        ("true", ("crashed @r1 note=lost", REST), Verdict.HOLDS),
    ],
)
def test_crashed_replica_runs_again_at_the_end(returns, events, expected):
    history = run(f'"replicas_return":{returns}', *events)
    assert verdict(history, crashed_replicas_come_back) is expected


@pytest.mark.parametrize(("returns", "is_judged"), [("true", True), ("false", False)])
def test_replica_that_should_stay_away_is_not_judged(returns, is_judged):
    history = run(f'"replicas_return":{returns}', "crashed @r1", REST)
    assert replicas_return(history) is is_judged


PROMOTED = "stopped @r1 note=promoted"


@pytest.mark.parametrize(
    ("returns", "ends", "found"),
    [
        ("true", ("recovered @source note=rejoins", PROMOTED), []),
        ("true", ("stopped @source note=refused", PROMOTED), []),
        ("true", (PROMOTED,), ["source stayed away, and should come back"]),
        ("false", (PROMOTED,), []),
        (
            "false",
            ("recovered @source note=rejoins", PROMOTED),
            ["source came back, and should stay"],
        ),
        ("true", (), []),
    ],
)
def test_lost_source_comes_back_as_stated(returns, ends, found):
    history = run(f'"source_returns":{returns}', "crashed @source note=lost", *ends)
    assert [str(one) for one in lost_sources_come_back_as_stated(history)] == found


LOST = "crashed @source note=lost"
FAIL_OVER = 'options={"source_returns":false} | T1{a} | T2{b} | '
SENT = "flushed T1@source ; synced T1@source ; delivered T1@r1 ; delivered T1@r2 ; "
AHEAD = "flushed T2@source ; synced T2@source ; delivered T2@r2 ; "


def failed_over(*events, sent=SENT):
    return history_of(f"members=source,r1,r2 {FAIL_OVER}{sent}" + " ; ".join((LOST, *events)))


PROMOTED = "read @{} session=promoted [a=T1]"


def test_survivor_of_a_lost_source_is_promoted():
    history = failed_over(PROMOTED.format("r1"))
    assert verdict(history, lost_sources_are_succeeded) is Verdict.HOLDS
    (breach,) = lost_sources_are_succeeded(failed_over("crashed @r1 note=lost"))
    assert str(breach) == "the source is lost, and none of r2 was promoted"


def test_without_survivors_none_is_promoted():
    history = failed_over("crashed @r1 note=lost", "crashed @r2 note=lost")
    assert verdict(history, lost_sources_are_succeeded) is Verdict.UNKNOWN


def test_most_advanced_replica_is_promoted():
    right = failed_over(PROMOTED.format("r2"), sent=SENT + AHEAD)
    assert verdict(right, promoted_replicas_are_most_advanced) is Verdict.HOLDS
    (breach,) = promoted_replicas_are_most_advanced(
        failed_over(PROMOTED.format("r1"), sent=SENT + AHEAD)
    )
    assert str(breach) == "r1 was promoted; r2 has received T2 too"


def test_lost_replica_is_not_waited_for():
    history = failed_over("crashed @r2 note=lost", PROMOTED.format("r1"), sent=SENT + AHEAD)
    assert not promoted_replicas_are_most_advanced(history)


def test_promotion_without_any_recorded_receipt_is_unknown():
    history = failed_over(PROMOTED.format("r1"), sent="flushed T1@source ; synced T1@source ; ")
    assert verdict(history, promoted_replicas_are_most_advanced) is Verdict.UNKNOWN
