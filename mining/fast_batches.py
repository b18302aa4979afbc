"""Batches on the fast path: kernels make every run, the reference confirms what is kept.

A kernel judges six properties of each run and keeps nothing. Of each pattern of breaches the
smallest runs of a batch, and one run in :data:`SAMPLE_EVERY` whatever it shows, are replayed by
the reference from the same program and judged by every property: they make the rows. Where kernel
and reference disagree about any of them the campaign ends at once.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

from mining.batch_runs import SCHEMA, BatchRun, Counts, judged, named_columns
from mining.compiled import columns as C
from mining.compiled.applier import Ints, broken_names, run_fast, run_many
from mining.coverage import features_of
from mining.plan import Batch, Plan
from mining.systems import System
from vocabulary.programs import encode_program
from vocabulary.schedule import RecordedSchedule

SAMPLE_EVERY = 2_000
"""One run in so many is replayed by the reference although nothing was found: half its time."""
CONFIRMED_MAX = 5
"""Runs of one pattern of breaches that a batch confirms and keeps."""


class FastPathDisagreesError(RuntimeError):
    """A kernel and the reference judge one run differently: a fault of ours, never of the user."""


def run_fast_batch(plan: Plan, batch: Batch, settings: Ints) -> BatchRun:
    """Run a batch on the kernels; ``counts.reached`` counts the runs that the reference saw."""
    started = time.perf_counter()
    system = plan.systems[batch.system]
    first_seed = plan.seed_of(batch.first)
    verdicts, sizes = run_many(settings, first_seed, batch.count)
    counts = Counts()
    rows = []
    for run in runs_to_confirm(verdicts, sizes):
        rows.append(_confirmed(plan, batch, system, settings, run, int(verdicts[run]), counts))
    _count_all(verdicts, sizes, batch, counts)
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    return BatchRun(batch=batch, table=table, counts=counts, seconds=time.perf_counter() - started)


def runs_to_confirm(verdicts: Ints, sizes: Ints) -> list[int]:
    """Return which runs of a batch the reference is to see, in order."""
    chosen = set(range(0, len(verdicts), SAMPLE_EVERY))
    for verdict in np.unique(verdicts):
        if verdict:
            runs = np.flatnonzero(verdicts == verdict)
            order = np.lexsort((runs, sizes[runs, 1], sizes[runs, 0]))
            # What outgrew the kernels is nobody's verdict until the reference has seen it.
            kept = len(runs) if verdict == C.OVERFLOWN else CONFIRMED_MAX
            chosen |= {int(run) for run in runs[order[:kept]]}
    return sorted(chosen)


def _confirmed(
    plan: Plan,
    batch: Batch,
    system: System,
    settings: Ints,
    run: int,
    verdict: int,
    counts: Counts,
) -> dict[str, Any]:
    """Replay one run on the reference, compare, judge it, and return its row."""
    number = batch.first + run
    fast = run_fast(settings, seed=plan.seed_of(number))
    choices = fast.choices
    schedule = RecordedSchedule(choices, strict=verdict != C.OVERFLOWN)
    history = system.runner.run(schedule, system.workload)
    broken = {prop.name for prop in system.properties if prop.violations(history)}
    if verdict != C.OVERFLOWN:
        is_same = broken & set(C.JUDGED) == broken_names(verdict) and schedule.is_faithful
        if not is_same or len(history.events) != len(fast.events):
            raise FastPathDisagreesError(
                f"{system.name}, run {number} (seed {plan.seed_of(number)}): the kernel finds "
                f"{sorted(broken_names(verdict))}, the reference {sorted(broken)}"
            )
    features = features_of(history)
    counts.features |= features
    program = encode_program(schedule.choices)
    return {
        **named_columns(system),
        "run": number,
        "seed": None,
        "program": program,
        "features": len(features),
        **judged(history, number, program, system.properties, counts),
    }


def _count_all(verdicts: Ints, sizes: Ints, batch: Batch, counts: Counts) -> None:
    """Count what the kernels saw, over what the reference saw of it."""
    counts.histories = batch.count
    counts.events = int(np.maximum(sizes[:, 0], 0).sum())
    is_judged = verdicts != C.OVERFLOWN
    for bit, name in enumerate(C.JUDGED):
        breaking = np.flatnonzero(is_judged & (verdicts >> bit & 1 == 1))
        if len(breaking):
            counts.violated[name] = len(breaking)
            counts.first_violated[name] = batch.first + int(breaking[0])
