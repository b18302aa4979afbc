"""Purges of a source's log: who may start behind one, and whom one cuts off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.group.served_clients import clients_are_served_to_the_end
from paraply.properties.gtid.gtid_lists import files_list_what_was_logged_before
from paraply.properties.gtid.purges import (
    purges_leave_what_replicas_read,
    sources_have_what_follows_their_purge,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-2-2 domain=0 origin=s2
    | T3{c} gtid=1-1-1 domain=1 origin=s1 | T4{d} gtid=0-1-5 domain=0 origin=s1 | """
GTIDS = {1: "0-1-1", 2: "0-2-2", 3: "1-1-1", 4: "0-1-5"}
PURGE = 'relay_rotated @s1 gtid_set="{}" note=purge'
ASKS, IS_REFUSED = 'started @s3 members=s1 gtid_set="{}"', ' note="1236: it is purged"'


def flushed(*numbers):
    return " ; ".join(f"flushed T{one}@s1 gtid={GTIDS[one]}" for one in numbers)


def received(number):
    return f"delivered T{number}@s3 gtid={GTIDS[number]}"


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize(
    ("listed", "asked", "lacks"),
    [
        ("0-1-1", "", True),
        ("0-1-1", "0-1-1", False),
        ("0-1-1", "0-2-2", False),
        ("0-1-1,0-2-2", "0-1-1", True),
        ("0-1-1,0-2-2", "0-2-2", False),
        ("0-1-1,0-2-2", "0-2-1", True),
        ("0-1-1,0-2-2,1-1-1", "0-2-2", True),
        ("0-1-1,0-2-2,1-1-1", "0-2-2,1-1-1", False),
        ("0-1-1,0-2-2,1-1-1", "0-1-5,1-1-1", False),
        ("0-2-2,0-1-5,1-1-1", "0-1-4,1-1-1", True),
    ],
)
def test_position_is_refused_exactly_if_what_follows_is_purged(listed, asked, lacks, is_refused):
    start = ASKS.format(asked) + (IS_REFUSED if is_refused else "")
    breaches = sources_have_what_follows_their_purge(
        run(flushed(1, 2, 3, 4), PURGE.format(listed), start)
    )
    assert bool(breaches) is (is_refused is not lacks)
    for one in breaches:
        assert str(one) == (
            f"s1, whose first file has the GTID list ({listed}), "
            f"{'refused as purged' if is_refused else 'accepted'} s3 at "
            f"{asked or 'the empty position'}"
        )


@pytest.mark.parametrize(
    "start",
    [ASKS.format("0-9-9"), ASKS.format("0-9-9") + IS_REFUSED, ASKS.format("") + ' note="1236: no"'],
)
def test_position_outside_the_log_is_not_judged(start):
    history = run(flushed(1, 2), PURGE.format("0-1-1,0-2-2"), start)
    assert verdict(history, sources_have_what_follows_their_purge) is Verdict.UNKNOWN


def test_log_behind_a_backup_is_purged_with_it():
    backup = "recovered @s1 gtid_set=0-2-2 transactions=1,2"
    purge = flushed(3), PURGE.format("0-1-1,0-2-2,1-1-1")
    run_of = [run(backup, *purge, ASKS.format(one)) for one in ("0-2-2,1-1-1", "0-1-1,1-1-1")]
    assert verdict(run_of[0], sources_have_what_follows_their_purge) is Verdict.HOLDS
    assert verdict(run_of[1], sources_have_what_follows_their_purge) is Verdict.VIOLATED


def test_purge_begins_no_file():
    history = run(flushed(1, 2), 'relay_rotated @s1 gtid_set="0-1-1,0-2-2"', PURGE.format("0-1-1"))
    assert verdict(history, files_list_what_was_logged_before) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((ASKS.format(""), flushed(1), received(1)), Verdict.HOLDS),
        ((ASKS.format(""), flushed(1)), Verdict.VIOLATED),
        ((flushed(1), ASKS.format("0-1-1")), Verdict.HOLDS),
        ((ASKS.format("0-9-9"), flushed(1)), Verdict.HOLDS),
        ((ASKS.format(""), flushed(1), "crashed @s3"), Verdict.UNKNOWN),
        ((ASKS.format(""), flushed(1), "failed T1@s3"), Verdict.UNKNOWN),
        ((ASKS.format(""), flushed(1), "started @s1 note=elected"), Verdict.UNKNOWN),
        ((flushed(1), ASKS.format("") + IS_REFUSED), Verdict.UNKNOWN),
        ((flushed(1),), Verdict.UNKNOWN),
    ],
)
def test_connected_replica_keeps_what_it_has_yet_to_receive(events, expected):
    history = run(*events, PURGE.format("0-1-1"))
    assert verdict(history, purges_leave_what_replicas_read) is expected
    for one in purges_leave_what_replicas_read(history):
        assert str(one) == "s1 purged 0-1-1, which s3 had yet to receive"


@pytest.mark.parametrize("is_purged", [False, True])
def test_fail_over_waits_in_vain_only_for_a_replica_that_is_cut_off(is_purged):
    purge = (PURGE.format("0-1-1"),) if is_purged else ()
    history = run(flushed(1, 2), *purge, ASKS.format("") + IS_REFUSED)
    history = replace(history, header=replace(history.header, options={"transactions": 9}))
    name = clients_are_served_to_the_end.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    breaches = prop.violations(history)
    assert bool(breaches) is not is_purged
