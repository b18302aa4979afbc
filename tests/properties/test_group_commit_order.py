"""The order of commits at the members of a group: each property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.group.commit_order import (
    members_commit_in_different_orders,
    own_transactions_commit_after_what_they_saw,
    remote_transactions_commit_as_certified,
)
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | T3{a c} | "
ONLINE = "online @r1 members=r1,r2"
JOINING = "online @r1 members=r2"


def remote(number):
    return f"certified T{number}@r1 positive gtid=g:{number} {number + 1}<1"


def own(number):
    return f"certified T{number}@r1 positive gtid=g:{number}"


def commits(*numbers, member="r1"):
    return [f"engine_committed T{number}@{member}" for number in numbers]


def history(*events):
    return history_of(f"{LOG}{' ; '.join(events)}")


def test_remote_transactions_that_commit_in_their_order_hold():
    run = history(ONLINE, remote(1), remote(2), remote(3), *commits(1, 2, 3))
    assert verdict(run, remote_transactions_commit_as_certified) is Verdict.HOLDS


def test_remote_transaction_that_commits_before_an_earlier_one_is_reported():
    run = history(ONLINE, remote(1), remote(2), remote(3), *commits(1, 3, 2))
    (breach,) = remote_transactions_commit_as_certified(run)
    assert str(breach) == (
        "r1 certified T2 before T3, both of other members, and committed T3 first"
    )


def test_own_transaction_may_overtake_and_fall_behind():
    run = history(ONLINE, remote(1), own(2), remote(3), *commits(2, 1, 3))
    assert verdict(run, remote_transactions_commit_as_certified) is Verdict.HOLDS
    run = history(ONLINE, remote(1), own(2), remote(3), *commits(1, 3, 2))
    assert verdict(run, remote_transactions_commit_as_certified) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        [JOINING, remote(1), remote(2), *commits(2, 1), ONLINE],
        [ONLINE, remote(1), remote(2), "crashed @r1", JOINING, *commits(2, 1), ONLINE],
        [ONLINE, remote(1), JOINING, ONLINE, remote(2), *commits(2, 1)],
        [ONLINE, remote(1), *commits(1)],
    ],
    ids=["while it joins", "after a crash", "over two stays", "one alone"],
)
def test_what_a_member_fetched_comes_in_its_donors_order(events):
    run = history(*events)
    assert verdict(run, remote_transactions_commit_as_certified) is Verdict.UNKNOWN


def test_own_transaction_behind_the_remote_one_that_it_saw_holds():
    run = history(ONLINE, remote(1), own(3), *commits(1, 3))
    assert verdict(run, own_transactions_commit_after_what_they_saw) is Verdict.HOLDS


def test_own_transaction_before_the_remote_one_that_it_had_to_see_is_reported():
    run = history(ONLINE, remote(1), own(3), *commits(3, 1))
    (breach,) = own_transactions_commit_after_what_they_saw(run)
    assert str(breach) == (
        "r1 committed T3 of its own before T1, which was certified earlier and wrote a too"
    )


def test_without_a_common_row_or_without_the_commit_nothing_is_known():
    run = history(ONLINE, remote(2), own(3), *commits(3, 2))
    assert verdict(run, own_transactions_commit_after_what_they_saw) is Verdict.UNKNOWN
    run = history(ONLINE, remote(1), own(3), *commits(3))
    assert verdict(run, own_transactions_commit_after_what_they_saw) is Verdict.UNKNOWN


def test_two_members_that_commit_their_own_first_have_different_orders():
    run = history(*commits(1, 2), *commits(2, 1, member="r2"))
    assert members_commit_in_different_orders(run)
    run = history(*commits(1, 2), *commits(1, 3, 2, member="r2"))
    assert not members_commit_in_different_orders(run)


def simulated(seed, *, preserves):
    workload = Workload(
        transactions=8,
        rows=3,
        dialect="mysql_9_7",
        options={"preserve_commit_order": preserves, "barriers": False, "broadcasts": 1},
    )
    return GroupSubject().run(SeededSchedule(seed), workload)


def test_reference_group_breaks_the_order_of_remote_commits_only_if_told_not_to_keep_it():
    prop = remote_transactions_commit_as_certified
    kept = {verdict(simulated(seed, preserves=True), prop) for seed in range(25)}
    assert Verdict.HOLDS in kept
    assert Verdict.VIOLATED not in kept
    assert any(prop(simulated(seed, preserves=False)) for seed in range(25))
