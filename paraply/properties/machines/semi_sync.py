"""A machine for a semi-sync source with replicas, clients, readers and faults.

Crashes, rotations, shutdowns, abandoned waits, and the loss and return of the source can occur
between any two steps. Properties are judged after every step, so Hypothesis prints the steps up to
the violation.
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

REPLICAS_MAX = 4
"""As many as it takes to need the fourth acknowledgement; fewer are there in most stories."""
STEPS_MAX = 9
"""From FLUSH to the answer, for a group of a few transactions."""
CHOICES_MAX = 11
"""Hardly ever can more happen at once."""
GIVING_UP = ("time_out", "kill_query", "kill_connection", "switch_off")

REPLIES_MAX = 6
"""Enough to catch up with two or three groups."""

replicas = st.integers(1, REPLICAS_MAX)
replies = st.lists(st.tuples(replicas, st.integers(1, 3)), max_size=REPLIES_MAX)
"""Who receives how much before it is heard."""


class ServersUnderTest(Protocol):
    """What the machine needs. What is impossible now does nothing."""

    def commit(self, clients: int) -> None:
        """Let clients prepare."""

    def flush(self) -> None:
        """Let a leader write whoever is queued."""

    def move(self, choice: int) -> None:
        """Let a commit group, or the source itself, take a step: one of what they can do now."""

    def receive(self, replica: int) -> None:
        """Let a replica write the next transaction to its relay log."""

    def hear(self, replica: int) -> None:
        """Let the source read a replica's reply."""

    def apply(self, replica: int) -> None:
        """Let a replica apply the next transaction of its relay log."""

    def read(self) -> None:
        """Let somebody read at the source."""

    def crash_source(self, kept: int) -> None:
        """Crash the source; ``kept`` unsynced transactions of its log survive."""

    def crash_replica(self, replica: int, *, is_noticed: bool) -> None:
        """Crash a replica, which stays away until it restarts."""

    def restart_replica(self, replica: int) -> None:
        """Let a replica come back."""

    def rotate(self) -> None:
        """Begin to rotate the binary log."""

    def give_up(self, how: str) -> None:
        """End a wait by one of ``GIVING_UP``."""

    def shut_down(self) -> None:
        """SHUTDOWN; the source starts again by one of its own steps."""

    def go_on(self, choice: int) -> None:
        """Let anything happen that brings somebody nearer to the end."""

    def lose_source(self, *, kept: int) -> None:
        """Lose the source, promote a replica, and let the old source return.

        ``kept`` unsynced transactions of its log have survived.
        """

    def finish(self) -> None:
        """Let everything move until nothing can."""

    def history(self) -> History:
        """Return what has happened so far."""


