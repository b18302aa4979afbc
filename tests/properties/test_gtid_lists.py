"""GTID lists of new binary log files: each holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.gtid.gtid_lists import files_list_what_was_logged_before
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} gtid=0-1-1 domain=0 origin=s1 | T2{b} gtid=0-2-2 domain=0 origin=s2
    | T3{c} gtid=1-1-1 domain=1 origin=s1 | """


def flushed(*numbers, member="s1"):
    gtids = {1: "0-1-1", 2: "0-2-2", 3: "1-1-1"}
    return " ; ".join(f"flushed T{one}@{member} gtid={gtids[one]}" for one in numbers)


def rotated(listed, member="s1"):
    return f"relay_rotated @{member}" + (f' gtid_set="{listed}"' if listed else "")


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize(
    "events",
    [
        (flushed(1), rotated("0-1-1")),
        (flushed(1, 2), rotated("0-1-1,0-2-2")),
        (flushed(2, 1), rotated("0-2-2,0-1-1")),
        (flushed(1), rotated("0-1-1"), flushed(3), rotated("0-1-1,1-1-1")),
        (flushed(1), rotated("", "s2")),
        (flushed(1), "crashed @s1 ; recovered @s1 transactions=1", rotated("0-1-1")),
        ("recovered @s2 transactions=1", flushed(2, member="s2"), rotated("0-1-1,0-2-2", "s2")),
    ],
)
def test_list_has_the_last_of_each_domain_and_server(events):
    assert verdict(run(*events), files_list_what_was_logged_before) is Verdict.HOLDS


@pytest.mark.parametrize("listed", ["", "0-2-2", "0-2-2,0-1-1", "0-1-1,0-2-2,1-1-1"])
def test_other_list_is_reported(listed):
    (breach,) = files_list_what_was_logged_before(run(flushed(1, 2), rotated(listed)))
    assert str(breach) == (
        f"s1 began a file with the GTID list ({listed}), and had logged up to (0-1-1,0-2-2)"
    )


def test_log_without_a_second_file_is_unknown():
    assert verdict(run(flushed(1)), files_list_what_was_logged_before) is Verdict.UNKNOWN
