"""A machine for MySQL's gap-free GTID sets: a source, its successor, and a filtering replica.

Judges after every step, so Hypothesis prints the steps up to the violation.
"""

from __future__ import annotations

from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
)

from paraply.properties.machines.judging import JudgedMachine
from paraply.vocabulary.history import History

SERVERS = ("s1", "s2", "r1")
SCHEMAS = 2
"""The replica leaves out the second."""
STEPS_MAX = 4


class ServersUnderTest(Protocol):
    """Servers that ignore impossible actions."""

    def begin(self, schema: int) -> int | None:
        """Begin a client's transaction and return its number; None if too many are open."""

    def commit(self, opened: int) -> None:
        """Log and commit it."""

    def fail(self, opened: int) -> None:
        """Let it fail."""

    def replicate(self, server: str) -> None:
        """Connect, or receive a transaction."""

    def restart(self) -> None:
        """Let the replica connect anew."""

    def purge(self, server: str) -> None:
        """Purge what all replicas have."""

    def has_first(self) -> bool:
        """Return whether s1 is there."""

    def lose_first(self) -> None:
        """Replace s1 by s2."""

    def finish(self) -> None:
        """Replicate the rest and stop."""

    def history(self) -> History:
        """Return the history so far."""


class GapFreeMachine(JudgedMachine[ServersUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    opened: Bundle[int] = Bundle("opened")

    def make(self) -> ServersUnderTest:
        """Return new ``SERVERS``."""
        raise NotImplementedError

    @initialize()
    def servers_start(self) -> None:
        """Start the servers."""
        self.under_test = self.make()

    @rule(target=opened, schema=st.integers(0, SCHEMAS - 1))
    def transaction_begins(self, schema: int) -> Any:
        """Begin."""
        number = self.tested.begin(schema)
        return multiple() if number is None else number

    @rule(opened=consumes(opened))
    def transaction_commits(self, opened: int) -> None:
        """Commit."""
        self.tested.commit(opened)

    @rule(opened=consumes(opened))
    def transaction_fails(self, opened: int) -> None:
        """Fail; a number may be lost."""
        self.tested.fail(opened)

    @rule(server=st.sampled_from(SERVERS), steps=st.integers(1, STEPS_MAX))
    def replica_works(self, server: str, steps: int) -> None:
        """Connect and receive."""
        for _ in range(steps):
            self.tested.replicate(server)

    @rule()
    def replica_connects_anew(self) -> None:
        """Reconnect."""
        self.tested.restart()

    @rule(server=st.sampled_from(SERVERS[:2]))
    def binary_logs_are_purged(self, server: str) -> None:
        """Purge."""
        self.tested.purge(server)

    @precondition(lambda self: self.tested.has_first())
    @rule()
    def first_server_is_lost(self) -> None:
        """Lose s1."""
        self.tested.lose_first()
