"""What decisions state: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.certification.first_numbers import (
    conflicts_are_on_written_rows,
    first_numbers_are_two,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def run(*events):
    return history_of("| T1{a} | T2{b} | " + " ; ".join(events))


def numbered(stamp, one=1):
    return f"certified T{one}@r1 positive gtid=g:{one} {stamp}"


@pytest.mark.parametrize(
    "events",
    [
        (numbered("2<1"),),
        (numbered("2<1"), numbered("3<1", 2)),
        ("garbage_collected @r1", numbered("3<2")),
        ("certified T1@r1 positive gtid=g:1", numbered("3<1", 2)),
        (numbered("2<1"), "crashed @r1", numbered("2<1", 2)),
    ],
)
def test_member_begins_with_two(events):
    assert verdict(run(*events), first_numbers_are_two) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "number", "limit"),
    [
        ((numbered("3<1"),), 3, "2"),
        ((numbered("1<0"),), 1, "2"),
        (("garbage_collected @r1", numbered("4<1")), 4, "from 2 to 3"),
    ],
)
def test_other_first_number_is_reported(events, number, limit):
    (breach,) = first_numbers_are_two(run(*events))
    assert str(breach) == (f"r1 gave T1, its first, sequence number {number}; it should be {limit}")


REJECTED = 'certified T2@r1 negative note="conflict on {}"'


def test_conflict_is_on_a_written_row():
    right = run(numbered("2<1"), REJECTED.format("b"))
    assert verdict(right, conflicts_are_on_written_rows) is Verdict.HOLDS
    (breach,) = conflicts_are_on_written_rows(run(numbered("2<1"), REJECTED.format("a")))
    assert str(breach) == "r1 rejected T2 for a conflict on a, not in its write set"
