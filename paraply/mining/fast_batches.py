"""Kernels make every run; the reference confirms findings.

It replays breaching runs and one run in :data:`SAMPLE_EVERY`; a disagreement ends the campaign.
Sampled runs and each breach pattern's smallest become rows, judged by all properties.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pyarrow as pa

from paraply.mining.batch_runs import (
    SCHEMA,
    BatchRun,
    Counts,
    judged,
    named_columns,
    options_column,
)
from paraply.mining.compiled import columns as C
from paraply.mining.compiled.applier import broken_names
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.twins import Twin
from paraply.mining.coverage import features_of
from paraply.mining.plan import Batch, Plan
from paraply.mining.sketches import seen
from paraply.properties.registry import Property
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import encode_program
from paraply.vocabulary.schedule import RecordedSchedule

FAST_PATH_DISAGREES = register(
    "P727",
    "kernels and reference disagree on {system}, run {run} (seed {seed}): the kernel finds "
    "{by_kernel}, the reference {by_reference}",
    "run the campaign without --fast, and report this line: it is a fault of ours",
)

SAMPLE_EVERY = 2_000
"""Costs about half the run time."""
KEPT_MAX = 5
"""Rows per breach pattern."""


def run_fast_batch(plan: Plan, batch: Batch, twin: Twin) -> BatchRun:
    """Run a batch on kernels; ``counts.reached`` covers rows only.

    Raises ``ParaplyError`` P727 on disagreement.
    """
    started = time.perf_counter()
    system = plan.systems[batch.system]
    verdicts, sizes, courses = twin.run_many(twin.settings, plan.seed_of(batch.first), batch.count)
    replays = _Replays(plan, batch, twin)
    counts = Counts()
    kept = runs_to_keep(verdicts, sizes)
    rows = [replays.row(run, int(verdicts[run]), counts) for run in kept]
    breaking = np.flatnonzero(verdicts > 0)
    for run in np.setdiff1d(breaking, kept):
        replays.confirm(int(run), int(verdicts[run]), replays.judges_of_kernels)
    counts.confirmed = len(breaking)
    _count_all(verdicts, sizes, batch, counts, twin.judged)
    # The kernels' digests are not those of rows: only runs without a digest are taken from there.
    overflown = (row["course"] for run, row in zip(kept, rows, strict=True)
                 if verdicts[run] == C.OVERFLOWN)  # fmt: skip
    counts.courses = reduce(or_, map(seen, overflown), courses)
    named = {**named_columns(system), "options": options_column(system, batch.first)}
    table = pa.Table.from_pylist([{**named, **row} for row in rows], schema=SCHEMA)
    return BatchRun(batch=batch, table=table, counts=counts, seconds=time.perf_counter() - started)


def runs_to_keep(verdicts: Ints, sizes: Ints) -> list[int]:
    """Return the runs to keep as rows."""
    chosen = set(range(0, len(verdicts), SAMPLE_EVERY))
    for verdict in np.unique(verdicts):
        if verdict:
            runs = np.flatnonzero(verdicts == verdict)
            order = np.lexsort((runs, sizes[runs, 1], sizes[runs, 0]))
            # Overflowing runs have no verdict yet.
            kept = len(runs) if verdict == C.OVERFLOWN else KEPT_MAX
            chosen |= {int(run) for run in runs[order[:kept]]}
    return sorted(chosen)


class _Replays:
    def __init__(self, plan: Plan, batch: Batch, twin: Twin) -> None:
        self._plan = plan
        self._batch = batch
        self._twin = twin
        self._system = plan.systems[batch.system]
        self._judges = self._system.properties
        self.judges_of_kernels = [prop for prop in self._judges if prop.name in twin.judged]

    def confirm(
        self, run: int, verdict: int, judges: Sequence[Property]
    ) -> tuple[History, RecordedSchedule]:
        """Return the reference's run; P727 if it differs."""
        number = self._batch.first + run
        seed = self._plan.seed_of(number)
        fast = self._twin.run_fast(self._twin.settings, seed=seed)
        schedule = RecordedSchedule(fast.choices, strict=verdict != C.OVERFLOWN)
        history = self._system.runner.run(schedule, self._system.workload)
        if verdict != C.OVERFLOWN:
            broken = {prop.name for prop in judges if prop.violations(history)}
            by_kernel = broken_names(verdict, self._twin.judged)
            is_same = broken & set(self._twin.judged) == by_kernel and schedule.is_faithful
            if not is_same or len(history.events) != len(fast.events):
                raise ParaplyError(
                    FAST_PATH_DISAGREES, system=self._system.name, run=number, seed=seed,
                    by_kernel=sorted(by_kernel), by_reference=sorted(broken),
                )  # fmt: skip
        return history, schedule

    def row(self, run: int, verdict: int, counts: Counts) -> dict[str, Any]:
        history, schedule = self.confirm(run, verdict, self._judges)
        number = self._batch.first + run
        features = features_of(history)
        counts.features |= features
        program = encode_program(schedule.choices)
        return {
            "run": number,
            "seed": None,
            "program": program,
            "features": len(features),
            **judged(history, number, program, self._judges, counts, self._system),
        }


def _count_all(
    verdicts: Ints, sizes: Ints, batch: Batch, counts: Counts, judged: Sequence[str]
) -> None:
    counts.histories = batch.count
    counts.events = int(np.maximum(sizes[:, 0], 0).sum())
    is_judged = verdicts != C.OVERFLOWN
    for bit, name in enumerate(judged):
        breaking = np.flatnonzero(is_judged & (verdicts >> bit & 1 == 1))
        if len(breaking):
            counts.violated[name] = len(breaking)
            counts.first_violated[name] = batch.first + int(breaking[0])
