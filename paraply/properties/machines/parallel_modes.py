"""A machine for a MariaDB replica in one parallel mode.

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
"""Two conflict; the third's batch waits."""
STEPS_MAX = 6
"""From GTID event to commit wait, two rows."""
CHOICES_MAX = 24
"""About six for each of four transactions."""
OPTIONS_MAX = 7
"""The most options; larger choices wrap."""

logs = st.lists(st.integers(0, OPTIONS_MAX), max_size=CHOICES_MAX)
"""The source's choices; missing ones are 0."""


class ReplicaUnderTest(Protocol):
    """A replica that ignores impossible actions."""

    def deal(self) -> None:
        """Give a group to a worker."""

    def move(self, worker: int) -> None:
        """Take a step of a worker, from 1."""

    def kill(self) -> None:
        """Deliver the next deadlock kill."""

    def write_group(self) -> None:
        """Write and sync the binlog queue."""

    def engine_commit(self) -> None:
        """Commit the next transaction in the engine."""

    def time_out(self, worker: int) -> None:
        """Time out an attempt's lock, begun if needed."""

    def fail(self, worker: int) -> None:
        """Fail an attempt externally, begun if needed."""

    def stop(self) -> None:
        """STOP SLAVE; the replica restarts itself."""

    def read(self) -> None:
        """Let a reader take a snapshot."""

    def finish(self) -> None:
        """Run to the end and stop."""

    def history(self) -> History:
        """Return the history so far."""


class ParallelModesMachine(JudgedMachine[ReplicaUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    def make(self, program: Sequence[int]) -> ReplicaUnderTest:
        """Return a replica for these choices' log."""
        raise NotImplementedError

    @initialize(program=logs)
    def source_writes_its_log(self, program: list[int]) -> None:
        """Execute the source's transactions."""
        self.under_test = self.make(program)

    @rule(groups=st.integers(1, WORKERS))
    def driver_deals_groups(self, groups: int) -> None:
        """Give groups to workers."""
        for _ in range(groups):
            self.tested.deal()

    @rule(worker=st.integers(1, WORKERS), steps=st.integers(1, STEPS_MAX))
    def worker_takes_steps(self, worker: int, steps: int) -> None:
        """Execute, start to commit, roll back, begin again."""
        for _ in range(steps):
            self.tested.move(worker)

    @rule()
    def kill_is_delivered(self) -> None:
        """Kill."""
        self.tested.kill()

    @rule()
    def leader_writes_a_group(self) -> None:
        """Write and sync."""
        self.tested.write_group()

    @rule(commits=st.integers(1, WORKERS))
    def engine_commits(self, commits: int) -> None:
        """Commit in the engine."""
        for _ in range(commits):
            self.tested.engine_commit()

    @rule(worker=st.integers(1, WORKERS))
    def lock_wait_times_out(self, worker: int) -> None:
        """Time out an attempt."""
        self.tested.time_out(worker)

    @rule(worker=st.integers(1, WORKERS))
    def attempt_fails(self, worker: int) -> None:
        """Fail an attempt; speculation continues."""
        self.tested.fail(worker)

    @rule()
    def replica_is_stopped(self) -> None:
        """STOP SLAVE."""
        self.tested.stop()

    @rule()
    def reader_takes_a_snapshot(self) -> None:
        """Read."""
        self.tested.read()
