"""What machines have in common: they judge their history after every step and at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from hypothesis.stateful import RuleBasedStateMachine, invariant

from paraply.properties.registry import Property
from paraply.vocabulary.history import History
from paraply.vocabulary.notation import format_history


def judge(history: History, judged: Iterable[Property]) -> None:
    """Raise ``AssertionError`` with the breaches and the history."""
    for prop in judged:
        violations = prop.violations(history)
        if violations:
            breaches = "\n".join(f"  {violation}" for violation in violations)
            story = format_history(history, lines=True)
            raise AssertionError(f"not {prop.name}:\n{breaches}\n{story}")


class UnderTest(Protocol):
    """A system that a machine steps."""

    def finish(self) -> None:
        """Do what is left to do."""

    def history(self) -> History:
        """Return the history so far."""


Tested = TypeVar("Tested", bound=UnderTest)


class JudgedMachine(RuleBasedStateMachine, Generic[Tested]):
    """Subclasses define ``make`` and ``judged``, and set ``under_test`` when they begin."""

    judged: Sequence[Property] = ()
    under_test: Tested | None = None

    @property
    def tested(self) -> Tested:
        """Return the system."""
        assert self.under_test is not None
        return self.under_test

    @invariant()
    def nothing_is_broken_so_far(self) -> None:
        """Judge the history so far."""
        if self.under_test is not None:
            judge(replace(self.under_test.history(), is_complete=False), self.judged)

    def teardown(self) -> None:
        """Finish and judge the whole run."""
        if self.under_test is not None:
            self.under_test.finish()
            judge(self.under_test.history(), self.judged)
