"""MariaDB GTIDs: positions, binlog states, and how they move on (and back)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.mariadb_gtid import (
    MariadbBinlogState,
    MariadbGtid,
    MariadbPosition,
    compute_current_position,
    parse_binlog_state,
    parse_mariadb_gtid,
    parse_position,
)

gtids = st.builds(MariadbGtid, st.integers(0, 2), st.integers(1, 3), st.integers(0, 9))
far_gtids = st.builds(
    MariadbGtid, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
)
logs = st.lists(gtids, max_size=12)


def gtid(text):
    return parse_mariadb_gtid(text)


def state_after(log):
    state = MariadbBinlogState()
    for each in log:
        state = state.log(each)
    return state


def position_after(log):
    position = MariadbPosition()
    for each in log:
        position = position.advance(each)
    return position


@given(far_gtids)
def test_gtid_round_trips_as_text(one):
    assert parse_mariadb_gtid(f" {one}\n") == one


@given(logs)
def test_position_has_the_last_gtid_of_each_domain(log):
    position = position_after(log)
    assert {each.domain: each for each in log} == {d.domain: d for d in position}
    assert parse_position(str(position)) == position
    assert hash(parse_position(str(position))) == hash(position)
    assert len(position) == len({each.domain for each in log})


@given(logs)
def test_binlog_state_has_the_last_of_each_domain_and_server_and_the_most_recent(log):
    state = state_after(log)
    last = {(each.domain, each.server): each for each in log}
    assert {(g.domain, g.server): g for g in state} == last
    assert len(state) == len(last)
    assert state.position == position_after(log)
    for domain in range(3):
        greatest = max((g.sequence for g in log if g.domain == domain), default=0)
        assert state.next_sequence(domain) == greatest + 1


@given(logs)
def test_binlog_state_round_trips_as_text_but_for_what_its_counter_remembers(log):
    state = state_after(log)
    back = parse_binlog_state(str(state))
    assert list(back) == list(state)
    assert back.position == state.position
    assert hash(back) == hash(state)
    remembers_more = any(back.next_sequence(d) != state.next_sequence(d) for d in range(3))
    assert (back == state) is not remembers_more


@given(st.lists(gtids, unique=True, max_size=12).map(sorted))
def test_log_in_strict_order_is_never_out_of_order(log):
    rising = {each.sequence: each for each in log if each.domain == 1}
    state = MariadbBinlogState()
    for _, each in sorted(rising.items()):
        assert not state.is_out_of_order(each)
        state = state.log(each)
        assert state.has_logged(each)


@given(logs, logs)
def test_position_is_behind_another_when_that_covers_each_gtid(a, b):
    one, two = position_after(a), position_after(b)
    assert (one <= two) == all(
        g.domain in two and g.sequence <= two[g.domain].sequence for g in one
    )
    assert one <= one


def test_position_goes_back_to_a_smaller_number():
    assert str(parse_position("0-1-100").advance(gtid("0-1-50"))) == "0-1-50"


def test_strict_mode_refuses_what_is_not_greater():
    state = parse_binlog_state("0-1-100")
    assert state.is_out_of_order(gtid("0-1-50"))
    assert state.is_out_of_order(gtid("0-2-100"))
    assert not state.is_out_of_order(gtid("0-1-101"))
    assert not state.is_out_of_order(gtid("1-1-1"))


def test_without_strict_mode_position_goes_back_and_counter_stays():
    # Measured on 10.11: 100, 101 and 102 logged, then gtid_seq_no=50; the next number is 103.
    state = state_after([gtid("0-1-102"), gtid("0-1-50")])
    assert str(state.position) == "0-1-50"
    assert state.next_sequence(0) == 103
    assert str(state.log(gtid("0-1-103")).position) == "0-1-103"


def test_number_in_a_hole_counts_as_logged():
    state = parse_binlog_state("0-1-5,0-2-9")
    assert state.has_logged(gtid("0-1-3"))
    assert not state.has_logged(gtid("0-1-6"))
    assert not state.has_logged(gtid("0-3-1"))


def test_most_recent_of_a_domain_is_printed_last():
    assert str(parse_binlog_state("1-1-1,0-3-7,0-1-9,0-2-8")) == "0-1-9,0-3-7,0-2-8,1-1-1"


@pytest.mark.parametrize(
    ("applied", "logged", "current"),
    [
        ("0-2-5", "0-1-9", "0-1-9"),
        ("0-2-9", "0-1-5", "0-2-9"),
        ("0-2-5", "0-3-9", "0-2-5"),
        ("", "0-1-9", "0-1-9"),
        # The most recent was written under another server id: nothing counts.
        ("", "0-1-8,0-3-9", ""),
        ("0-2-5,1-2-7", "0-1-9,2-1-1", "0-1-9,1-2-7,2-1-1"),
    ],
)
def test_current_position_takes_what_the_server_logged_itself_after_what_it_applied(
    applied, logged, current
):
    found = compute_current_position(parse_position(applied), parse_binlog_state(logged), 1)
    assert found == parse_position(current)


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (parse_mariadb_gtid, "", "expected one GTID, got 0"),
        (parse_mariadb_gtid, "0-1-1,1-1-1", "expected one GTID, got 2"),
        (parse_position, "0-1", "no domain-server-sequence at character 1"),
        (parse_position, "0-1-1,", "no domain-server-sequence at character 7"),
        (parse_position, "0-1-1,x", "no domain-server-sequence at character 7"),
        (parse_position, "0-4294967296-1", "a number at character 1 is too large"),
        (parse_position, "0-1-18446744073709551616", "a number at character 1 is too large"),
        (parse_position, "0-1-1,0-2-2", "domain 0 comes twice: 0-1-1, 0-2-2"),
        (parse_binlog_state, "0-1-1,0-1-2", "domain 0 and server 1 come twice"),
        (parse_position, "x" * 99, r"P002 r2: 'x{60}\.\.\.' is not a MariaDB GTID position"),
    ],
)
def test_what_is_no_position_is_refused_with_reason_and_place(parse, text, reason):
    with pytest.raises(ParaplyError, match=reason):
        parse(text, where="r2")


@pytest.mark.parametrize("parse", [parse_position, parse_binlog_state])
def test_nothing_is_the_empty_position(parse):
    assert str(parse(" \n")) == ""
    assert len(parse("")) == 0
    assert parse("") != ""


def test_position_and_state_show_themselves():
    assert repr(parse_position("0-1-2")) == "<MariadbPosition 0-1-2>"
    assert repr(parse_binlog_state("0-1-2")) == "<MariadbBinlogState 0-1-2>"


def test_gtid_outside_its_width_is_refused():
    with pytest.raises(ValueError, match="-1 of 0--1-0 lies outside"):
        MariadbGtid(0, -1, 0)
