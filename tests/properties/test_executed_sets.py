"""What members tell each other of what they have executed: holds, breaks, edge."""

from __future__ import annotations

from paraply.properties.group.executed_sets import broadcasts_tell_what_is_executed
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

STORY = """
| T1{{a}} | T2{{b}}
| started @r1 ; view_installed @r1 view=1 members=r1,r2 ; online @r1 members=r1,r2
; engine_committed T1@r1
; executed_set_broadcast @r1 {told}
; engine_committed T2@r1
"""


def test_broadcast_of_all_that_is_executed_holds():
    history = history_of(STORY.format(told="transactions=1"))
    assert verdict(history, broadcasts_tell_what_is_executed) is Verdict.HOLDS


def test_broadcast_that_lacks_a_transaction_is_reported():
    (breach,) = broadcasts_tell_what_is_executed(history_of(STORY.format(told="")))
    assert (breach.member, breach.transaction) == ("r1", 1)
    assert "without T1" in str(breach)


def test_broadcasts_are_unknown_before_anything_is_executed():
    history = history_of(
        "| T1{a} | started @r1 ; view_installed @r1 view=1 members=r1 ; executed_set_broadcast @r1"
    )
    assert verdict(history, broadcasts_tell_what_is_executed) is Verdict.UNKNOWN
