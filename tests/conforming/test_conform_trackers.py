"""``paraply conform --role tracker``: right ones pass, faulty ones fail; precision is counted."""

import json
import sys

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import empty_log
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.rules.trackers import RIGHT_TRACKERS, TRACKER_FAULTS
from paraply.adapters.conformance.source import insert, update
from paraply.adapters.conformance.tracking import Tracker, measure_precision
from paraply.cli import main
from paraply.conforming.self_test import self_tests

RULES = "paraply.adapters.conformance.rules.trackers"
TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"


def conform(*arguments):
    return main(["conform", "--role", "tracker", *arguments])


def scripted(*answers):
    """Return a tracker that answers `init`, then says these lines whatever it is sent."""
    script = (
        "import json, sys\n"
        "lines = " + repr([json.dumps(one) for one in answers]) + "\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'init':\n"
        "        print(json.dumps({'type': 'init_ok', 'in_reply_to': message['msg_id'],"
        " 'name': 'scripted', 'features': ['timestamps']}), flush=True)\n"
        "    elif message['type'] == 'txn' and lines:\n"
        "        print(lines.pop(0), flush=True)\n"
    )
    return [sys.executable, "-c", script]


@pytest.mark.long
@pytest.mark.parametrize("rule", RIGHT_TRACKERS, ids=lambda rule: rule.name)
def test_right_tracker_passes_every_case(rule):
    cases = cases_named([], Role.TRACKER)
    assert len(cases) > 70
    (test,) = self_tests(cases, schedules=2, seed=0, faults=(), right=[rule])
    assert test.is_good
    assert test.failed == ()


@pytest.mark.long
@pytest.mark.parametrize("fault", TRACKER_FAULTS, ids=lambda fault: fault.name)
def test_faulty_tracker_is_caught_by_its_case_and_by_no_unrelated_family(fault):
    cases = cases_named(["A-rotation", "B", "E", "F", "K-ddl", "N"], Role.TRACKER)
    (test,) = self_tests(cases, schedules=10, seed=0, faults=[fault], right=())
    assert fault.case in test.failed
    assert test.unrelated == ()


@pytest.mark.long
def test_tracker_that_serialises_is_slow_only_where_overlap_is_demanded(capsys):
    words = ["--schedules", "2", "--applier", f"{RULES}:OneAfterTheOther"]
    assert conform("--case", "N-parallel-01", *words) == 0
    assert "never under way together" in capsys.readouterr().out
    assert conform("--case", "B-prefix-01", *words) == 2


@pytest.mark.long
def test_report_gives_precision_in_text_and_json(tmp_path, capsys):
    file = tmp_path / "r.json"
    words = ["--case", "N", "--schedules", "1", "--applier", f"{RULES}:DependencyTracker"]
    assert conform(*words, "--json", str(file)) == 0
    assert "independent pairs may overlap (100 %)" in capsys.readouterr().out
    precision = json.loads(file.read_text())["precision"]
    assert precision["free"] == precision["independent"] >= precision["best"] > 0


def precision_of(name, *logs):
    tracker = Tracker(host_command(f"{RULES}:{name}"))
    try:
        return measure_precision(tracker, logs)
    finally:
        tracker.process.kill()


def two_rows_written_twice():
    log = empty_log(TABLE)
    log.transaction(insert("d.t", 1, 0))
    log.transaction(insert("d.t", 2, 0))
    log.transaction(update("d.t", {"id": 1}, v=1))
    return log


def test_precision_counts_pairs_that_no_chain_of_conflicts_orders():
    # 1 and 2, 2 and 3 are independent; last_committed=1 of the third lets it pass the second.
    found = precision_of("WriteSetTracker", two_rows_written_twice())
    assert (found.independent, found.free, found.best) == (2, 2, 2)
    assert precision_of("OneAfterTheOther", two_rows_written_twice()).free == 0


def test_precision_of_timestamps_is_less_than_of_dependencies_where_a_prefix_covers_more():
    log = empty_log(TABLE)
    for row in (1, 2, 3):
        log.transaction(insert("d.t", row, 0))
    log.transaction(update("d.t", {"id": 3}, v=1))
    found = precision_of("DependencyTracker", log)
    # The fourth depends on the third alone, and last_committed=3 covers the first two as well.
    assert (found.independent, found.free, found.best) == (5, 5, 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([{"type": "timestamp", "txn": 1, "lc": 1, "sn": 1}], "1 is not below sequence_number 1"),
        ([{"type": "timestamp", "txn": 7, "lc": 0, "sn": 1}], "no 'timestamp' of 1"),
        ([{"type": "depends", "txn": 1, "on": []}], "'depends' of 1, no 'timestamp'"),
        ([{"type": "timestamp", "txn": 1, "lc": 0}], "'timestamp' has no 'sn'"),
        (
            [
                {"type": "timestamp", "txn": 1, "lc": 0, "sn": 2},
                {"type": "timestamp", "txn": 2, "lc": 0, "sn": 2},
            ],
            "sequence_number 2 follows 2",
        ),
        # Each run waits: a minute.
        pytest.param([], "no message for 3 s", marks=pytest.mark.nightly),
    ],
)
def test_impossible_answer_fails_with_its_reason(answers, reason, capsys):
    # Only who never answers is waited for; a busy machine may start the others late.
    timeout = "20" if answers else "3"
    words = ["--case", "B-prefix-01", "--schedules", "1", "--timeout", timeout]
    assert conform(*words, "--", *scripted(*answers)) == 1
    assert reason in " ".join(capsys.readouterr().out.split())


def test_tracker_that_does_not_begin_is_a_usage_error_and_no_case_is_run(capsys):
    assert conform("--", "sh", "-c", "echo no luck >&2; exit 3") == 3
    printed = capsys.readouterr()
    assert "P636" in printed.err
    assert "no luck" in printed.err
    assert "cases" not in printed.out


def test_case_about_crashes_is_not_for_trackers(capsys):
    assert conform("--case", "M-crash-02", "--applier", f"{RULES}:WriteSetTracker") == 3
    assert "no case 'M-crash-02' for role tracker" in capsys.readouterr().err
