"""Cost of campaigns and tables by size: ``python -m ci.scale`` (``make scale``).

Runs each measurement that docs/scale.jsonl lacks, in a process of its own, and stores its result
there for docs/scale.md. CPU seconds are those of the processes, so other load changes them little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from ci.bench.history_scale import table_of
from paraply.mining.commits import STATES
from paraply.mining.row_files import ROWS

RECORDS = Path(__file__).resolve().parents[1] / "docs" / "scale.jsonl"
SPARK, HERE = "local[2]", "none"
DRIVER, JVM, WORKERS = "driver", "jvm", "workers"
SAMPLE_S = 0.1
SYSTEM = ["--subjects", "applier:logical_clock", "--minimise", "none", "--no-times"]
KERNELS, REFERENCE, TABLES = "kernels", "reference", "tables"
SIZES = {
    KERNELS: (10**6, 10**7, 10**8),
    REFERENCE: (10**4, 10**5),
    TABLES: (10**6, 10**7, 10**8),
}
BATCH = {KERNELS: 200_000, REFERENCE: 1_000}
_VERDICTS = (0, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run.

    Attributes:
        size: histories, or rows of a table.
        engine: Spark's master, or ``none`` for one process without Spark.
        cpu_seconds: by role: the Python driver, the JVM, Python workers.
        peak_mb: largest resident memory by role, in 10^6 bytes.
        executor_cpu_seconds: CPU time of tasks inside the JVM.
        shuffle_bytes: written by tasks for ``groupBy``.
        result_bytes: returned by tasks, of every stage.
    """

    kind: str
    size: int
    engine: str
    seconds: float
    cpu_seconds: dict[str, float]
    peak_mb: dict[str, float]
    jobs: int = 0
    tasks: int = 0
    executor_cpu_seconds: float = 0.0
    shuffle_bytes: int = 0
    result_bytes: int = 0
    commits: int = 0
    files: int = 0
    file_bytes: int = 0
    state_bytes: int = 0

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what a later measurement replaces."""
        return self.kind, self.engine, self.size

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of all processes."""
        return sum(self.cpu_seconds.values())


