"""The benchmark's generator is deterministic and valid, and its verdicts are what was measured."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from datetime import date

import psutil
import pytest

import ci.bench.audit
import ci.bench.audit_mixes  # noqa: F401 - registers
from ci.bench import workload
from ci.bench.__main__ import main
from ci.bench.generate_log import generate
from ci.bench.measure import PeakMemory, Run, interleave, run_sampled
from ci.bench.registry import BENCHMARKS, Goal, Report
from ci.bench.storing import Stored, read, store
from ci.pages import speed


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(workload, "SBTEST_ROWS", 100)
    monkeypatch.setattr(workload, "ACCOUNTS", 100)
    monkeypatch.setattr("ci.bench.generate_log.BLOCK_TRANSACTIONS", 30)


@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_one_seed_gives_one_log_and_another_seed_another(tmp_path, dialect):
    logs = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        generate(tmp_path / name, dialect=dialect, size_bytes=120_000, seed=seed)
        logs.append((tmp_path / name).read_bytes())
    assert logs[0] == logs[1] != logs[2]
    assert 120_000 <= len(logs[0]) < 130_000


def test_longer_log_begins_with_the_shorter_one(tmp_path):
    generate(tmp_path / "short", dialect="mysql", size_bytes=100_000)
    generate(tmp_path / "long", dialect="mysql", size_bytes=140_000)
    short, long = (tmp_path / "short").read_bytes(), (tmp_path / "long").read_bytes()
    rotate_bytes = 19 + 8 + len("bench.000002") + 4
    assert long.startswith(short[:-rotate_bytes])


@pytest.mark.live
def test_generated_log_is_read_by_the_server_s_own_decoder(tmp_path):
    if shutil.which("mariadb-binlog") is None:
        pytest.skip("mariadb-binlog is not installed")
    count = generate(tmp_path / "log", dialect="mariadb", size_bytes=150_000)
    shown = subprocess.run(
        ["mariadb-binlog", "-v", "--verify-binlog-checksum", str(tmp_path / "log")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stderr == ""
    assert shown.stdout.count("\tGTID 0-1-") == count


@pytest.mark.parametrize(
    ("words", "sizes"),
    [((), {"audit": 500.0, "audit-mixes": 1000.0}),
     (("--megabytes", "7"), {"audit": 7.0, "audit-mixes": 7.0})],
)  # fmt: skip
def test_kinds_of_logs_are_as_large_as_a_server_makes_them_unless_asked(monkeypatch, words, sizes):
    taken = {}

    def record(name):
        def run(options):
            taken[name] = options.megabytes
            return Report(benchmark=name, input="")

        return run

    for name in sizes:
        monkeypatch.setitem(BENCHMARKS, name, record(name))
    assert main([*sizes, *words]) == 0
    assert taken == sizes


def test_goal_passes_at_its_bound_and_misses_beyond():
    assert Goal(name="speed", wanted=0.5, got=0.5).word == "PASS"
    assert Goal(name="speed", wanted=0.5, got=0.49).word == "MISS"
    assert Goal(name="memory", wanted=300, got=301, at_most=True).word == "MISS"


def test_peak_of_memory_is_seen_although_it_is_given_back():
    with PeakMemory(children=True) as peak:
        block = bytearray(b"1") * 100_000_000
        seen = peak.samples
        while peak.samples < seen + 2:
            time.sleep(0.01)
        del block
    assert peak.bytes - psutil.Process().memory_info().rss > 50_000_000


def test_sampled_run_counts_what_its_children_take():
    spin = [sys.executable, "-S", "-c", "block = b'1' * 60_000_000; sum(range(3_000_000)); input()"]

    def work():
        with subprocess.Popen(spin, stdin=subprocess.PIPE) as child:
            child.communicate(b"\n")

    assert run_sampled(work).cpu_seconds > 0.02


def test_contestants_take_turns():
    turns = []

    def contestant(name):
        def run():
            turns.append(name)
            return Run(seconds=len(turns), cpu_seconds=0, peak_bytes=len(turns))

        return run

    results = interleave({"a": contestant("a"), "b": contestant("b")}, 3)
    assert turns == ["a", "b"] * 3
    assert results["a"].seconds == 3
    assert results["b"].peak_bytes == 6


def stored(name, value, *goals):
    report = Report(benchmark=name, input="two logs.", goals=list(goals), remarks=["one left out"])
    report.add("paraply", "speed", value, "MB/s")
    return Stored(report=report, day=date(2026, 1, 2), machine="two cores")


def test_newest_result_of_each_benchmark_is_kept(tmp_path):
    path = tmp_path / "speed.jsonl"
    for one in (
        stored("b", 1.0),
        stored("a", 2.0, Goal(name="g", wanted=1, got=2)),
        stored("b", 3),
    ):
        store(path, one)
    found = read(path)
    assert [one.report.measured[0].value for one in found] == [2.0, 3]
    assert found[0] == stored("a", 2.0, Goal(name="g", wanted=1, got=2))


def test_results_of_unusual_sizes_are_not_stored(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--megabytes", "1", "--store", str(tmp_path / "speed.jsonl")])
    assert "leave out --megabytes" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_page_shows_each_result_and_a_missed_goal():
    text = speed.page([stored("a", 2.0, Goal(name="twice as fast", wanted=2, got=1.5))])
    assert "| [a](#a) | twice as fast | 1.50 | at least 2.00 | **no** |" in text
    assert "| paraply | speed | 2.00 | MB/s |" in text
    assert "- one left out" in text
