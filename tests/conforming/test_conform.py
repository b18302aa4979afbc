"""``paraply conform``: right appliers pass, faulty ones are caught by the case named for them."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraply.adapters.conformance.cases import cases_named, suite
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.rules.faulty import FAULTS
from paraply.cli import main
from paraply.conforming.self_test import RIGHT, self_test_lines, self_tests
from paraply.conforming.suite import Conformance, Result

SAMPLES = Path(__file__).parents[2] / "paraply" / "adapters" / "conformance" / "samples"
THREADS = [sys.executable, "-I", "-S", str(SAMPLES / "python" / "lc_sn_threads.py")]
SERIAL = "paraply.adapters.conformance.rules.correct:Serial"
CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"
ONE_NUMBER = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"


def results_of(command, cases, schedules=3):
    with CommandLauncher(command) as launcher:
        conformance = Conformance(launcher, schedules=schedules)
        assert not conformance.meet().fault
        return {one.case.id: one for one in conformance.run_all(cases)}


@pytest.mark.long
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_right_applier_fails_no_case(rule):
    command = host_command(f"{rule.__module__}:{rule.__name__}")
    results = results_of(command, suite(), schedules=2)
    assert [one.case.id for one in results.values() if one.result is Result.FAIL] == []
    passed = sum(one.result is Result.PASS for one in results.values())
    assert passed > 90


@pytest.mark.long(quick=9)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_faulty_applier_is_caught_by_its_case_and_by_no_unrelated_one(fault):
    others = random.Random(fault.name).sample(suite(), 3)
    cases = sorted({*cases_named([fault.case]), *others}, key=lambda case: case.id)
    (test,) = self_tests(cases, schedules=12, seed=0, faults=[fault], right=())
    assert fault.case in test.failed
    assert test.unrelated == ()
    assert test.is_good


def test_self_test_says_what_was_caught():
    cases = cases_named(["A-rotation-01", "B-prefix-01"])
    lines = list(
        self_test_lines(self_tests(cases, schedules=8, seed=0, faults=FAULTS[:1], right=RIGHT[:1]))
    )
    assert lines[0] == "ok   logical_clock: right, fails nothing"
    assert lines[-1].startswith("ok   stale_low_water_mark: caught by A-rotation-01")


@pytest.mark.long
def test_sample_with_threads_passes():
    results = results_of(THREADS, cases_named(["A-rotation", "B", "L", "M-crash-02"]))
    assert {one.result for one in results.values()} == {Result.PASS}


class Recording(Conformance):
    """Keeps the choices and events of every run."""

    def run_once(self, case, schedule, seed, kept=None):
        run = super().run_once(case, schedule, seed, kept)
        self.recorded.append((list(schedule.choices), run.fault, run.history.events))
        return run


def runs_of(command, case, schedules):
    with CommandLauncher(command) as launcher:
        conformance = Recording(launcher, schedules=schedules)
        conformance.meet()
        conformance.recorded = []
        conformance.run_case(case)
        return conformance.recorded


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    "case",
    cases_named(["A-rotation-01", "B-random-01", "L-retry-09", "M-crash-02"]),
    ids=lambda case: case.id,
)
def test_sample_with_threads_runs_alike_on_the_same_schedules(case):
    first = runs_of(THREADS, case, 12)
    assert runs_of(THREADS, case, 12) == first
    assert len({str(choices) for choices, *_ in first}) > 6


def test_serial_applier_shows_nothing_of_parallel_apply():
    results = results_of(host_command(SERIAL), cases_named(["A-rotation-01", "N-parallel-01"]))
    assert {one.result for one in results.values()} == {Result.UNKNOWN}
    assert "under way together" in results["N-parallel-01"].reason


def test_case_that_needs_more_than_is_offered_is_skipped_with_the_reason():
    results = results_of(host_command(CLOCK), cases_named(["D-collation-05"]))
    assert results["D-collation-05"].result is Result.SKIP
    assert results["D-collation-05"].reason == "the applier does not offer writeset"


def conform(*arguments):
    return main(["conform", *arguments])


def test_passing_cases_exit_0(capsys):
    assert conform("--case", "B", "--schedules", "4", "--applier", CLOCK) == 0
    assert "5 cases, 20 runs: 5 pass" in capsys.readouterr().out


def test_failing_case_exits_1_with_a_history_and_a_command_that_replays_it(capsys):
    words = ["--case", "B-prefix-01", "--schedules", "20"]
    assert conform(*words, "--applier", ONE_NUMBER) == 1
    out = capsys.readouterr().out
    assert "FAIL B-prefix-01: last_committed=3 waits for 2 as well as for 3" in out
    assert "trx.LC" in out
    (again,) = [line for line in out.splitlines() if "again:" in line]
    replay = again.split("paraply conform ")[1].split()
    assert conform(*replay) == 1
    out = capsys.readouterr().out
    assert "violated starts_respect_last_committed" in out
    assert "NOT the run recorded" not in out


def test_unknown_exits_2_and_strict_1(capsys):
    words = ["--case", "N-parallel-01", "--schedules", "2", "--applier", SERIAL]
    assert conform(*words) == 2
    assert "no two transactions were ever under way together" in capsys.readouterr().out
    assert conform("--strict", *words) == 1


@pytest.mark.long
def test_reports_for_machines_agree(tmp_path, capsys):
    as_json, as_junit = tmp_path / "r.json", tmp_path / "r.xml"
    code = conform(
        "--case", "B-prefix-01", "D-collation-05", "B-groups-04", "--schedules", "20", "--tap",
        "--json", str(as_json), "--junit", str(as_junit), "--applier", ONE_NUMBER,
    )  # fmt: skip
    assert code == 1
    tap = capsys.readouterr().out.splitlines()
    assert tap[:2] == ["TAP version 14", "1..3"]
    assert any(line.startswith("not ok") and "B-prefix-01" in line for line in tap)
    assert any("# SKIP the applier does not offer writeset" in line for line in tap)
    document = json.loads(as_json.read_text())
    by_id = {case["id"]: case for case in document["cases"]}
    assert document["verdict"] == "violated"
    assert by_id["B-prefix-01"]["breach"]["history"]
    root = ElementTree.parse(as_junit).getroot()
    failed = [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert failed == [one for one in by_id if by_id[one]["result"] == "fail"]


def write_expected(path, case, **more):
    entry = {"case": case, "reason": "known", "link": "https://example.org/1", **more}
    path.write_text("[[expected]]\n" + "".join(f'{k} = "{v}"\n' for k, v in entry.items() if v))
    return ["--expected-failures", str(path)]


def test_expected_failure_does_not_fail_the_run(tmp_path, capsys):
    expected = write_expected(tmp_path / "x.toml", "B-prefix-01")
    words = ["--case", "B-prefix-01", "--schedules", "20", *expected]
    assert conform(*words, "--applier", ONE_NUMBER) == 0
    assert "expected, 1: known (https://example.org/1)" in capsys.readouterr().out


def test_unexpected_pass_fails_under_strict_only(tmp_path, capsys):
    expected = write_expected(tmp_path / "x.toml", "B-prefix-01")
    words = ["--case", "B-prefix-01", "--schedules", "4", *expected, "--applier", CLOCK]
    assert conform(*words) == 0
    assert "expected to fail, and passed: B-prefix-01" in capsys.readouterr().out
    assert conform("--strict", *words) == 1


@pytest.mark.parametrize(
    ("case", "more", "reason"),
    [
        ("B-prefix-01", {"reason": ""}, "entry 1 has no reason"),
        ("B-prefix-01", {"link": ""}, "entry 1 has no link"),
        ("Z-none-01", {}, "there is no case Z-none-01"),
    ],
)
def test_expected_failures_need_case_reason_and_link(tmp_path, capsys, case, more, reason):
    expected = write_expected(tmp_path / "x.toml", case, **more)
    assert conform(*expected, "--applier", CLOCK) == 3
    err = capsys.readouterr().err
    assert reason in err
    assert "x.toml" in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "P301"),
        (["--applier", "nowhere.py:Rule"], "P633"),
        (["--applier", "paraply.adapters.conformance.rules.rule:Transaction"], "P633"),
        (["--case", "Z", "--applier", CLOCK], "P632"),
        (["--", "/no/such/applier"], "P630"),
        (["--program", "AA", "--applier", CLOCK], "P301"),
    ],
)
def test_wrong_usage_exits_3_with_a_remedy(arguments, code, capsys):
    assert conform(*arguments) == 3
    err = capsys.readouterr().err
    assert code in err
    assert "remedy:" in err


def test_child_that_does_not_speak_the_protocol_is_a_failure_not_a_traceback(capsys):
    assert conform("--timeout", "1", "--", sys.executable, "-c", "print('hello')") == 1
    assert "does not speak the protocol" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["import time; time.sleep(30)", "import sys; sys.exit(4)"])
def test_child_that_never_speaks_is_an_error_of_use(code, capsys):
    assert conform("--timeout", "0.5", "--", sys.executable, "-I", "-S", "-c", code) == 3
    assert "P636" in capsys.readouterr().err


IDLE = """
import json, sys