class SemiSyncMachine(RuleBasedStateMachine):
    """Subclasses say what is tested (``make``) and by which properties (``judged``)."""

    judged: Sequence[Property] = ()
    under_test: ServersUnderTest | None = None
    kept_at_loss: int | None = None
    """How the story ends: in the loss of the source, with so many unsynced, or well (None)."""

    def make(self) -> ServersUnderTest:
        """Return a source with its replicas, before anything has happened."""
        raise NotImplementedError

    @initialize(kept_at_loss=st.none() | st.integers(0, 2))
    def servers_start(self, kept_at_loss: int | None) -> None:
        """Start; a story that loses its source would be over, so that comes at its end."""
        self.kept_at_loss = kept_at_loss
        self.under_test = self.make()

    @property
    def servers(self) -> ServersUnderTest:
        """Return the servers, which are there before any rule is."""
        assert self.under_test is not None
        return self.under_test

    @rule(groups=st.lists(st.integers(1, 2), min_size=1, max_size=3), steps=st.integers(0, 5))
    def clients_commit(self, groups: list[int], steps: int) -> None:
        """Let clients queue, a few for each leader, and let each group go some way."""
        for clients in groups:
            self.servers.commit(clients)
            self.servers.flush()
            for _ in range(steps):
                self.servers.move(0)

    @rule(choices=st.lists(st.integers(0, 2), min_size=2, max_size=STEPS_MAX))
    def groups_move(self, choices: list[int]) -> None:
        """Let groups pass their stages."""
        for choice in choices:
            self.servers.move(choice)

    @rule(replica=replicas, count=st.integers(1, REPLIES_MAX), is_heard=st.booleans())
    def replica_receives(self, replica: int, count: int, *, is_heard: bool) -> None:
        """Send some transactions; the reply arrives or is still on its way."""
        for _ in range(count):
            self.servers.receive(replica)
        if is_heard:
            self.servers.hear(replica)

    @rule(replies=replies)
    def replies_arrive(self, replies: list[tuple[int, int]]) -> None:
        """Let replicas receive and be heard, one after the other."""
        for replica, count in replies:
            self.replica_receives(replica, count, is_heard=True)

    @rule(choice=st.integers(0, 2), steps=st.integers(2, STEPS_MAX))
    def group_moves_and_somebody_reads(self, choice: int, steps: int) -> None:
        """Read as early as a transaction can be seen."""
        for _ in range(steps):
            self.servers.move(choice)
            self.servers.read()

    @rule(clients=st.integers(0, 2), steps=st.integers(0, STEPS_MAX), kept=st.integers(0, 2))
    def source_crashes(self, clients: int, steps: int, kept: int) -> None:
        """Crash, perhaps while a new group is under way; recover, and look."""
        if clients:
            self.clients_commit([clients], steps)
        self.servers.crash_source(kept)
        self.servers.read()

    @rule(replica=replicas, received=st.integers(0, 2), applied=st.integers(0, 2),
          is_noticed=st.booleans(), comes_back=st.booleans())  # fmt: skip
    def replica_crashes(
        self, replica: int, received: int, applied: int, *, is_noticed: bool, comes_back: bool
    ) -> None:
        """Crash before the reply to what was received last, and perhaps come back."""
        self.replica_receives(replica, received, is_heard=False)
        for _ in range(applied):
            self.servers.apply(replica)
        self.servers.crash_replica(replica, is_noticed=is_noticed)
        if comes_back:
            self.servers.restart_replica(replica)

    @rule()
    def binary_log_is_rotated(self) -> None:
        """Rotate."""
        self.servers.rotate()

    @rule(how=st.sampled_from(GIVING_UP), clients=st.integers(0, 2), replies=replies,
          goes_on=st.booleans())  # fmt: skip
    def wait_is_given_up(
        self, how: str, clients: int, replies: list[tuple[int, int]], *, goes_on: bool
    ) -> None:
        """Time out, kill, switch off, while a new group waits or an older one."""
        if clients:
            self.clients_commit([clients], STEPS_MAX)
        self.replies_arrive(replies)
        self.servers.give_up(how)
        self.group_moves_and_somebody_reads(0, STEPS_MAX)
        if goes_on:
            self.replica_receives(1, REPLIES_MAX, is_heard=True)
            self.clients_commit([1], STEPS_MAX)

    @rule(clients=st.integers(0, 2))
    def source_is_shut_down(self, clients: int) -> None:
        """SHUTDOWN, perhaps while a group waits; start again, and look."""
        if clients:
            self.clients_commit([clients], STEPS_MAX)
        self.servers.shut_down()
        self.group_moves_and_somebody_reads(0, STEPS_MAX)

    @rule(choices=st.lists(st.integers(0, CHOICES_MAX), min_size=1, max_size=STEPS_MAX))
    def everybody_goes_on(self, choices: list[int]) -> None:
        """Let clients, groups and replicas take turns."""
        for choice in choices:
            self.servers.go_on(choice)

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far, of which the end is missing."""
        if self.under_test is not None:
            judge(replace(self.under_test.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Let the servers finish, and judge the whole run."""
        if self.under_test is not None:
            if self.kept_at_loss is not None:
                self.under_test.lose_source(kept=self.kept_at_loss)
            self.under_test.finish()
            judge(self.under_test.history(), self.judged)
