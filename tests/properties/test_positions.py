"""Positions against data: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.positions import (
    crash_finds_a_transaction_half_done,
    one_group_has_two_of_a_domain,
    position_covers_all_that_is_applied,
    position_covers_only_what_is_applied,
    position_rows_never_wait,
    recovered_positions_cover_the_synced_log,
    stop_points_are_prefixes,
    stopped_positions_cover_the_last_commit,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0 | T3{c} gtid=1-1-1 domain=1
    | T4{d} gtid=0-2-1 domain=0 | """


def history(events):
    return history_of(LOG + events)


@pytest.mark.parametrize("position", ['"0-1-1,1-1-1"', "0-1-1", '""'])
def test_position_that_covers_what_is_applied_or_less_is_not_ahead(position):
    run = history(f"recovered @r1 gtid_set={position} transactions=1,3")
    assert not position_covers_only_what_is_applied(run)


def test_position_past_the_data_is_ahead():
    run = history("recovered @r1 gtid_set=0-1-2 transactions=1")
    (breach,) = position_covers_only_what_is_applied(run)
    assert str(breach) == "on r1, recovered, position 0-1-2 covers T2, which is not applied"


def test_smaller_number_later_in_the_log_covers_the_greater_ones_before_it():
    # The position is the last applied, not the greatest: 0-2-1 comes after 0-1-2.
    run = history("recovered @r1 gtid_set=0-2-1 transactions=1,2,4")
    assert verdict(run, position_covers_only_what_is_applied) is Verdict.HOLDS
    assert verdict(run, position_covers_all_that_is_applied) is Verdict.HOLDS


def test_position_shown_while_running_is_compared_with_what_had_committed_then():
    early = "read @r1 gtid_set=0-1-1 ; engine_committed T1@r1"
    assert [breach.transaction for breach in position_covers_only_what_is_applied(history(early))]
    late = "engine_committed T1@r1 ; read @r1 gtid_set=0-1-1"
    assert not position_covers_only_what_is_applied(history(late))


def test_position_behind_the_data_repeats_a_transaction():
    run = history("engine_committed T1@r1 ; engine_committed T2@r1 ; stopped @r1 gtid_set=0-1-1")
    (breach,) = position_covers_all_that_is_applied(run)
    assert str(breach) == "on r1, stopped, T2 is applied and position 0-1-1 does not cover it"


def test_position_without_a_domain_that_was_applied_is_behind():
    run = history("recovered @r1 gtid_set=0-1-1 transactions=1,3")
    (breach,) = position_covers_all_that_is_applied(run)
    assert breach.transaction == 3


def test_position_that_lags_while_transactions_are_under_way_is_no_breach():
    run = history("engine_committed T1@r1 ; read @r1 session=dba ; crashed @r1")
    assert not position_covers_all_that_is_applied(run)
    assert verdict(run, position_covers_all_that_is_applied) is Verdict.UNKNOWN


def test_gtid_that_the_log_does_not_have_covers_nothing():
    run = history("recovered @r1 gtid_set=0-9-9 transactions=1")
    assert not position_covers_only_what_is_applied(run)
    assert position_covers_all_that_is_applied(run)


def test_stop_with_a_hole_in_a_domain_is_reported():
    run = history("engine_committed T2@r1 ; stopped @r1")
    (breach,) = stop_points_are_prefixes(run)
    assert str(breach) == "r1 stopped with T2 applied and T1, before it in domain 0, not"


def test_stop_with_one_domain_behind_another_is_a_prefix_of_each():
    run = history("engine_committed T3@r1 ; engine_committed T1@r1 ; stopped @r1")
    assert verdict(run, stop_points_are_prefixes) is Verdict.HOLDS


def test_hole_while_running_is_no_stop_point():
    assert not stop_points_are_prefixes(history("engine_committed T2@r1 ; crashed @r1"))


UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
EXECUTED = f"""| T1{{a}} gtid={UUID}:1 | T2{{b}} gtid={UUID}:2 | T3{{c}} gtid={UUID}:tag:1 | """


def executed(events):
    return history_of(EXECUTED + events.replace("UUID", UUID))


def test_executed_set_that_is_the_data_holds_in_both_directions():
    run = executed(
        "recovered @r1 gtid_set=UUID:1-2 transactions=1,2 ; stopped @r1 gtid_set=UUID:1-2"
    )
    for check in (
        position_covers_only_what_is_applied,
        position_covers_all_that_is_applied,
        stop_points_are_prefixes,
    ):
        assert verdict(run, check) is Verdict.HOLDS


def test_executed_set_with_what_is_not_applied_is_ahead():
    run = executed('read @r1 gtid_set="UUID:1-2:tag:1"')
    assert [breach.transaction for breach in position_covers_only_what_is_applied(run)] == [1]
    run = executed('engine_committed T1@r1 ; engine_committed T3@r1 ; read @r1 gtid_set="UUID:1-2"')
    (breach,) = position_covers_only_what_is_applied(run)
    assert str(breach) == f"on r1, read, position {UUID}:1-2 covers T2, which is not applied"


def test_executed_set_without_what_is_applied_is_behind():
    run = executed("recovered @r1 gtid_set=UUID:1 transactions=1,3")
    (breach,) = position_covers_all_that_is_applied(run)
    assert breach.transaction == 3


