"""The section of ``docs/appliers.md`` on E1 to E4 and the internal requirements of WL#4648."""

from __future__ import annotations

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
_TESTS = "tests/reference_impl/test_wl4648_requirements.py"


def fresh_rows() -> TaskLog:
    """Return a log without conflicts."""
    return task_log(transactions_of(STREAMS["fresh-rows"], count=COUNT))


def scaling(log: TaskLog) -> list[list[str]]:
    """Return the speed-up of each scheme of P1 by number of workers."""
    return [
        [name, *(f"{log.work / APPLIERS[name].run(log, n).makespan:.2f}" for n in WORKERS)]
        for name in ("c0", "c1", "c2", "c3", "c4")
    ]


def dealing(log: TaskLog) -> list[list[str]]:
    """Return the speed-up of C0 and C1 with eight workers, by how many jobs are dealt in a row."""
    return [
        [name, *(f"{log.work / make(log, 8, no_news, block=block).run().makespan:.2f}"
                 for block in BLOCKS)]
        for name, make in (("C0", DealtInBlocks), ("C1", DealtInBlocksInOrder))
    ]  # fmt: skip


def naps(log: TaskLog) -> list[list[str]]:
    """Return how many of 100 ticks of eight workers were spent hungry, by |J| and nap."""
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


def requirements_section() -> list[str]:
    """Return the section."""
    log = fresh_rows()
    return [
        "## Requirements E1 to E4, and the internal ones", "",
        "| requirement | here | shown by |",
        "| --- | --- | --- |",
        *(f"| {name} | {what} | {evidence} |" for name, what, evidence in _REQUIREMENTS),
        "",
        f"Measured on {COUNT:,} transactions without conflicts (`fresh-rows`), on the clock of "
        "[compare.md](compare.md). Speed-up by number of workers (E1):", "",
        *_table(["scheme", *(f"N={n}" for n in WORKERS)], scaling(log)), "",
        "Speed-up of eight workers where jobs are dealt by turn, some in a row to each (E3):", "",
        *_table(["scheme", *(f"{block} in a row" for block in BLOCKS)], dealing(log)), "",
        "Of 100 worker ticks, those spent hungry: idle, J empty, and the next job still in the "
        "relay log. The coordinator looks at J every so many ticks (internal requirements 1, 2). "
        "*nap adapts*: a worker that finds J empty makes the nap a tenth shorter:", "",
        *_table(["room in J", *(f"nap {nap}" for nap in NAPS)], naps(log)), "",
    ]  # fmt: skip


def _table(heading: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (heading, ["---"] * len(heading), *rows)]


def _test(name: str) -> str:
    return f"[`{name}`](../{_TESTS})"


_REQUIREMENTS = (
    ("E1: scales close to linear", "C0, C2, C3 and C4 do where nothing conflicts; C1 does not: "
     "its commits are one at a time, and no group commit shares their syncs",
     _test("test_blind_workers_scale_close_to_linear_and_ordered_commits_do_not")),
    ("E1: zero workers are the existing pattern", "every scheme of P1 makes the very events of "
     "the serial loop, row by row; C4 with one transaction a job",
     _test("test_without_workers_events_are_those_of_the_serial_loop")),
    ("E2: from C0 to C4 by extension", "a scheme is C0 with one or two parts replaced",
     _test("test_every_scheme_of_p1_is_c0_with_parts_replaced")),
    ("E3: fairness matters with C1 only", "jobs dealt sixteen in a row cost C0 little and make "
     "C1 nearly serial", _test("test_unfair_dealing_costs_ordered_commits_most")),
    ("E4: tests avoid deadlocks while there is no C2 or C3", "option `conflicts=false`: no run "
     "of a whole scope stalls; with conflicts some do, and C2 and C3 never",
     _test("test_loads_without_conflicts_never_deadlock_and_others_do")),
    ("1: workers are never hungry", "with room for 2·n jobs and a nap shorter than these last; "
     "nothing in a run waits for the coordinator", _test("test_nobody_is_hungry_while_naps_are_"
     "short_and_the_list_is_long") + ", " + _test("test_nobody_waits_for_the_coordinator")),
    ("2: n ≤ &#124;J&#124; ≤ k·n", "J is filled to 2·n and never longer",
     _test("test_job_list_is_filled_to_twice_the_workers_and_never_longer")),
)  # fmt: skip
