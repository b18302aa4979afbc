"""Healthy runs over drawn options must not break a property.

``python -m paraply.exploring.healthy --histories 100000 --seed 1`` prints unexplained breaches with
replay commands and exits with 1 for any.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.counterexamples.hunt import properties_of
from paraply.counterexamples.replaying import replay_command
from paraply.counterexamples.shrinking import Smallest
from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.mining.judges import is_expected
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import registered_subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarm:
    """An unexplained healthy breach."""

    subject: Subject
    workload: Workload
    prop: Property
    counterexample: Counterexample

    @property
    def command(self) -> str:
        """Return the replay command."""
        smallest = Smallest(workload=self.workload, counterexample=self.counterexample)
        return replay_command(self.subject, smallest, self.prop)


def false_alarms(
    subject: Subject, dialect: str, *, histories: int, seed: int
) -> Iterator[FalseAlarm | None]:
    """Yield each run's false alarm, or None."""
    choices = random.Random(f"{subject.name} {dialect} {seed}")
    judges = [prop for prop in properties_of(subject) if prop.check is not None]
    for _ in range(histories):
        workload = drawn_workload(subject, dialect, choices)
        schedule = drawn_schedule(choices.randrange(SEEDS))
        history = subject.run(schedule, workload)
        found = None
        for prop in judges:
            violations = prop.violations(history)
            if violations and not is_expected(subject, workload, prop, history):
                found = FalseAlarm(
                    subject=subject,
                    workload=workload,
                    prop=prop,
                    counterexample=Counterexample(
                        choices=tuple(schedule.choices),
                        history=history,
                        violations=violations,
                        runs=1,
                    ),
                )
                break
        yield found


def main(arguments: list[str] | None = None) -> int:
    """Run every subject and dialect; 1 for a false alarm."""
    parser = argparse.ArgumentParser(
        prog="python -m paraply.exploring.healthy", description=__doc__
    )
    parser.add_argument("--histories", type=positive, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--subject", metavar="NAME", help="only this one")
    given = parser.parse_args(arguments)
    dialects = [
        (subject, dialect)
        for subject in registered_subjects()
        if given.subject in (None, subject.name)
        for dialect in subject.dialects
    ]
    each = -(-given.histories // len(dialects))
    made, alarms = 0, 0
    with progress("healthy runs", total=each * len(dialects)) as advance:
        for subject, dialect in dialects:
            for alarm in false_alarms(subject, dialect, histories=each, seed=given.seed):
                made += 1
                advance(made)
                if alarm is not None:
                    alarms += 1
                    sys.stdout.write(f"{alarm.counterexample.violations[0]}\n  {alarm.command}\n")
    sys.stdout.write(
        f"{made:,} healthy histories of {len(dialects)} dialects, seed {given.seed}: "
        f"{alarms:,} false alarms\n"
    )
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
