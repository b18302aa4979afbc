"""The long live run asks for what there is, and for enough of it."""

from __future__ import annotations

import argparse

import pytest

from adapters.live.target import HEALTHY
from adapters.live.targets import TARGETS
from ci.live_results import commands
from paraply.commands.live import configure, requests_of

HEALTHY_TRANSACTIONS_MIN = 20_000


def asked(target):
    parser = argparse.ArgumentParser()
    configure(parser)
    stored = [command.split() for _, command in commands([target.name])]
    parsed = [
        request
        for _, _, name, *words in stored
        for request in requests_of(target, parser.parse_args([name, *words]))
    ]
    healthy = [one for one in parsed if one.fault == HEALTHY]
    return healthy, [one for one in parsed if one.fault != HEALTHY]


@pytest.mark.parametrize(
    "target", [one for one in TARGETS if one.name != "existing"], ids=lambda one: one.name
)
def test_every_mode_and_fault_is_run_and_the_healthy_ones_long_enough(target):
    healthy, struck = asked(target)
    for request in (*healthy, *struck):
        target.check(request)
    assert {one.mode for one in healthy} == set(target.modes)
    # A source that is lost is lost after half of a round at the earliest, three quarters usually.
    share = 0.75 if "semisync" in target.name else 1
    for one in healthy:
        assert one.rounds * one.transactions * share >= HEALTHY_TRANSACTIONS_MIN
    assert {(one.mode, one.fault) for one in struck} == {
        (mode, fault) for mode in target.modes for fault in target.faults
    }
