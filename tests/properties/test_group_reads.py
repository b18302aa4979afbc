"""Readers at the members of a group: each property holds, breaks, and on its edge."""

from __future__ import annotations

from paraply.properties.group.reads import (
    member_reads_never_go_back,
    members_show_prefixes_of_their_commits,
)
from paraply.properties.readers.replica_reads import readers_see_prefixes
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{x} | T2{y} | T3{x} | "
CERTIFIED = " ; ".join(
    f"certified T{number}@{member} positive gtid=g:{number}"
    for number in (1, 2, 3)
    for member in ("r1", "r2")
)
OVERTAKEN = [f"engine_committed T{number}@r1" for number in (2, 1, 3)]
"""r1 commits its own T2 before T1."""
IN_ORDER = [f"engine_committed T{number}@r2" for number in (1, 2, 3)]


def history(*reads, commits=(*OVERTAKEN, *IN_ORDER)):
    return history_of(f"{LOG}{CERTIFIED} ; {' ; '.join((*commits, *reads))}")


def test_snapshots_that_follow_each_members_own_order_hold():
    run = history("read @r1 session=a [x=T0 y=T2]", "read @r2 session=b [x=T1 y=T0]")
    assert verdict(run, members_show_prefixes_of_their_commits) is Verdict.HOLDS
    # In the order of certification, which only r2 keeps, one of them never was.
    assert [breach.member for breach in readers_see_prefixes(run)] == ["r1"]


def test_snapshot_without_what_the_member_committed_before_is_reported():
    (breach,) = members_show_prefixes_of_their_commits(history("read @r1 session=a [x=T1 y=T0]"))
    assert str(breach) == (
        "r1: a reader saw x of T1 but not y of T2, which was committed there first"
    )


def test_row_of_a_transaction_that_the_member_never_committed_is_reported():
    run = history("read @r1 session=a [x=T3 y=T2]", commits=OVERTAKEN[:2])
    (breach,) = members_show_prefixes_of_their_commits(run)
    assert str(breach) == "r1: a reader saw x of T3, which r1 never committed"


def test_reads_of_all_or_nothing_and_of_no_group_say_nothing():
    run = history("read @r1 session=a [x=T0 y=T0]", "read @r1 session=a [x=T3 y=T2]")
    assert verdict(run, members_show_prefixes_of_their_commits) is Verdict.UNKNOWN
    replica = history_of(
        "| T1{x} | T2{x} | engine_committed T1 ; engine_committed T2 ; read session=a [x=T1]"
    )
    assert verdict(replica, members_show_prefixes_of_their_commits) is Verdict.UNKNOWN


def test_later_read_that_shows_more_never_goes_back():
    run = history(
        "read @r1 session=a [x=T0 y=T2]",
        "read @r1 session=a [x=T0 y=T2]",
        "read @r1 session=a [x=T3 y=T2]",
    )
    assert verdict(run, member_reads_never_go_back) is Verdict.HOLDS


def test_later_read_without_what_was_shown_is_reported():
    run = history("read @r1 session=a [x=T1 y=T2]", "read @r1 session=b [x=T0 y=T2]")
    (breach,) = member_reads_never_go_back(run)
    assert str(breach) == ("r1: after a read that included T1 a reader no longer saw x of T1")


def test_another_member_may_show_less_afterwards():
    run = history("read @r1 session=a [x=T3 y=T2]", "read @r2 session=b [x=T0 y=T0]")
    assert verdict(run, member_reads_never_go_back) is Verdict.UNKNOWN
    assert member_reads_never_go_back(run) == ()
