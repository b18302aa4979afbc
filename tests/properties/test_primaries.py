"""Writes in a group with a single primary: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.group.primaries import (
    only_the_primary_takes_writes,
    writes_at_a_single_primary,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

HEAD = 'members=r1,r2,r3 options={"single_primary":true} | T1{a} origin=r1 | T2{a} origin=r1 | '


def view(members, member="r2"):
    return f"view_installed @{member} view=1 members={members} ; "


def online(members, member="r2"):
    return f"online @{member} members={members} ; "


def write(member="r2"):
    return f"submitted T1@{member} ; "


def run(*events, head=HEAD):
    return history_of(head + "".join(events).rstrip(" ;"))


@pytest.mark.parametrize(
    ("events", "primary"),
    [
        (view("r2,r1") + online("r1,r2") + write(), "r2"),
        (view("r1,r2") + online("r1,r2") + write(), "r1"),
        (view("r1,r2") + online("r2") + write(), "r2"),
        # The primary stays when one that precedes it comes online, and when views change.
        (view("r1,r2") + online("r2") + online("r1,r2") + write(), "r2"),
        (view("r2,r3") + online("r2,r3") + view("r3,r2") + write(), "r2"),
        # Another one follows when it is gone.
        (view("r1,r3,r2") + online("r1,r2,r3") + view("r3,r2") + write(), "r3"),
        (view("r1,r3,r2") + online("r1,r2") + view("r3,r2") + write(), "r2"),
        # What other members know is nothing to it, and what it knew before it started.
        (view("r1,r2") + online("r1,r2") + view("r2", "r3") + online("r2", "r3") + write(), "r1"),
        (
            view("r2") + online("r2") + "started @r2 ; " + view("r1,r2") + online("r1") + write(),
            "r1",
        ),
    ],
)
def test_first_online_member_of_the_view_is_the_primary(events, primary):
    broken = [] if primary == "r2" else [f"r2 took T1 from a client when {primary} was its primary"]
    assert [str(one) for one in only_the_primary_takes_writes(run(events))] == broken


@pytest.mark.parametrize("end", ["started", "crashed", "stopped"])
def test_member_outside_the_group_has_no_primary(end):
    history = run(view("r2") + online("r2") + write() + f"{end} @r2 ; submitted T2@r2")
    (breach,) = only_the_primary_takes_writes(history)
    assert str(breach) == "r2 took T2 from a client when it had no primary"


def test_writes_are_the_situation():
    assert verdict(run(view("r2"), online("r2"), write()), only_the_primary_takes_writes) is (
        Verdict.HOLDS
    )


def test_groups_with_one_primary_are_judged():
    history = run(view("r1,r2"), online("r1,r2"), write())
    assert writes_at_a_single_primary(history)
    several = replace(history.header, options={"single_primary": False})
    assert not writes_at_a_single_primary(replace(history, header=several))
