"""Running programs side by side: wall time, CPU time and peak memory of whole processes."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one contestant; memory is 0 where it was not measured."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    exit_code: int = 0


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
        """Return the largest peak of resident memory."""
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
    """Run a program with its output thrown away.

    Raises ``RuntimeError`` if it exits with anything but ``exit_codes``: a crash is not fast. A
    small interpreter starts the program and asks the kernel for its usage: the peak that a fork of
    this process would inherit must not count.
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


def interleave(contestants: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, Runs]:
    """Run A, B, A, B, ...: a machine that slows down slows both."""
    results = {name: Runs(name) for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            results[name].runs.append(contestant())
    return results
