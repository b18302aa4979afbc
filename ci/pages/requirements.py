"""Tables of ``docs/appliers.md`` on E1 to E4 and WL#4648."""

from __future__ import annotations

from ci.pages.writing import table
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.requirements import (
    DealtInBlocks,
    DealtInBlocksInOrder,
    Napping,
)
from paraply.reference_impl.comparison.runs import no_news
from paraply.reference_impl.comparison.tasks import TaskLog, task_log
from paraply.reference_impl.workloads.streams import STREAMS, transactions_of

COUNT = 1_000
WORKERS = (1, 2, 4, 8, 16, 32)
BLOCKS = (1, 4, 16)
NAPS = (1, 4, 8, 16)
JOBS = (1, 2, 4)


def fresh_rows() -> TaskLog:
    """Return a log without conflicts."""
    return task_log(transactions_of(STREAMS["fresh-rows"], count=COUNT))


def scaling(log: TaskLog) -> list[list[str]]:
    """Return P1's speed-ups by number of workers."""
    return [
        [name, *(f"{log.work / APPLIERS[name].run(log, n).makespan:.2f}" for n in WORKERS)]
        for name in ("c0", "c1", "c2", "c3", "c4")
    ]


def dealing(log: TaskLog) -> list[list[str]]:
    """Return C0's and C1's speed-ups by batch."""
    return [
        [name, *(f"{log.work / make(log, 8, no_news, block=block).run().makespan:.2f}"
                 for block in BLOCKS)]
        for name, make in (("C0", DealtInBlocks), ("C1", DealtInBlocksInOrder))
    ]  # fmt: skip


def naps(log: TaskLog) -> list[list[str]]:
    """Return eight workers' idle ticks per 100."""
    rows = []
    for jobs in JOBS:
        for adapts in (False, True):
            cells = []
            for nap in NAPS:
                clock = Napping(log, 8, no_news, jobs_per_worker=jobs, nap=nap, adapts=adapts)
                makespan = clock.run().makespan
                cells.append(f"{100 * clock.hungry_ticks / makespan / 8:.1f}")
            rows.append([f"{jobs}·n" + (", nap adapts" if adapts else ""), *cells])
    return rows


def blocks() -> dict[str, list[str]]:
    """Return the tables by block."""
    log = fresh_rows()
    return {
        "scaling": table(["scheme", *(f"N={n}" for n in WORKERS)], scaling(log)),
        "dealing": table(["scheme", *(f"{block} in a row" for block in BLOCKS)], dealing(log)),
        "naps": table(["room in J", *(f"nap {nap}" for nap in NAPS)], naps(log)),
    }
