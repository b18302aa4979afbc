"""A live group is held against the certifier of the reference, beside the properties."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from paraply.adapters.live.group.story import history_of_trace
from paraply.adapters.live.group.target import MYSQL_GROUP
from paraply.adapters.live.target import LiveRequest, LiveRound
from paraply.cli import main
from paraply.observing.conformance import NAME, dialect_for
from paraply.observing.judging import new_result, take_round
from paraply.reporting.live_text import result_json, result_text
from paraply.vocabulary.group_trace_jsonl import read_group_trace
from paraply.vocabulary.verdict import Verdict
from tests.conformance.test_recorded_groups import beginning, chosen, with_step


def judged(trace):
    result = new_result(MYSQL_GROUP, LiveRequest(mode="multi-primary"))
    history = history_of_trace(trace, seed=0, options={}).check()
    take_round(result, LiveRound(number=1, seed=0, history=history, trace=trace))
    return result


@pytest.mark.long
def test_group_that_decides_as_the_reference_holds_with_what_was_compared():
    result = judged(beginning())
    assert result.answers[NAME].verdict is Verdict.HOLDS
    assert result.evidence["remote_decisions_compared"] > 1_000
    assert NAME in result_text(result)
    assert NAME in [one["name"] for one in result_json(result)["properties"]]


@pytest.mark.long
def test_one_last_committed_that_is_off_by_one_is_a_breach_with_its_place():
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3 and step.items)
    decided = {
        member: one
        if one.last_committed is None
        else replace(one, last_committed=one.last_committed - 1)
        for member, one in trace.steps[number].decided.items()
    }
    result = judged(with_step(trace, number, decided=decided))
    assert result.answers[NAME].verdict is Verdict.VIOLATED
    assert result.verdict() is Verdict.VIOLATED
    assert f"step {number}" in result.answers[NAME].why()


@pytest.mark.long
def test_command_keeps_the_trace_of_a_group_that_decides_otherwise(tmp_path, monkeypatch, capsys):
    trace = beginning()
    number = chosen(trace, lambda step: len(step.decided) == 3 and step.specified is None)
    decided = {
        member: replace(one, gtid=replace(one.gtid, number=one.gtid.number + 1))
        for member, one in trace.steps[number].decided.items()
    }
    changed = with_step(replace(trace, steps=trace.steps[: number + 1]), number, decided=decided)
    history = history_of_trace(changed, seed=0, options={}).check()
    one = LiveRound(number=1, seed=0, history=history, trace=changed)
    module = SimpleNamespace(run=lambda request: iter([one]))
    monkeypatch.setitem(sys.modules, MYSQL_GROUP.module, module)
    out, pages = tmp_path / "found", tmp_path / "pages"
    assert main(["live", "mysql-gr", "--out", str(out), "--html", str(pages)]) == 1
    (kept,) = out.glob("*.trace.jsonl.gz")
    assert read_group_trace(kept) == changed
    assert NAME in (pages / "index.html").read_text()
    assert str(kept) in capsys.readouterr().out


def test_run_in_which_nothing_was_decided_is_unknown():
    assert judged(replace(beginning(), steps=())).answers[NAME].verdict is Verdict.UNKNOWN


@pytest.mark.long
def test_round_without_a_trace_has_no_such_answer():
    history = history_of_trace(beginning(), seed=0, options={})
    result = new_result(MYSQL_GROUP, LiveRequest(mode="multi-primary"))
    take_round(result, LiveRound(number=1, seed=0, history=history))
    assert NAME not in result.answers


@pytest.mark.parametrize(
    ("version", "dialect"),
    [
        ("MySQL 9.7.4", "mysql_9_7"),
        ("MySQL 10.1.0", "mysql_9_7"),
        ("MySQL 9.0.1", "mysql_8_4"),
        ("MySQL 8.4.2", "mysql_8_4"),
        ("MySQL 8.0.40", "mysql_8_0"),
        ("MySQL 5.7.44", "mysql_8_0"),
    ],
)
def test_dialect_is_the_newest_that_is_not_newer_than_the_server(version, dialect):
    assert dialect_for(version) == dialect
