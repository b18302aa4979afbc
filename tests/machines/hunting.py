"""What the tests of all machines share: how deep they hunt, and by what they judge."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.counterexamples.hunt import properties_of
from paraply.properties.registry import Expectation
from paraply.reference_impl.subject import Workload
from paraply.registries import property_named


@dataclass(frozen=True)
class Hunt:
    """How long to hunt: in stories of so many steps at most, by one seed after the other.

    Most seeds find a fault within a few hundred stories, and some not within ten thousand, so
    that starting afresh is quicker than going on.
    """

    steps: int
    stories: int = 300
    seeds: int = 40

    def run(self, machine):
        """Run the machine until it fails, which raises what it failed with, or all is tried."""
        hunted = judged_at_the_end(machine)
        for number in range(1, self.seeds + 1):
            run_state_machine_as_test(seed(number)(hunted), settings=self._settings())

    def _settings(self):
        """Return settings that find a fault and do not shrink it: all that is asked is whether."""
        return settings(
            max_examples=self.stories,
            stateful_step_count=self.steps,
            database=None,
            deadline=None,
            print_blob=False,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )


def judged_at_the_end(machine):
    """Return a machine that judges each story once: no breach is ever undone."""

    class JudgedAtTheEnd(machine):
        def nothing_is_broken_so_far(self):
            """Leave it to the end."""

    return JudgedAtTheEnd


def promises_of(subject, dialect):
    """Return the properties that a dialect of a subject, by its default options, always has."""
    defaults = subject.settings_of(Workload(dialect=dialect))
    follows = (known.breaks for known in subject.follows if known.is_of(dialect, defaults))
    known = subject.breaks.get(dialect, frozenset()).union(*follows)
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
        hunt.run(machine)


def assert_reaches(machine, situation, hunt):
    """Fail unless a story takes what the machine tests to the situation.

    Without it the machine would have shown nothing.
    """

    class NeverReaches(machine):
        def teardown(self):
            super().teardown()
            assert not property_named(situation).witness(self.tested.history()), "it is reached"

    with pytest.raises(AssertionError, match="it is reached"):
        hunt.run(NeverReaches)
