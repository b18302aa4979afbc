"""``paraply conform --log``: right appliers pass, faulty ones fail, the rest is counted."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraply.adapters.binlog.input_files import open_inputs
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.conformance.cases.scaled import Scale, scaled_log
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.own_logs.cases import own_cases
from paraply.adapters.conformance.own_logs.reading import OwnLogs
from paraply.adapters.conformance.rules.faulty import FAULTS
from paraply.cli import main
from paraply.conforming.self_test import RIGHT
from paraply.conforming.suite import Conformance, Result
from paraply.vocabulary.errors import ParaplyError
from tests.builders.case_logs import write_case_log
from tests.builders.hot_logs import hot_log

SAMPLES = Path(__file__).parents[2] / "paraply" / "adapters" / "conformance" / "samples"
THREADS = [sys.executable, "-I", "-S", str(SAMPLES / "python" / "lc_sn_threads.py")]
CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"
ONE_NUMBER = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"
TRACKER = "paraply.adapters.conformance.rules.trackers:WriteSetTracker"
REGRESSIONS = Path(__file__).parents[1] / "regressions"
NOT_SHOWN = {
    "lowers_case": "its letters have a rule of their own, and pseudonyms have other letters",
    "schema_change_is_no_barrier": "its case has ALTER TABLE, which cases of logs do not have",
    "keys_without_names": "it waits too much, which is slow and no failure",
    "keys_without_tables": "it waits too much, which is slow and no failure",
}
FAMILIES_WITHOUT_LOGS = "FGLM"
"""Foreign keys, and faults that need deadlocks, crashes or commit order."""


def results_of(rule, cases, schedules=20):
    conformance = Conformance(InlineLauncher(rule), schedules=schedules, shrink_runs_max=0)
    assert not conformance.meet().fault
    return conformance.run_all(cases)


def failures(rule, cases, schedules=3):
    return [one.case.id for one in results_of(rule, cases, schedules) if one.result is Result.FAIL]


def own_cases_of(case_id, folder, **options):
    (case,) = cases_named([case_id])
    files, schema = write_case_log(log_for(case, 0), folder)
    return own_cases(OwnLogs(files=tuple(files), schema=schema), 12, **options).cases


def cases_or_none(path):
    """Return the cases of a third-party file, none if the error gives the reason."""
    is_text = open_inputs([str(path)]).is_text
    try:
        return own_cases(OwnLogs(files=(str(path),), is_text=is_text), 12).cases
    except ParaplyError as error:
        if error.error.code != "P638":
            raise
        return ()


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return the words of a log of two files with hot rows, a UNIQUE key and gaps."""
    scale = Scale(4, 40, 2, 2, 0, 2, "unique", "calm")
    write_case_log(scaled_log(scale, 3), tmp_path)
    monkeypatch.chdir(tmp_path)
    return ["--log", "bin.000001", "bin.000002", "--schema", "schema.sql"]


def conform(*arguments):
    return main(["conform", *map(str, arguments)])


# Right and faulty appliers


def shown_faults():
    return [
        fault
        for fault in FAULTS
        if fault.case[0] not in FAMILIES_WITHOUT_LOGS and fault.rule.name not in NOT_SHOWN
    ]


def test_most_faults_have_a_log_that_shows_them():
    assert len(shown_faults()) == 19


@pytest.mark.long
@pytest.mark.parametrize("fault", shown_faults(), ids=lambda fault: fault.name)
def test_faulty_applier_fails_on_the_log_of_its_case_and_right_ones_pass(fault, tmp_path):
    cases = own_cases_of(fault.case, tmp_path)
    assert failures(fault.rule, cases, schedules=20)
    for rule in RIGHT:
        assert failures(rule, cases) == []


@pytest.mark.long
def test_fault_of_special_letters_is_shown_with_the_values_kept(tmp_path):
    (fault,) = [one for one in FAULTS if one.rule.name == "lowers_case"]
    assert failures(fault.rule, own_cases_of(fault.case, tmp_path), schedules=20) == []
    kept = own_cases_of(fault.case, tmp_path, keep_values=True)
    assert failures(fault.rule, kept, schedules=20)


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_right_applier_passes_every_case_of_a_generated_log(tmp_path, rule, dialect):
    path = hot_log(tmp_path / "hot.000001", size_bytes=110_000, dialect=dialect)
    own = own_cases(OwnLogs(files=(str(path),)), 12)
    assert own.used == own.slices > 1
    assert len(own.cases) == (2 if dialect == "mysql" else 1) * own.slices
    results = results_of(rule, own.cases, schedules=2)
    assert {one.result for one in results} <= {Result.PASS, Result.SLOW}
    assert any(one.result is Result.PASS for one in results)


@pytest.mark.long
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_right_applier_passes_every_case_of_third_party_logs(corpus, rule):
    made = 0
    for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
        cases = cases_or_none(path)
        made += len(cases)
        results = results_of(rule, cases, schedules=5)
        assert {one.result for one in results} <= {Result.PASS, Result.SLOW}, path
    assert made >= 20


@pytest.mark.long
def test_sample_with_threads_passes(log, capsys):
    assert conform(*log, "--schedules", 3, "--", *THREADS) == 0
    assert "fail" in capsys.readouterr().out


@pytest.mark.long
def test_tracker_is_judged_on_cases_of_a_log(log, capsys):
    words = ["--schedules", 2, "--role", "tracker", "--applier", TRACKER]
    assert conform(*log, *words) == 0
    assert "precision:" in capsys.readouterr().out


# Reports


