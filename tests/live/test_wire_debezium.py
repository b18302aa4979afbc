"""Debezium's engine reads the served log, and its sinks write behind the gate."""

from __future__ import annotations

import json

import pytest

from ci.programs import debezium_sink
from ci.programs.debezium import PROGRAMS, environment, settings_for
from paraply.adapters.conformance.adversaries import Adversary
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.commands.conform_wire import own_target
from paraply.conforming.wire.suite import USER, WireConformance, WireOptions
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(bool(PROGRAMS[0].missing()), reason=PROGRAMS[0].missing()),
]

CASE = "I-swap-04"
PATIENCE_S = 5.0


@pytest.mark.parametrize(
    ("sink", "required", "finding"),
    [
        ("serial", "prefix", ""),
        ("per-row", "atomic", "torn: "),
    ],
)
def test_sink_is_judged_behind_the_gate(tmp_path, sink, required, finding):
    with ServerRoom() as room:
        server = own_target(room, installed(find_mysql))
        settings = tmp_path / "settings.json"
        made = settings_for(
            sink, tmp_path, source=0, target=0, user=USER, password="", databases="d"
        )
        settings.write_text(json.dumps(made, default=str))
        command = [
            str(environment() / "bin" / "python"), debezium_sink.__file__, str(settings),
            "{source_port}", "{target_port}",
        ]  # fmt: skip
        options = WireOptions(required=required, patience_s=PATIENCE_S)
        wire = WireConformance(server, command, tmp_path, options)
        (case,) = cases_named([CASE])
        schedule = wire.schedule(case, 0, Adversary.UNIFORM, ())
        judged = wire.run_once(case, schedule, 0, ())
    print(f"live: Debezium, {sink}: {judged.verdict.word} {judged.findings[:1]}")
    assert judged.run.delivered == judged.transactions, judged.run.stderr
    if finding:
        assert judged.verdict is Verdict.VIOLATED
        assert judged.findings[0].startswith(finding)
    else:
        assert judged.verdict is Verdict.HOLDS, (judged.findings, judged.run.trace)
