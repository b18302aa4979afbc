"""A machine for a semi-sync source with replicas, clients, readers and faults.

Any fault may occur between two steps. Judges after every step, so Hypothesis prints the steps up to
the violation.
"""

from __future__ import annotations

from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from paraply.properties.machines.judging import JudgedMachine
from paraply.vocabulary.history import History

REPLICAS_MAX = 4
"""For the fourth acknowledgement; most runs have fewer."""
STEPS_MAX = 9
"""From FLUSH to the answer, per group."""
CHOICES_MAX = 11
GIVING_UP = ("time_out", "kill_query", "kill_connection", "switch_off")

REPLIES_MAX = 6
"""Enough for two or three groups."""

replicas = st.integers(1, REPLICAS_MAX)
replies = st.lists(st.tuples(replicas, st.integers(1, 3)), max_size=REPLIES_MAX)
"""Replicas, and how many transactions each receives."""


class ServersUnderTest(Protocol):
    """Servers that ignore impossible actions."""

    def commit(self, clients: int) -> None:
        """Let clients prepare."""

    def flush(self) -> None:
        """Let a leader write the queue."""

    def move(self, choice: int) -> None:
        """Take a group's or source's step."""

    def receive(self, replica: int) -> None:
        """Write a transaction to a relay log."""

    def hear(self, replica: int) -> None:
        """Read a replica's reply."""

    def apply(self, replica: int) -> None:
        """Apply a relay log's transaction."""

    def read(self) -> None:
        """Read at the source."""

    def crash_source(self, kept: int) -> None:
        """Crash; ``kept`` unsynced transactions survive."""

    def crash_replica(self, replica: int, *, is_noticed: bool) -> None:
        """Crash a replica."""

    def restart_replica(self, replica: int) -> None:
        """Restart a replica."""

    def rotate(self) -> None:
        """Begin to rotate the binary log."""

    def give_up(self, how: str) -> None:
        """End a wait by one of ``GIVING_UP``."""

    def shut_down(self) -> None:
        """SHUTDOWN; the source restarts itself."""

    def go_on(self, choice: int) -> None:
        """Take any step toward the end."""

    def lose_source(self, *, kept: int) -> None:
        """Lose the source, promote a replica, return the old source."""

    def finish(self) -> None:
        """Run until no step remains."""

    def history(self) -> History:
        """Return the history so far."""


class SemiSyncMachine(JudgedMachine[ServersUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    kept_at_loss: int | None = None
    """Unsynced transactions at the loss; None without."""

    def make(self) -> ServersUnderTest:
        """Return a source with replicas."""
        raise NotImplementedError

    @initialize(kept_at_loss=st.none() | st.integers(0, 2))
    def servers_start(self, kept_at_loss: int | None) -> None:
        """Start the servers; a loss comes last."""
        self.kept_at_loss = kept_at_loss
        self.under_test = self.make()

    @rule(groups=st.lists(st.integers(1, 2), min_size=1, max_size=3), steps=st.integers(0, 5))
    def clients_commit(self, groups: list[int], steps: int) -> None:
        """Queue clients and move each group."""
        for clients in groups:
            self.tested.commit(clients)
            self.tested.flush()
            for _ in range(steps):
                self.tested.move(0)

    @rule(choices=st.lists(st.integers(0, 2), min_size=2, max_size=STEPS_MAX))
    def groups_move(self, choices: list[int]) -> None:
        """Move groups through their stages."""
        for choice in choices:
            self.tested.move(choice)

    @rule(replica=replicas, count=st.integers(1, REPLIES_MAX), is_heard=st.booleans())
    def replica_receives(self, replica: int, count: int, *, is_heard: bool) -> None:
        """Send transactions; the reply may be delayed."""
        for _ in range(count):
            self.tested.receive(replica)
        if is_heard:
            self.tested.hear(replica)

    @rule(replies=replies)
    def replies_arrive(self, replies: list[tuple[int, int]]) -> None:
        """Let replicas receive and reply in turn."""
        for replica, count in replies:
            self.replica_receives(replica, count, is_heard=True)

    @rule(choice=st.integers(0, 2), steps=st.integers(2, STEPS_MAX))
    def group_moves_and_somebody_reads(self, choice: int, steps: int) -> None:
        """Read as soon as possible."""
        for _ in range(steps):
            self.tested.move(choice)
            self.tested.read()

    @rule(clients=st.integers(0, 2), steps=st.integers(0, STEPS_MAX), kept=st.integers(0, 2))
    def source_crashes(self, clients: int, steps: int, kept: int) -> None:
        """Crash, recover and read."""
        if clients:
            self.clients_commit([clients], steps)
        self.tested.crash_source(kept)
        self.tested.read()

    @rule(replica=replicas, received=st.integers(0, 2), applied=st.integers(0, 2),
          is_noticed=st.booleans(), comes_back=st.booleans())  # fmt: skip
    def replica_crashes(
        self, replica: int, received: int, applied: int, *, is_noticed: bool, comes_back: bool
    ) -> None:
        """Crash before the reply; perhaps restart."""
        self.replica_receives(replica, received, is_heard=False)
        for _ in range(applied):
            self.tested.apply(replica)
        self.tested.crash_replica(replica, is_noticed=is_noticed)
        if comes_back:
            self.tested.restart_replica(replica)

    @rule()
    def binary_log_is_rotated(self) -> None:
        """Rotate."""
        self.tested.rotate()

    @rule(how=st.sampled_from(GIVING_UP), clients=st.integers(0, 2), replies=replies,
          goes_on=st.booleans())  # fmt: skip
    def wait_is_given_up(
        self, how: str, clients: int, replies: list[tuple[int, int]], *, goes_on: bool
    ) -> None:
        """Abandon a wait."""
        if clients:
            self.clients_commit([clients], STEPS_MAX)
        self.replies_arrive(replies)
        self.tested.give_up(how)
        self.group_moves_and_somebody_reads(0, STEPS_MAX)
        if goes_on:
            self.replica_receives(1, REPLIES_MAX, is_heard=True)
            self.clients_commit([1], STEPS_MAX)

    @rule(clients=st.integers(0, 2))
    def source_is_shut_down(self, clients: int) -> None:
        """SHUTDOWN, restart and read."""
        if clients:
            self.clients_commit([clients], STEPS_MAX)
        self.tested.shut_down()
        self.group_moves_and_somebody_reads(0, STEPS_MAX)

    @rule(choices=st.lists(st.integers(0, CHOICES_MAX), min_size=1, max_size=STEPS_MAX))
    def everybody_goes_on(self, choices: list[int]) -> None:
        """Take turns."""
        for choice in choices:
            self.tested.go_on(choice)

    def teardown(self) -> None:
        """Lose the source if that was drawn; then as every machine."""
        if self.under_test is not None and self.kept_at_loss is not None:
            self.under_test.lose_source(kept=self.kept_at_loss)
        super().teardown()
