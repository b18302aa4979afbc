"""Appliers behind the gate: the right one passes, faults are caught in the target's log."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest

from paraply.adapters.conformance.adversaries import Adversary
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql
from paraply.adapters.wire.run import Fault
from paraply.adapters.wire.samples import threaded_applier
from paraply.cli import main
from paraply.commands.conform_wire import own_target
from paraply.conforming.wire import profiles
from paraply.conforming.wire.suite import WireConformance, WireOptions
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

pytestmark = [pytest.mark.live, pytest.mark.long(each=1, by_row=True)]

APPLIER = [sys.executable, threaded_applier.__file__, "{source_dsn}", "{target_dsn}"]
SEEDS = 6
CONFLICTS, ROWS = "B-prefix-02", "I-swap-04"


def started(find):
    try:
        installation = find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    with ServerRoom() as room:
        yield own_target(room, installation), room.directory


@pytest.fixture(scope="module")
def mariadb():
    yield from started(find_mariadb)


@pytest.fixture
def wire(mariadb, tmp_path):
    server, _ = mariadb
    return lambda *words: WireConformance(server, [*APPLIER, *words], tmp_path, WireOptions())


def runs(conformance, name, adversary, faults, seeds=SEEDS):
    (case,) = cases_named([name], Role.APPLIER)
    for seed in range(seeds):
        schedule = conformance.schedule(case, seed, adversary, faults)
        yield conformance.run_once(case, schedule, seed, faults)


@pytest.mark.parametrize(
    ("fault", "case", "adversary", "injected", "finding"),
    [
        ("ignore-conflicts", CONFLICTS, Adversary.STARVE_TRANSACTION, (), "lost: "),
        ("torn", ROWS, Adversary.UNIFORM, (), "torn: "),
        ("statement-retry", ROWS, Adversary.UNIFORM, (Fault.DEADLOCK,), "lost: "),
        ("skip-after-deadlock", CONFLICTS, Adversary.UNIFORM, (Fault.DEADLOCK,), "lost: "),
        ("lost-commit-is-done", CONFLICTS, Adversary.UNIFORM, (Fault.LOST_BEFORE,), "lost: "),
        ("checkpoint-off-by-one", CONFLICTS, Adversary.UNIFORM, (Fault.KILL,), "lost: "),
    ],
)
def test_faulty_applier_is_caught_by_the_logs(wire, fault, case, adversary, injected, finding):
    found = []
    for judged in runs(wire("--fault", fault), case, adversary, injected):
        found.append(judged)
        if judged.verdict is Verdict.VIOLATED:
            break
    last = found[-1]
    print(f"live: wire {fault}: run {len(found)}: {last.findings[:1]}")
    assert last.verdict is Verdict.VIOLATED, last.findings
    assert any(text.startswith(finding) for text in last.findings)
    assert last.run.trace


@pytest.mark.parametrize("injected", [None, *Fault], ids=str)
def test_right_applier_passes_under_every_fault(wire, injected):
    faults = () if injected is None else (injected,)
    for judged in runs(wire(), ROWS, Adversary.PRIORITIES, faults, seeds=1):
        assert judged.verdict is Verdict.HOLDS, judged.findings
        assert judged.run.overlapped or injected
        assert judged.run.faults == len(faults)


def test_right_applier_changes_rows_of_tables_without_a_key(wire):
    for judged in runs(wire(), "H-keyless-04", Adversary.UNIFORM, (), seeds=1):
        assert judged.verdict is Verdict.HOLDS, judged.findings


def test_right_applier_repeats_a_cascade_that_mysql_logs_before_its_cause(tmp_path):
    for server, _ in started(find_mysql):
        right = WireConformance(server, APPLIER, tmp_path, WireOptions())
        for judged in runs(right, "G-cascade-04", Adversary.UNIFORM, (), seeds=1):
            assert judged.verdict is Verdict.HOLDS, judged.findings


def test_waiting_for_one_transaction_is_caught_on_the_log_of_mysql(tmp_path):
    for server, _ in started(find_mysql):
        faulty = WireConformance(
            server, [*APPLIER, "--fault", "wait-for-one"], tmp_path, WireOptions()
        )
        verdicts = []
        for judged in runs(faulty, "B-prefix-01", Adversary.STARVE_TRANSACTION, (), seeds=12):
            verdicts.append(judged.verdict)
            if judged.verdict is Verdict.VIOLATED:
                break
        print(f"live: wire wait-for-one on MySQL: run {len(verdicts)}")
        assert verdicts[-1] is Verdict.VIOLATED


def test_command_names_the_transaction_and_replays_the_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(profiles, "WireOptions", partial(WireOptions, shrink_s=20))
    document = tmp_path / "wire.json"
    words = ["conform", "--wire", "--case", CONFLICTS, "--schedules", "1", "--json", str(document)]
    command = ["--", *APPLIER, "--fault", "ignore-conflicts"]
    assert main([*words, *command]) == Verdict.VIOLATED.exit_code
    text = capsys.readouterr().out
    assert "lost: the target's log never contains the change of 0-1-" in text
    (case,) = json.loads(document.read_text())["cases"]
    assert case["result"] == "fail"
    assert "--program=" in case["replay"]


@pytest.mark.parametrize(
    ("command", "said"), [(["false"], "exit code 1"), (["/bin/sh", "-c", "exit 0"], "after 0 of")]
)
def test_program_that_never_began_is_no_verdict(command, said, capsys):
    assert main(["conform", "--wire", "--case", CONFLICTS, "--", *command]) == 3
    told = capsys.readouterr()
    assert "P644" in told.err
    assert said in told.err
    assert "FAIL" not in told.out
