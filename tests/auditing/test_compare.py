"""``paraply compare``: what it prints and writes, what it refuses, and logs of real servers."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from paraply.adapters.conformance.rules.restated import BySequence
from paraply.auditing import comparing
from paraply.auditing.compared_rules import RULES, RuleClock
from paraply.auditing.comparing import (
    ALL,
    BINLOG,
    CompareRequest,
    appliers_named,
    compare,
    source_of,
)
from paraply.cli import main
from paraply.reference_impl.comparison.measures import bounds_of, measured
from paraply.reference_impl.comparison.runs import no_news
from paraply.reference_impl.workloads.streams import STREAMS
from tests.reference_impl.test_comparison import log_of

LOGS = Path(__file__).parent.parent / "fixtures" / "binlogs"
FULL = LOGS / "mysql-9.7.4" / "load-full-metadata" / "bin.000001"
DOMAINS = LOGS / "mariadb-10.11.19" / "domains" / "bin.000001"


def run(capsys, *words):
    """Run the command; return exit code, standard output and standard error."""
    code = main(["compare", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def lines_of(result):
    """Return the measures of a comparison by applier."""
    return {line.applier.name: line.measured for line in result.lines}


def test_command_prints_a_line_per_applier_and_the_command_that_makes_it_again(capsys):
    words = ("--workload", "hot-keys", "--transactions", 60, "--workers", 4)
    code, out, _ = run(capsys, *words)
    assert code == 0
    named = [line.split()[0] for line in out.splitlines() if line and line.split()[0] in ALL]
    # A generated log has no stamps of its own.
    assert named == [name for name in ALL if "as-logged" not in name]
    again = next(line for line in out.splitlines() if line.startswith("again: "))
    assert run(capsys, *shlex.split(again)[3:])[1] == out


def test_json_says_the_same_and_equal_seeds_give_equal_documents(capsys, tmp_path):
    words = ("--workload", "oltp", "--transactions", 80, "--seed", 3, "--appliers", "serial,c3")
    paths = [tmp_path / name for name in ("one.json", "two.json")]
    for path in paths:
        assert run(capsys, *words, "--json", path)[0] == 0
    assert paths[0].read_text() == paths[1].read_text()
    document = json.loads(paths[0].read_text())
    serial, graph = document["appliers"]
    assert serial["makespan_ticks"] == document["bounds"]["work_ticks"]
    assert serial["speedup"] == 1.0
    assert graph["makespan_ticks"] >= document["bounds"]["makespan_min_ticks"]
    assert graph["out_of_order"] > 0 == graph["misapplied_row_events"]
    assert not graph["one_position_is_enough"]
    assert (document["seed"], document["transactions"]) == (3, 80)
    out = run(capsys, *words, "--json", "-")[1]
    assert json.loads(out) == document


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("--workload", "hotkeys"), "P330", "did you mean hot-keys?"),
        (("--workload", "binlog"), "P331", "needs a binary log"),
        (("--workload", "oltp", "bin.000001"), "P331", "bin.000001 is a log"),
        (("--workers", "-1"), "P332", "--workers -1"),
        (("--workers", "5000"), "P332", "[0, 1024]"),
        (("--transactions", "1000001"), "P332", "1,000,000"),
        (("--theta", "1"), "P332", "[0, 1)"),
        (("--theta", "nan"), "P332", "nan"),
        (("--appliers", "marya"), "P304", "marya"),
        (("no-such-file",), "P101", "no-such-file"),
        (("--json", "no/such/folder.json"), "P302", "no folder"),
        (("--workers", "many"), "P301", "many"),
    ],
)  # fmt: skip
def test_wrong_usage_is_a_registered_error_with_a_remedy(capsys, words, code, part):
    exit_code, out, err = run(capsys, *words)
    assert (exit_code, out) == (3, "")
    assert code in err
    assert part in err
    assert "remedy: " in err


def test_log_without_a_transaction_is_an_error_and_an_empty_workload_is_not(capsys, tmp_path):
    path = tmp_path / "bin.000001"
    path.write_bytes(b"no log at all")
    code, _, err = run(capsys, path)
    assert code == 3
    assert "remedy: " in err
    code, out, _ = run(capsys, "--transactions", 0, "--appliers", "serial,mariadb")
    assert code == 0
    assert "0 transactions" in out


def test_beginning_of_a_name_stands_for_all_that_begin_so():
    assert [one.name for one in appliers_named(["mariadb"])] == [
        "mariadb-none", "mariadb-minimal", "mariadb-conservative", "mariadb-optimistic",
        "mariadb-aggressive",
    ]  # fmt: skip
    assert [one.name for one in appliers_named(["c4", "serial"])] == ["serial", "c4"]
    assert len(appliers_named(["rule"])) == len(RULES)
    assert len(appliers_named([])) == len(ALL)


def test_zero_workers_make_every_applier_the_serial_one():
    result = compare(CompareRequest(workload="hot-keys", workers=0, transactions=40))
    assert {what.makespan for what in lines_of(result).values()} == {result.bounds.work}


def test_log_of_a_server_is_compared_by_the_keys_that_an_audit_finds():
    result = compare(CompareRequest(workload=BINLOG, files=(str(FULL),), transactions=0))
    lines = lines_of(result)
    assert result.transactions == 127
    assert result.conflicts > 100
    # All tables are created in the log: shop.journal is known to have no key.
    assert not any(line.rests_on_unknown for line in result.lines)
    assert lines["serial"].makespan == result.bounds.work
    # Its own stamps keep what conflicts apart, and so do those of WRITESET computed anew.
    for name in ("mysql-as-logged", "mysql-writeset", "c3", "mariadb-conservative",
                 "mariadb-optimistic", "rule-write-set"):  # fmt: skip
        assert (lines[name].overlaps, lines[name].misapplied) == (0, 0), name
        assert lines[name].ends_as_serial
        assert 1.2 < lines[name].speedup(result.bounds.work) <= 8
    assert lines["c0"].misapplied
    # Foreign keys tie tables, which a partition by table does not see.
    assert lines["p2"].overlaps
    assert lines["rule-by-table"].overlaps


def test_log_with_domains_has_one_position_per_domain(capsys):
    code, out, _ = run(capsys, DOMAINS, "--workers", 4, "--appliers", "mariadb,mysql")
    assert code == 0
    assert "3 domains" in out
    assert "one position per domain is enough" in out
    # A log of MariaDB has no stamps: COMMIT_ORDER's come from its commit groups.
    assert "mysql-commit-order" in out
    assert "mysql-as-logged" not in out


def test_several_processes_find_what_one_does(monkeypatch):
    request = CompareRequest(workload="oltp", transactions=60, appliers=("serial", "c3", "mysql"))
    alone = compare(request)
    monkeypatch.setattr(comparing, "FORKS_FROM", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    told = []
    assert compare(request, told.append) == alone
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_beginning_of_a_log_is_said_to_be_one(capsys):
    _, out, _ = run(capsys, FULL, "--transactions", 20, "--appliers", "serial")
    assert "20 transactions" in out
    assert "the first 20 transactions of the log only" in out


@pytest.mark.long
def test_rules_never_hang_and_right_ones_end_as_the_serial_applier_does():
    for name in STREAMS:
        source = source_of(CompareRequest(workload=name, transactions=150))
        for rule in RULES.values():
            for task, stamp in zip(source.log.tasks[1:], source.stamps["WRITESET"], strict=True):
                task.stamp = stamp
            what = measured(source.log, rule.run(source.log, 4))
            assert what.makespan is not None, rule.name
            if rule.keeps_dependencies:
                assert what.ends_as_serial, rule.name
                assert what.makespan >= bounds_of(source.log, 4).makespan_min
    assert what.out_of_order


def test_deadlocks_that_meet_again_and_again_end():
    # Pairs of transactions lock two rows crosswise, with a third that wants one of them.
    log = log_of(*["ab", "ba", "a", "bca", "acb"] * 12)
    found = RuleClock(log, 5, no_news, rule=BySequence).run()
    assert found.has_finished
    assert found.retries


@pytest.mark.long
def test_rule_that_looks_at_one_number_only_lets_a_ddl_run_beside_others():
    # completed_numbers: last_committed is looked up as a number, not as a prefix.
    lines = lines_of(compare(CompareRequest(workload="ddl-heavy", transactions=400)))
    assert lines["rule-completed-numbers"].overlaps
    assert not lines["mysql-writeset-unordered"].overlaps
