"""Machines for GTIDs: one replica's position, and a fail-over of servers.

The first crashes, stops and starts between any two steps. The second uses two replicas or a ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from paraply.properties.machines.judging import JudgedMachine
from paraply.vocabulary.history import History

WORKERS = 3
"""Two of one domain, one between them."""
SERVERS = ("s1", "s2", "s3")
SCHEMAS = 2
TOPOLOGIES = ("failover", "ring")

logs = st.lists(st.integers(0, 1), min_size=2, max_size=6)
"""Each transaction's domain."""


class ReplicaUnderTest(Protocol):
    """A replica that ignores impossible actions."""

    def dispatch(self) -> None:
        """Give a transaction to a worker."""

    def move(self, worker: int) -> None:
        """Take a step of a worker, from 1."""

    def commit(self) -> None:
        """Take a group leader's step."""

    def fail_for_now(self, worker: int) -> None:
        """Cause a temporary error in a worker."""

    def clean_up(self) -> None:
        """Delete old position rows."""

    def show(self) -> None:
        """Read the position."""

    def stop(self) -> None:
        """Stop in good order, then start."""

    def crash(self, kept: int) -> None:
        """Crash; ``kept`` unsynced groups of the binary log survive."""

    def finish(self) -> None:
        """Apply the rest."""

    def history(self) -> History:
        """Return the history so far."""


class PositionMachine(JudgedMachine[ReplicaUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    def make(self, domains: Sequence[int]) -> ReplicaUnderTest:
        """Return a replica for a log of these domains."""
        raise NotImplementedError

    @initialize(domains=logs)
    def source_writes_its_log(self, domains: list[int]) -> None:
        """Let the source write."""
        self.under_test = self.make(domains)

    @rule()
    def transaction_is_dispatched(self) -> None:
        """Dispatch."""
        self.tested.dispatch()

    @rule(worker=st.integers(1, WORKERS), steps=st.integers(1, 3))
    def worker_takes_steps(self, worker: int, steps: int) -> None:
        """Execute, record the position, prepare."""
        for _ in range(steps):
            self.tested.move(worker)

    @rule(steps=st.integers(1, 3))
    def group_is_committed(self, steps: int) -> None:
        """Log, sync, commit."""
        for _ in range(steps):
            self.tested.commit()

    @rule(worker=st.integers(1, WORKERS))
    def worker_meets_a_temporary_error(self, worker: int) -> None:
        """Roll back and begin again."""
        self.tested.fail_for_now(worker)

    @rule()
    def old_rows_are_deleted(self) -> None:
        """Clean up."""
        self.tested.clean_up()

    @rule()
    def position_is_looked_at(self) -> None:
        """Read it."""
        self.tested.show()

    @rule()
    def replica_is_stopped_and_started(self) -> None:
        """Stop and start."""
        self.tested.stop()

    @rule(kept=st.integers(0, 2))
    def replica_crashes(self, kept: int) -> None:
        """Crash."""
        self.tested.crash(kept)


class ServersUnderTest(Protocol):
    """Servers that ignore impossible actions."""

    def write(self, server: str, schema: int, *, leaves_hole: bool) -> None:
        """Let a client commit a transaction."""

    def replicate(self, server: str, choice: int) -> None:
        """Connect, receive, or apply, by choice."""

    def crash(self, server: str, *, in_a_write: bool) -> None:
        """Crash and restart, perhaps in a write."""

    def rotate(self, server: str) -> None:
        """Rotate a binary log."""

    def purgeable(self) -> Sequence[str]:
        """Return the servers with binary logs that no connected replica reads."""

    def purge(self, server: str, kept: int) -> None:
        """Purge a server's binary logs up to one, by choice."""

    def lose_first(self) -> None:
        """Lose s1 permanently."""

    def go_on_with_failover(self) -> None:
        """Take a fail-over step."""

    def finish(self) -> None:
        """Finish the fail-over; state every position."""

    def history(self) -> History:
        """Return the history so far."""


servers = st.sampled_from(SERVERS)


class FailoverMachine(JudgedMachine[ServersUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    def make(self, topology: str) -> ServersUnderTest:
        """Return new ``SERVERS`` in a topology."""
        raise NotImplementedError

    @initialize(topology=st.sampled_from(TOPOLOGIES))
    def servers_are_connected(self, topology: str) -> None:
        """Connect the servers."""
        self.under_test = self.make(topology)

    @rule(server=servers, schema=st.integers(0, SCHEMAS - 1), leaves_hole=st.booleans())
    def client_writes(self, server: str, schema: int, *, leaves_hole: bool) -> None:
        """Write."""
        self.tested.write(server, schema, leaves_hole=leaves_hole)

    @rule(server=servers, choices=st.lists(st.integers(0, 3), min_size=1, max_size=6))
    def replica_works(self, server: str, choices: list[int]) -> None:
        """Connect, receive, apply."""
        for choice in choices:
            self.tested.replicate(server, choice)

    @rule(server=servers, in_a_write=st.booleans())
    def server_crashes(self, server: str, *, in_a_write: bool) -> None:
        """Crash."""
        self.tested.crash(server, in_a_write=in_a_write)

    @rule(server=servers)
    def binary_log_is_rotated(self, server: str) -> None:
        """Rotate."""
        self.tested.rotate(server)

    @precondition(lambda self: self.tested.purgeable())
    @rule(choice=st.integers(0, len(SERVERS) - 1), kept=st.integers(0, 2))
    def binary_logs_are_purged(self, choice: int, kept: int) -> None:
        """Purge."""
        purgeable = self.tested.purgeable()
        self.tested.purge(purgeable[choice % len(purgeable)], kept)

    @rule()
    def first_server_is_lost(self) -> None:
        """Lose s1."""
        self.tested.lose_first()

    @rule()
    def failover_goes_on(self) -> None:
        """Elect, promote."""
        self.tested.go_on_with_failover()