@dataclass(slots=True)
class Watched:
    """CPU seconds and peak memory of a process and its children, by role."""

    cpu: dict[str, dict[int, float]] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)

    def sample(self, first: psutil.Process) -> None:
        """Take the present values."""
        memory: dict[str, int] = {}
        for role, process in roles_of(first):
            with suppress(psutil.Error):
                times, size = process.cpu_times(), process.memory_info().rss
                of_role = self.cpu.setdefault(role, {})
                of_role[process.pid] = max(of_role.get(process.pid, 0.0), times.user + times.system)
                memory[role] = memory.get(role, 0) + size
        for role, size in memory.items():
            self.peak[role] = max(size, self.peak.get(role, 0))

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU seconds by role."""
        return {role: round(sum(cpu.values()), 2) for role, cpu in self.cpu.items()}

    def peak_mb(self) -> dict[str, float]:
        """Return the largest memory by role."""
        return {role: round(size / 1e6, 1) for role, size in self.peak.items()}


def roles_of(first: psutil.Process) -> Iterator[tuple[str, psutil.Process]]:
    """Yield processes with their roles: what Java starts is a worker."""
    java: set[int] = set()
    with suppress(psutil.Error):
        yield DRIVER, first
        for process in first.children(recursive=True):
            with suppress(psutil.Error):
                if process.ppid() in java:
                    java.add(process.pid)
                    yield WORKERS, process
                elif process.name() == "java":
                    java.add(process.pid)
                    yield JVM, process
                else:
                    yield DRIVER, process


def command_of(kind: str, size: int, engine: str, folder: Path, tables: Path) -> list[str]:
    """Return the measured command."""
    words = [sys.executable, "-m", "paraply"]
    if kind == TABLES:
        table = table_of(tables, size, seed=0)
        return [*words, "audit", "--spark", "--master", engine, "--json", "-", str(table)]
    fast = ["--fast"] if kind == KERNELS else []
    batch = ["--batch", str(BATCH[kind]), "--histories", str(size)]
    out = ["--master", engine, "--out", str(folder / "mine")]
    return [*words, "mine", *SYSTEM, *fast, *batch, *out]


def measure(
    kind: str, size: int, engine: str, tables: Path, *, logs_events: bool = True
) -> Measurement:
    """Run once in an empty folder; raises ``RuntimeError`` without a verdict.

    Spark's event log counts tasks and bytes, and takes CPU time of the JVM.
    """
    with tempfile.TemporaryDirectory(prefix="paraply-scale-") as scratch:
        folder = Path(scratch)
        events = folder / "events"
        events.mkdir()
        # A folder of settings would be part of the class path, and Java's archive is for one.
        settings = {"enabled": str(logs_events).lower(), "rolling.enabled": "false",
                    "compress": "false", "dir": f"file://{events}"}  # fmt: skip
        options = [f"--conf spark.eventLog.{name}={value}" for name, value in settings.items()]
        submit = {"PYSPARK_SUBMIT_ARGS": " ".join([*options, "pyspark-shell"])}
        command = command_of(kind, size, engine, folder, tables)
        log = folder / "log"
        watched, began = Watched(), time.monotonic()
        with (
            log.open("wb") as sink,
            subprocess.Popen(
                command, stdout=sink, stderr=sink, env={**os.environ, **submit}
            ) as process,
        ):
            first = psutil.Process(process.pid)
            while process.poll() is None:
                watched.sample(first)
                time.sleep(SAMPLE_S)
        if process.returncode not in _VERDICTS:
            raise RuntimeError(log.read_text(errors="replace")[-2000:])
        return Measurement(
            kind=kind, size=size, engine=engine, seconds=round(time.monotonic() - began, 2),
            cpu_seconds=watched.cpu_seconds(), peak_mb=watched.peak_mb(),
            **tasks_of(events), **files_of(folder / "mine"),
        )  # fmt: skip


def tasks_of(events: Path) -> dict[str, Any]:
    """Return sums over the tasks of Spark's event logs."""
    found: dict[str, Any] = {
        "jobs": 0, "tasks": 0, "executor_cpu_seconds": 0.0, "shuffle_bytes": 0, "result_bytes": 0,
    }  # fmt: skip
    for path in events.iterdir():
        with path.open(encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                if event["Event"] == "SparkListenerJobStart":
                    found["jobs"] += 1
                elif event["Event"] == "SparkListenerTaskEnd":
                    metrics = event["Task Metrics"]
                    found["tasks"] += 1
                    found["executor_cpu_seconds"] += metrics["Executor CPU Time"] / 1e9
                    written = metrics["Shuffle Write Metrics"]
                    found["shuffle_bytes"] += written["Shuffle Bytes Written"]
                    found["result_bytes"] += metrics["Result Size"]
    return found | {"executor_cpu_seconds": round(found["executor_cpu_seconds"], 2)}


def files_of(campaign: Path) -> dict[str, int]:
    """Return the number and bytes of a campaign's files."""
    if not campaign.exists():
        return {}
    rows = [path.stat().st_size for path in (campaign / ROWS).glob("*.parquet")]
    states = max((campaign / STATES).iterdir(), key=lambda path: path.stat().st_mtime)
    return {
        "commits": len(list((campaign / ROWS / "_delta_log").glob("*.json"))),
        "files": len(rows),
        "file_bytes": sum(rows),
        "state_bytes": states.stat().st_size,
    }


def stored() -> list[Measurement]:
    """Return the stored measurements."""
    if not RECORDS.exists():
        return []
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    return [Measurement(**json.loads(line)) for line in lines]


def store(found: Measurement) -> None:
    """Replace the measurement of the same key."""
    by_key = {one.key: one for one in [*stored(), found]}
    lines = [json.dumps(asdict(by_key[key])) for key in sorted(by_key)]
    RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is not stored."""
    parser = argparse.ArgumentParser(prog="python -m ci.scale", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(SIZES)} (all)")
    parser.add_argument("--largest", type=float, default=1e8, help="largest size")
    parser.add_argument("--again", action="store_true", help="measure stored sizes again")
    parser.add_argument("--tables", type=Path, help="keep generated tables here")
    options = parser.parse_args(argv)
    unknown = [kind for kind in options.kinds if kind not in SIZES]
    if unknown:
        parser.error(f"no measurement {', '.join(unknown)}; there are {', '.join(SIZES)}")
    known = set() if options.again else {one.key for one in stored()}
    with tempfile.TemporaryDirectory(prefix="paraply-tables-") as scratch:
        tables = options.tables or Path(scratch)
        tables.mkdir(parents=True, exist_ok=True)
        for kind in options.kinds or SIZES:
            for size in SIZES[kind]:
                # Side by side, so that both see the same load.
                for engine in (HERE, SPARK):
                    if size > options.largest or (kind, engine, size) in known:
                        continue
                    found = measure(kind, size, engine, tables)
                    store(found)
                    print(
                        f"{kind} {size:,} {engine}: {found.seconds:,.1f} s, CPU "
                        f"{found.cpu_seconds}, MB {found.peak_mb}",
                        flush=True,
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
