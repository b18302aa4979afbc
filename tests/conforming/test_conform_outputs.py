"""Runs over JSON lines and over the wire end in the same writers."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.wire.case_logs import NotOnWireError
from paraply.cli import main
from paraply.commands import conform_wire
from paraply.commands.conform_outputs import run_with_progress
from paraply.conforming.suite import CaseResult, Result
from paraply.conforming.wire.suite import WireConformance
from paraply.reporting.conform.lines import height
from paraply.reporting.conform.screen import LINES_MAX
from tests.builders.json_schema import run_of_sarif

LOST = "lost: the target's log never contains the change of 0-1-{} at bin.000001:1474 (d.t row 1)"
LEVEL = "the target's log reaches the level none, not atomic"
COMMAND = ["--", "./start", "{target_dsn}"]


def failure(case, number, reason, kind=""):
    trace = [f"  {step:4} worker {step % 4}: INSERT INTO d.t VALUES ({step})" for step in range(70)]
    notes = ("injected faults: deadlock; new starts: 0", "trace:", *trace)
    return CaseResult(
        case=case,
        result=Result.FAIL,
        reason=reason,
        kind=kind,
        notes=notes,
        stderr=("Lock wait timeout",),
        replay=("--case", case.id, "--seed", str(number), "--program=AQEB"),
        runs=2,
        seconds=1.5,
    )


def stored_results(cases):
    """Return results of a bad applier, as a run over the wire gives them."""
    for number, case in enumerate(cases):
        if case.family == "K":
            reason = "it changes the schema"
            yield CaseResult(case=case, result=Result.SKIP, reason=reason)
        elif case.family == "N":
            reason = "no two transactions were ever under way together"
            yield CaseResult(case=case, result=Result.UNKNOWN, reason=reason, runs=6)
        elif case.family in "ABCDE":
            yield failure(case, number, LOST.format(number))
        elif case.family in "FG":
            yield failure(case, number, f"After target transaction {number}, rows differ.", LEVEL)
        elif case.family == "H":
            yield failure(case, number, f"the program ended with exit code {number}")
        elif case.family == "I":
            yield failure(case, number, f"torn: 0-1-{number} is in two target transactions")
        else:
            yield CaseResult(case=case, result=Result.PASS, runs=6)


@pytest.fixture
def wire(monkeypatch, tmp_path_factory):
    """Replace servers and runs by stored results; return a function that runs the command."""

    @contextmanager
    def room():
        yield SimpleNamespace(directory=tmp_path_factory.mktemp("room"))

    class Stored:
        overlapped, runs, forced = 3, 8, 1

        def __init__(self, *_):
            pass

        def run_all(self, cases, on_case):
            results = list(stored_results(cases))
            for result in results:
                on_case(result)
            return results

    server = SimpleNamespace(installation=SimpleNamespace(version_text="MariaDB 10.11"))
    monkeypatch.setattr(conform_wire, "ServerRoom", room)
    monkeypatch.setattr(conform_wire, "own_target", lambda *_: server)
    monkeypatch.setitem(conform_wire._SERVERS, "mariadb", lambda: None)
    monkeypatch.setattr(conform_wire, "WireConformance", Stored)
    return lambda *words: main(["conform", "--wire", *words, *COMMAND])


def test_bad_applier_over_the_wire_fills_one_screen_with_every_cause(wire, capsys):
    assert wire() == 1
    lines = capsys.readouterr().out.splitlines()
    assert height(lines) <= LINES_MAX
    text = "\n".join(lines)
    assert lines[0].startswith("./start over the wire to MariaDB 10.11")
    assert lines[-1] == "3 of 8 runs had two open transactions; forced rests: 1"
    assert text.count("\nFAIL ") == 3
    for cause in ("lost: ", "After target transaction ", "torn: "):
        assert f"\n  {cause}" in text
    assert re.search(r"\n  the program ended with exit code N, \d+: H", text)
    assert "injected faults: deadlock" in text
    assert "again: paraply conform --wire --case " in text
    assert "it changes the schema: K" in text


def test_show_prints_the_whole_trace_over_the_wire(wire, capsys):
    assert wire("--show", "A-rotation-01") == 1
    text = capsys.readouterr().out
    assert text.count("\nFAIL ") == 1
    assert text.count("INSERT INTO") == 70
    assert wire("--show", "all") == 1
    assert capsys.readouterr().out.count("\nFAIL ") > 30


def test_case_for_few_programs_runs_over_the_wire_only_by_its_name(
    wire, monkeypatch, tmp_path, capsys
):
    class Skipping(WireConformance):
        def run_once(self, *_):
            raise NotOnWireError("it was tried")

    monkeypatch.setattr(conform_wire, "WireConformance", Skipping)
    document = tmp_path / "wire.json"
    reasons = {}
    for named in ("D-collation", "D-collation-05"):
        assert wire("--case", named, "--json", str(document)) == 2
        cases = json.loads(document.read_text())["cases"]
        reasons[named] = {one["id"]: one["reason"] for one in cases}
    others = set(reasons["D-collation"]) - {"D-collation-05"}
    assert "; --case D-collation-05 runs it" in reasons["D-collation"]["D-collation-05"]
    assert {reasons["D-collation"][one] for one in others} == {"it was tried"}
    assert reasons["D-collation-05"] == {"D-collation-05": "it was tried"}


def test_files_over_the_wire_have_the_results(wire, tmp_path, capsys):
    names = {kind: tmp_path / f"r.{kind}" for kind in ("json", "junit", "sarif")}
    pages = tmp_path / "pages"
    words = [f"--{kind}={path}" for kind, path in names.items()]
    assert wire("--case", "A", "K", "N", "F-parent-01", "--tap", *words, f"--html={pages}") == 1
    document = json.loads(names["json"].read_text())
    assert document["verdict"] == "violated"
    failed = {one["id"] for one in document["cases"] if one["result"] == "fail"}
    assert {one for cause in document["causes"] for one in cause["cases"]} == failed
    kinds = {(cause["property"], cause["kind"]) for cause in document["causes"]}
    assert kinds == {(None, "lost"), (None, LEVEL)}
    case = next(one for one in document["cases"] if one["id"] == "A-rotation-01")
    assert case["notes"][0].startswith("injected faults")
    assert "--program=AQEB" in case["replay"]
    root = ElementTree.parse(names["junit"]).getroot()
    junit = {one.get("name") for one in root.iter("testcase") if one.find("failure") is not None}
    assert junit == failed
    sarif = run_of_sarif(names["sarif"].read_text())["results"]
    assert {one["ruleId"] for one in sarif if one["level"] == "error"} == failed
    assert {one["ruleId"][0] for one in sarif if one["level"] == "warning"} == {"N"}
    file = sarif[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert file == COMMAND[1]
    tap = capsys.readouterr().out.splitlines()
    broken = [line for line in tap if line.startswith("not ok") and "# TODO" not in line]
    assert len(broken) == len(failed)
    assert sum("# SKIP it changes the schema" in line for line in tap) == document["counts"]["skip"]
    index = (pages / "index.html").read_text()
    for one in failed:
        assert f"{one}.html" in index
        assert "INSERT INTO d.t VALUES (69)" in (pages / f"{one}.html").read_text()


def test_exit_codes_over_the_wire(wire, tmp_path, capsys):
    assert wire("--case", "L") == 0
    assert wire("--case", "N") == 2
    assert wire("--case", "N", "--strict") == 1
    known = tmp_path / "known.toml"
    known.write_text('[[expected]]\ncase = "A-rotation-01"\nreason = "slow"\nlink = "x"\n')
    sarif = tmp_path / "known.sarif"
    words = [f"--expected-failures={known}", f"--sarif={sarif}"]
    assert wire("--case", "A-rotation-01", *words) == 0
    assert [one["level"] for one in run_of_sarif(sarif.read_text())["results"]] == ["note"]
    assert "expected, 1: slow (x)" in capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--wire"]])
def test_show_of_a_case_that_does_not_run_is_an_error_of_use(more, capsys):
    assert main(["conform", *more, "--case", "A", "--show", "B-prefix-01", *COMMAND]) == 3
    err = capsys.readouterr().err
    assert "--show B-prefix-01 names none of the cases" in err
    assert "remedy:" in err


@pytest.mark.parametrize(
    "more",
    [["--role", "tracker"], ["--budget", "5"], ["--stderr", "applier.log"]],
    ids=lambda words: words[0],
)
def test_option_that_the_wire_cannot_follow_is_refused(wire, more, capsys):
    assert wire("--case", "A-rotation-01", *more) == 3
    assert f"leave out {more[0]}" in capsys.readouterr().err


def test_program_over_the_wire_needs_one_case(wire, capsys):
    assert wire("--case", "A", "--program=AQ") == 3
    assert "--program needs one case" in capsys.readouterr().err


def test_cases_run_in_order_with_progress():
    cases = cases_named(["B"])

    def run_all(chosen, on_case):
        results = [CaseResult(case=case, result=Result.PASS) for case in chosen]
        for result in results:
            on_case(result)
        return results

    assert [one.case for one in run_with_progress("running", cases, run_all)] == list(cases)
