"""Wall time, CPU time and peak memory of processes."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

SAMPLE_EVERY_S = 0.02
TREE_EVERY_SAMPLES = 25
ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One contestant's run; memory 0 means not measured."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    exit_code: int = 0


def cpu_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(slots=True)
class Runs:
    """All runs of one contestant, in order."""

    name: str
    runs: list[Run] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return the median wall time."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """Return the median CPU time."""
        return statistics.median(run.cpu_seconds for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        """Return the peak of resident memory."""
        return max(run.peak_bytes for run in self.runs)


_PROBE = """\
import os, resource, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
    file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(pid, 0)
sys.stderr.write(f"\\nUSAGE {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss * 1024}\\n")
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run_measured(
    command: Sequence[str], *, exit_codes: frozenset[int] = frozenset({0}), seconds_max: float
) -> Run:
    """Run a program and discard its output.

    Raises ``RuntimeError`` for other exit codes. A small interpreter starts the program, because a
    fork of this process would inherit its peak memory.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", _PROBE, *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        complaint = process.communicate(timeout=seconds_max)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise RuntimeError(f"{command[0]} took more than {seconds_max:.0f} s") from None
    seconds = time.perf_counter() - start
    words = complaint.rpartition("USAGE ")[2].split()
    if process.returncode not in exit_codes or len(words) != 2:
        raise RuntimeError(
            f"{' '.join(command)} exited with {process.returncode}: {complaint[-500:]}"
        )
    return Run(
        seconds=seconds,
        cpu_seconds=float(words[0]),
        peak_bytes=int(words[1]),
        exit_code=process.returncode,
    )


def run_here(work: Callable[[], object]) -> Run:
    """Run a function in this process."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return Run(
        seconds=time.perf_counter() - start,
        cpu_seconds=time.process_time() - cpu,
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


class PeakMemory:
    """Samples the resident memory of this process and its children.

    Shared memory counts once per process. ``cpu_seconds`` is the sampling cost.
    """

    def __init__(self, *, children: bool) -> None:
        self.bytes = 0
        """The largest sum so far."""
        self.samples = 0
        self.cpu_seconds = 0.0
        self._children = children
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        tree = [psutil.Process()]
        while not self._is_over.wait(SAMPLE_EVERY_S):
            # Listing all processes costs far more than polling the known ones.
            if self._children and self.samples % TREE_EVERY_SAMPLES == 0:
                tree = process_tree()
            self.bytes = max(self.bytes, sum(map(_resident, tree)))
            self.samples += 1
            self.cpu_seconds = time.thread_time()


def process_tree() -> list[psutil.Process]:
    """Return this process with descendants."""
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _cpu_of_tree() -> float:
    return sum(sum(process.cpu_times()[:4]) for process in process_tree())


def run_sampled(work: Callable[[], object], *, children: bool = True) -> Run:
    """Run a function and sample memory, children included."""
    start, cpu = time.perf_counter(), _cpu_of_tree() if children else time.process_time()
    with PeakMemory(children=children) as peak:
        work()
    seconds = time.perf_counter() - start
    taken = (_cpu_of_tree() if children else time.process_time()) - cpu
    return Run(
        seconds=seconds, cpu_seconds=taken - peak.cpu_seconds,
        peak_bytes=max(peak.bytes, sum(map(_resident, process_tree()[: None if children else 1]))),
    )  # fmt: skip


def interleave(contestants: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, Runs]:
    """Run A, B, A, B, ... against drift."""
    results = {name: Runs(name) for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            results[name].runs.append(contestant())
    return results
