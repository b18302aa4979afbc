"""The command that measures cost by size: what it counts, and what the page makes of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import psutil
import pytest

from ci import scale
from ci.pages.scale import exponents, marginal, measured, plan
from ci.scale import DRIVER, HERE, JVM, KERNELS, REFERENCE, SPARK, WORKERS, Measurement, Watched


def run_of(size, kind=KERNELS, engine=SPARK, power=1.0):
    return Measurement(
        kind=kind, size=size, engine=engine, seconds=1.0,
        cpu_seconds={DRIVER: 1.0, JVM: 2.0, WORKERS: size**power / 1e5},
        peak_mb={DRIVER: 200.0, JVM: 400.0, WORKERS: 300.0},
        tasks=size // 1000, jobs=2, shuffle_bytes=size, file_bytes=size, files=1, commits=2,
    )  # fmt: skip


def test_exponents_are_those_of_the_sizes():
    found = [run_of(10**5, power=2), run_of(10**7, power=2)]
    *_, row = exponents(found)
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[3] == "100,000 to 10,000,000"
    # CPU time is almost only that of workers, which is quadratic here; the driver's is constant.
    assert float(cells[4]) == pytest.approx(2, abs=0.01)
    assert cells[5:8] == ["0.00", "0.00", "1.00"]


def test_cost_of_one_more_history_has_no_constant_part():
    found = [run_of(10**6), run_of(10**7), run_of(10**5)]
    assert marginal(found, lambda one: one.cpu_seconds[WORKERS]) == pytest.approx(1e-5)
    assert marginal(found, lambda one: one.cpu_seconds[DRIVER]) == 0


def test_plan_names_what_grows():
    found = [run_of(size, kind) for kind in (KERNELS, REFERENCE) for size in (10**5, 10**6)]
    text = "\n".join(plan(found))
    # 10^10 histories of 10 microseconds each.
    assert "| CPU time of workers, core hours | 27.8 | 27.8 |" in text
    assert "200 MB" in text
    # The JVM's time did not grow with tasks; here it does, by 10 ms each, half of it inside.
    busy = [
        replace(
            one,
            cpu_seconds={**one.cpu_seconds, JVM: one.tasks / 100},
            executor_cpu_seconds=one.tasks / 200,
        )
        for one in found
    ]
    assert "| CPU time of the JVM per task, without the task | 0 ms | 0 ms |" in text
    text = "\n".join(plan(busy))
    assert "| CPU time of the JVM per task, without the task | 5 ms | 5 ms |" in text
    # 20,000 tasks of 5 ms over 125 s.
    assert "| the JVM's share of the wall time | 80% | 800% |" in text
    assert "| smallest batch that leaves half of it idle | 800,000 | 800,000 |" in text


def test_page_names_every_measurement():
    text = "\n".join(measured([run_of(10**5), run_of(10**5, engine=HERE)]))
    assert text.count("100,000") == 2
    assert "`local[2]`" in text
    assert "this process" in text


def test_later_measurement_replaces_the_earlier_one(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "RECORDS", tmp_path / "scale.jsonl")
    for seconds in (1.0, 2.0):
        scale.store(replace(run_of(10**6), seconds=seconds))
        scale.store(replace(run_of(10**5), seconds=seconds))
    assert [(one.size, one.seconds) for one in scale.stored()] == [(10**5, 2.0), (10**6, 2.0)]


def test_stored_sizes_are_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "RECORDS", tmp_path / "scale.jsonl")
    asked = []

    def measure(kind, size, engine, tables):
        asked.append((size, engine))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return run_of(size, kind, engine)

    monkeypatch.setattr(scale, "measure", measure)
    with pytest.raises(KeyboardInterrupt):
        scale.main([KERNELS, "--tables", str(tmp_path)])
    assert scale.main([KERNELS, "--tables", str(tmp_path)]) == 0
    wanted = [(size, engine) for size in scale.SIZES[KERNELS] for engine in (HERE, SPARK)]
    assert asked == [*wanted[:3], *wanted[2:]]


def test_event_log_is_summed_over_tasks(tmp_path):
    task = {
        "Event": "SparkListenerTaskEnd",
        "Task Metrics": {
            "Executor CPU Time": 1_500_000_000, "Result Size": 10,
            "Shuffle Write Metrics": {"Shuffle Bytes Written": 7},
        },
    }  # fmt: skip
    other = {"Event": "SparkListenerStageCompleted"}
    lines = [{"Event": "SparkListenerJobStart"}, task, other, task]
    (tmp_path / "log").write_text("\n".join(map(json.dumps, lines)))
    assert scale.tasks_of(tmp_path) == {
        "jobs": 1, "tasks": 2, "executor_cpu_seconds": 3.0, "shuffle_bytes": 14, "result_bytes": 20,
    }  # fmt: skip


def test_processes_are_told_apart_by_who_started_them():
    class Process:
        def __init__(self, pid, parent, name, children=()):
            self.pid, self._parent, self._name, self._children = pid, parent, name, children

        def ppid(self):
            return self._parent

        def name(self):
            return self._name

        def children(self, recursive):
            return self._children

    below = [Process(2, 1, "java"), Process(3, 2, "python"), Process(4, 3, "python"),
             Process(5, 1, "python")]  # fmt: skip
    roles = scale.roles_of(Process(1, 0, "python", below))
    assert [(role, one.pid) for role, one in roles] == [
        (DRIVER, 1), (JVM, 2), (WORKERS, 3), (WORKERS, 4), (DRIVER, 5)
    ]  # fmt: skip


def test_sampling_this_process_finds_its_memory_and_cpu():
    watched = Watched()
    watched.sample(psutil.Process())
    assert watched.cpu_seconds()[DRIVER] > 0.1
    assert watched.peak_mb()[DRIVER] > 20


@pytest.mark.long
def test_a_small_campaign_is_measured(tmp_path, monkeypatch):
    monkeypatch.setitem(scale.BATCH, REFERENCE, 20)
    found = scale.measure(REFERENCE, 60, HERE, tmp_path)
    assert found.files == 1
    assert found.commits == 2
    assert found.file_bytes > 1_000
    assert found.cpu_seconds[DRIVER] > 0.1
    assert found.tasks == 0
    with pytest.raises(RuntimeError, match="P"):
        scale.measure(REFERENCE, -1, HERE, tmp_path)
    assert sys.executable in scale.command_of(REFERENCE, 1, HERE, tmp_path, tmp_path)[0]
