"""Rounds of parallel batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.mining.batch_runs import BatchRun, Counts, run_batch
from paraply.mining.plan import Plan
from paraply.mining.steering import steered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A system in a round.

    Attributes:
        turn: earlier batches are done.
        known: :func:`frontier_of`; None without guidance.
    """

    system: int
    turn: int
    known: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Batches ``first`` to ``end`` (exclusive); ``width`` counts systems."""

    first: int
    end: int
    width: int
    wanted: tuple[Wanted, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether every batch is wanted, without a frontier."""
        first = self.first // self.width
        return len(self.wanted) == self.width and all(
            each.known is None and each.turn <= first for each in self.wanted
        )

    def batches(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield batch numbers with their system's frontier."""
        wanted = {each.system: each for each in self.wanted}
        for number in range(self.first, self.end):
            turn, system = divmod(number, self.width)
            if system in wanted and turn >= wanted[system].turn:
                yield number, wanted[system].known


def frontier_of(counts: Counts) -> bytes:
    """Return guiding features and programs."""
    known = Counts(features=counts.features, novel=counts.novel)
    return json.dumps(known.as_json()).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """Runs batches by number; ``place`` receives rows."""

    plan: Plan
    place: str

    def run(self, number: int, known: Counts) -> BatchRun:
        """Run a batch, guided by ``known``."""
        batch = self.plan.batch(number)
        if self.plan.is_fast:
            # Import lazily: the first import compiles the kernels.
            from paraply.mining.compiled.twins import twin_of
            from paraply.mining.fast_batches import run_fast_batch

            twin = twin_of(self.plan.systems[batch.system])
            if twin is not None:
                return run_fast_batch(self.plan, batch, twin)
        if self.plan.is_guided:
            return steered(self.plan, batch, known)
        return run_batch(self.plan, batch)
