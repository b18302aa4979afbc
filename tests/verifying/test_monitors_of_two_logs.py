"""A silent monitor of two logs implies the order, or that each transaction came once."""

from __future__ import annotations

import html
import json
from collections import Counter
from random import Random
from xml.etree import ElementTree

import pytest

from paraply.cli import main
from paraply.models.recorded.monitors import MONITORS, NOT_IN_LOGS, TWO_LOGS
from paraply.models.recorded.two_logs import PART, Status, monitor_orders
from paraply.verifying.monitoring import in_progress, number_of
from paraply.verifying.recording import Header
from paraply.verifying.result import MONITORED, Names
from paraply.vocabulary.verdict import Verdict
from tests.builders.json_schema import run_of_sarif
from tests.verifying.small_logs import run
from tests.verifying.test_real_logs import REPLICAS, files_of
from tests.verifying.workloads import START, dependency_order, transfers

SOURCE = transfers(12, 4)
DECIDED = ("P07", "P13", "P17", "P18", "P50")
JUNIT = {"holds": [], "violated": ["failure"], "unknown": ["skipped"]}
SARIF = {"holds": "note", "violated": "error", "unknown": "warning"}


def headers(numbers, domain=0):
    return [Header(f"{domain}-1-{number}", f"bin:{number}", domain) for number in numbers]


def judged(theorem, done, sent=None, **status):
    sent = range(1, 3 * PART) if sent is None else sent
    return monitor_orders(theorem, headers(sent), headers(done), Status(**status))


def changed(done, random):
    """Return what was done with one transaction dropped, repeated or moved, or as it is."""
    done, at = list(done), random.randrange(len(done))
    match random.choice(("drop", "repeat", "move", "keep")):
        case "drop":
            del done[at]
        case "repeat":
            done.insert(random.randrange(at, len(done)) + 1, done[at])
        case "move":
            done.insert(max(0, at - random.randrange(1, 5)), done.pop(at))
    return done


def test_command_offers_every_monitor():
    assert tuple(sorted(TWO_LOGS)) == MONITORED
    assert {*DECIDED, *NOT_IN_LOGS} == TWO_LOGS.keys() >= MONITORS.keys()


@pytest.mark.parametrize("theorem", DECIDED)
def test_each_beginning_of_the_source_is_a_run(theorem):
    for length in (1, PART - 1, PART, PART + 1, 2 * PART + 1):
        assert judged(theorem, range(1, length + 1)).verdict is Verdict.HOLDS


@pytest.mark.long
def test_verdicts_are_those_of_the_plain_rule():
    random, verdicts = Random(7), Counter()
    for _ in range(30):
        length = random.randrange(2, 2 * PART)
        done = changed(changed(range(1, length + 1), random), random)
        is_once, rises = len(set(done)) == len(done), done == sorted(set(done))
        is_beginning = done == list(range(1, len(done) + 1))
        order, once = (judged(theorem, done).verdict for theorem in ("P07", "P50"))
        verdicts.update((("P07", order), ("P50", once)))
        assert judged("P17", done).verdict is once
        has_all = set(done) == set(range(1, max(done) + 1))
        passed = judged("P18", done).verdict, judged("P18", done, in_progress="").verdict
        verdicts.update(("P18", one) for one in passed)
        assert passed == (
            (Verdict.HOLDS, Verdict.HOLDS) if has_all else (Verdict.UNKNOWN, Verdict.VIOLATED)
        )
        assert (order is Verdict.HOLDS) is is_beginning
        assert not (order is Verdict.VIOLATED and rises)
        assert (once is Verdict.VIOLATED) is not is_once
    assert len(verdicts) >= 8


def test_gap_that_no_log_fills_is_unknown():
    found = judged("P07", [1, 2, 4])
    assert found.verdict is Verdict.UNKNOWN
    assert "engine_commit(p=2)" in found.reason
    assert "not recorded" in found.reason


def test_overtaking_is_named():
    found = judged("P07", [1, 3, 2])
    assert found.verdict is Verdict.VIOLATED
    assert "from 0-1-1 on: event 3, engine_committed of T2" in found.reason
    assert judged("P50", [1, 3, 2]).verdict is Verdict.HOLDS


def test_repetition_far_behind_is_found():
    done = [*range(1, 2 * PART + 10), 1]
    assert judged("P50", done).verdict is Verdict.VIOLATED
    assert judged("P07", done).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("theorem", DECIDED)
def test_transaction_of_the_target_alone_is_unknown(theorem):
    found = judged(theorem, [1, 2, 9], sent=[1, 2])
    assert found.verdict is Verdict.UNKNOWN
    assert "0-1-9" in found.reason
    assert judged(theorem, [], sent=[1, 2]).verdict is Verdict.UNKNOWN


def test_domains_have_orders_of_their_own():
    sent = [*headers([1, 2]), *headers([1, 2], domain=5)]
    done = [sent[2], sent[0], sent[3], sent[1]]
    assert monitor_orders("P07", sent, done).verdict is Verdict.HOLDS
    assert monitor_orders("P07", sent, [sent[3], sent[2]]).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("theorem", NOT_IN_LOGS)
def test_what_no_log_shows_is_unknown_with_the_reason(theorem):
    found = judged(theorem, [1, 2, 3])
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, NOT_IN_LOGS[theorem])


