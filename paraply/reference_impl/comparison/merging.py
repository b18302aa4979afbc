"""C4 of WL#4648 on the clock: merged transactions under C1, C2 or C3."""

from __future__ import annotations

from functools import partial

from paraply.reference_impl.comparison.jobs import Breaking, Graph, InOrder
from paraply.reference_impl.comparison.runs import Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import NOBODY, LogBuilder, RowEvent, Task, TaskLog
from paraply.reference_impl.comparison.workers import Workers
from paraply.reference_impl.wl4648.merging import is_full

MERGED = 4
"""Most transactions per job."""


class Merged:
    """Merges transactions into jobs, which write each row once."""

    def __init__(
        self,
        log: TaskLog,
        workers: int,
        advance: Advance = no_news,
        *,
        served_by: type[Workers],
        merged: int = MERGED,
    ) -> None:
        self.log = log
        self.jobs: list[list[Task]] = []
        for task in log.tasks[1:]:
            if not self.jobs or is_full(
                [len(one.rows) for one in self.jobs[-1]], len(task.rows),
                is_alone=task.is_barrier or self.jobs[-1][-1].is_barrier, merged=merged,
            ):  # fmt: skip
                self.jobs.append([])
            self.jobs[-1].append(task)
        self.place_of: list[list[int]] = [[] for _ in log.tasks]
        """Transaction -> its row events' job row events."""
        builder = LogBuilder()
        for job in self.jobs:
            builder.add(self._rows(job), is_barrier=job[0].is_barrier)
        self.clock = served_by(builder.log(), workers, advance)

    def _rows(self, job: list[Task]) -> list[RowEvent]:
        rows: dict[tuple[int, ...], RowEvent] = {}
        places: dict[tuple[int, ...], int] = {}
        for task in job:
            for row in task.rows:
                known = rows.setdefault(row.writes, RowEvent(table=row.table, writes=row.writes))
                known.reads = tuple({*known.reads, *row.reads})
                place = places.setdefault(row.writes, len(places))
                self.place_of[task.number].append(place)
        return list(rows.values())

    def run(self) -> Run:
        """Apply the jobs."""
        merged = self.clock.run()
        count = self.log.count + 1
        run = Run(
            workers=merged.workers, begun=[0] * count, done=[0] * count,
            touched=[[] for _ in range(count)], misapplied=merged.misapplied,
            retries=merged.retries, syncs=merged.syncs, job_of=[0] * count,
        )  # fmt: skip
        for number, job in enumerate(self.jobs, start=1):
            for task in job:
                run.job_of[task.number] = number
                run.begun[task.number] = merged.begun[number]
                run.done[task.number] = merged.done[number]
                if merged.touched[number]:
                    touched = merged.touched[number]
                    run.touched[task.number] = [
                        touched[place]
                        for place in self.place_of[task.number]
                        if place < len(touched)
                    ]
        for key, number in merged.versions.items():
            writers = [
                task.number
                for task in (self.jobs[number - 1] if number else [])
                for row in task.rows
                if key in row.writes
            ]
            run.versions[key] = writers[-1] if writers else NOBODY
        return run


C4 = partial(Merged, served_by=Graph)
"""C4 is basically C3."""
C4_IN_ORDER = partial(Merged, served_by=InOrder)
C4_BREAKING = partial(Merged, served_by=Breaking)
