"""What the tests of all machines share: how deep they hunt, and by what they judge."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.exploring import properties_of
from paraply.registries import property_named
from properties.registry import Expectation


def hunt(stories, steps):
    """Return settings that find a fault and do not shrink it: all that is asked is whether.

    What Hypothesis generates depends on the modules that are imported, so a count that happens to
    suffice is not enough: let it leave room.
    """
    return settings(
        max_examples=stories,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def promises_of(subject, dialect):
    """Return the properties that a dialect of a subject always has."""
    known = subject.breaks.get(dialect, frozenset())
    found = [
        prop
        for prop in properties_of(subject)
        if prop.expectation is Expectation.ALWAYS and prop.name not in known
    ]
    assert found
    return found


def bound(machine, make, judged):
    """Return a machine class that tests what ``make`` returns, judged by some properties."""

    class Bound(machine):
        pass

    Bound.make = lambda self, *given: make(*given)
    Bound.judged = judged
    return Bound


def assert_breaks(machine, name, hunt):
    """Fail unless a story of the machine breaks the property of this name."""
    with pytest.raises(AssertionError, match=f"not {name}"):
        run_state_machine_as_test(machine, settings=hunt)


def assert_reaches(machine, tested, situation, hunt):
    """Fail unless a story takes the attribute ``tested`` of the machine to the situation.

    Without it the machine would have shown nothing.
    """

    class NeverReaches(machine):
        def teardown(self):
            super().teardown()
            history = getattr(self, tested).history()
            assert not property_named(situation).witness(history), "it is reached"

    with pytest.raises(AssertionError, match="it is reached"):
        run_state_machine_as_test(NeverReaches, settings=hunt)
