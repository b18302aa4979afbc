"""Position rows of a MariaDB replica: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.position_rows import (
    position_rows_are_counted_one_by_one,
    position_rows_block_only_the_same_row,
    position_rows_rise_in_their_domain,
    positions_are_written_where_they_are_kept,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0 | T3{c} gtid=1-1-1 domain=1
    | T4:ddl{d} gtid=0-1-3 domain=0 | """
PLAIN = LOG.replace(":ddl", "")


def replica(*events, dialect="table", log=LOG):
    stop = "stopped @r1 gtid_set=0-1-1"
    return history_of(f"dialect={dialect} {log}started @r1 ; {' ; '.join(events)} ; {stop}")


def whole(one, key=None):
    row = f'row_applied T{one}@w{one} {{"rpl_slave_state {key}"}} ok ; ' if key else ""
    return f"begun T{one}@w{one} ; {row}engine_committed T{one}@w{one}"


@pytest.mark.parametrize("dialect", ["table", "single_row", "table_with_ddl"])
def test_transaction_commits_with_its_position_row(dialect):
    good = replica(whole(1, "0 1"), whole(4), dialect=dialect)
    assert verdict(good, positions_are_written_where_they_are_kept) is Verdict.HOLDS
    (breach,) = positions_are_written_where_they_are_kept(replica(whole(1), dialect=dialect))
    assert str(breach) == "r1: T1 committed without a position row, and a table has the position"


@pytest.mark.parametrize("dialect", ["binlog", "relay_log_info"])
def test_no_row_is_written_where_nothing_reads_it(dialect):
    good = replica(whole(1), dialect=dialect)
    assert verdict(good, positions_are_written_where_they_are_kept) is Verdict.HOLDS
    (breach,) = positions_are_written_where_they_are_kept(replica(whole(1, "0 1"), dialect=dialect))
    assert str(breach) == "r1: T1 wrote a position row, and the log or a file has the position"


def test_row_of_an_attempt_that_was_rolled_back_does_not_count():
    first = 'begun T1@w1 ; row_applied T1@w1 {"rpl_slave_state 0 1"} ok ; rolled_back T1@w1'
    assert positions_are_written_where_they_are_kept(replica(first, whole(1)))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (("0 1", "0 2", "1 3"), ""),
        (("0 2", "0 3", "1 1"), ""),
        (("0 1", "1 2", "1 3"), "and is of domain 0"),
        (("0 2", "0 1", "1 3"), "not above 2"),
        (("0", "0", "1"), ""),
        (("0", "1", "1"), "and is of domain 0"),
    ],
)
def test_rows_of_a_domain_rise(rows, why):
    run = replica(*(whole(place + 1, key) for place, key in enumerate(rows)))
    found = [(one.transaction, one.why) for one in position_rows_rise_in_their_domain(run)]
    assert found == ([(2, why)] if why else [])
    assert verdict(run, position_rows_rise_in_their_domain) is (
        Verdict.VIOLATED if why else Verdict.HOLDS
    )


def test_wrong_row_is_named():
    (breach,) = position_rows_rise_in_their_domain(replica(whole(1, "1 1")))
    assert str(breach) == "r1: T1 wrote position row (1, 1), and is of domain 0"


CRASH = "crashed @r1 ; recovered @r1 gtid_set=0-1-1 ; started @r1 gtid_set=0-1-1"
AGAIN = "stopped @r1 gtid_set=0-1-1 ; started @r1 gtid_set=0-1-1"


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ((whole(1, "0 1"), whole(2, "0 2")), 0),
        ((whole(1, "0 2"),), 1),
        ((whole(1, "0 0"),), 1),
        ((whole(1, "0 1"), "begun T2@w2", CRASH, whole(2, "0 2")), 0),
        ((whole(1, "0 1"), "begun T2@w2", CRASH, whole(2, "0 3")), 1),
        ((whole(1, "0 1"), "begun T2@w2", AGAIN, whole(2, "0 3")), 0),
        (("begun T2@w2", whole(1, "0 2"), 'row_applied T2@w2 {"rpl_slave_state 0 1"} ok'), 0),
    ],
    ids=["whole", "begins at 2", "begins at 0", "crash", "goes on over a crash", "stop", "begins"],
)
def test_rows_are_numbered_as_transactions_begin(events, found):
    run = replica(*events, log=PLAIN)
    assert len(position_rows_are_counted_one_by_one(run)) == found


def test_log_with_unseen_rows_is_not_counted():
    name = "position_rows_are_counted_one_by_one"
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert prop.applies_to(replica(whole(1, "0 1"), log=PLAIN))
    assert not prop.applies_to(replica(whole(1, "0 1")))


def test_wait_for_a_row_of_another_domain_is_reported():
    wait = 'begun T{0}@w{0} ; row_applied T{0}@w{0} {{"rpl_slave_state {1}"}} lock_wait other=1'
    held = 'begun T1@w1 ; row_applied T1@w1 {"rpl_slave_state 0"} ok'
    same = replica(held, wait.format(2, 0), dialect="single_row")
    assert verdict(same, position_rows_block_only_the_same_row) is Verdict.HOLDS
    (breach,) = position_rows_block_only_the_same_row(replica(held, wait.format(3, 1)))
    assert str(breach) == "r1: T3 and T1 write other position rows"
