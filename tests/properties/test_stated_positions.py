"""Positions that servers show, ask for and pass over: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.stated_positions import (
    binlog_positions_end_with_what_is_logged,
    current_positions_add_own_writes,
    filters_leave_out_what_they_name,
    only_known_groups_are_passed_over,
    replicas_ask_for_what_they_lack,
    shown_positions_keep_up,
    slave_positions_end_with_what_was_passed,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-1-2 domain=0 origin=s1
    | T3{c} gtid=1-2-1 domain=1 origin=s2 | """
REPLICA = LOG.replace(" origin=s1", "").replace(" origin=s2", "")


def run(*events, log=LOG):
    return history_of(log + " ; ".join(events))


ONE = "begun T1@w1 ; engine_committed T1@w1"
READ = 'read gtid_set="{}" note=gtid_slave_pos'


@pytest.mark.parametrize(
    "events",
    [
        (ONE, "begun T2@w1", READ.format("0-1-1")),
        (ONE, READ.format("0-1-1")),
        (ONE, READ.format("")),
        (ONE, "begun T2@w2", READ.format("")),
        (ONE, "begun T2@w1", "engine_committed T2@w1", READ.format("0-1-2")),
        (ONE, "begun T2@w1", "started", READ.format("")),
    ],
)
def test_position_covers_what_a_worker_left_behind(events):
    assert not shown_positions_keep_up(run("started", *events, log=REPLICA))


def test_position_that_stays_behind_is_reported():
    late = run("started", ONE, "begun T2@w1", READ.format(""), log=REPLICA)
    (breach,) = shown_positions_keep_up(late)
    assert str(breach) == (
        "r1 showed position (empty) when the worker of T1 had gone on to another transaction"
    )
    again = run("started", ONE, "begun T2@w1", READ.format("1-2-1"), log=REPLICA)
    assert verdict(again, shown_positions_keep_up) is Verdict.VIOLATED


STATES = (
    'position_saved @s1 gtid_set="{}" note=gtid_binlog_pos ; '
    'position_saved @s1 gtid_set="{}" note=gtid_current_pos ; stopped @s1 gtid_set="{}"'
)
S1 = "flushed T1@s1 gtid=0-1-1"


@pytest.mark.parametrize(
    ("logged", "current", "applied", "holds"),
    [
        ("0-1-1", "0-1-1", "", True),
        ("0-1-1", "", "", False),
        ("0-1-1,1-2-1", "0-1-1", "", True),
        ("0-1-1,1-2-1", "0-1-1,1-2-1", "", False),
        ("0-1-1", "0-1-2", "0-1-2", True),
        ("0-1-2", "0-1-1", "0-1-1", False),
        ("1-2-1", "1-2-1", "1-2-1", True),
        ("", "False", "", False),
    ],
)
def test_current_position_is_the_later_of_applied_and_own(logged, current, applied, holds):
    stated = run(S1, STATES.format(logged, current, applied))
    expected = Verdict.HOLDS if holds else Verdict.VIOLATED
    assert verdict(stated, current_positions_add_own_writes) is expected


def test_wrong_current_position_is_named():
    (breach,) = current_positions_add_own_writes(run(S1, STATES.format("0-1-1", "", "1-2-1")))
    assert str(breach) == (
        "s1 states () in gtid_current_pos; what it applied and wrote ends with (0-1-1,1-2-1)"
    )


SOURCE = "flushed T1@s1 gtid=0-1-1 ; flushed T2@s1 gtid=0-1-2 ; flushed T3@s1 gtid=1-2-1"
HAS = "engine_committed T1@s3"
START = 'started @s3 members=s1 gtid_set="{}"'


@pytest.mark.parametrize(
    ("has", "asked", "found"),
    [
        (HAS, "0-1-1", 0),
        (HAS, "", 1),
        (HAS, "1-2-1", 1),
        (HAS, "0-1-2", 0),
        (HAS + " ; engine_committed T2@s3", "0-1-1", 1),
        (HAS, "0-9-9", 0),
        ("engine_committed T2@s3", "", 0),
        ("recovered @s3 transactions=1", "", 1),
    ],
)
def test_replica_asks_for_nothing_that_it_has(has, asked, found):
    assert len(replicas_ask_for_what_they_lack(run(SOURCE, has, START.format(asked)))) == found


def test_own_transactions_and_refusals_do_not_count():
    mine = run(SOURCE, "engine_committed T3@s2", "started @s2 members=s1")
    assert not replicas_ask_for_what_they_lack(mine)
    refused = run(SOURCE, HAS, 'started @s3 members=s1 note="1236: no"')
    assert not replicas_ask_for_what_they_lack(refused)
    (breach,) = replicas_ask_for_what_they_lack(run(SOURCE, HAS, "started @s3 members=s1"))
    assert str(breach) == "s3 has T1 and asks s1 for what follows nothing, before it"


def test_position_of_a_log_that_goes_back_is_exempt():
    (prop,) = [one for one in registered_properties() if one.name.startswith("replicas_ask")]
    falls = "flushed T2@s1 gtid=0-1-2 ; flushed T1@s1 gtid=0-1-1"
    assert not prop.applies_to(run(falls, HAS, START.format("0-1-2")))
    assert prop.applies_to(run(SOURCE, HAS, START.format("0-1-2")))


