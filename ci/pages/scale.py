"""The tables of docs/scale.md: ``python -m ci.pages.scale --write``."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from ci.pages.writing import filled, pages_main, table
from ci.scale import (
    BATCH,
    DRIVER,
    HERE,
    JVM,
    KERNELS,
    REFERENCE,
    TABLES,
    WORKERS,
    Measurement,
    stored,
)
from paraply.mining.campaign import COMMIT_BYTES, COMMIT_S
from paraply.mining.findings import TASKS_MAX
from paraply.mining.row_files import FILE_BYTES

PAGE = "docs/scale.md"
WORDS = {
    KERNELS: "Compiled kernels (`--fast`)",
    REFERENCE: "Reference",
    TABLES: "Tables of transactions",
}
ENGINES = {HERE: "this process"}
MEASURED = " and ".join(f"{BATCH[kind]:,}" for kind in (KERNELS, REFERENCE))
TARGET, EXECUTORS, CORES_EACH = 10**10, 200, 4
BATCH_AT_TARGET = {KERNELS: 500_000, REFERENCE: 50_000}
Quantity = Callable[[Measurement], float]
GROWING: dict[str, Quantity] = {
    "CPU time of all processes": lambda one: one.cpu,
    "CPU time of the driver": lambda one: one.cpu_seconds[DRIVER],
    "memory of the driver": lambda one: one.peak_mb[DRIVER],
    "bytes shuffled": lambda one: one.shuffle_bytes,
    "bytes of files": lambda one: one.file_bytes,
}


def exponent(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the power of size with which a quantity grows, from two pairs (size, quantity).

    >>> exponent((10, 5), (1000, 500)), exponent((10, 5), (1000, 5))
    (1.0, 0.0)
    """
    return math.log(other[1] / one[1]) / math.log(other[0] / one[0])


def marginal(runs: Sequence[Measurement], quantity: Quantity) -> float:
    """Return what one more history costs: the slope between the two largest sizes."""
    small, large = sorted(runs, key=lambda one: one.size)[-2:]
    return (quantity(large) - quantity(small)) / (large.size - small.size)


def page(found: Sequence[Measurement]) -> str:
    """Return the page of the stored measurements."""
    return filled(
        PAGE, {"measured": measured(found), "exponents": exponents(found), "plan": plan(found)}
    )


def measured(found: Sequence[Measurement]) -> Iterator[str]:
    """Yield a table per kind."""
    for kind, runs in groupby(sorted(found, key=lambda one: one.key), lambda one: one.kind):
        ordered = sorted(runs, key=lambda one: (one.size, one.engine != HERE))
        yield f"### {WORDS[kind]}"
        yield ""
        yield from table(
            (
                "rows" if kind == TABLES else "histories", "engine", "seconds", "CPU s, all",
                "driver", "JVM", "workers", "MB, driver", "JVM", "workers", "tasks",
                "shuffled", "to the driver", "commits", "files", "state",
            ),
            (_row(one) for one in ordered),
        )  # fmt: skip
        yield ""


def _row(one: Measurement) -> Iterator[str]:
    yield from (f"{one.size:,}", ENGINES.get(one.engine, f"`{one.engine}`"))
    yield from (f"{one.seconds:,.0f}", f"{one.cpu:,.1f}")
    for by_role, digits in ((one.cpu_seconds, 1), (one.peak_mb, 0)):
        for role in (DRIVER, JVM, WORKERS):
            yield f"{by_role[role]:,.{digits}f}" if role in by_role else ""
    yield from (f"{one.tasks:,}" if one.tasks else "", size_of(one.shuffle_bytes))
    yield size_of(one.result_bytes)
    is_campaign = bool(one.commits)
    yield f"{one.commits:,}" if is_campaign else ""
    yield f"{one.files:,}, {size_of(one.file_bytes)}" if is_campaign else ""
    yield size_of(one.state_bytes)


