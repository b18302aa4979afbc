"""A machine for a MariaDB replica in one parallel mode: workers, kills, syncs, stops in any order.

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
"""Two conflict, and the third belongs to the batch that must wait for both."""
STEPS_MAX = 6
"""From the GTID event to the wait in the commit, for a transaction of two rows."""
CHOICES_MAX = 24
"""About six for each of four transactions: kind, rows and their order, mark, group, extra lock."""
OPTIONS_MAX = 7
"""No question of the source has more options; a choice past the last is taken modulo theirs."""

logs = st.lists(st.integers(0, OPTIONS_MAX), max_size=CHOICES_MAX)
"""What the source does, as the choices of a program; once they run out, the plainest."""


class ReplicaUnderTest(Protocol):
    """What the machine needs of a replica. What is impossible now does nothing."""

    def deal(self) -> None:
        """Let the driver thread give the next group to a worker."""

    def move(self, worker: int) -> None:
        """Let a worker, counted from 1, take its next step."""

    def kill(self) -> None:
        """Let the background thread deliver the next deadlock kill."""

    def write_group(self) -> None:
        """Let a leader write and sync what is queued for the binary log."""

    def engine_commit(self) -> None:
        """Let the engine commit the next of the binary log."""

    def time_out(self, worker: int) -> None:
        """Let a lock wait timeout strike a worker's attempt, begun if need be."""

    def fail(self, worker: int) -> None:
        """Let something outside of the log make a worker's attempt fail, begun if need be."""

    def stop(self) -> None:
        """STOP SLAVE; the replica starts again by itself when it has stopped."""

    def read(self) -> None:
        """Let a reader take a snapshot."""

    def finish(self) -> None:
        """Let everything move until nothing can, and stop in good order if all is applied."""

    def history(self) -> History:
        """Return what has happened so far."""


class ParallelModesMachine(RuleBasedStateMachine):
    """Subclasses say what is tested (``make``) and by which properties (``judged``)."""

    judged: Sequence[Property] = ()
    under_test: ReplicaUnderTest | None = None

    def make(self, program: Sequence[int]) -> ReplicaUnderTest:
        """Return a replica that has yet to apply the log that the choices make."""
        raise NotImplementedError

    @initialize(program=logs)
    def source_writes_its_log(self, program: list[int]) -> None:
        """Let the source execute its transactions."""
        self.under_test = self.make(program)

    @property
    def replica(self) -> ReplicaUnderTest:
        """Return the replica, which is there before any rule is."""
        assert self.under_test is not None
        return self.under_test

    @rule(groups=st.integers(1, WORKERS))
    def driver_deals_groups(self, groups: int) -> None:
        """Give groups to workers."""
        for _ in range(groups):
            self.replica.deal()

    @rule(worker=st.integers(1, WORKERS), steps=st.integers(1, STEPS_MAX))
    def worker_takes_steps(self, worker: int, steps: int) -> None:
        """Execute events, start to commit, roll back, begin again."""
        for _ in range(steps):
            self.replica.move(worker)

    @rule()
    def kill_is_delivered(self) -> None:
        """Kill."""
        self.replica.kill()

    @rule()
    def leader_writes_a_group(self) -> None:
        """Write and sync."""
        self.replica.write_group()

    @rule(commits=st.integers(1, WORKERS))
    def engine_commits(self, commits: int) -> None:
        """Commit in the engine."""
        for _ in range(commits):
            self.replica.engine_commit()

    @rule(worker=st.integers(1, WORKERS))
    def lock_wait_times_out(self, worker: int) -> None:
        """Strike an attempt."""
        self.replica.time_out(worker)

    @rule(worker=st.integers(1, WORKERS))
    def attempt_fails(self, worker: int) -> None:
        """Fail an attempt, and the replica with it, unless it speculates."""
        self.replica.fail(worker)

    @rule()
    def replica_is_stopped(self) -> None:
        """STOP SLAVE."""
        self.replica.stop()

    @rule()
    def reader_takes_a_snapshot(self) -> None:
        """Read."""
        self.replica.read()

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far, of which the end is missing."""
        if self.under_test is not None:
            judge(replace(self.under_test.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Let the replica finish, and judge the whole run."""
        if self.under_test is not None:
            self.under_test.finish()
            judge(self.under_test.history(), self.judged)