@pytest.mark.parametrize(
    ("events", "holds"),
    [
        (("skipped T1@s1 gtid=0-1-1 note=own",), True),
        (("skipped T1@s2 gtid=0-1-1 note=own",), False),
        ((HAS, "skipped T1@s3 note=duplicate"), True),
        (("recovered @s3 transactions=1", "skipped T1@s3 note=duplicate"), True),
        ((HAS, "skipped T2@s3 note=duplicate"), False),
    ],
)
def test_own_and_known_groups_are_passed_over(events, holds):
    expected = Verdict.HOLDS if holds else Verdict.VIOLATED
    assert verdict(run(*events), only_known_groups_are_passed_over) is expected


def test_group_passed_over_wrongly_is_named():
    (breach,) = only_known_groups_are_passed_over(run("skipped T1@s3 note=duplicate"))
    assert str(breach) == "s3 passed T1 over as duplicate, which it is not"


FILTER = 'options={{"filter":{}}} '
ASKED = "started @s3 members=s1"


@pytest.mark.parametrize(
    ("events", "is_on", "found"),
    [
        (("engine_committed T1@s3", "skipped T3@s3 note=filtered"), "true", []),
        (("engine_committed T3@s3",), "true", [(3, True)]),
        (("skipped T1@s3 note=filtered",), "true", [(1, False)]),
        (("skipped T3@s3 note=filtered",), "false", [(3, False)]),
        (("engine_committed T3@s3", "skipped T1@s3 note=own"), "false", []),
        (("engine_committed T3@s1",), "true", []),
    ],
)
def test_filter_leaves_out_its_domain_alone(events, is_on, found):
    history = run(ASKED, *events, log=FILTER.format(is_on) + LOG)
    breaches = filters_leave_out_what_they_name(history)
    assert [(one.transaction, one.is_applied) for one in breaches] == found
    for one in breaches:
        done = "applied" if one.is_applied else "left out"
        assert str(one) == f"s3 {done} T{one.transaction} against its filter"


SCHEMAS = (
    'options={"filter":true} | T1{db0.a} origin=s1 | T2{db1.b} origin=s1 | '
    "started @r1 members=s1 ; "
)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (("engine_committed T1@r1", "skipped T2@r1 note=filtered"), []),
        (("engine_committed T2@s2",), []),
        (("engine_committed T2@r1",), [(2, True)]),
        (("skipped T1@r1 note=filtered",), [(1, False)]),
        (("skipped T2@s2 note=filtered",), [(2, False)]),
    ],
)
def test_filter_leaves_out_its_schema_alone(events, found):
    history = history_of(SCHEMAS + " ; ".join(events))
    breaches = filters_leave_out_what_they_name(history)
    assert [(one.transaction, one.is_applied) for one in breaches] == found


def stopped_at(position, *events):
    return run(*events, f'stopped @s3 gtid_set="{position}" note=gtid_slave_pos')


APPLIED = "engine_committed T1@s3 gtid=0-1-1"


@pytest.mark.parametrize(
    ("position", "events"),
    [
        ("0-1-1", (APPLIED,)),
        ("0-1-1,1-2-1", (APPLIED, "skipped T3@s3 gtid=1-2-1 note=filtered")),
        ("0-1-2", (APPLIED, "skipped T2@s3 gtid=0-1-2 note=own")),
        ("0-1-1", (APPLIED, "skipped T2@s3 gtid=0-1-2 note=duplicate")),
        ("1-2-1", ("recovered @s3 gtid_set=1-2-1",)),
    ],
)
def test_slave_position_is_the_last_applied_or_passed_over(position, events):
    good = stopped_at(position, *events)
    assert verdict(good, slave_positions_end_with_what_was_passed) is Verdict.HOLDS or not events
    (breach,) = slave_positions_end_with_what_was_passed(stopped_at("0-9-9", *events))
    assert str(breach) == (
        "s3 states (0-9-9) in gtid_slave_pos; what it applied from others or passed over ends "
        f"with ({position})"
    )


def test_own_writes_do_not_move_the_slave_position():
    own = run(
        "engine_committed T1@s1 gtid=0-1-1", 'stopped @s1 gtid_set="" note=gtid_slave_pos'
    )  # fmt: skip
    assert not slave_positions_end_with_what_was_passed(own)


LOGGED = 'position_saved @s1 gtid_set="{}" note=gtid_binlog_pos'


def test_logged_position_leaves_nothing_out():
    both = (S1, "flushed T3@s1 gtid=1-2-1", "flushed T2@s1 gtid=0-1-2")
    whole = run(*both, LOGGED.format("0-1-2,1-2-1"))
    assert verdict(whole, binlog_positions_end_with_what_is_logged) is Verdict.HOLDS
    old, lacking = run(*both, LOGGED.format("0-1-1,1-2-1")), run(*both, LOGGED.format("0-1-2"))
    (breach,) = binlog_positions_end_with_what_is_logged(old)
    assert str(breach) == (
        "s1 states (0-1-1,1-2-1) in gtid_binlog_pos; the last that it logged in the domain is 0-1-2"
    )
    (breach,) = binlog_positions_end_with_what_is_logged(lacking)
    assert breach.logged == "1-2-1"


def test_logged_position_of_a_server_that_logged_nothing_is_not_judged():
    other = run("flushed T1@s2 gtid=0-1-1", LOGGED.format(""))
    assert verdict(other, binlog_positions_end_with_what_is_logged) is Verdict.UNKNOWN
    applied = run(S1, 'position_saved @s1 gtid_set="" note=gtid_slave_pos')
    assert not binlog_positions_end_with_what_is_logged(applied)
