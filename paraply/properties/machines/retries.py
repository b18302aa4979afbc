"""A machine for a certifier behind a channel that sends rolled back transactions again.

Judges after every step, so Hypothesis prints the steps up to the violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paraply.properties.machines.judging import judge
from paraply.properties.registry import Property
from paraply.vocabulary.history import History


class ChannelUnderTest(Protocol):
    """A channel into a group."""

    def send(self) -> None:
        """Certify a new transaction."""

    def waiting(self) -> int:
        """Return how many certified transactions are neither executed nor rolled back."""

    def executed(self) -> int:
        """Return how many are executed."""

    def execute(self) -> None:
        """Execute the oldest certified transaction."""

    def roll_back(self) -> None:
        """Roll the newest one back, and certify it again."""

    def reuse(self) -> None:
        """Send a transaction under the newest executed GTID."""

    def history(self) -> History:
        """Return the history so far."""


class RetriesMachine(RuleBasedStateMachine):
    """Subclasses define ``make`` and ``judged``."""

    judged: Sequence[Property] = ()

    def __init__(self) -> None:
        super().__init__()
        self.channel = self.make()

    def make(self) -> ChannelUnderTest:
        """Return a new channel."""
        raise NotImplementedError

    @rule()
    def transaction_is_sent(self) -> None:
        """Send."""
        self.channel.send()

    @precondition(lambda self: self.channel.waiting())
    @rule()
    def transaction_is_executed(self) -> None:
        """Execute."""
        self.channel.execute()

    @precondition(lambda self: self.channel.waiting())
    @rule()
    def transaction_is_rolled_back(self) -> None:
        """Roll back and try again."""
        self.channel.roll_back()

    @precondition(lambda self: self.channel.executed())
    @rule()
    def executed_gtid_is_used_again(self) -> None:
        """Send an executed GTID."""
        self.channel.reuse()

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far."""
        judge(replace(self.channel.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Judge the whole run."""
        judge(self.channel.history(), self.judged)