def test_what_the_source_lost_between_others_is_ahead_of_it():
    found = judged("P13", [1, 2, 3], sent=[1, 2, 4])
    assert found.verdict is Verdict.VIOLATED
    assert "requires (synced g)" in found.reason
    assert judged("P13", [1, 2], sent=[1, 2, 4]).verdict is Verdict.HOLDS
    far = [*range(1, 2 * PART), *range(2 * PART + 1, 3 * PART)]
    assert judged("P13", range(1, 3 * PART), sent=far).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("done", "status", "reason"),
    [
        ([1, 2, 5], {}, "0-1-5 first, not of the source"),  # perhaps logged after the copy
        ([1, 2, 3], {"is_contiguous": False}, "0-1-3 first, not of the source"),
        ([1, 2], {"changed": 1}, "other rows"),
    ],
)  # fmt: skip
def test_what_may_have_been_at_the_source_is_unknown(done, status, reason):
    found = judged("P13", done, sent=[1, 2, 4], **status)
    assert found.verdict is Verdict.UNKNOWN
    assert reason in found.reason


@pytest.mark.parametrize(
    ("options", "verdict", "reason"),
    [
        ([], "unknown", "may be in progress (--drained says otherwise)"),
        (["--drained"], "violated", "restart does not allow step"),
    ],
)
def test_passed_over_is_decided_by_a_drained_target(options, verdict, reason, tmp_path, capsys):
    logs = [
        run(rows, tmp_path / name, START)
        for name, rows in (("s.000001", SOURCE), ("t.000001", [*SOURCE[:4], *SOURCE[5:]]))
    ]
    main(["verify", logs[0], "--target", logs[1], "--monitor", "P18", "--json", "-", *options])
    (found,) = json.loads(capsys.readouterr().out)["monitors"]
    assert found["verdict"] == verdict
    assert reason in found["reason"]


def test_missing_transaction_without_judged_rows_may_be_filtered():
    reasons = [in_progress(names, is_drained=True) for names in (None, Names(), Names(missing=1))]
    assert ["may be filtered" in one for one in reasons] == [True, True, False]
    found = judged("P18", [1, 3], in_progress=reasons[1])
    assert found.verdict is Verdict.UNKNOWN
    assert "0-1-2 has not come, and may be filtered" in found.reason


def test_transactions_of_several_origins_are_not_ahead_of_one():
    sent = [Header(f"0-{server}-{n}", "", 0) for server, n in ((1, 1), (2, 2), (1, 4))]
    done = [sent[0], Header("0-1-3", "", 0), sent[2]]
    assert monitor_orders("P13", sent, done).verdict is Verdict.UNKNOWN


def test_numbers_of_log_files_show_one_that_is_left_out():
    assert [number_of(one) for one in ("bin.000007", "d/bin.000012.gz", "log", "-")] == [
        7, 12, -1, -1,
    ]  # fmt: skip


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda folder: folder.parent.name)
def test_real_replicas_are_followed(folder, capsys):
    target = str(folder / "replica-bin.000001")
    arguments = ["verify", *files_of(folder), "--target", target, "--json", "-"]
    code = main([*arguments, "--drained", "--monitor", *DECIDED])
    document = json.loads(capsys.readouterr().out)
    found = {one["theorem"]: one["verdict"] for one in document["monitors"]}
    assert found == dict.fromkeys(DECIDED, "holds")
    assert code == 0


def test_logs_that_can_be_read_once_have_no_monitors(capsys):
    assert main(["verify", "-", "--target", "log", "--monitor", "P07"]) == 3
    assert "--monitor reads both logs again" in capsys.readouterr().err


ORDERS = {
    "holds": SOURCE,
    "violated": dependency_order(SOURCE, 6, 1),
    "unknown": [*SOURCE[:4], *SOURCE[5:]],
}


@pytest.mark.parametrize("word", ORDERS)
def test_every_form_of_report_lists_the_monitors(word, tmp_path, capsys):
    logs = [
        run(rows, tmp_path / name, START)
        for name, rows in (("source.000001", SOURCE), ("target.000001", ORDERS[word]))
    ]
    names = {form: tmp_path / f"report.{form}" for form in ("json", "junit", "sarif", "html")}
    options = [part for form, name in names.items() for part in (f"--{form}", str(name))]
    main(["verify", logs[0], "--target", logs[1], "--monitor", "P07", "P50", *options])
    printed = " ".join(capsys.readouterr().out.split())
    found, _ = json.loads(names["json"].read_text())["monitors"]
    assert (found["theorem"], found["verdict"]) == ("P07", word)
    assert found["steps"] > 0
    said = f"{found['reason']}; {found['steps']} steps followed; assumed: {found['assumes']}"
    assert f"monitor P07 {word}: {said}" in printed
    suite = ElementTree.parse(names["junit"]).getroot().find("testsuite")
    case, other = suite.findall("testcase[@classname='paraply.verify.monitor']")
    assert case.get("name") == "engine_commits_follow_the_log: P07"
    assert case.find("system-out").text == f"P07 {word}: {said}"
    assert [child.tag for child in case][:-1] == JUNIT[word]
    assert other.find("system-out").text.startswith("P50 ")
    results = run_of_sarif(names["sarif"].read_text())["results"]
    levels = {one["message"]["text"]: one["level"] for one in results}
    assert levels[f"P07 {word}: {said}"] == SARIF[word]
    page = html.unescape(names["html"].read_text())
    assert f'<th scope="row">P07</th><td>{word}</td><td>{found["reason"]}</td>' in page
    assert f"<td>{found['assumes']}</td>" in page


def test_reports_without_monitors_do_not_name_them(tmp_path, capsys):
    log = run(SOURCE, tmp_path / "source.000001", START)
    names = {form: tmp_path / f"report.{form}" for form in ("junit", "html")}
    options = [part for form, name in names.items() for part in (f"--{form}", str(name))]
    assert main(["verify", log, "--target", log, *options]) == 0
    assert "  monitor " not in capsys.readouterr().out
    assert "verify.monitor" not in names["junit"].read_text()
    assert "monitors-title" not in names["html"].read_text()
