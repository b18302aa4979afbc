"""Stable sets: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.certification.stable_sets import (
    a_preemptive_collection_follows_certified_transactions,
    collections_follow_a_grown_stable_set,
    joiners_do_not_collect_at_their_own_view,
    joins_end_in_a_collection,
    preemptive_collections_count_all_as_stable,
    preemptive_collections_wait_for_the_threshold,
    stable_sets_are_what_reports_have_in_common,
    stable_sets_only_grow,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} origin=r1 | T2{b} origin=r1 | T3{c} origin=r1 | "
MEMBERS = "members=r1,r2,r3 "


def collected(*stable, note=""):
    numbers = "".join(f":{one}" for one in stable)
    return (
        (
            f'garbage_collected @r1 gtid_set="{"group" + numbers if stable else ""}" '
            f'transactions={",".join(map(str, stable))} note="{note}" ; '
        )
        .replace("transactions= ", "")
        .replace('note="" ', "")
    )


def run(*events, head=MEMBERS):
    return history_of(f"{head}{LOG}{''.join(events).rstrip(' ;')}")


def test_stable_sets_grow():
    assert verdict(run(collected(1), collected(1, 2)), stable_sets_only_grow) is Verdict.HOLDS
    (breach,) = stable_sets_only_grow(run(collected(1, 2), collected(2)))
    assert str(breach) == "r1 no longer counts T1 as stable"


def test_stable_set_starts_anew_with_the_member():
    assert not stable_sets_only_grow(run(collected(1), "started @r1 ; ", collected(2)))


CERTIFIED = "certified T1@r1 positive gtid=group:1 ; "


def test_preemptive_collection_counts_what_was_certified():
    good = run(CERTIFIED, collected(1, note="preemptive"))
    assert a_preemptive_collection_follows_certified_transactions(good)
    assert verdict(good, preemptive_collections_count_all_as_stable) is Verdict.HOLDS
    (breach,) = preemptive_collections_count_all_as_stable(
        run(CERTIFIED, collected(note="preemptive"))
    )
    assert "does not count T1, which it had certified" in str(breach)
    assert not preemptive_collections_count_all_as_stable(run(CERTIFIED, collected()))


@pytest.mark.parametrize(("dialect", "is_judged"), [("mysql_8_4", True), ("mysql_8_0", False)])
def test_unchanged_stable_set_collects_until_8_3(dialect, is_judged):
    history = run(collected(1), collected(1), head=f"dialect={dialect} {MEMBERS}")
    name = collections_follow_a_grown_stable_set.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert len(prop.violations(history)) == is_judged
    assert not prop.violations(run(collected(1), collected(1, 2), head=f"dialect={dialect} "))


ROUND = "view_installed @r1 view=1 members=r1,r2 ; online @r1 members=r1,r2 ; "


def broadcast(member, *executed):
    executed = ",".join(map(str, executed))
    return f"executed_set_broadcast @{member} transactions={executed} ; ".replace(
        "transactions= ", ""
    )


REPORTS = ROUND + broadcast("r1", 1, 2, 3) + broadcast("r2", 1, 2)


@pytest.mark.parametrize(
    ("stable", "is_right"), [((1, 2), True), ((1,), False), ((1, 2, 3), False), ((), False)]
)
def test_stable_is_what_reports_have_in_common(stable, is_right):
    found = stable_sets_are_what_reports_have_in_common(run(REPORTS, collected(*stable)))
    assert not found if is_right else len(found) == 1


def test_smallest_report_with_what_became_stable_counts():
    later = broadcast("r2", 1, 2, 3)
    assert not stable_sets_are_what_reports_have_in_common(
        run(REPORTS, later, collected(1, 2), collected(1, 2, 3))
    )


@pytest.mark.parametrize(("dialect", "is_right"), [("mysql_8_0", False), ("mysql_8_4", True)])
def test_recovering_member_reports_until_8_0(dialect, is_right):
    view = "view_installed @r1 view=2 members=r1,r2,r3 ; "
    history = run(REPORTS, view, collected(1, 2), head=f"dialect={dialect} {MEMBERS}")
    assert bool(stable_sets_are_what_reports_have_in_common(history)) is not is_right


def test_round_may_end_in_the_step_of_a_join():
    commits = "engine_committed T1@r1 ; engine_committed T1@r2 ; "
    commits += "engine_committed T2@r1 ; engine_committed T2@r2 ; started @r3 ; "
    reports = broadcast("r1", 1) + broadcast("r2", 1, 2)
    step = [collected(*stable).replace(" ; ", " time=99 ; ") for stable in ((1,), (1, 2))]
    view = "view_installed @r1 view=2 members=r1,r2,r3 time=99"
    history = run(ROUND, reports, commits, *step, view)
    assert not stable_sets_are_what_reports_have_in_common(history)
    history = run(ROUND, reports, commits, *step[::-1], view)
    assert stable_sets_are_what_reports_have_in_common(history)


def test_online_members_report_with_the_view_that_adds_a_server():
    commits = "engine_committed T1@r1 ; engine_committed T1@r2 ; "
    joins = commits + "started @r3 ; engine_committed T2@r1 ; engine_committed T2@r2 ; "
    view = "view_installed @r1 view=2 members=r1,r2,r3 time=99"
    for stable, expected in (((1,), 0), ((1, 2), 1), ((), 1)):
        at_join = collected(*stable).replace(" ; ", " time=99 ; ")
        history = run(ROUND, joins, at_join, view)
        assert len(stable_sets_are_what_reports_have_in_common(history)) == expected


@pytest.mark.parametrize("head", [MEMBERS, "members=r1 "])
def test_view_does_not_decide_where_an_online_member_recorded_nothing(head):
    joins = "engine_committed T1@r1 ; started @r3 ; "
    at_join = collected(1).replace(" ; ", " time=99 ; ")
    view = "view_installed @r1 view=2 members=r1,r2,r3 time=99"
    history = run(ROUND, joins, at_join, view, head=head)
    assert verdict(history, stable_sets_are_what_reports_have_in_common) is Verdict.UNKNOWN


@pytest.mark.parametrize(("items", "is_early"), [("a b", False), ("a", True)])
def test_preemptive_collection_begins_at_the_threshold(items, is_early):
    head = 'options={"single_primary":true,"preemptive_rows_threshold":2} members=r1,r2,r3 '
    history = run(f"garbage_collected @r1 {{{items}}} note=preemptive", head=head)
    assert verdict(history, preemptive_collections_wait_for_the_threshold) is (
        Verdict.VIOLATED if is_early else Verdict.HOLDS
    )
    assert [
        str(one) for one in preemptive_collections_wait_for_the_threshold(history)
    ] == is_early * ["r1 purged all certification info preemptively at 1 items; the threshold is 2"]


VIEW = "view_installed @r1 view=1 members=r2,r1 time=9 ; "


def test_joiner_does_not_collect_in_the_step_of_its_view():
    good = run("recovered @r1 time=8 ; ", VIEW, collected(1))
    assert verdict(good, joiners_do_not_collect_at_their_own_view) is Verdict.HOLDS
    early = collected(1).replace("@r1", "@r1 time=9")
    (breach,) = joiners_do_not_collect_at_their_own_view(
        run("recovered @r1 time=8 ; ", early, VIEW)
    )
    assert str(breach) == "r1 collected in the step in which it joined r2, r1"


def test_member_that_does_not_join_may_collect_at_a_view():
    early = collected(1).replace("@r1", "@r1 time=9")
    history = run(early, VIEW)
    assert verdict(history, joiners_do_not_collect_at_their_own_view) is Verdict.UNKNOWN


BEGIN = (
    "started @r1 ; view_installed @r1 view=1 members=r1 ; online @r1 members=r1 ; "
    "certified T1@r1 positive ; "
)
COMMIT, JOIN = "engine_committed T1@r1 ; ", "started @r2 ; "
ADDS_R2 = "view_installed @r1 view=2 members=r1,r2 time=9 ; "
AT_JOIN = collected(1).replace("@r1", "@r1 time=9")


def test_members_collect_at_a_join_what_all_have_executed():
    good = run(BEGIN, COMMIT, JOIN, AT_JOIN, ADDS_R2)
    assert verdict(good, joins_end_in_a_collection) is Verdict.HOLDS
    (breach,) = joins_end_in_a_collection(run(BEGIN, COMMIT, JOIN, ADDS_R2, AT_JOIN))
    assert str(breach) == (
        "r1 did not collect at view 2, which adds a member, though all members online had "
        "executed T1 before"
    )


@pytest.mark.parametrize(
    "events",
    [
        (BEGIN, JOIN, COMMIT, ADDS_R2, AT_JOIN),
        (BEGIN, COMMIT, collected(1), JOIN, ADDS_R2),
        (BEGIN, COMMIT, ADDS_R2, AT_JOIN),
        (BEGIN, COMMIT, JOIN, ADDS_R2.replace("view=2", "view=3"), AT_JOIN),
        (BEGIN, COMMIT, JOIN, ADDS_R2),
    ],
    ids=["executed later", "stable before", "no start", "a view is missing", "none recorded"],
)
def test_join_at_which_nothing_becomes_stable_decides_nothing(events):
    assert verdict(run(*events), joins_end_in_a_collection) is Verdict.UNKNOWN


def test_each_view_belongs_to_one_start():
    leaves = "view_installed @r1 view=3 members=r1 time=10 ; "
    again = "started @r2 ; view_installed @r1 view=4 members=r1,r2 time=11 ; "
    # T1 was executed between the two starts, so only the second view makes it stable.
    later = AT_JOIN.replace("time=9", "time=12")
    (breach,) = joins_end_in_a_collection(run(BEGIN, JOIN, ADDS_R2, COMMIT, leaves, again, later))
    assert breach.view == 4
