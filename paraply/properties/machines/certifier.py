"""A machine for one certifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paraply.properties.machines.judging import judge
from paraply.properties.registry import Property
from paraply.vocabulary.history import History

ROWS = ("a", "b", "c")
"""Two for dependencies; one stays untouched."""
LAG_MAX = 3
"""Lets a snapshot lack two writers and a barrier."""

write_sets = st.lists(st.sampled_from(ROWS), max_size=3).map(tuple)
"""Some items twice; none without write set."""


class CertifierUnderTest(Protocol):
    """A certifier under test."""

    def deliver_remote(self, items: Sequence[str], lag: int) -> None:
        """Certify a remote transaction that missed ``lag`` ones."""

    def deliver_local(self, items: Sequence[str]) -> None:
        """Certify a local transaction."""

    def create_table_as_select(self, table: str) -> None:
        """Certify a remote CREATE TABLE ... SELECT."""

    def collect(self, kept: int) -> None:
        """Collect all but the last ``kept`` transactions."""

    def change_view(self) -> None:
        """Install a view with a joining member."""

    def history(self) -> History:
        """Return the history so far."""


class CertifierMachine(RuleBasedStateMachine):
    """Subclasses define ``make`` and ``judged``."""

    judged: Sequence[Property] = ()

    def __init__(self) -> None:
        super().__init__()
        self.certifier = self.make()

    def make(self) -> CertifierUnderTest:
        """Return a new certifier."""
        raise NotImplementedError

    @rule(items=write_sets, lag=st.integers(0, LAG_MAX))
    def remote_transaction_is_delivered(self, items: tuple[str, ...], lag: int) -> None:
        """Deliver a remote transaction."""
        self.certifier.deliver_remote(items, lag)

    @rule(items=write_sets)
    def local_transaction_is_delivered(self, items: tuple[str, ...]) -> None:
        """Deliver a local transaction."""
        self.certifier.deliver_local(items)

    @rule(table=st.sampled_from(ROWS))
    def create_select_is_delivered(self, table: str) -> None:
        """Deliver a CREATE TABLE ... SELECT."""
        self.certifier.create_table_as_select(table)

    @rule(kept=st.integers(0, 2))
    def garbage_is_collected(self, kept: int) -> None:
        """Collect garbage."""
        self.certifier.collect(kept)

    @rule()
    def view_is_installed(self) -> None:
        """Change the view."""
        self.certifier.change_view()

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far."""
        judge(replace(self.certifier.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Judge the whole run."""
        judge(self.certifier.history(), self.judged)
