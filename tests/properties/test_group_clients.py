"""What clients of a group may rely on: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.group.clients import (
    CUT_OFF,
    members_cut_off_confirm_nothing,
    what_a_group_confirmed_survives,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | "
VIEWS = " ; ".join(f"view_installed @r{n} view=1 members=r1,r2,r3" for n in (1, 2, 3))
ALONE = f'view_installed @r3 view=2 members=r3 note="{CUT_OFF}"'
BACK = "view_installed @r3 view=3 members=r1,r2,r3"


def history(*events):
    return history_of(f"{LOG}{' ; '.join((VIEWS, *events))}")


def ends(*having):
    return [f"stopped @r{n} transactions={one}" for n, one in enumerate(having, 1)]


def told(transaction, member="r3"):
    return f"client_acknowledged T{transaction}@{member}"


def test_confirmed_transaction_that_all_members_have_survived():
    assert verdict(history(told(1), *ends(1, 1, "1,2")), what_a_group_confirmed_survives) is (
        Verdict.HOLDS
    )


def test_confirmed_transaction_that_a_member_lacks_is_reported_for_it():
    run = history(told(1), told(2), *ends("1,2", "1,2", 1))
    (breach,) = what_a_group_confirmed_survives(run)
    assert str(breach) == "r3 told a client that T2 had committed, and r3 ends without it"


def test_confirmation_of_the_smaller_part_that_the_larger_never_had_is_lost_everywhere():
    run = history(ALONE, told(2), BACK, *ends(1, 1, 1))
    breaches = what_a_group_confirmed_survives(run)
    assert [one.member for one in breaches] == ["r1", "r2", "r3"]


def test_member_that_left_is_not_asked_and_one_that_tells_its_end_is():
    alone = "view_installed @r1 view=2 members=r1,r2"
    left = history(told(1), "stopped @r3", alone, told(2, "r1"), *ends("1,2", "1,2"))
    assert verdict(left, what_a_group_confirmed_survives) is Verdict.HOLDS
    # Stories of servers follow each other: the views of the last come behind the ends of others.
    *others, last = ends("1,2", 1, "1,2")
    (breach,) = what_a_group_confirmed_survives(
        history(told(1), told(2), *others, ALONE, BACK, last)
    )
    assert breach.member == "r2"


def test_member_that_goes_on_after_its_rest_has_not_ended():
    run = history(told(1), *ends(1, 1, 2), "started @r3")
    assert verdict(run, what_a_group_confirmed_survives) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        ends(1, 1, 1),
        [told(1), "stopped @r1 transactions=1"],
        [told(1, "other"), *ends(2, 2, 2)],
    ],
    ids=["nobody is told", "one member alone ends", "told by a stranger"],
)
def test_without_clients_or_members_at_rest_nothing_is_known(events):
    assert verdict(history(*events), what_a_group_confirmed_survives) is Verdict.UNKNOWN


def test_member_that_is_cut_off_and_silent_breaks_nothing():
    run = history(told(1), ALONE, told(2, "r1"), BACK, told(2))
    assert verdict(run, members_cut_off_confirm_nothing) is Verdict.HOLDS


def test_confirmation_of_a_member_that_is_cut_off_is_reported():
    (breach,) = members_cut_off_confirm_nothing(history(told(1), ALONE, told(2)))
    assert str(breach) == "r3 was cut off from its group, and confirmed T2"


def test_view_without_some_members_is_no_cut_by_itself():
    run = history("view_installed @r3 view=2 members=r3", told(2))
    assert verdict(run, members_cut_off_confirm_nothing) is Verdict.UNKNOWN
