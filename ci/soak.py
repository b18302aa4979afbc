"""Long runs with flat memory: ``python -m ci.soak`` (``make soak``).

It audits a log of 10 GB in rotated files, then runs a campaign of two hours, and samples the
resident memory of all processes. ``--publish`` stores the results for docs/soak.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from ci.bench.dialects import MariaDb
from ci.bench.generate_log import LogWriter

RECORDS = Path(__file__).resolve().parents[1] / "docs" / "soak.jsonl"
GIGABYTE = 10**9
GIGABYTES, CAMPAIGN_SECONDS = 10.0, 7200
FILE_BYTES = 100_000_000
GROWTH_MAX = 0.10
"""Of the last quarter over the second quarter; the first one fills tables of bounded size."""
GROWTH_MAX_BYTES = 16 << 20
"""Less is noise of the allocator."""
SAMPLES_KEPT = 60
_VERDICTS = (0, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """One long run.

    Attributes:
        work: what was done, with its amount.
        megabytes: seconds since the start, and resident memory of all processes, in 10^6 bytes.
    """

    name: str
    command: str
    work: str
    seconds: float
    cpu_seconds: float
    exit_code: int
    megabytes: list[tuple[float, float]]

    @property
    def growth(self) -> float:
        """Return the median of the last quarter of the time over that of the second."""
        second, last = (self._quarter(number) for number in (1, 3))
        return last / second - 1

    @property
    def is_flat(self) -> bool:
        """Return whether the memory did not grow."""
        grown = self.growth * self._quarter(1) * 1e6
        return self.growth <= GROWTH_MAX or grown <= GROWTH_MAX_BYTES

    def _quarter(self, number: int) -> float:
        begin, end = (self.seconds * share / 4 for share in (number, number + 1))
        return statistics.median(size for at, size in self.megabytes if begin <= at <= end)


def write_log(folder: Path, size_bytes: int, file_bytes: int = FILE_BYTES) -> list[Path]:
    """Write a log of at least ``size_bytes`` in rotated files; return them."""
    paths: list[Path] = []

    def files(stack: ExitStack) -> Iterator[tuple[BinaryIO, int]]:
        while sum(path.stat().st_size for path in paths) < size_bytes:
            paths.append(folder / f"bench.{len(paths) + 1:06}")
            yield stack.enter_context(paths[-1].open("wb")), file_bytes

    with ExitStack() as stack, open("/dev/null", "wb") as nothing:
        for _ in LogWriter(out=nothing, dialect=MariaDb(), seed=0).write_files(files(stack)):
            stack.pop_all().close()
    return paths


def observe(name: str, work: str, command: Sequence[str], *, every_s: float) -> Soak:
    """Run a program to its end and sample the memory of its processes."""
    began = time.monotonic()
    samples: list[tuple[float, float]] = []
    cpu: dict[int, float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        first = psutil.Process(process.pid)
        while process.poll() is None:
            size = _memory(first, cpu)
            if size:
                samples.append((round(time.monotonic() - began, 2), size / 1e6))
            time.sleep(every_s)
    return Soak(
        name=name,
        command=" ".join(["paraply", *command[3:]]),
        work=work,
        seconds=time.monotonic() - began,
        cpu_seconds=sum(cpu.values()),
        exit_code=process.returncode,
        megabytes=samples,
    )


def soak_audit(size_bytes: int, *, every_s: float, file_bytes: int = FILE_BYTES) -> Soak:
    """Audit a generated log of at least ``size_bytes``."""
    with tempfile.TemporaryDirectory(prefix="paraply-soak-") as folder:
        paths = write_log(Path(folder), size_bytes, file_bytes)
        size = sum(path.stat().st_size for path in paths)
        words = [sys.executable, "-m", "paraply", "audit", "--engine", "compiled"]
        found = observe(
            "audit",
            f"{size:,} bytes in {len(paths):,} files",
            [*words, *map(str, paths)],
            every_s=every_s,
        )
    return _named(found, "paraply audit --engine compiled bench.*")


def soak_campaign(seconds: int, *, every_s: float) -> Soak:
    """Run a campaign of ``seconds`` in one process."""
    with tempfile.TemporaryDirectory(prefix="paraply-soak-") as folder:
        words = [
            "mine", "--subjects", "all", "--histories", "100000000", "--master", "none",
            "--time-limit", str(seconds), "--minimise", "none",
        ]  # fmt: skip
        command = [sys.executable, "-m", "paraply", *words, "--out", f"{folder}/mine"]
        found = observe("campaign", f"{seconds:,} seconds of histories", command, every_s=every_s)
    return _named(found, " ".join(["paraply", *words]))


def stored() -> list[Soak]:
    """Return the published runs."""
    return [Soak(**json.loads(line)) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


def publish(found: Soak) -> None:
    """Replace the published run of the same name; keep at most :data:`SAMPLES_KEPT` samples."""
    step = max(1, len(found.megabytes) // SAMPLES_KEPT)
    kept = asdict(found) | {
        "seconds": round(found.seconds, 1),
        "cpu_seconds": round(found.cpu_seconds, 1),
        "megabytes": [(at, round(size, 1)) for at, size in found.megabytes[::step]],
    }
    others = [
        asdict(one) for one in (stored() if RECORDS.exists() else []) if one.name != found.name
    ]
    records = sorted([*others, kept], key=lambda one: str(one["name"]))
    RECORDS.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def _named(found: Soak, command: str) -> Soak:
    return Soak(**(asdict(found) | {"command": command}))


def _memory(first: Any, cpu: dict[int, float]) -> int:
    total = 0
    with suppress(psutil.Error):
        for one in (first, *first.children(recursive=True)):
            with suppress(psutil.Error):
                # Proportional sizes would change with the other processes of the machine.
                total += one.memory_info().rss
                times = one.cpu_times()
                cpu[one.pid] = times.user + times.system
    return total


def main(argv: Sequence[str] | None = None) -> int:
    """Run both; return 1 if memory grew, or a run ended without a verdict."""
    parser = argparse.ArgumentParser(prog="python -m ci.soak", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES, help="0: no audit")
    parser.add_argument("--campaign-seconds", type=int, default=CAMPAIGN_SECONDS, help="0: none")
    parser.add_argument("--every", type=float, default=2.0, metavar="S", help="seconds per sample")
    parser.add_argument("--publish", action="store_true", help=f"store them in {RECORDS.name}")
    options = parser.parse_args(argv)
    runs: list[Callable[[], Soak]] = []
    if options.gigabytes:
        runs.append(lambda: soak_audit(int(options.gigabytes * GIGABYTE), every_s=options.every))
    if options.campaign_seconds:
        runs.append(lambda: soak_campaign(options.campaign_seconds, every_s=options.every))
    is_good = True
    for run in runs:
        found = run()
        print(
            f"{found.name}: {found.work}, {found.seconds:,.0f} s, exit code {found.exit_code}, "
            f"memory {'flat' if found.is_flat else 'GROWS'} ({found.growth:+.1%}, at most "
            f"{max(size for _, size in found.megabytes):,.0f} MB)",
            flush=True,
        )
        is_good = is_good and found.is_flat and found.exit_code in _VERDICTS
        if options.publish:
            publish(found)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
