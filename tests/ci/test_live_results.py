"""The long live run asks for what there is, and for enough of it."""

from __future__ import annotations

import argparse

import pytest

from ci.live_results import commands
from paraply.adapters.live.existing.target import EXISTING
from paraply.adapters.live.pair.mariadb.target import MARIADB
from paraply.adapters.live.pair.mysql.target import MYSQL
from paraply.adapters.live.target import HEALTHY
from paraply.adapters.live.targets import TARGETS
from paraply.commands.live import configure, requests_of

HEALTHY_TRANSACTIONS_MIN = 20_000
WIDER_TRANSACTIONS_MIN = 6_000


def asked(target):
    parser = argparse.ArgumentParser()
    configure(parser)
    stored = [command.split() for command in commands([target.name])]
    parsed = [
        request
        for _, _, name, *words in stored
        for request in requests_of(target, parser.parse_args([name, *words]))
    ]
    healthy = [one for one in parsed if one.fault == HEALTHY]
    wider = [one for one in healthy if (one.replicas, one.domains) != (1, 1)]
    struck = [one for one in parsed if one.fault != HEALTHY]
    return [one for one in healthy if one not in wider], wider, struck


@pytest.mark.parametrize(
    "target", [one for one in TARGETS if one != EXISTING], ids=lambda t: t.name
)
def test_every_mode_and_fault_is_run_and_the_healthy_ones_long_enough(target):
    healthy, wider, struck = asked(target)
    for request in (*healthy, *wider, *struck):
        target.check(request)
    assert {one.mode for one in healthy} == set(target.modes)
    # A source that is lost is lost after half of a round at the earliest, three quarters usually.
    share = 0.75 if "semisync" in target.name else 1
    for one in healthy:
        assert one.rounds * one.transactions * share >= HEALTHY_TRANSACTIONS_MIN
    assert {(one.mode, one.fault) for one in struck} == {
        (mode, fault) for mode in target.modes for fault in target.faults
    }


@pytest.mark.parametrize("target", [MARIADB, MYSQL], ids=lambda target: target.name)
def test_every_mode_is_run_with_two_replicas_and_several_domains(target):
    _, wider, _ = asked(target)
    assert {one.mode for one in wider} == set(target.modes)
    for one in wider:
        assert one.replicas == 2
        assert one.domains > 1
        assert one.rounds * one.transactions >= WIDER_TRANSACTIONS_MIN


def test_servers_that_are_already_there_are_of_both_families_and_have_two_replicas():
    requests, *others = asked(EXISTING)
    assert others == [[], []]
    assert len(requests) == 2
    for one, family in zip(requests, ("mariadb", "mysql"), strict=True):
        assert len(one.servers) == 3
        assert all(family in server for server in one.servers)
