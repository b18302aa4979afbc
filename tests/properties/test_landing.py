"""What changes find at a member: each property holds, breaks, and is undecided on the edge."""

from __future__ import annotations

import pytest

from paraply.properties.apply.landing import (
    changes_land_as_certified,
    definitions_are_as_certified,
    members_converge,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

# T1 is a session's of r1, T2 comes from r2.
ROWS = """
| T1{a} origin=r1 | T2{a} origin=r2
| submitted T1@r1 ; certified T1@r1 positive gtid=g:1
"""
REMOTE = "; certified T2@r1 positive gtid=g:2 3<2 "
COMMITS = [f"; engine_committed T{one}@r1 " for one in (1, 2)]
# T1 alters the table, T2 changes a row of it.
DDL = ROWS.replace("T1{a}", 'T1 kind=ddl statement="ALTER TABLE d.t"').replace("T2{a}", "T2{d.t.a}")


def test_worker_that_commits_after_the_certified_writer_finds_its_version():
    history = history_of(ROWS + REMOTE + "".join(COMMITS))
    assert verdict(history, changes_land_as_certified) is Verdict.HOLDS


def test_worker_that_commits_before_the_certified_session_finds_another_version():
    history = history_of(ROWS + REMOTE + "".join(reversed(COMMITS)))
    (breach,) = changes_land_as_certified(history)
    assert str(breach) == ("r1: T2 changed a as it was at first; certified before it was T1")


@pytest.mark.parametrize(
    ("first", "then", "is_breach"),
    [("engine_committed T1@r1", "submitted T2@r1", False),
     ("submitted T2@r1", "engine_committed T1@r1", True)],
)  # fmt: skip
def test_session_changes_its_rows_when_it_is_sent_and_not_when_it_commits(first, then, is_breach):
    history = history_of(
        f"""| T1{{a}} origin=r2 | T2{{a}} origin=r1 | certified T1@r1 positive gtid=g:1 3<2
        ; {first} ; {then} ; certified T2@r1 positive gtid=g:2 ; engine_committed T2@r1"""
    )
    assert [one.transaction for one in changes_land_as_certified(history)] == [2] * is_breach


def test_refused_and_unrelated_changes_are_no_earlier_version():
    history = history_of(
        """| T1{a} | T2{a} origin=r2 | T3{b} origin=r2 | certified T1@r1 negative
        ; certified T2@r1 positive gtid=g:1 3<2 ; engine_committed T2@r1
        ; certified T3@r1 positive gtid=g:2 4<2 ; engine_committed T3@r1"""
    )
    assert verdict(history, changes_land_as_certified) is Verdict.UNKNOWN


def test_joiner_that_lacks_what_others_certified_finds_another_version():
    history = history_of(
        """| T1{a} origin=r1 | T2{a} origin=r1 | certified T1@r1 positive gtid=g:1
        ; certified T2@r2 positive gtid=g:2 3<2 ; engine_committed T2@r2"""
    )
    assert [breach.member for breach in changes_land_as_certified(history)] == ["r2"]


@pytest.mark.parametrize(
    ("commits", "expected"),
    [(COMMITS, Verdict.HOLDS), (COMMITS[::-1], Verdict.VIOLATED), (COMMITS[:1], Verdict.UNKNOWN)],
)
def test_worker_finds_the_table_as_the_certified_ddl_left_it_or_not(commits, expected):
    history = history_of(DDL + REMOTE + "".join(commits))
    assert verdict(history, definitions_are_as_certified) is expected
    assert not changes_land_as_certified(history)


def test_definition_that_was_not_there_is_told():
    (breach,) = definitions_are_as_certified(history_of(DDL + REMOTE + "".join(COMMITS[::-1])))
    assert str(breach) == (
        "r1: T2 changed rows of d.t before anybody had altered it; certified before it was T1"
    )


@pytest.mark.parametrize("row", ["d.u.a", "a"])
def test_ddl_of_another_table_or_of_none_is_not_judged(row):
    history = history_of(DDL.replace("d.t.a", row) + REMOTE + "".join(COMMITS[::-1]))
    assert verdict(history, definitions_are_as_certified) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("commits", "expected"),
    [(COMMITS, Verdict.HOLDS), (COMMITS[::-1], Verdict.VIOLATED), (COMMITS[:1], Verdict.UNKNOWN)],
)
def test_member_that_has_all_is_as_the_last_certified_left_it_or_not(commits, expected):
    assert verdict(history_of(ROWS + REMOTE + "".join(commits)), members_converge) is expected


def test_row_of_which_the_last_change_was_overtaken_is_told():
    (breach,) = members_converge(history_of(ROWS + REMOTE + "".join(COMMITS[::-1])))
    assert str(breach) == "r1 is left with a of T1; certified last was T2"