def test_executed_set_with_a_hole_covers_what_is_beyond_it():
    run = executed("recovered @r1 gtid_set=UUID:2 transactions=2")
    assert not position_covers_only_what_is_applied(run)
    assert not position_covers_all_that_is_applied(run)


def test_stop_with_a_hole_in_a_log_without_domains_is_reported():
    (breach,) = stop_points_are_prefixes(
        executed("engine_committed T2@r1 ; stopped @r1 gtid_set=UUID:2")
    )
    assert str(breach) == "r1 stopped with T2 applied and T1, before it in the log, not"


def test_stop_without_any_executed_set_in_a_log_without_domains_says_nothing():
    run = executed("engine_committed T2@r1 ; stopped @r1")
    assert verdict(run, stop_points_are_prefixes) is Verdict.UNKNOWN


def test_state_that_names_no_uuid_is_not_judged():
    run = history_of("| T1{a} gtid=group:1 | recovered @r1 gtid_set=group:1")
    assert verdict(run, position_covers_only_what_is_applied) is Verdict.UNKNOWN


ROW = 'row_applied T{0}@r1 {{"rpl_slave_state 0"}} {1}'


def test_wait_for_a_position_row_is_reported_with_its_holder():
    run = history(f"{ROW.format(1, 'ok')} ; {ROW.format(2, 'lock_wait')} other=1")
    (breach,) = position_rows_never_wait(run)
    assert str(breach) == "on r1 T2 cannot write its position before T1 commits"


def test_two_uncommitted_rows_of_a_domain_show_that_none_waits():
    both = f"{ROW.format(1, 'ok')} ; {ROW.format(2, 'ok')}"
    assert verdict(history(both), position_rows_never_wait) is Verdict.HOLDS
    apart = f"{ROW.format(1, 'ok')} ; engine_committed T1@r1 ; {ROW.format(2, 'ok')}"
    assert verdict(history(apart), position_rows_never_wait) is Verdict.UNKNOWN


def test_wait_for_a_row_of_data_is_no_wait_for_a_position():
    assert not position_rows_never_wait(history("row_applied T2@r1 {a} lock_wait other=1"))


@pytest.mark.parametrize(
    ("events", "is_reached"),
    [
        ("begun T1@r1 ; crashed @r1", True),
        ("begun T1@r1 ; engine_committed T1@r1 ; crashed @r1", False),
        ("begun T1@r1 ; crashed @r2", False),
    ],
)
def test_crash_in_the_middle_is_one_at_the_member_that_had_begun(events, is_reached):
    assert crash_finds_a_transaction_half_done(history(events)) is is_reached


@pytest.mark.parametrize(
    ("groups", "is_reached"), [("1 1 2", True), ("1 2 1", False), ("1 2 3", False)]
)
def test_group_of_two_domains_only_is_no_group_of_one_domain(groups, is_reached):
    first, second, third = groups.split()
    run = history(
        f"engine_committed T1@r1 group={first} ; engine_committed T2@r1 group={second}"
        f" ; engine_committed T3@r1 group={third}"
    )
    assert one_group_has_two_of_a_domain(run) is is_reached


def test_engine_commits_outside_of_a_commit_group_are_no_group():
    run = history("engine_committed T1@r1 ; engine_committed T2@r1 ; engine_committed T3@r1")
    assert not one_group_has_two_of_a_domain(run)


@pytest.mark.parametrize(
    ("position", "found"), [("0-1-1", 0), ("0-1-2", 0), ("1-1-1", 1), ('""', 1)]
)
def test_position_covers_the_synced_log_after_a_crash(position, found):
    run = history(f"synced T1@r1 ; crashed @r1 ; recovered @r1 gtid_set={position}")
    assert len(recovered_positions_cover_the_synced_log(run)) == found
    expected = Verdict.VIOLATED if found else Verdict.HOLDS
    assert verdict(run, recovered_positions_cover_the_synced_log) is expected


def test_log_of_another_or_after_the_crash_is_not_covered():
    for early in ("synced T1@r2 ; crashed @r1 ; recovered @r1", "recovered @r1 ; synced T1@r1"):
        assert not recovered_positions_cover_the_synced_log(history(early))


def test_stop_covers_what_committed_last():
    good = history("started @r1 ; engine_committed T2@r1 ; stopped @r1 gtid_set=0-1-2")
    assert verdict(good, stopped_positions_cover_the_last_commit) is Verdict.HOLDS
    late = history("started @r1 ; engine_committed T2@r1 ; stopped @r1 gtid_set=0-1-1")
    (breach,) = stopped_positions_cover_the_last_commit(late)
    assert str(breach) == "on r1, stopped, T2 is applied and position 0-1-1 does not cover it"


@pytest.mark.parametrize("between", ["crashed @r1", "started @r1", "failed T3@r1"])
def test_commit_before_a_start_or_an_error_is_not_the_last(between):
    run = history(f"engine_committed T2@r1 ; {between} ; stopped @r1 gtid_set=0-1-1")
    assert verdict(run, stopped_positions_cover_the_last_commit) is Verdict.UNKNOWN