has_work = False
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    has_work = (has_work or kind == "txn") and kind != "init"
    if "msg_id" in message and (kind in ("init", "sync") or not has_work):
        answer = {"type": kind + "_ok", "in_reply_to": message["msg_id"]}
        answer |= {"name": "idle", "features": ["sync"]} if kind == "init" else {}
        print(json.dumps(answer), flush=True)
"""


@pytest.mark.long
def test_applier_that_takes_the_log_and_begins_nothing_fails_every_case(capsys):
    idle = (sys.executable, "-I", "-S", "-c", IDLE)
    assert conform("--case", "A", "B", "--schedules", "1", "--", *idle) == 1
    out = capsys.readouterr().out
    assert "13 cases, 13 runs: 13 fail" in out
    assert "applier_reaches_the_end" in out


EVERY_SECOND_RUN = """
from pathlib import Path
from paraply.adapters.conformance.rules.correct import LogicalClock

RUNS = Path(__file__).with_name("runs")  # outlives a process that is killed after a breach


class Races(LogicalClock):
    name = "races"

    def __init__(self, init):
        super().__init__(init)
        with RUNS.open("a") as file:
            file.write(".")
        self.hurries = RUNS.stat().st_size % 2

    def place(self, transaction):
        return self.free_worker() if self.hurries else super().place(transaction)
