"""Guided exploration by varying programs with new features.

After a blind round, three runs of four keep a program's random prefix, change a few choices and
continue at random. The fourth is blind. Rounds depend on plan and earlier rounds only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from paraply.mining.batch_runs import BatchRun, Counts, run_batch
from paraply.mining.plan import Batch, Plan
from paraply.vocabulary.programs import decode_program
from paraply.vocabulary.schedule import Schedule, SeededSchedule

BLIND_EVERY = 4
CHANGES_MAX = 3


class VariedSchedule(Schedule):
    """Repeats a changed prefix, then chooses randomly."""

    __slots__ = ("_changed", "_kept", "_uniform")

    def __init__(self, seed: int, program: Sequence[int]) -> None:
        super().__init__()
        self._uniform = Random(seed).random
        self._kept = program[: self._below(len(program) + 1)]
        changes = range(self._below(CHANGES_MAX + 1))
        self._changed = {self._below(len(self._kept) + 1) for _ in changes}

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the kept, valid choice, else a random one."""
        if count < 2:
            if count < 1:
                raise ValueError(f"nothing to choose from for {label}")
            return 0
        position = len(self.choices)
        if position >= len(self._kept) or position in self._changed:
            index = self._below(count)
        else:
            index = self._kept[position] % count
        self.choices.append(index)
        return index

    def _below(self, count: int) -> int:
        return int(self._uniform() * count)


def steered(plan: Plan, batch: Batch, known: Counts) -> BatchRun:
    """Run a batch guided by earlier rounds."""
    corpus = [decode_program(program) for program in known.novel]
    return run_batch(plan, batch, _schedules(plan, batch, corpus), known=known.features)


def _schedules(
    plan: Plan, batch: Batch, corpus: list[tuple[int, ...]]
) -> Iterator[tuple[int, Schedule]]:
    for run in range(batch.first, batch.first + batch.count):
        seed = plan.seed_of(run)
        if not corpus or run % BLIND_EVERY == 0:
            yield run, SeededSchedule(seed)
        else:
            # Newer programs reached what older ones did not.
            place = Random(seed).random() ** 0.5
            yield run, VariedSchedule(seed, corpus[int(place * len(corpus))])
