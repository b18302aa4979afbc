"""A machine for a group: delays, crashes, joins and collections.

Arbitrary lag covers every partition of a totally ordered group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paraply.properties.machines.judging import judge
from paraply.properties.registry import Property
from paraply.vocabulary.history import History

MEMBERS = ("r1", "r2", "r3")
"""Two race, and one joins or lags."""
ROWS = ("a", "b")
"""A second row makes the first's version purgeable."""

members = st.sampled_from(MEMBERS)
write_sets = st.lists(st.sampled_from(ROWS), min_size=1, max_size=2, unique=True).map(tuple)


class GroupUnderTest(Protocol):
    """A group that ignores impossible actions."""

    def submit(self, member: str, items: Sequence[str]) -> None:
        """Execute and send a transaction."""

    def deliver(self, member: str, count: int) -> None:
        """Deliver up to ``count`` messages."""

    def apply(self, member: str, count: int) -> None:
        """Apply up to ``count`` transactions."""

    def broadcast(self, member: str) -> None:
        """Broadcast a member's executed set."""

    def crash(self, member: str) -> None:
        """Crash a member, except the last one."""

    def join(self, member: str) -> None:
        """Join, recover and come online if possible."""

    def settle(self) -> None:
        """Deliver, recover and apply everything."""

    def history(self) -> History:
        """Return the history so far."""


class GroupMachine(RuleBasedStateMachine):
    """Subclasses define ``make`` and ``judged``."""

    judged: Sequence[Property] = ()

    def __init__(self) -> None:
        super().__init__()
        self.group = self.make()

    def make(self) -> GroupUnderTest:
        """Return a group of some ``MEMBERS``."""
        raise NotImplementedError

    @rule(member=members, items=write_sets)
    def client_writes(self, member: str, items: tuple[str, ...]) -> None:
        """Execute a transaction at a member."""
        self.group.submit(member, items)

    @rule(member=members, count=st.integers(1, 8))
    def messages_arrive(self, member: str, count: int) -> None:
        """End a delay for one member."""
        self.group.deliver(member, count)

    @rule(member=members, count=st.integers(1, 8))
    def relay_log_is_applied(self, member: str, count: int) -> None:
        """Let the applier work."""
        self.group.apply(member, count)

    @rule(member=members)
    def executed_set_is_broadcast(self, member: str) -> None:
        """Contribute to a round of collection."""
        self.group.broadcast(member)

    @rule()
    def minute_passes(self) -> None:
        """Broadcast every member's executed set."""
        for member in MEMBERS:
            self.group.broadcast(member)

    @rule(member=members)
    def member_crashes(self, member: str) -> None:
        """Crash a member."""
        self.group.crash(member)

    @rule(member=members)
    def member_joins(self, member: str) -> None:
        """Let a member join or continue to."""
        self.group.join(member)

    @rule()
    def group_comes_to_rest(self) -> None:
        """End every delay."""
        self.group.settle()

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the story, which may be in the middle of work."""
        judge(replace(self.group.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Judge the story, which may end in the middle of work."""
        judge(replace(self.group.history(), is_complete=False), self.judged)
