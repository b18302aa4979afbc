"""Guided exploration by varying programs with new features.

After a blind round, three runs of four keep a program's random prefix, change a few choices and
continue at random. Where sizes and options are drawn, they have the program's, sometimes with a
change, and continue as a blind run. The fourth is blind. Rounds depend on plan and earlier rounds
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar, overload

from paraply.mining.batch_runs import BatchRun, Counts, GivenRun, Kept, run_batch
from paraply.mining.plan import Batch, Plan
from paraply.vocabulary.events import Event
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import Schedule

T = TypeVar("T")

BLIND_EVERY = 4
CHANGES_MAX = 3


class VariedSchedule(Schedule):
    """Repeats a changed prefix, then chooses as ``rest``; without it, uniformly."""

    __slots__ = ("_changed", "_kept", "_rest", "_uniform")

    def __init__(self, seed: int, program: Sequence[int], rest: Schedule | None = None) -> None:
        super().__init__()
        self._rest = rest
        # The numbers that decide where the prefix ends must not decide the biases of rest.
        self._uniform = Random(seed if rest is None else f"varied {seed}").random
        self._kept = program[: self._below(len(program) + 1)]
        changes = range(self._below(CHANGES_MAX + 1))
        self._changed = {self._below(len(self._kept) + 1) for _ in changes}

    def watch(self, events: Sequence[Event]) -> None:
        """Let ``rest`` see the run's events."""
        if self._rest is not None:
            self._rest.watch(events)

    @overload
    def choose(self, options: int, label: str = "") -> int: ...

    @overload
    def choose(self, options: Sequence[T], label: str = "") -> T: ...

    def choose(self, options: Sequence[T] | int, label: str = "") -> T | int:
        """Return an option, or a number in ``[0, options)``; ``rest`` may know them by name."""
        count = options if isinstance(options, int) else len(options)
        if self._rest is None or count < 2 or self._is_kept():
            return super().choose(options, label)
        chosen = self._rest.choose(options, label)
        self.choices.append(self._rest.choices[-1])
        return chosen

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the kept, valid choice, else a random one."""
        if count < 2:
            if count < 1:
                raise ValueError(f"nothing to choose from for {label}")
            return 0
        if self._is_kept():
            index = self._kept[len(self.choices)] % count
        else:
            index = self._rest.choose_index(count, label) if self._rest else self._below(count)
        self.choices.append(index)
        return index

    def _is_kept(self) -> bool:
        position = len(self.choices)
        return position < len(self._kept) and position not in self._changed

    def _below(self, count: int) -> int:
        return int(self._uniform() * count)


def steered(plan: Plan, batch: Batch, known: Counts) -> BatchRun:
    """Run a batch guided by earlier rounds."""
    return run_batch(plan, batch, _runs(plan, batch, known.kept), known=known.features)


def _runs(plan: Plan, batch: Batch, corpus: Sequence[Kept]) -> Iterator[GivenRun]:
    system = plan.systems[batch.system]
    for run in range(batch.first, batch.first + batch.count):
        seed = plan.seed_of(run)
        if not corpus or run % BLIND_EVERY == 0:
            yield run, system.schedule_at(run, seed), ""
        else:
            # Newer programs reached what older ones did not.
            kept = corpus[int(Random(seed).random() ** 0.5 * len(corpus))]
            rest = None if system.draws is None else system.schedule_at(run, seed)
            schedule = VariedSchedule(seed, decode_program(kept.program), rest)
            yield run, schedule, system.varied(kept.settings, seed)
