"""A machine for one parallel applier.

Judges after every step, so Hypothesis prints the steps up to the violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from paraply.properties.machines.judging import JudgedMachine
from paraply.vocabulary.history import History

WORKERS = 3
"""Two make an inversion, three a wider gap."""
CHOICES_MAX = 24
"""About six for each of four transactions."""
OPTIONS_MAX = 11
"""The most options; larger choices wrap."""

logs = st.lists(st.integers(0, OPTIONS_MAX), max_size=CHOICES_MAX)
"""The source's choices; missing ones are 0."""


class ApplierUnderTest(Protocol):
    """An applier that ignores impossible actions."""

    def coordinate(self) -> None:
        """Take a coordinator step."""

    def move(self, worker: int) -> None:
        """Take a step of a worker, from 1."""

    def read(self) -> None:
        """Take a reader's snapshot."""

    def save_position(self) -> None:
        """Take a checkpoint."""

    def crash(self) -> None:
        """Crash, and start again."""

    def finish(self) -> None:
        """Run to the end and stop."""

    def history(self) -> History:
        """Return the history so far."""


class ApplierMachine(JudgedMachine[ApplierUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    def make(self, program: Sequence[int]) -> ApplierUnderTest:
        """Return an applier for these choices' log."""
        raise NotImplementedError

    @initialize(program=logs)
    def source_writes_its_log(self, program: list[int]) -> None:
        """Execute the source's transactions."""
        self.under_test = self.make(program)

    @rule()
    def coordinator_takes_a_step(self) -> None:
        """Dispatch, skip, or follow a rotation."""
        self.tested.coordinate()

    @rule(worker=st.integers(1, WORKERS), steps=st.integers(1, 4))
    def worker_takes_steps(self, worker: int, steps: int) -> None:
        """Begin, apply rows, commit."""
        for _ in range(steps):
            self.tested.move(worker)

    @rule()
    def reader_takes_a_snapshot(self) -> None:
        """Read."""
        self.tested.read()

    @rule()
    def position_is_saved(self) -> None:
        """Take a checkpoint."""
        self.tested.save_position()

    @rule()
    def replica_crashes(self) -> None:
        """Crash and start again."""
        self.tested.crash()
