"""Trace validation: recorded steps per second.

TLC, which searches among all successors, reached about 40 events per second.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.system import System
from paraply.models.recorded import members, replicas, sources
from paraply.models.recorded.following import Recorded, follow
from paraply.models.systems.applier import parallel_applier
from paraply.models.systems.certification import certification
from paraply.models.systems.commit_order import commit_order
from paraply.models.systems.low_water_mark import low_water_mark
from paraply.models.systems.members import members as two_members
from paraply.models.systems.restart import restart
from paraply.models.systems.semi_sync import semi_sync
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.history import History, OptionValue

STEPS_WANTED = 20_000.0
RUNS = 200
_UNORDERED = "logical_clock_unordered"
_CALM: dict[str, OptionValue] = {"joins": 0, "departures": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A system, abstraction function and run."""

    system: Callable[[], System]
    reading: Callable[[History], Recorded]
    subject: str
    workload: Workload


TRACED = (
    Traced(
        system=commit_order, reading=replicas.commit_order, subject="applier",
        workload=Workload(transactions=6, rows=4, options={"workers": 4}),
    ),
    Traced(
        system=restart, reading=replicas.restart, subject="applier",
        workload=Workload(
            transactions=6, rows=4, dialect=_UNORDERED, options={"workers": 4, "crashes": 2}
        ),
    ),
    Traced(
        system=low_water_mark, reading=replicas.low_water_mark, subject="applier",
        workload=Workload(transactions=6, rows=4, dialect=_UNORDERED, options={"workers": 4}),
    ),
    Traced(
        system=semi_sync, reading=sources.semi_sync, subject="semi_sync",
        workload=Workload(transactions=4, options={"abandons": 0, "loses_source": False}),
    ),
    Traced(
        system=certification, reading=members.certification, subject="group",
        workload=Workload(transactions=4, dialect="wl8440", options=_CALM),
    ),
    Traced(
        system=two_members, reading=members.two_members, subject="group",
        workload=Workload(transactions=4, dialect="wl8440", options=_CALM),
    ),
    Traced(
        system=parallel_applier, reading=members.timestamps, subject="certifier",
        workload=Workload(transactions=5, dialect="wl8440"),
    ),
)  # fmt: skip


@benchmark("traces")
def traces(options: Options) -> Report:
    """Follow recorded runs by each specification."""
    report = Report(
        benchmark="traces", input=f"{RUNS} random runs of each subject, seed {options.seed}"
    )
    steps_of_all, seconds_of_all = 0, 0.0
    for traced in TRACED:
        subject = subject_named(traced.subject)
        runs = [
            traced.reading(subject.run(schedule, traced.workload))
            for schedule in random_schedules(options.seed, RUNS)
        ]
        reading = CompiledReading(traced.system())
        seconds, steps = [], 0
        for _ in range(options.rounds):
            started = time.process_time()
            followed = [follow(reading, run) for run in runs]
            seconds.append(time.process_time() - started)
            steps = sum(one.steps for one in followed)
            refused = sum(one.refused is not None for one in followed)
            if refused:
                report.remarks.append(f"{reading.system.name} refuses {refused} runs")
        median = statistics.median(seconds)
        steps_of_all, seconds_of_all = steps_of_all + steps, seconds_of_all + median
        report.add(reading.system.name, "steps followed", steps, "")
        report.add(reading.system.name, "steps", steps / median, "1/CPU s")
    report.goals.append(
        Goal(name="steps a CPU second, all together", wanted=STEPS_WANTED,
             got=steps_of_all / seconds_of_all)
    )  # fmt: skip
    return report
