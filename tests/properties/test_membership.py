"""Views and online members: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.group.membership import (
    a_joiner_becomes_online,
    joiners_catch_up_before_they_are_online,
    joiners_give_up_for_want_of_donors,
    joiners_recover_from_online_donors,
    members_agree_on_views,
    members_agree_on_who_is_online,
    members_are_announced_online_once,
    members_learn_in_a_view_who_is_online,
    views_follow_one_another,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

HEAD = "members=r1,r2 | T1{a} origin=r1 | "


def view(number, member="r1", members="r1,r2"):
    return f"view_installed @{member} view={number} members={members} ; "


def online(member, members):
    return f"online @{member} members={members} ; "


def run(*events):
    return history_of(HEAD + "".join(events).rstrip(" ;"))


def test_next_view_is_numbered_next():
    assert verdict(run(view(1), view(2)), views_follow_one_another) is Verdict.HOLDS
    (breach,) = views_follow_one_another(run(view(1), view(3)))
    assert str(breach) == "r1 installed view 3 after view 1"


def test_views_before_a_member_starts_again_do_not_count():
    assert not views_follow_one_another(run(view(1), "started @r1 ; ", view(4)))


def test_view_has_one_list_of_members():
    assert verdict(run(view(1), view(1, "r2")), members_agree_on_views) is Verdict.HOLDS
    (breach,) = members_agree_on_views(run(view(1), view(1, "r2", "r2,r1")))
    assert str(breach) == "view 1 has r1, r2 at r1 and r2, r1 at r2"


def passing(member, *learned):
    return view(1, member) + "".join(online(member, one) for one in learned) + view(2, member)


def test_members_learn_the_same_online_members():
    good = run(passing("r1", "r1", "r1,r2"), passing("r2", "r1", "r1", "r2,r1"))
    assert members_learn_in_a_view_who_is_online(good)
    assert verdict(good, members_agree_on_who_is_online) is Verdict.HOLDS
    (breach,) = members_agree_on_who_is_online(run(passing("r1", "r1"), passing("r2")))
    assert str(breach) == "in view 1 r1 learned (r1) as online, r2 nobody new"


def test_member_that_did_not_pass_the_view_learns_less():
    assert not members_agree_on_who_is_online(run(passing("r1", "r1"), view(1, "r2")))


def test_members_at_rest_have_learned_all():
    ends = [f'{view(1, one)}stopped @{one} note="at rest" ; ' for one in ("r1", "r2")]
    assert members_agree_on_who_is_online(run(online("r1", "r1"), *ends)) == []
    late = ends[0].replace("stopped", f"{online('r1', 'r1')}stopped")
    assert len(members_agree_on_who_is_online(run(late, ends[1]))) == 1


QUEUED = "certified T1@r2 positive 2<1 gtid=group:1 ; "
APPLIED = "engine_committed T1@r2 ; "


@pytest.mark.parametrize(
    ("events", "is_early"),
    [
        (QUEUED + view(2, "r2") + APPLIED + view(2) + online("r1", "r1,r2"), False),
        (QUEUED + view(2, "r2") + view(2) + online("r1", "r1,r2") + APPLIED, True),
        (view(2, "r2") + QUEUED + view(2) + online("r1", "r1,r2") + APPLIED, False),
        (online("r2", "r1,r2") + view(2, "r2"), True),
    ],
)
def test_joiner_is_online_after_it_caught_up(events, is_early):
    history = run("recovered @r2 ; ", events)
    assert a_joiner_becomes_online(history)
    assert bool(joiners_catch_up_before_they_are_online(history)) is is_early


def test_member_in_an_earlier_view_means_an_earlier_stay():
    history = run(view(1), "recovered @r2 ; ", QUEUED, view(3, "r2"), online("r1", "r1,r2"))
    assert not a_joiner_becomes_online(history)


def test_breach_names_what_waits():
    history = run("recovered @r2 ; ", QUEUED, view(2, "r2"), view(2), online("r1", "r1,r2"))
    (breach,) = joiners_catch_up_before_they_are_online(history)
    assert str(breach) == ("r1 learned r2 as online, which still had to apply T1 all the time")


RECOVERY = "recovered @r2 ; " + view(2, "r2")


@pytest.mark.parametrize(
    ("before", "is_late"),
    [
        (online("r1", "r1") + view(2), True),
        (online("r1", "r1") + view(3), True),
        (online("r1", "r1") + view(1), False),
        (online("r1", "r2") + view(2), False),
        (online("r2", "r2") + view(2), False),
        (online("r1", "r1") + view(2) + "started @r1 ; " + view(2), False),
        (online("r1", "r1") + view(2) + "crashed @r1 ; ", False),
    ],
)
def test_joiner_recovers_once_an_online_member_has_its_view(before, is_late):
    found = joiners_recover_from_online_donors(run(before, RECOVERY, view(2)))
    assert [str(one) for one in found] == (
        [] if is_late else ["r2 ended recovery before any online member had installed its view 2"]
    )


def test_recovery_without_a_view_after_it_is_not_judged():
    history = run(online("r1", "r1"), "recovered @r2 ; started @r2 ; ", view(3, "r2"))
    assert verdict(history, joiners_recover_from_online_donors) is Verdict.UNKNOWN


@pytest.mark.parametrize(("first", "is_wrong"), [(1, False), (2, True)])
def test_first_view_of_members_has_number_one(first, is_wrong):
    history = run(view(first), online("r1", "r1"), view(first + 1))
    assert [str(one) for one in views_follow_one_another(history)] == is_wrong * [
        "r1 installed view 2 after view 0"
    ]


def test_member_is_announced_once():
    good = run(online("r1", "r1"), online("r1", "r1,r2"), "started @r1 ; ", online("r1", "r1,r2"))
    assert verdict(good, members_are_announced_online_once) is Verdict.HOLDS
    (breach,) = members_are_announced_online_once(run(online("r1", "r1,r2"), online("r1", "r2,r1")))
    assert str(breach) == "r1 learned (r2, r1) as online, which it knew"


GAVE_UP = 'stopped @r2 note="no donor" ; '


@pytest.mark.parametrize(
    ("before", "is_early"),
    [
        ("started @r1 ; " + online("r1", "r1") + "started @r2 ; ", True),
        ("started @r1 ; started @r2 ; ", False),
        ("started @r2 ; started @r1 ; " + online("r1", "r1"), False),
        ("started @r1 ; " + online("r1", "r1") + "started @r2 ; crashed @r1 ; ", False),
    ],
)
def test_joiner_gives_up_without_an_earlier_online_member(before, is_early):
    history = run(before, view(1), GAVE_UP)
    assert [str(one) for one in joiners_give_up_for_want_of_donors(history)] == is_early * [
        "r2 gave up its recovery, though r1 was online and had been in the group before it"
    ]


def test_joiner_that_leaves_for_another_reason_is_not_judged():
    history = run("started @r1 ; ", online("r1", "r1"), "started @r2 ; ", view(1), "stopped @r2")
    assert verdict(history, joiners_give_up_for_want_of_donors) is Verdict.UNKNOWN
    assert verdict(run("recovered @r2 ; ", view(1)), joiners_give_up_for_want_of_donors) is (
        Verdict.HOLDS
    )