"""


@pytest.mark.long
def test_applier_that_does_not_repeat_itself_is_reported_with_its_share(tmp_path, capsys):
    file = tmp_path / "races.py"
    file.write_text(EVERY_SECOND_RUN)
    assert conform("--case", "A-rotation-01", "--applier", f"{file}:Races") == 1
    out = capsys.readouterr().out
    assert re.search(r"\d+ of 20 runs of this schedule break it", out)


SAMPLE_LINES_MAX = 250


@pytest.mark.parametrize("file", ["python/lc_sn_threads.py", "node/write_set.mjs", "go/main.go"])
def test_sample_is_short_enough_to_start_from(file):
    assert len((SAMPLES / file).read_text().splitlines()) <= SAMPLE_LINES_MAX


@pytest.mark.long
def test_sample_in_node_passes():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    results = results_of([node, str(SAMPLES / "node" / "write_set.mjs")], suite(), schedules=2)
    assert [one.case.id for one in results.values() if one.result is Result.FAIL] == []
    assert results["D-collation-05"].result is Result.PASS


@pytest.mark.long
def test_sample_in_go_passes(tmp_path):
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed: apt-get install golang-go")
    binary = tmp_path / "lc_sn"
    environment = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    build = [go, "build", "-o", str(binary), str(SAMPLES / "go" / "main.go")]
    subprocess.run(build, env=environment, check=True, timeout=300)
    results = results_of([str(binary)], suite(), schedules=2)
    assert [one.case.id for one in results.values() if one.result is Result.FAIL] == []
    assert results["A-rotation-01"].result is Result.PASS


@pytest.mark.long
def test_breach_on_a_random_log_is_shown_on_few_transactions(capsys):
    words = ["--case", "B-random-01", "--schedules", "10", "--applier", ONE_NUMBER]
    assert conform(*words) == 1
    out = capsys.readouterr().out
    table = [line for line in out.splitlines() if line.lstrip().startswith("T") and "|" in line]
    assert 2 <= len(table) - 1 <= 4  # the heading begins with Trx
    (again,) = [line for line in out.splitlines() if "again:" in line]
    assert "--keep " in again
    replay = again.split("paraply conform ")[1].split()
    assert conform(*replay) == 1
    assert "NOT the run recorded" not in capsys.readouterr().out


def test_cases_with_one_reason_are_listed_together(capsys):
    assert conform("--case", "N", "--schedules", "1", "--applier", SERIAL) == 2
    out = capsys.readouterr().out
    assert out.count("no two transactions were ever under way together") == 1
    assert "N-parallel-01, N-parallel-02" in out
