"""Properties of garbage collection: each holds, breaks, and has an edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.certification.garbage_collection import (
    certification_info_is_bounded,
    collection_never_changes_a_decision,
    nothing_needed_is_purged,
    only_stored_items_are_purged,
    only_superseded_versions_are_purged,
    stable_set_is_executed_everywhere,
    window_covers_what_was_purged,
)
from paraply.properties.certification.rounds import (
    reported_rounds_end_in_a_collection,
    two_rounds_of_reports_make_stable,
)
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

# T1 writes a, T2 writes b; both are stable, a is purged; then T3 writes a.
STORY = """
| T1{{a}} | T2{{b}} | T3{{a}}
| submitted T1 ; certified T1@r1 positive gtid=g:1 2<1
; submitted T2 transactions=1 ; certified T2@r1 positive gtid=g:2 3<1
; garbage_collected @r1 {{{purged}}} transactions=1,2
; submitted T3 {snapshot} ; certified T3@r1 {decision}
"""


def story(purged="a", snapshot="transactions=1,2", decision="positive gtid=g:3 4<3"):
    return history_of(STORY.format(purged=purged, snapshot=snapshot, decision=decision))


def test_collection_changes_no_decision_on_those_that_saw_the_purged_writer():
    assert verdict(story(), collection_never_changes_a_decision) is Verdict.HOLDS


@pytest.mark.parametrize("purged", ["a", "a b"])
def test_stored_items_are_purged(purged):
    assert verdict(story(purged), only_stored_items_are_purged) is Verdict.HOLDS


def test_item_that_no_transaction_stored_is_reported():
    (breach,) = only_stored_items_are_purged(story("a c"))
    assert str(breach) == "r1 purged c, which no transaction had stored there"


def test_item_is_purged_once():
    history = story("a")
    twice = (*history.events, history.events[4])
    assert len(only_stored_items_are_purged(replace(history, events=twice))) == 0
    without_third = tuple(one for one in twice if one.transaction != 3)
    assert len(only_stored_items_are_purged(replace(history, events=without_third))) == 1


def test_items_of_a_transaction_that_is_too_large_are_not_stored():
    history = story("a")
    options = {"single_primary": True, "preemptive_rows_threshold": 1}
    large = replace(history, header=replace(history.header, options=options))
    assert len(only_stored_items_are_purged(large)) == 1


def test_items_of_a_joiner_may_come_from_its_donor():
    history = story("c")
    joined = history_of("| T1{c} | recovered @r1 ; garbage_collected @r1 {c}")
    assert len(only_stored_items_are_purged(history)) == 1
    assert verdict(joined, only_stored_items_are_purged) is Verdict.UNKNOWN


def test_transaction_certified_for_want_of_a_purged_version_is_reported():
    # The Art of Problem-Solving in Software Engineering, 9.1.3.
    (breach,) = collection_never_changes_a_decision(story(snapshot=""))
    assert (breach.transaction, breach.purged_writer) == (3, 1)


def test_collection_is_unknown_where_no_purged_row_is_written_again():
    history = story(decision="negative")
    assert verdict(history, collection_never_changes_a_decision) is Verdict.UNKNOWN


def test_nothing_needed_is_purged_when_all_snapshots_have_it():
    assert verdict(story(), nothing_needed_is_purged) is Verdict.HOLDS


def test_version_that_a_later_decided_transaction_had_not_seen_is_reported():
    (breach,) = nothing_needed_is_purged(story(snapshot="", decision="negative"))
    assert (breach.writer, breach.undecided, breach.items) == (1, 3, ("a",))


def test_unseen_writer_of_another_row_is_not_needed():
    assert not nothing_needed_is_purged(story(snapshot="transactions=1"))


def test_window_covers_the_purged_writer():
    assert verdict(story(), window_covers_what_was_purged) is Verdict.HOLDS


def test_ex5_transaction_after_a_collection_without_window_is_reported():
    (breach,) = window_covers_what_was_purged(story(decision="positive gtid=g:3 4<1"))
    assert (breach.purged_writer, breach.sequence_number, breach.last_committed) == (1, 2, 1)


def test_window_need_not_cover_what_stays():
    # 2 covers T1; T2's row is still there to be found.
    assert not window_covers_what_was_purged(story(decision="positive gtid=g:3 4<2"))


def test_only_superseded_versions_are_purged_holds_for_the_older_of_two():
    assert verdict(story(), only_superseded_versions_are_purged) is Verdict.HOLDS
    assert not certification_info_is_bounded(story())


def test_newest_stable_version_that_is_purged_is_reported():
    (breach,) = only_superseded_versions_are_purged(story(purged="a b"))
    assert (breach.writer, breach.item) == (2, "b")


def test_purging_is_unknown_where_nothing_is_purged():
    assert verdict(story(purged=""), only_superseded_versions_are_purged) is Verdict.UNKNOWN


def test_older_version_that_is_kept_is_reported():
    (breach,) = certification_info_is_bounded(story(purged=""))
    assert (breach.writer, breach.item) == (1, "a")


BROADCAST = """
| T1{{a}}
| started @r1 ; view_installed @r1 view=1 members=r1,r2 ; online @r1 members={online}
; engine_committed T1@r1 {r2}
; executed_set_broadcast @r1 transactions=1
; garbage_collected @r1 transactions=1
"""


def test_stable_set_that_all_executed_holds():
    history = history_of(BROADCAST.format(online="r1,r2", r2="; engine_committed T1@r2"))
    assert verdict(history, stable_set_is_executed_everywhere) is Verdict.HOLDS
    assert verdict(history, certification_info_is_bounded) is Verdict.HOLDS


def test_stable_set_that_an_online_member_lacks_is_reported():
    (breach,) = stable_set_is_executed_everywhere(
        history_of(BROADCAST.format(online="r1,r2", r2=""))
    )
    assert (breach.transaction, breach.missing_at) == (1, "r2")


def test_member_in_recovery_is_not_asked():
    history = history_of(BROADCAST.format(online="r1", r2=""))
    assert not stable_set_is_executed_everywhere(history)


def test_member_that_comes_online_later_is_not_asked_for_what_was_stable_before():
    later = "; online @r1 members=r1,r2 ; garbage_collected @r1 transactions=1"
    history = history_of(BROADCAST.format(online="r1", r2="") + later)
    assert not stable_set_is_executed_everywhere(history)
    at_once = BROADCAST.format(online="r1,r2", r2="") + "; garbage_collected @r1 transactions=1"
    (breach,) = stable_set_is_executed_everywhere(history_of(at_once))
    assert breach.missing_at == "r2"


def test_stable_set_is_unknown_without_broadcasts():
    assert verdict(story(), stable_set_is_executed_everywhere) is Verdict.UNKNOWN


def test_what_a_preemptive_collection_counts_as_stable_is_not_judged_of_its_member():
    early = 'garbage_collected @r1 transactions=1 note="preemptive" ; '
    history = BROADCAST.format(online="r1,r2", r2="").replace("; executed", f"; {early}executed")
    assert not stable_set_is_executed_everywhere(history_of(history))
    other = history.replace("; garbage_collected @r1 transactions=1\n", "")
    other += "; started @r2 ; view_installed @r2 view=1 members=r1,r2 ; online @r2 members=r1,r2"
    other += " ; garbage_collected @r2 transactions=1"
    (breach,) = stable_set_is_executed_everywhere(history_of(other))
    assert (breach.member, breach.missing_at) == ("r2", "r2")


ROUND = """
| T1{{a}}
| started @r1 ; started @r2 ; view_installed @r1 view=1 members=r1,r2
; view_installed @r2 view=1 members=r1,r2 ; engine_committed T1@r1 ; engine_committed T1@r2
; executed_set_broadcast @r1 transactions=1 {second} {collected}
; stopped @r1 note="at rest" ; stopped @r2 note="{end}"
"""
SECOND = "; executed_set_broadcast @r2 transactions=1"
EMPTY = "; executed_set_broadcast @r2"
COLLECTED = "; garbage_collected @r1 transactions=1 ; garbage_collected @r2 transactions=1"


def round_of(second=SECOND, collected="", end="at rest"):
    certified = "; certified T1@r1 positive gtid=g:1 ; certified T1@r2 positive gtid=g:1"
    return history_of(ROUND.format(second=second + certified, collected=collected, end=end))


def test_round_that_ends_in_a_collection_holds():
    history = round_of(collected=COLLECTED)
    assert verdict(history, reported_rounds_end_in_a_collection) is Verdict.HOLDS


def test_round_that_never_ends_is_reported_of_members_at_rest():
    breaches = reported_rounds_end_in_a_collection(round_of())
    assert [(one.member, one.stable) for one in breaches] == [("r1", (1,)), ("r2", (1,))]
    (breach,) = reported_rounds_end_in_a_collection(round_of(end="shutdown"))
    assert breach.member == "r1"


@pytest.mark.parametrize("second", ["", EMPTY], ids=["missing", "nothing in common"])
def test_round_is_unknown_where_a_report_is_missing_or_tells_nothing(second):
    history = round_of(second=second)
    assert verdict(history, reported_rounds_end_in_a_collection) is Verdict.UNKNOWN


def test_report_sent_before_a_view_was_installed_may_be_of_that_view():
    # r3 has gone when r1 reports nothing; so that report may open the round of view 2.
    text = """
    | T1{{a}}
    | started @r1 ; started @r2 ; started @r3 ; view_installed @r1 view=1 members=r1,r2,r3
    {before} view_installed @r2 view=1 members=r1,r2,r3 ; stopped @r3 {after}
    view_installed @r1 view=2 members=r1,r2 ; view_installed @r2 view=2 members=r1,r2
    ; certified T1@r1 positive gtid=g:1 ; certified T1@r2 positive gtid=g:1
    ; engine_committed T1@r1 ; engine_committed T1@r2
    ; executed_set_broadcast @r1 transactions=1 ; executed_set_broadcast @r2 transactions=1
    ; stopped @r1 note="at rest" ; stopped @r2 note="at rest"
    """
    empty = "; executed_set_broadcast @r1 ;"
    may_be = history_of(text.format(before=";", after=empty))
    assert not reported_rounds_end_in_a_collection(may_be)
    is_of_view_1 = history_of(text.format(before=empty, after=";"))
    assert len(reported_rounds_end_in_a_collection(is_of_view_1)) == 2


STEADY = "view_installed @r1 view=2 members=r1,r2 ; online @r1 members=r1,r2"


def report(member, *executed):
    listed = f" transactions={','.join(map(str, executed))}" if executed else ""
    return f"executed_set_broadcast @{member}{listed}"


def reporting(*events, end='stopped @r1 note="at rest"'):
    # r3 belonged to view 1 and departed.
    before = "view_installed @r1 view=1 members=r1,r2,r3 ; certified T1@r1 positive ; stopped @r3"
    steps = " ; ".join(one for one in (before, STEADY, *events, end) if one)
    return history_of(f"members=r1,r2,r3 | T1{{a}} | T2{{b}} origin=r2 | {steps}")


BOTH = (report("r1", 1), report("r2", 1))
STABLE = "garbage_collected @r1 transactions=1"


def test_what_all_reported_twice_is_stable_though_a_member_departed():
    run = reporting(*BOTH, *BOTH, STABLE)
    assert verdict(run, two_rounds_of_reports_make_stable) is Verdict.HOLDS
    (breach,) = two_rounds_of_reports_make_stable(reporting(*BOTH, *BOTH))
    assert str(breach) == (
        "r1 does not count T1 as stable, which every member of view 2 reported in two rounds"
    )


@pytest.mark.parametrize(
    "reports",
    [
        BOTH,
        (report("r1"), report("r2", 1), *BOTH),
        (report("r1", 1), *BOTH, report("r1", 1), report("r3", 1)),
        (*BOTH, STEADY, *BOTH),
        (*BOTH, *BOTH, "started @r1", STEADY),
        (*BOTH, *BOTH, "recovered @r1 transactions=1", *BOTH, *BOTH),
    ],
    ids=["one round", "not in the first", "one member", "view between", "start", "from a donor"],
)
def test_less_than_two_rounds_of_one_view_decide_nothing(reports):
    assert verdict(reporting(*reports), two_rounds_of_reports_make_stable) is Verdict.UNKNOWN


def test_collection_of_something_else_is_not_enough():
    run = reporting(*BOTH, *BOTH, "garbage_collected @r1 transactions=2")
    assert len(two_rounds_of_reports_make_stable(run)) == 1


def test_member_that_receives_a_transaction_has_the_reports_sent_before_it():
    sent, received = "submitted T2@r2", "delivered T2@r1 ; certified T2@r1 positive"
    late = reporting(*BOTH, *BOTH, sent, received, STABLE)
    assert len(two_rounds_of_reports_make_stable(late)) == 1
    assert not two_rounds_of_reports_make_stable(reporting(sent, *BOTH, *BOTH, received, STABLE))
    assert not two_rounds_of_reports_make_stable(reporting(*BOTH, *BOTH, received, end=""))


def test_recorded_group_is_judged_at_rest_only():
    late = reporting(*BOTH, *BOTH, "submitted T2@r2", "delivered T2@r1", STABLE)
    recorded = replace(late, header=replace(late.header, tier=EvidenceTier.COMMIT_WINDOWS))
    assert two_rounds_of_reports_make_stable(late)
    assert not two_rounds_of_reports_make_stable(recorded)
