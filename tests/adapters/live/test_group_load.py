"""Who writes to a group at each stage of a run, how much, and which member is struck."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paraply.adapters.live.group.departure import Departure
from paraply.adapters.live.group.lab import struck_member
from paraply.adapters.live.group.target import CUT, KILL
from paraply.adapters.live.group.workload import Load
from paraply.adapters.live.target import HEALTHY, LiveRequest
from paraply.adapters.servers.group_replication import MemberView


def server(number):
    return SimpleNamespace(name=f"member{number}", server_uuid=str(number))


class Group:
    """A group of three in which one member at a time is the primary, or all are."""

    def __init__(self, *primaries):
        self.members = [server(1), server(2), server(3)]
        self.primaries = primaries

    def wait_for_primaries(self, member):
        return [MemberView(str(one), "ONLINE", "PRIMARY") for one in self.primaries]


def test_writers_wait_when_a_stage_has_its_share():
    load = Load(cap=2)
    assert not load.has_to_wait("member1")
    load.count("committed")
    load.count("3101")
    assert not load.has_to_wait("member1")
    load.count("committed")
    assert load.has_to_wait("member1")


def test_who_waits_for_more_transactions_lets_them_be_written():
    load = Load(cap=2)
    load.wait_until_committed(5, 0.0)
    assert load.cap == 5
    load.wait_until_committed(3, 0.0)
    assert load.cap == 5


@pytest.mark.parametrize(
    ("primaries", "waiting"),
    [((2,), {"member1", "member3"}), ((1, 2, 3), set()), ((2, 3), {"member1"})],
)
def test_only_primaries_are_written_to(primaries, waiting):
    load = Load(cap=1)
    group = Group(*primaries)
    Departure(KILL, group, group.members[0], load, None).let_primaries_write()
    assert load.paused == waiting


@pytest.mark.parametrize(("fault", "expected"), [(HEALTHY, [2, 2, 2]), (CUT, [0, 1, 2])])
def test_faults_strike_the_member_that_the_seed_says(fault, expected):
    request = LiveRequest(mode="single-primary", fault=fault)
    assert [struck_member(request, seed) for seed in (300, 301, 302)] == expected
