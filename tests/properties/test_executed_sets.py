"""What members tell each other of what they have executed: holds, breaks, edge."""

from __future__ import annotations

import pytest

from paraply.properties.group.executed_sets import (
    broadcasts_tell_what_is_executed,
    gtid_sets_are_in_shortest_form,
)
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


def stating(text):
    return history_of(f'| T1{{a}} | recovered @r1 gtid_set="{text}"')


@pytest.mark.parametrize(
    "text", ["g:1", "g:1-2", "g:1-2:4", "g:1,h:1-9:11", "g:1-3:tag:1-3:5", "g:tag:2, h:1"]
)
def test_set_with_each_source_once_and_intervals_apart_holds(text):
    assert verdict(stating(text), gtid_sets_are_in_shortest_form) is Verdict.HOLDS


@pytest.mark.parametrize(
    "text",
    [
        "g:1,g:3",
        "g:1:2",
        "g:1-2:3",
        "g:3:1",
        "g:2-2",
        "g:2-1",
        "g:0",
        "g:",
        "g:1:_3",
        "g:1,",
        "g:x:",
    ],
)
def test_set_in_another_form_is_reported(text):
    (breach,) = gtid_sets_are_in_shortest_form(stating(text))
    assert breach.stated == text
    assert f"r1's recovered states the GTID set {text}: " in str(breach)


def test_positions_of_mariadb_are_no_sets():
    assert verdict(stating("0-1-1,1-1-1"), gtid_sets_are_in_shortest_form) is Verdict.UNKNOWN
