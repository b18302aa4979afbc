"""Members of real clusters are struck while clients work, and are whole again at the end."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from paraply.adapters.live.clients.options import SET, ClientOptions, Route
from paraply.adapters.live.clients.run import client_rounds
from paraply.adapters.live.galera.lab import find_provider
from paraply.adapters.live.nemeses.kinds import NEMESES
from paraply.adapters.live.target import LiveRequest, target_named
from paraply.adapters.live.targets import TARGETS
from paraply.adapters.servers import find_mariadb, find_mysql
from paraply.commands.live_clients import export
from paraply.observing.clients import LOST, Status, new_client_result, take_client_round
from paraply.vocabulary.errors import ParaplyError

pytestmark = [pytest.mark.live, pytest.mark.long(each=1, by_row=True)]


def present(*finds):
    for find in finds:
        try:
            print(f"live: {find()}")
        except ParaplyError as reason:
            pytest.skip(f"{reason.text}; {reason.remedy}")


def strike(target, *nemeses, seed, duration_s=10, **options):
    """Run one round; return it with its result."""
    for name in nemeses:
        if reason := NEMESES[name]().why_not():
            pytest.skip(f"{name}: {reason}")
    request = LiveRequest(
        mode=target_named(target, TARGETS).modes[0], nemeses=nemeses, seed=seed,
        transactions=600, duration_s=duration_s,
    )  # fmt: skip
    result = new_client_result(target, request, ClientOptions(workload=SET, **options))
    with closing(client_rounds(target, request, result.options)) as rounds:
        (one,) = rounds
    take_client_round(result, one)
    print("live:", *one.notes, result.evidence, sep="\n  ")
    assert {each.strike.nemesis for each in one.deeds} == set(nemeses)
    assert result.findings["all", LOST].status is Status.CONFIRMED
    assert result.evidence["committed"] >= 100
    return one, {each.strike.nemesis: each for each in one.deeds}


def calls_in(effect):
    """Return the number of calls that an effect begins with."""
    return int(effect.partition(" ")[0])


def test_galera_minority_and_a_paused_member_lose_the_view_and_return(tmp_path):
    present(find_provider, find_mariadb)
    one, deeds = strike("galera", "partition-minority", "pause", seed=3, duration_s=8)
    cut = deeds["partition-minority"]
    assert int(re.match(r"(\d+) messages withheld", cut.effect)[1]) > 0
    assert any("non-Primary" in view for view in cut.views)
    assert "2 of 2 processes were stopped" in deeds["pause"].effect
    files = export(tmp_path, "struck", one)
    lines = list(map(json.loads, Path(files[1]).read_text(encoding="utf-8").splitlines()))
    told = [line["f"] for line in lines if line["process"] == "nemesis"]
    assert sorted(told) == [
        "start-partition-minority", "start-pause", "stop-partition-minority", "stop-pause",
    ]  # fmt: skip
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_a_source_and_its_replica_killed_at_once_come_back_with_all_that_was_confirmed():
    present(find_mariadb)
    one, deeds = strike(
        "mariadb", "crash", "partition-one-way", seed=1, duration_s=8, reads=Route.ANY
    )
    assert deeds["crash"].victims == ("source", "replica1")
    assert sum("does not run" in view for view in deeds["crash"].views) == 2
    assert sum("was started again" in note for note in one.notes) == 2


def test_a_replication_group_outlives_a_pause_and_slow_disks():
    present(find_mysql)
    _, deeds = strike("mysql-gr", "pause", "slow-disk", seed=2, duration_s=6)
    assert any("is stopped" in view for view in deeds["pause"].views)
    assert int(re.match(r"(\d+) fsync calls delayed", deeds["slow-disk"].effect)[1]) > 0


def test_disks_are_slow_and_lie_and_clocks_jump_while_a_replica_applies():
    present(find_mariadb)
    for seed in (4, 5, 6):
        _, deeds = strike(
            "mariadb", "slow-disk", "lost-syncs", "clock", seed=seed, duration_s=8, reads=Route.ANY
        )
        effects = [deeds[name].effect for name in ("slow-disk", "lost-syncs")]
        # A busy server may make no such call within the few seconds of a strike.
        if all(calls_in(effect) for effect in effects):
            break
    assert re.match(r"\d+ fsync calls delayed", effects[0])
    assert re.match(r"\d+ fsync calls dropped", effects[1])
    assert all(calls_in(effect) for effect in effects)
    jump = deeds["clock"].strike.aim.amount
    assert f" {jump:+,d} s" in deeds["clock"].effect
