"""A machine for one parallel applier: coordinator, workers, reader and crashes in any order.

Properties are judged after every step, so Hypothesis prints the steps up to the violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from paraply.properties.machines.judging import judge
from paraply.properties.registry import Property
from paraply.vocabulary.history import History

WORKERS = 3
"""Two are needed for an inversion, a third for a gap that is wider than one."""
CHOICES_MAX = 24
"""About six for each of four transactions: what it writes, its session, what lies between."""
OPTIONS_MAX = 11
"""No question of the source has more options; a choice past the last is taken modulo theirs."""

logs = st.lists(st.integers(0, OPTIONS_MAX), max_size=CHOICES_MAX)
"""What the source does, as the choices of a program; once they run out, the plainest."""


class ApplierUnderTest(Protocol):
    """What the machine needs of an applier. What is impossible now does nothing."""

    def coordinate(self) -> None:
        """Let the coordinator take its next step."""

    def move(self, worker: int) -> None:
        """Let a worker, counted from 1, take its next step."""

    def read(self) -> None:
        """Let a reader take a snapshot."""

    def save_position(self) -> None:
        """Take a checkpoint."""

    def crash(self) -> None:
        """Crash, and start again."""

    def finish(self) -> None:
        """Let everything move until nothing can, and stop in good order if all is applied."""

    def history(self) -> History:
        """Return what has happened so far."""


class ApplierMachine(RuleBasedStateMachine):
    """Subclasses say what is tested (``make``) and by which properties (``judged``)."""

    judged: Sequence[Property] = ()
    applier: ApplierUnderTest | None = None

    def make(self, program: Sequence[int]) -> ApplierUnderTest:
        """Return an applier that has yet to apply the log that the choices make."""
        raise NotImplementedError

    @initialize(program=logs)
    def source_writes_its_log(self, program: list[int]) -> None:
        """Let the source execute its transactions."""
        self.applier = self.make(program)

    @property
    def replica(self) -> ApplierUnderTest:
        """Return the applier, which is there before any rule is."""
        assert self.applier is not None
        return self.applier

    @rule()
    def coordinator_takes_a_step(self) -> None:
        """Dispatch, skip, or follow a rotation."""
        self.replica.coordinate()

    @rule(worker=st.integers(1, WORKERS), steps=st.integers(1, 4))
    def worker_takes_steps(self, worker: int, steps: int) -> None:
        """Begin, apply rows, commit."""
        for _ in range(steps):
            self.replica.move(worker)

    @rule()
    def reader_takes_a_snapshot(self) -> None:
        """Read."""
        self.replica.read()

    @rule()
    def position_is_saved(self) -> None:
        """Take a checkpoint."""
        self.replica.save_position()

    @rule()
    def replica_crashes(self) -> None:
        """Crash and start again."""
        self.replica.crash()

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far, of which the end is missing."""
        if self.applier is not None:
            judge(replace(self.applier.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Let the applier finish, and judge the whole run."""
        if self.applier is not None:
            self.applier.finish()
            judge(self.applier.history(), self.judged)
