"""A campaign: many runs of one system, each different history judged by every property.

A history is judged once, however many schedules lead to it, so all counts are of histories that
differ in content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from paraply.properties.registry import NO_EVIDENCE, Evidence, Property
from paraply.properties.search import Counterexample, System
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import ExhaustiveSchedule, Schedule
from paraply.vocabulary.verdict import Verdict

IsExpected = Callable[[Property, History], bool]
"""Returns whether the breach of a property by a history is expected of the system."""
OnRun = Callable[[int], None]
"""Called after each run with the number of runs made so far."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What the histories of a campaign say about one property.

    Attributes:
        prop: the property.
        applied: histories that it was a requirement on.
        reached: histories in which the situation occurred that the property speaks of.
        violated: histories that break it.
        evidence: situations of all histories, and how many of them were decidable.
        expected: those of them whose breach is expected of the system, by its cause.
        first: the first that breaks it unexpectedly, or else the first that breaks it.
    """

    prop: Property
    applied: int = 0
    reached: int = 0
    violated: int = 0
    expected: int = 0
    evidence: Evidence = NO_EVIDENCE
    first: Counterexample | None = None

    @property
    def verdict(self) -> Verdict:
        """Return VIOLATED for one breach; else HOLDS if all situations were decidable."""
        return Verdict.VIOLATED if self.violated else self.evidence.verdict


@dataclass(slots=True, kw_only=True)
class Campaign:
    """What was run and what it showed.

    Attributes:
        tallies: one for each property, in the order given.
        is_expected: which breaches are expected of the system.
        runs: schedules that were run.
        histories: histories among them that differ in content.
        events: events of all runs together.
        steps: steps of all runs together, as the histories' clocks count them.
    """

    tallies: list[Tally]
    is_expected: IsExpected = lambda _, __: False
    runs: int = 0
    histories: int = 0
    events: int = 0
    steps: int = 0
    _seen: set[int] = field(default_factory=set)

    def take(self, history: History, schedule: Schedule) -> None:
        """Count one run, and judge its history unless an equal one was judged before."""
        self.runs += 1
        self.events += len(history.events)
        self.steps += steps_of(history)
        digest = content_digest(history)
        if digest in self._seen:
            return
        self._seen.add(digest)
        self.histories += 1
        for tally in self.tallies:
            if tally.prop.applies_to(history):
                self._judge(tally, history, schedule)

    def _judge(self, tally: Tally, history: History, schedule: Schedule) -> None:
        tally.applied += 1
        evidence = tally.prop.evidence(history)
        tally.reached += evidence.relevant > 0
        tally.evidence += evidence
        violations = tally.prop.violations(history)
        if not violations:
            return
        is_expected = self.is_expected(tally.prop, history)
        is_first_unexpected = tally.violated == tally.expected and not is_expected
        tally.violated += 1
        tally.expected += is_expected
        if tally.first is None or is_first_unexpected:
            tally.first = Counterexample(
                choices=tuple(schedule.choices),
                history=history,
                violations=violations,
                runs=self.runs,
            )


def run_campaign(
    system: System,
    properties: Sequence[Property],
    schedules: Iterable[Schedule],
    *,
    is_expected: IsExpected = lambda _, __: False,
    on_run: OnRun | None = None,
) -> Campaign:
    """Run the system on every schedule and judge what comes of it."""
    campaign = Campaign(
        tallies=[Tally(prop=prop) for prop in properties],
        is_expected=is_expected,
    )
    for schedule in schedules:
        history = system(schedule)
        # A run that was given up has an equal one elsewhere in the enumeration.
        if not (isinstance(schedule, ExhaustiveSchedule) and schedule.skipped_at is not None):
            campaign.take(history, schedule)
        if on_run is not None:
            on_run(campaign.runs)
    return campaign


def steps_of(history: History) -> int:
    """Return how many steps a history took on its own clock; 0 if nothing happened."""
    return history.events[-1].time if history.events else 0


def content_digest(history: History) -> int:
    """Return a 64-bit digest of the transactions and events, without the header.

    Equal histories have equal digests in one process; two different ones of a million share a
    digest with a probability below 1 in ten million.
    """
    return hash((history.transactions, history.events))