@pytest.mark.long
def test_report_counts_what_was_read_and_is_the_same_again(log, capsys):
    assert conform(*log, "--schedules", 3, "--applier", CLOCK) == 0
    out = capsys.readouterr().out
    assert "U slices of a log given by --log" in out
    assert "log: transactions: 41; slices of at most 12: 4, used: 4; cases: 8" in out
    assert conform(*log, "--schedules", 3, "--applier", CLOCK) == 0
    assert capsys.readouterr().out == out


@pytest.mark.long
def test_failure_has_a_command_that_replays_it(log, capsys):
    words = ["--case", "U-13-", "--show", "all"]
    assert conform(*log, *words, "--applier", ONE_NUMBER) == 1
    out = capsys.readouterr().out
    again = [line for line in out.splitlines() if "again:" in line]
    assert again
    assert "--log" in again[0]
    for line in again:
        assert conform(*shlex.split(line.split("paraply conform ")[1])) == 1
        assert "NOT the run recorded" not in capsys.readouterr().out


@pytest.mark.long
def test_slice_length_is_in_the_id_so_that_one_case_can_be_run(log, capsys):
    assert conform(*log, "--slice", 5, "--schedules", 1, "--tap", "--applier", CLOCK) == 0
    tap = capsys.readouterr().out.splitlines()
    ids = [line.split()[3] for line in tap if line.startswith("ok")]
    assert "U-6-5-recorded" in ids
    assert any(line.startswith("# log: transactions: 41") for line in tap)
    words = ["--case", "U-6-5-recorded", "--schedules", 1, "--tap", "--applier", CLOCK]
    assert conform(*log, *words) == 0
    assert "ok 1 - U-6-5-recorded" in capsys.readouterr().out


@pytest.mark.long
def test_files_for_machines_have_the_cases_and_no_names_of_the_user(log, tmp_path, capsys):
    names = {kind: tmp_path / f"r.{kind}" for kind in ("json", "junit")}
    words = [f"--{kind}={path}" for kind, path in names.items()]
    pages = tmp_path / "pages"
    words += [f"--html={pages}", "--case", "U-13-12-recorded", "--show", "all"]
    assert conform(*log, *words, "--applier", ONE_NUMBER) == 1
    document = json.loads(names["json"].read_text())
    assert document["remarks"][0].startswith("log: transactions: 41")
    failed = {one["id"] for one in document["cases"] if one["result"] == "fail"}
    assert failed
    root = ElementTree.parse(names["junit"]).getroot()
    found = {one.get("name") for one in root.iter("testcase") if one.find("failure") is not None}
    assert found == failed
    assert "log: transactions: 41" in root.find("testsuite/system-out").text
    texts = [capsys.readouterr().out, *(path.read_text() for path in names.values())]
    texts += [path.read_text() for path in pages.rglob("*.html")]
    assert "d1.t2.PRIMARY" in texts[0]
    for text in texts:
        assert "d.t0" not in text
        assert "d.other" not in text


@pytest.mark.long
def test_values_are_kept_on_request(log, capsys):
    words = ["--case", "U-13-12-recorded", "--keep-values", "--applier", ONE_NUMBER]
    assert conform(*log, *words) == 1
    out = capsys.readouterr().out
    assert "d.t0.PRIMARY" in out
    assert "--keep-values" in out


@pytest.mark.long
def test_budget_runs_slices_of_other_lengths(log, capsys):
    words = ["--case", "U-1-12", "--schedules", 1, "--budget", 1.5, "--tap", "--applier", CLOCK]
    assert conform(*log, *words) == 0
    captured = capsys.readouterr()
    assert " U-1-6-restamped " in captured.out
    assert "cases of other slices" in captured.err


def test_counterexamples_become_cases(capsys):
    files = [*REGRESSIONS.glob("applier*.jsonl"), *REGRESSIONS.glob("recovery*.jsonl")]
    assert len(files) == 2
    assert conform("--log", *files, "--schedules", 2, "--applier", CLOCK) == 0
    out = capsys.readouterr().out
    assert "4 cases, 8 runs: 4 pass" in out
    assert "log: transactions: 5; slices of at most 12: 2, used: 2; cases: 4" in out


# Wrong input


def test_counterexample_without_rows_is_an_error(capsys):
    (file,) = REGRESSIONS.glob("stable*.jsonl")
    assert conform("--log", file, "--applier", CLOCK) == 3
    err = capsys.readouterr().err
    assert "P638" in err
    assert file.name in err
    assert "without recorded rows" in err
    assert "remedy:" in err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--case", "U-999"], "P639"),
        (["--case", "A"], "P639"),
        (["--wire"], "P301"),
        (["--self-test"], "P301"),
        (["--covered", "x.json"], "P301"),
        (["--schema", "/no/such/file"], "P201"),
        (["--log", "/no/such/file"], "P101"),
        (["--log", "-"], "P301"),
        (["--slice", "0"], "P301"),
    ],
)
def test_wrong_usage_exits_3_with_a_remedy(log, words, code, capsys):
    assert conform(*log, *words, "--applier", CLOCK) == 3
    err = capsys.readouterr().err
    assert code in err
    assert "remedy:" in err


@pytest.mark.parametrize("text", ["{", '{"record":"history"}', "no log", ""])
def test_file_that_is_no_log_exits_3(tmp_path, text, capsys):
    file = tmp_path / "file"
    file.write_text(text)
    assert conform("--log", file, "--applier", CLOCK) == 3
    err = capsys.readouterr().err
    assert str(file) in err
    assert "remedy:" in err
