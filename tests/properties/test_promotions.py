"""A server takes a source's place: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.promotions import (
    backups_have_what_their_position_covers,
    backups_take_over_from_lost_servers,
    promoted_servers_write_alone,
    received_groups_are_applied_before_a_promotion,
    replicas_follow_others,
    survivors_follow_the_promoted_server,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-2-2 domain=0 origin=s2 | "
FOLLOW = "started @s2 members=s1 ; started @s3 members=s1 ; flushed T1@s1 gtid=0-1-1 ; "
LOST, ELECTED = 'crashed @s1 note="lost for good" ; ', "started @s2 note=elected ; "
T2 = "flushed T2@s2 gtid=0-2-2"


def run(*events):
    return history_of(LOG + FOLLOW + "".join(events).rstrip(" ;"))


def test_server_that_follows_itself_is_reported():
    assert verdict(run(), replicas_follow_others) is Verdict.HOLDS
    (breach,) = replicas_follow_others(run("started @s2 members=s2"))
    assert str(breach) == "s2 follows itself"


@pytest.mark.parametrize("answer", ["", ' note="1236: purged"'])
def test_survivor_asks_the_promoted_server(answer):
    held = run(LOST, ELECTED, "started @s3 members=s2", answer)
    assert verdict(held, survivors_follow_the_promoted_server) is Verdict.HOLDS


@pytest.mark.parametrize("then", ["", "started @s3 members=s1", "started @s1 members=s2"])
def test_survivor_that_asks_another_or_none_is_reported(then):
    (breach,) = survivors_follow_the_promoted_server(run(LOST, ELECTED, then))
    assert str(breach) == "s2 was promoted, and s3 never asked it for anything"


def test_survivor_that_asked_before_the_promotion_asks_again():
    asked = "started @s3 members=s2 ; "
    assert survivors_follow_the_promoted_server(run(LOST, asked, ELECTED))
    assert not survivors_follow_the_promoted_server(run(LOST, asked, ELECTED, asked))


def test_run_without_promotion_is_not_judged():
    for name in (survivors_follow_the_promoted_server, promoted_servers_write_alone):
        assert verdict(run(LOST), name) is Verdict.UNKNOWN


def test_only_the_promoted_server_writes():
    assert verdict(run(ELECTED, T2), promoted_servers_write_alone) is Verdict.HOLDS
    assert not promoted_servers_write_alone(run(ELECTED, "flushed T1@s3 gtid=0-1-1"))
    (breach,) = promoted_servers_write_alone(run(ELECTED, "flushed T1@s1 gtid=0-1-1"))
    assert str(breach) == "s1 wrote T1 although s2 had taken over"


DELIVERED = "delivered T1@s3 ; "


@pytest.mark.parametrize(
    "done",
    [
        "engine_committed T1@s3 ; ",
        "skipped T1@s3 note=filtered ; ",
        "failed T1@s3 ; ",
        "crashed @s3 ; ",
        'started @s3 members=s1 note="1236: no" ; ',
    ],
)
def test_received_group_is_done_with_before_the_promotion(done):
    held = run(DELIVERED, done, LOST, ELECTED)
    assert verdict(held, received_groups_are_applied_before_a_promotion) is Verdict.HOLDS


@pytest.mark.parametrize(
    "done", ["", "begun T1@s3 ; ", "engine_committed T1@s2 ; ", "crashed @s2 ; "]
)
def test_group_that_waits_at_the_promotion_is_reported(done):
    (breach,) = received_groups_are_applied_before_a_promotion(run(DELIVERED, done, LOST, ELECTED))
    assert str(breach) == "s2 took over while s3 had received T1 and not applied it"
    assert not received_groups_are_applied_before_a_promotion(run(LOST, ELECTED, DELIVERED))


def test_log_whose_numbers_fall_is_exempt():
    (prop,) = [
        one
        for one in registered_properties()
        if one.name.startswith("received_groups_are_applied_before")
    ]
    falls = "flushed T2@s3 gtid=0-2-2 ; flushed T1@s3 gtid=0-1-1 ; "
    assert not prop.applies_to(run(falls, LOST, ELECTED))
    assert prop.applies_to(run(LOST, ELECTED))


RESTORED = "started @s2 note=restored"


def test_backup_takes_over_from_a_lost_server():
    good = run("recovered @s2 ; ", LOST, RESTORED)
    assert verdict(good, backups_take_over_from_lost_servers) is Verdict.HOLDS
    for before in ("", "crashed @s1 ; "):
        (breach,) = backups_take_over_from_lost_servers(run(before, RESTORED))
        assert str(breach) == "s2 took over from its backup, and no server was lost"
    assert verdict(run(LOST, ELECTED), backups_take_over_from_lost_servers) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("restored", "message"),
    [
        ("gtid_set=0-1-1 transactions=1", ""),
        ("gtid_set=0-1-1", "s2 was restored without T1 at 0-1-1"),
        ("transactions=1", "s2 was restored with T1 at the empty position"),
        ("gtid_set=0-1-1 transactions=1,2", "s2 was restored with T2 at 0-1-1"),
    ],
)
def test_backup_has_what_its_position_covers(restored, message):
    history = run(f"recovered @s2 {restored}")
    found = [str(one) for one in backups_have_what_their_position_covers(history)]
    assert found == ([message] if message else [])
    assert not backups_have_what_their_position_covers(
        run(f"crashed @s2 ; recovered @s2 {restored}")
    )
