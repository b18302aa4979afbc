"""Properties of view changes: each holds, breaks, and has an edge."""

from __future__ import annotations

from paraply.properties.group.view_change import (
    joiners_certify_as_their_donors,
    members_end_at_rest,
    no_delivery_crosses_a_view,
    recovery_reaches_the_view_change,
    recovery_stops_at_the_view_change,
    view_changes_are_applied_alone,
    view_changes_are_zero_zero,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def view_change(timestamp="0<0", commits="1 2 3"):
    """T1, then the view change T2, then T3, committed in the order given."""
    committed = "".join(f"; engine_committed T{number}@r1" for number in commits.split())
    return history_of(
        f"""| T1{{a}} | T2:view_change | T3{{b}} | certified T1@r1 positive gtid=g:1 2<1
        ; certified T2@r1 positive gtid=g:2 {timestamp}
        ; certified T3@r1 positive gtid=g:3 3<1 {committed}"""
    )


def test_view_change_of_zero_zero_holds():
    assert verdict(view_change(), view_changes_are_zero_zero) is Verdict.HOLDS


def test_numbered_view_change_is_reported():
    (breach,) = view_changes_are_zero_zero(view_change("3<2"))
    assert str(breach.timestamp) == "3<2"


def test_view_changes_are_unknown_where_none_is_logged():
    history = history_of("| T1{a} | certified T1@r1 positive gtid=g:1 2<1")
    assert verdict(history, view_changes_are_zero_zero) is Verdict.UNKNOWN


def test_view_change_between_its_neighbours_holds():
    assert verdict(view_change(), view_changes_are_applied_alone) is Verdict.HOLDS


def test_transaction_that_overtakes_a_view_change_is_reported():
    (breach,) = view_changes_are_applied_alone(view_change(commits="1 3 2"))
    assert (breach.transaction, breach.was_delivered_before) == (3, False)


def test_local_transaction_may_commit_before_a_queued_view_change():
    # Bug 89195: local transactions do not wait for what remote ones wait for.
    history = history_of(
        """| T1{a} | T2:view_change | T3{b} | certified T1@r1 positive gtid=g:1 2<1
        ; certified T2@r1 positive gtid=g:2 0<0 ; certified T3@r1 positive gtid=g:3
        ; engine_committed T3@r1 ; engine_committed T1@r1 ; engine_committed T2@r1"""
    )
    assert not view_changes_are_applied_alone(history)


JOINED = "| T1{a} | recovered @r2 ; certified T1@r1 positive gtid=g:2 ; certified T1@r2 %s"


def test_joiner_that_decides_as_the_others_holds():
    history = history_of(JOINED % "positive gtid=g:2")
    assert verdict(history, joiners_certify_as_their_donors) is Verdict.HOLDS


def test_bug_89938_joiner_that_gives_another_gtid_is_reported():
    (breach,) = joiners_certify_as_their_donors(history_of(JOINED % "positive gtid=g:3"))
    assert (breach.joiner, breach.other) == ("r2", "r1")


def test_joiners_are_unknown_where_nobody_joined():
    history = history_of("| T1{a} | certified T1@r1 positive gtid=g:2")
    assert verdict(history, joiners_certify_as_their_donors) is Verdict.UNKNOWN


VIEWS = """
| T1{a} | view_installed @r1 view=1 ; view_installed @r2 view=1 ; delivered T1@r1
%s ; view_installed @r1 view=2 ; view_installed @r2 view=2 %s
"""


def test_same_deliveries_in_a_view_hold():
    history = history_of(VIEWS % ("; delivered T1@r2", ""))
    assert verdict(history, no_delivery_crosses_a_view) is Verdict.HOLDS


def test_delivery_in_the_next_view_is_reported():
    (breach,) = no_delivery_crosses_a_view(history_of(VIEWS % ("", "; delivered T1@r2")))
    assert (breach.view, breach.transactions) == (1, (1,))


def test_member_that_left_before_the_next_view_owes_nothing():
    history = history_of(
        """| T1{a} | view_installed @r1 view=1 ; view_installed @r2 view=1 ; delivered T1@r1
        ; crashed @r2 ; view_installed @r1 view=2"""
    )
    assert not no_delivery_crosses_a_view(history)


RECOVERY = """
| T1{a} | T2:view_change | certified T1@r1 positive gtid=g:1 2<1
; certified T2@r1 positive gtid=g:2 0<0 ; view_installed @r1 view=2
; recovered @r2 transactions=%s ; view_installed @r2 view=2
"""


def test_recovery_with_the_view_change_holds():
    history = history_of(RECOVERY % "1,2")
    assert verdict(history, recovery_reaches_the_view_change) is Verdict.HOLDS


def test_recovery_that_stops_before_the_view_change_is_reported():
    (breach,) = recovery_reaches_the_view_change(history_of(RECOVERY % "1"))
    assert (breach.joiner, breach.transaction) == ("r2", 2)


def test_recovery_past_the_view_change_is_no_fault():
    history = history_of((RECOVERY % "1,2,3").replace("| certified", "| T3{b} | certified", 1))
    assert not recovery_reaches_the_view_change(history)


REST = """
| T1{{a}}
| started @r1 ; view_installed @r1 view=1 members=r1 ; certified T1@r1 positive gtid=g:1
; started @r2 ; {recovered} stopped @r1 note="{note}" {end}
"""
RECOVERED = "recovered @r2 transactions=1 ;"


def test_joiner_at_rest_with_the_others_holds():
    history = history_of(
        REST.format(recovered=RECOVERED, note="at rest", end='; stopped @r2 note="at rest"')
    )
    assert verdict(history, members_end_at_rest) is Verdict.HOLDS


def test_joiner_that_still_waits_is_reported():
    (breach,) = members_end_at_rest(history_of(REST.format(recovered="", note="at rest", end="")))
    assert breach.member == "r2"


def test_crashed_joiner_need_not_rest_and_a_stop_is_no_rest():
    assert not members_end_at_rest(
        history_of(REST.format(recovered="", note="at rest", end="; crashed @r2"))
    )
    stopped = history_of(REST.format(recovered=RECOVERED, note="shutdown", end=""))
    assert not members_end_at_rest(stopped)
    assert verdict(stopped, members_end_at_rest) is Verdict.UNKNOWN


def test_member_that_recovered_does_not_tell_what_was_certified_before_its_view():
    history = history_of(
        """| T1{a} | T2:view_change | recovered @r0 transactions=1,2 ; view_installed @r0 view=2
        ; certified T1@r1 positive gtid=g:1 2<1 ; certified T2@r1 positive gtid=g:2 0<0
        ; view_installed @r1 view=2
        ; recovered @r3 transactions=1 ; view_installed @r3 view=2"""
    )
    (breach,) = recovery_reaches_the_view_change(history)
    assert (breach.joiner, breach.transaction) == ("r3", 2)


COPIED = """
| T1:view_change | T2{a} | started @r1 ; certified T1@r1 positive gtid=g:1 0<0
; certified T2@r1 positive gtid=g:2 3<1 ; crashed @r1 ; %s engine_committed T2@r1
; engine_committed T1@r1
"""


def test_member_that_came_back_copies_in_its_donors_order_until_it_has_recovered():
    assert not view_changes_are_applied_alone(history_of(COPIED % "started @r1 ;"))
    recovered = "started @r1 ; recovered @r1 ;"
    (breach,) = view_changes_are_applied_alone(history_of(COPIED % recovered))
    assert (breach.view_change, breach.transaction) == (1, 2)


COPYING = """members=r1,r2 | T1{{a}} | T2{{b}}
    | certified T1@r1 positive gtid=g:1 ; view_installed @r1 view=2 members=r1,r2
    ; certified T2@r1 positive gtid=g:2 ; started @r2 ; {}
    ; recovered @r2 transactions={} ; view_installed @r2 view=2 members=r1,r2"""


def test_joiner_copies_up_to_its_view():
    first = "engine_committed T1@r2"
    history = history_of(COPYING.format(first, "1"))
    assert verdict(history, recovery_stops_at_the_view_change) is Verdict.HOLDS
    # The donor may have committed T2 first.
    history = history_of(COPYING.format(f"engine_committed T2@r2 ; {first}", "1,2"))
    assert not recovery_stops_at_the_view_change(history)


def test_joiner_that_copies_on_is_reported():
    history = history_of(COPYING.format("engine_committed T1@r2 ; engine_committed T2@r2", "1,2"))
    (breach,) = recovery_stops_at_the_view_change(history)
    assert str(breach) == "r2 copied T2 from a donor, which was certified after view 2"
