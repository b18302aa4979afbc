"""Rounds of a campaign: batches that may run side by side, and what a worker does with each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.mining.batch_runs import BatchRun, Counts, run_batch
from paraply.mining.plan import Plan
from paraply.mining.steering import steered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A system that takes part in a round.

    Attributes:
        system: its number in the plan.
        turn: its batches before this turn are done.
        known: its frontier (:func:`frontier_of`); None where nothing guides.
    """

    system: int
    turn: int
    known: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Batches ``first`` to ``end`` (exclusive) of a plan of ``width`` systems, of those wanted."""

    first: int
    end: int
    width: int
    wanted: tuple[Wanted, ...]

    def batches(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the number of each batch, with the frontier of its system."""
        wanted = {each.system: each for each in self.wanted}
        for number in range(self.first, self.end):
            turn, system = divmod(number, self.width)
            if system in wanted and turn >= wanted[system].turn:
                yield number, wanted[system].known


def frontier_of(counts: Counts) -> bytes:
    """Return what guides a system's next batch: features and programs of its earlier ones."""
    known = Counts(features=counts.features, novel=counts.novel)
    return json.dumps(known.as_json()).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """What a worker does: run batches by their numbers. ``place`` is where their rows go."""

    plan: Plan
    place: str

    def run(self, number: int, known: Counts) -> BatchRun:
        """Return a batch, with ``known`` of its system where the campaign is guided."""
        batch = self.plan.batch(number)
        if self.plan.is_fast:
            # Importing the kernels compiles them the first time; other campaigns need not wait.
            from paraply.mining.compiled.applier import settings_of
            from paraply.mining.fast_batches import run_fast_batch

            settings = settings_of(self.plan.systems[batch.system])
            if settings is not None:
                return run_fast_batch(self.plan, batch, settings)
        if self.plan.is_guided:
            return steered(self.plan, batch, known)
        return run_batch(self.plan, batch)
