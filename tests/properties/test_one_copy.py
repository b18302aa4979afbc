"""One-copy equivalence of a group: each property holds, breaks, and on its edge."""

from __future__ import annotations

from dataclasses import replace

from paraply.properties.group.one_copy import (
    members_commit_in_one_order,
    members_end_in_one_state,
    members_show_only_what_they_committed,
    members_show_prefixes_of_one_order,
    no_update_is_lost,
    one_commit_order,
)
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{x} | T2{x} | T3{y} | "
CERTIFIED = " ; ".join(
    f"certified T{number}@{member} positive gtid=g:{number}"
    for number in (1, 2, 3)
    for member in ("r1", "r2")
)
VIEWS = "view_installed @r1 view=1 members=r1,r2 ; view_installed @r2 view=1 members=r1,r2"


def history(*events, log=LOG):
    return history_of(f"{log}{VIEWS} ; {CERTIFIED} ; {' ; '.join(events)}")


def in_one_order(run):
    return replace(run, header=replace(run.header, options={"one_commit_order": True}))


def with_images(run, *images):
    rows = [
        (RowWrite(table="d.t", operation=Operation.UPDATE, before=before, after=after),)
        for before, after in images
    ]
    transactions = [
        replace(one, rows=row) for one, row in zip(run.transactions, rows, strict=False)
    ]
    return replace(run, transactions=(*transactions, *run.transactions[len(rows) :]))


def commits(member, *numbers):
    return [f"engine_committed T{number}@{member}" for number in numbers]


def rest(member, seen):
    return [
        f"read @{member} session=auditor [{seen}]",
        f'stopped @{member} note="at rest"',
    ]


def test_change_that_read_the_change_before_it_is_not_lost():
    run = with_images(history(), (("x", 0), ("x", 1)), (("x", 1), ("x", 2)))
    assert verdict(run, no_update_is_lost) is Verdict.HOLDS


def test_change_that_read_an_older_row_loses_an_update():
    run = with_images(history(), (("x", 0), ("x", 1)), (("x", 0), ("x", 2)))
    (breach,) = no_update_is_lost(run)
    assert str(breach) == (
        "T2 changed x without having read what T1 had left, which was certified before it"
    )


def test_refused_change_loses_nothing_and_one_change_says_nothing():
    refused = history_of("| T1{x} | T2{x} | certified T1 positive ; certified T2 negative")
    run = with_images(refused, (("x", 0), ("x", 1)), (("x", 0), ("x", 2)))
    assert verdict(run, no_update_is_lost) is Verdict.UNKNOWN


def test_members_that_end_with_the_last_certified_rows_are_one():
    run = history(*rest("r1", "x=T2 y=T3"), *rest("r2", "x=T2 y=T3"))
    assert verdict(run, members_end_in_one_state) is Verdict.HOLDS


def test_member_that_ends_with_an_older_row_is_reported():
    run = history(*rest("r1", "x=T2 y=T3"), *rest("r2", "x=T1 y=T3"))
    (breach,) = members_end_in_one_state(run)
    assert str(breach) == "r2 ends with x of T1; certified last was T2"


def test_member_outside_the_last_view_has_no_end():
    run = history(
        "view_installed @r1 view=2 members=r1", *rest("r1", "x=T2 y=T3"), *rest("r2", "x=T1 y=T0")
    )
    assert verdict(run, members_end_in_one_state) is Verdict.UNKNOWN


def test_commits_in_the_order_of_certification_hold():
    log = "| T1{x} origin=r1 | T2{x} origin=r2 | T3{y} origin=r1 | "
    run = in_one_order(history(*commits("r1", 1, 2, 3), *commits("r2", 1, 2, 3), log=log))
    assert verdict(run, members_commit_in_one_order) is Verdict.HOLDS


def test_commit_before_what_was_certified_first_is_reported():
    run = in_one_order(history(*commits("r1", 1, 3, 2)))
    (breach,) = members_commit_in_one_order(run)
    assert str(breach) == "r1 committed T3 before T2, which was certified first"


def test_group_without_the_promise_may_commit_as_it_likes():
    run = history(*commits("r1", 1, 3, 2))
    assert not one_commit_order(run)
    assert one_commit_order(in_one_order(run))


def test_snapshot_of_a_prefix_holds_and_of_none_is_reported():
    held = in_one_order(history("read @r1 session=a [x=T2 y=T0]"))
    assert verdict(held, members_show_prefixes_of_one_order) is Verdict.HOLDS
    broken = in_one_order(history("read @r1 session=a [x=T1 y=T3]"))
    (breach,) = members_show_prefixes_of_one_order(broken)
    assert str(breach) == "r1: a reader saw T3 and missed T2, which was certified before it"


def test_snapshot_of_all_says_nothing_about_prefixes():
    run = in_one_order(history("read @r1 session=a [x=T2 y=T3]"))
    assert verdict(run, members_show_prefixes_of_one_order) is Verdict.UNKNOWN


def test_reader_sees_what_is_committed_only():
    audit = rest("r2", "x=T0 y=T0")
    held = history(*commits("r1", 1), "read @r1 session=a [x=T1 y=T0]", *audit)
    assert verdict(held, members_show_only_what_they_committed) is Verdict.HOLDS
    broken = history("read @r1 session=a [x=T1 y=T0]", *commits("r1", 1), *audit)
    (breach,) = members_show_only_what_they_committed(broken)
    assert str(breach) == "r1: a reader saw T1 before r1 had committed it"


def test_reader_of_the_initial_state_says_nothing():
    run = history(*rest("r2", "x=T0 y=T0"))
    assert verdict(run, members_show_only_what_they_committed) is Verdict.UNKNOWN
