"""Numbers that certification gives, and sets that members state: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.certification.gtid_blocks import (
    an_origin_needs_a_second_block,
    gtids_come_from_their_origins_block,
)
from paraply.properties.certification.gtid_numbers import gtid_numbers_leave_no_gap
from paraply.properties.group.backlog import members_write_after_their_backlog
from paraply.properties.group.executed_sets import (
    a_member_collects_at_a_join,
    stated_gtid_sets_name_their_transactions,
)
from paraply.properties.gtid.switch_over import (
    source_and_replica,
    switched_sources_ask_from_their_logs_end,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} origin=r1 | T2{b} origin=r1 | T3{c} origin=r2 gtid=group:9 | "


def certified(*given):
    return " ; ".join(f"certified T{one}@r1 positive gtid=group:{number}" for one, number in given)


def test_lowest_free_numbers_hold():
    run = history_of(LOG + certified((1, 1), (2, 2)))
    assert verdict(run, gtid_numbers_leave_no_gap) is Verdict.HOLDS


def test_number_above_a_free_one_is_reported():
    (breach,) = gtid_numbers_leave_no_gap(history_of(LOG + certified((1, 1), (2, 4))))
    assert str(breach) == "r1 gave T2 group:4 while 2 numbers below it were free"


def test_number_that_a_session_set_may_leave_a_gap():
    assert not gtid_numbers_leave_no_gap(history_of(LOG + certified((3, 9), (1, 1))))


@pytest.mark.parametrize(("number", "is_late"), [(5, False), (6, True)])
def test_blocks_of_the_members_may_be_free(number, is_late):
    head = 'members=r1,r2 options={"block_size":2} '
    run = history_of(head + LOG + certified((1, number)))
    assert bool(gtid_numbers_leave_no_gap(run)) is is_late


BLOCKS = 'members=r1,r2 options={"block_size":2} | ' + " | ".join(
    f"T{one}{{a}} origin=r{origin}" for one, origin in enumerate((1, 2, 1, 1, 2), 1)
)
NUMBERS = {1: 1, 2: 3, 3: 2, 4: 4, 5: 6}


def numbered(**other):
    given = NUMBERS | {int(name[1:]): number for name, number in other.items()}
    return history_of(f"{BLOCKS} | {certified(*given.items())}")


def test_gtids_come_from_disjoint_blocks_and_later_fill_holes():
    assert verdict(numbered(), gtids_come_from_their_origins_block) is Verdict.HOLDS
    assert an_origin_needs_a_second_block(numbered())


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"T2": 2}, "T2 group:2; with blocks of 2 its origin's next number is 3"),
        ({"T4": 5}, "is 4"),
    ],
)
def test_number_outside_the_block_is_reported(other, expected):
    breach, *_ = gtids_come_from_their_origins_block(numbered(**other))
    assert str(breach).endswith(expected)


def test_joiner_is_not_judged_by_blocks():
    run = history_of(f"{BLOCKS} | recovered @r1 ; {certified((1, 7))}")
    assert verdict(run, gtids_come_from_their_origins_block) is Verdict.UNKNOWN


def test_view_change_ends_the_blocks():
    view = f"{certified((1, 1))} ; view_installed @r1 view=2 ; "
    assert not gtids_come_from_their_origins_block(
        history_of(f"{BLOCKS} | {view}{certified((2, 2))}")
    )


COMMITS = f"{certified((1, 1), (2, 2))} ; engine_committed T1@r1 ; engine_committed T2@r1 ; "


@pytest.mark.parametrize(
    ("stated", "transactions", "said"),
    [
        ("group:1-2", "1,2", ""),
        ("other:1:5,group:1:2", "1,2", ""),
        ("group:1", "1,2", "lacks group:2"),
        ("group:1-2", "1", "has group:2"),
        ("s1", "1", ""),
    ],
)
def test_stated_set_must_have_its_transactions(stated, transactions, said):
    event = f'garbage_collected @r1 gtid_set="{stated}" transactions={transactions}'
    found = stated_gtid_sets_name_their_transactions(history_of(LOG + COMMITS + event))
    assert [str(one).partition(", ")[0].endswith(said) for one in found] == ([True] if said else [])


def test_gtid_of_two_transactions_judges_nothing():
    twice = f"{certified((1, 1), (2, 1))} ; engine_committed T1@r1 ; "
    event = 'garbage_collected @r1 gtid_set="group:1" transactions=2'
    assert not stated_gtid_sets_name_their_transactions(history_of(LOG + twice + event))


def test_event_without_transactions_states_nothing():
    run = history_of(LOG + COMMITS + "garbage_collected @r1")
    assert verdict(run, stated_gtid_sets_name_their_transactions) is Verdict.UNKNOWN


def test_collection_in_the_step_of_a_view_is_one_at_a_join():
    head = "members=r1,r2 " + LOG + "online @r1 members=r1 ; "
    view = "view_installed @r1 view=2 members=r1,r2"
    assert a_member_collects_at_a_join(
        history_of(f"{head}garbage_collected @r1 time=5 ; {view} time=5")
    )
    assert not a_member_collects_at_a_join(history_of(f"{head}garbage_collected @r1 ; {view}"))


BACKLOG = 'members=r1,r2 options={"waits_for_backlog":true} | T1{a} origin=r2 | T2{b} origin=r1 | '
QUEUED = "certified T1@r1 positive 2<1 gtid=group:1 ; online @r1 members=r1,r2 ; "


def test_member_writes_when_it_has_applied_its_backlog():
    good = history_of(f"{BACKLOG}{QUEUED}engine_committed T1@r1 ; submitted T2@r1")
    assert verdict(good, members_write_after_their_backlog) is Verdict.HOLDS
    (breach,) = members_write_after_their_backlog(history_of(f"{BACKLOG}{QUEUED}submitted T2@r1"))
    assert str(breach).startswith("r1 took T2 from a client before it had applied T1")


def test_what_comes_after_the_member_is_online_may_wait():
    later = "online @r1 members=r1,r2 ; certified T1@r1 positive 2<1 gtid=group:1 ; "
    run = history_of(f"{BACKLOG}{later}submitted T2@r1")
    assert verdict(run, members_write_after_their_backlog) is Verdict.UNKNOWN


SERVERS = "members=s1,s2 | T1{a} gtid=0-1-1 domain=0 origin=s1 | "
SWITCH = "started @s2 members=s1 ; flushed T1@s1 gtid=0-1-1 ; started @s1 members=s2"


def test_former_source_asks_for_what_follows_its_log():
    good = history_of(f"{SERVERS}{SWITCH} gtid_set=0-1-1")
    assert verdict(good, switched_sources_ask_from_their_logs_end) is Verdict.HOLDS
    (breach,) = switched_sources_ask_from_their_logs_end(history_of(SERVERS + SWITCH))
    assert "asks for what follows nothing, and its log ends with 0-1-1" in str(breach)


def test_server_of_a_ring_may_ask_for_its_own():
    ring = history_of(SERVERS.replace("s1,s2", "s1,s2,s3") + SWITCH)
    assert source_and_replica(history_of(SERVERS + SWITCH))
    assert not source_and_replica(ring)


@pytest.mark.parametrize("single", ["true", "false"])
def test_new_primary_writes_when_it_has_applied_what_the_last_one_left(single):
    head = BACKLOG.replace("{", f'{{"single_primary":{single},', 1)
    events = (
        "view_installed @r1 view=1 members=r2,r1 ; online @r1 members=r1,r2 ; submitted T1@r2 ; "
        "certified T1@r1 positive 2<1 gtid=group:1 ; view_installed @r1 view=2 members=r1 ; "
    )
    late = history_of(f"{head}{events}submitted T2@r1")
    text = (
        "r1 took T2 from a client before it had applied T1, certified before it was online or the "
        "last primary left"
    )
    found = [str(one) for one in members_write_after_their_backlog(late)]
    assert found == ([text] if single == "true" else [])
    good = history_of(f"{head}{events}engine_committed T1@r1 ; submitted T2@r1")
    assert not members_write_after_their_backlog(good)


def test_member_that_left_before_is_no_primary_for_what_it_wrote_then():
    head = BACKLOG.replace("{", '{"single_primary":true,', 1)
    events = (
        "view_installed @r1 view=1 members=r2,r1 ; online @r1 members=r1,r2 ; submitted T1@r2 ; "
        "view_installed @r1 view=2 members=r1 ; view_installed @r1 view=3 members=r2,r1 ; "
        "certified T1@r1 positive 2<1 gtid=group:1 ; view_installed @r1 view=4 members=r1 ; "
    )
    assert not members_write_after_their_backlog(history_of(f"{head}{events}submitted T2@r1"))
