"""Speed of the reference implementation against Hypothesis state machines.

Both run and judge equally many histories; a separate measurement omits the judging.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ci.bench.measure import Run, interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.counterexamples.hunt import properties_of, system_of
from paraply.properties.campaign import Campaign, run_campaign
from paraply.properties.registry import Property
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import registered_subjects, subject_named
from paraply.vocabulary.schedule import Exploration

HISTORIES = 300
"""A second or two per contestant."""
EXAMPLES = 100
RUNS_EXHAUSTIVE = 1_000
TIMES_FASTER_MIN = 1.0
"""Relative to a Hypothesis example."""

MACHINE_SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def machines() -> dict[str, type[RuleBasedStateMachine]]:
    """Return each subject's state machine; it judges once, as the runs beside it."""
    applier, certifier, group = (
        importlib.import_module(f"tests.machines.test_{name}_machine")
        for name in ("applier", "certifier", "group")
    )
    at_the_end = importlib.import_module("tests.machines.hunting").judged_at_the_end
    found = {
        "applier": applier.machine_of(applier.workload_of("logical_clock")),
        "certifier": certifier.machine_of("wl8440"),
        "group": group.machine_of("wl8440"),
    }
    return {name: at_the_end(machine) for name, machine in found.items()}


@benchmark("explore")
def explore(options: Options) -> Report:
    """Measure histories, steps and events per second."""
    report = Report(
        benchmark="explore",
        input=f"{HISTORIES} random schedules of 4 transactions and 3 rows, seed {options.seed}; "
        f"{EXAMPLES} examples of each machine",
    )
    bound = machines()
    for subject in registered_subjects():
        judged = properties_of(subject)
        contestants: dict[str, Callable[[], Run]] = {
            "run only": partial(run_here, partial(campaign_of, subject, [], options.seed)),
            "run and judge": partial(run_here, partial(campaign_of, subject, judged, options.seed)),
        }
        if subject.name in bound:
            contestants["machine"] = partial(run_here, partial(run_machine, bound[subject.name]))
        runs = interleave(contestants, options.rounds)
        campaign = campaign_of(subject, [], options.seed)
        rates = {}
        for name, result in runs.items():
            if name == "machine":
                rates[name] = EXAMPLES / result.seconds
                report.add(f"{subject.name}, {name}", "examples", rates[name], "per s")
                continue
            rates[name] = campaign.runs / result.seconds
            report.add(f"{subject.name}, {name}", "histories", rates[name], "per s")
            report.add(f"{subject.name}, {name}", "steps", campaign.steps / result.seconds, "per s")
        if "machine" in rates:
            report.goals.append(
                Goal(
                    name=f"{subject.name}: histories judged over examples of the machine",
                    wanted=TIMES_FASTER_MIN,
                    got=rates["run and judge"] / rates["machine"],
                )
            )
    _add_exhaustive(report, options)
    report.remarks.append("pure Python, one process; there is no compiled path to compare with")
    return report


def _add_exhaustive(report: Report, options: Options) -> None:
    subject = subject_named("certifier")
    judged = properties_of(subject)
    system = system_of(subject, Workload())

    def enumerate_runs() -> Campaign:
        return run_campaign(system, judged, Exploration(runs_max=RUNS_EXHAUSTIVE))

    contestants = {"exhaustive": partial(run_here, enumerate_runs)}
    runs = interleave(contestants, options.rounds)["exhaustive"]
    report.add("certifier, exhaustive", "histories", RUNS_EXHAUSTIVE / runs.seconds, "per s")


def campaign_of(subject: Subject, judged: list[Property], seed: int) -> Campaign:
    """Run a seed's schedules of the default workload."""
    return run_campaign(system_of(subject, Workload()), judged, random_schedules(seed, HISTORIES))


def run_machine(machine: type[RuleBasedStateMachine]) -> None:
    """Run a machine's examples; a breach raises."""
    run_state_machine_as_test(machine, settings=MACHINE_SETTINGS)