def size_of(count: float) -> str:
    """Return bytes in words; empty for none.

    >>> size_of(0), size_of(20318), size_of(3.2e12)
    ('', '20 kB', '3.2 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            break
        count /= 1000
    return f"{count:,.1f} {unit}" if 0 < count < 10 else f"{count:,.0f} {unit}" if count else ""


def exponents(found: Sequence[Measurement]) -> list[str]:
    """Return the powers of size between the smallest and the largest run."""
    rows = []
    for (kind, engine), of_pair in groupby(
        sorted(found, key=lambda one: one.key), lambda one: (one.kind, one.engine)
    ):
        runs = [*of_pair]
        first, last = runs[0], runs[-1]
        if first.size == last.size:
            continue
        cells = []
        for quantity in GROWING.values():
            low, high = quantity(first), quantity(last)
            grown = (first.size, low), (last.size, high)
            cells.append(f"{exponent(*grown):.2f}" if low and high else "")
        sizes = f"{first.size:,} to {last.size:,}"
        rows.append((WORDS[kind], ENGINES.get(engine, f"`{engine}`"), sizes, *cells))
    return table(("", "engine", "sizes", *GROWING), rows)


def plan(found: Sequence[Measurement]) -> list[str]:
    """Return the cost of the target size, from the slopes."""
    columns = [
        dict(_planned(kind, [one for one in found if one.kind == kind and one.engine != HERE]))
        for kind in (KERNELS, REFERENCE)
    ]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return table(("", WORDS[KERNELS], WORDS[REFERENCE]), rows)


def _planned(kind: str, runs: Sequence[Measurement]) -> Iterator[tuple[str, str]]:
    last = max(runs, key=lambda one: one.size)
    cores, batch = EXECUTORS * CORES_EACH, BATCH_AT_TARGET[kind]
    worker_s = marginal(runs, lambda one: one.cpu_seconds[WORKERS]) * TARGET
    wall_s = worker_s / cores
    batches = TARGET // batch
    task_s = scheduling(runs)
    file_bytes = marginal(runs, lambda one: one.file_bytes) * TARGET
    commits = math.ceil(max(wall_s / COMMIT_S, file_bytes / COMMIT_BYTES, 1))
    python_s = marginal(runs, lambda one: one.cpu_seconds[DRIVER])
    yield "CPU time of workers, core hours", f"{worker_s / 3600:,.1f}"
    yield f"wall time of {cores} cores", _time(wall_s)
    yield "histories of a batch", f"{batch:,}"
    yield "batches: tasks, and files before they are merged", f"{batches:,}"
    yield "size of such a file", size_of(file_bytes / batches)
    yield (
        "files of 32 MB, or one per commit",
        f"{max(commits, math.ceil(file_bytes / FILE_BYTES)):,}",
    )
    yield "bytes of rows", size_of(file_bytes)
    yield "commits", f"{commits:,}"
    yield "bytes shuffled", size_of(last.shuffle_bytes / (last.size / BATCH[kind]) * batches)
    yield "findings that the driver gets per job", size_of(last.result_bytes / last.jobs)
    yield "jobs of 4,096 batches", f"{math.ceil(batches / TASKS_MAX):,}"
    yield "memory of the Python driver", f"{last.peak_mb[DRIVER]:,.0f} MB"
    yield (
        f"its CPU time per million histories, measured in batches of {MEASURED}",
        (f"{python_s * 1e6:,.3f} s"),
    )
    yield "its CPU time per batch", f"{1000 * python_s * BATCH[kind]:,.1f} ms"
    yield "its CPU time", _time(python_s * BATCH[kind] * batches)
    yield "CPU time of the JVM per task, without the task", f"{1000 * task_s:,.0f} ms"
    yield "CPU time of the driver's JVM", _time(task_s * batches)
    yield "the JVM's share of the wall time", f"{task_s * batches / wall_s:.0%}"
    yield "smallest batch that leaves half of it idle", f"{2 * task_s * TARGET / wall_s:,.0f}"


def scheduling(runs: Sequence[Measurement]) -> float:
    """Return the JVM's seconds per task beside the work of the task itself."""
    small, large = sorted(runs, key=lambda one: one.size)[-2:]
    jvm, inside = (
        large.cpu_seconds[JVM] - small.cpu_seconds[JVM],
        large.executor_cpu_seconds - small.executor_cpu_seconds,
    )
    return (jvm - inside) / (large.tasks - small.tasks)


def _time(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.1f} min"


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.scale", {PAGE: page(stored())}))
