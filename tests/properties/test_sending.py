"""What a source sends after a replica's position: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.sending import (
    crashed_replicas_ask_again,
    sources_send_in_the_order_of_their_log,
    sources_send_what_follows_the_position,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} gtid=0-1-1 domain=0 | T2{b} gtid=0-1-2 domain=0 | T3{c} gtid=1-1-1 domain=1 | "
SOURCE = "flushed T1@s1 gtid=0-1-1 ; flushed T2@s1 gtid=0-1-2 ; flushed T3@s1 gtid=1-1-1 ; "
START = 'started @s2 members=s1 gtid_set="{}" ; '


@pytest.mark.parametrize(
    ("position", "sent", "found"),
    [
        ("0-1-1", "T2", 0),
        ("0-1-1", "T1", 1),
        ("0-1-2", "T1", 1),
        ("0-1-2", "T3", 0),
        ("0-1-2,1-1-1", "T3", 1),
        ("0-9-9", "T1", 0),
    ],
)
def test_only_what_the_position_covers_is_not_sent(position, sent, found):
    run = history_of(f"{LOG}{SOURCE}{START.format(position)}delivered {sent}@s2")
    assert len(sources_send_what_follows_the_position(run)) == found
    expected = Verdict.VIOLATED if found else Verdict.HOLDS
    assert verdict(run, sources_send_what_follows_the_position) is expected


def test_breach_names_both_servers_and_the_position():
    run = history_of(f"{LOG}{SOURCE}{START.format('0-1-1')}delivered T1@s2")
    assert [str(one) for one in sources_send_what_follows_the_position(run)] == [
        "s1 sent T1 to s2, which had started at 0-1-1 after it"
    ]


def test_empty_or_refused_start_and_a_second_source_show_nothing():
    for start in (
        "started @s2 members=s1 ; ",
        'started @s2 members=s1 gtid_set=0-1-1 note="1236: no" ; ',
        START.format("0-1-1") + "started @s2 members=s3 ; ",
    ):
        run = history_of(f"{LOG}{SOURCE}{start}delivered T1@s2")
        assert verdict(run, sources_send_what_follows_the_position) is Verdict.UNKNOWN


def test_log_whose_numbers_fall_is_exempt():
    (prop,) = [one for one in registered_properties() if one.name.startswith("sources_send_what")]
    falls = "flushed T2@s1 gtid=0-1-2 ; flushed T1@s1 gtid=0-1-1 ; "
    run = history_of(f"{LOG}{falls}{START.format('0-1-1')}delivered T1@s2")
    assert not prop.applies_to(run)
    assert prop.applies_to(history_of(f"{LOG}{SOURCE}{START.format('0-1-1')}delivered T1@s2"))


AGAIN = "delivered T1@s2 ; crashed @s2 ; recovered @s2 ; "


@pytest.mark.parametrize("then", ["begun T1@s2", "delivered T2@s2"])
def test_crashed_replica_goes_on_once_it_asked_again(then):
    asked = history_of(f"{LOG}{START.format('0-1-1')}{AGAIN}{START.format('0-1-1')}{then}")
    assert verdict(asked, crashed_replicas_ask_again) is Verdict.HOLDS
    (breach,) = crashed_replicas_ask_again(
        history_of(f"{LOG}{START.format('0-1-1')}{AGAIN}started @s2 ; {then}")
    )
    assert str(breach).startswith("s2 crashed, and received or began T")


def test_what_comes_before_the_crash_or_to_others_is_not_judged():
    run = history_of(f"{LOG}{START.format('0-1-1')}{AGAIN}delivered T1@s1")
    assert verdict(run, crashed_replicas_ask_again) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("sent", "found"),
    [(("T1", "T2", "T3"), 0), (("T1", "T3"), 0), (("T2", "T1"), 1), (("T3", "T2", "T1"), 2)],
)
def test_groups_arrive_in_the_order_of_the_log(sent, found):
    received = " ; ".join(f"delivered {one}@s2" for one in sent)
    run = history_of(f"{LOG}{SOURCE}{START.format('')}{received}")
    assert len(sources_send_in_the_order_of_their_log(run)) == found
    expected = Verdict.VIOLATED if found else Verdict.HOLDS
    assert verdict(run, sources_send_in_the_order_of_their_log) is expected


@pytest.mark.parametrize(
    "between",
    [
        START.format(""),
        "crashed @s2 ; ",
        "started @s2 members=s3 ; ",
        "started @s3 note=elected ; ",
        "flushed T1@s1 gtid=0-1-1 ; ",
    ],
)
def test_order_is_that_of_one_start_at_one_source(between):
    run = history_of(f"{LOG}{SOURCE}{START.format('')}delivered T2@s2 ; {between}delivered T1@s2")
    assert not sources_send_in_the_order_of_their_log(run)


def test_replica_of_a_lost_source_follows_one_again():
    after = (
        f'crashed @s3 note="lost for good" ; {START.format("")}delivered T2@s2 ; delivered T1@s2'
    )
    run = history_of(f"{LOG}{SOURCE}started @s2 members=s3 ; {after}")
    (breach,) = sources_send_in_the_order_of_their_log(run)
    assert str(breach) == "s1 sent T1 to s2 after T2, which does not come before it in the log"
