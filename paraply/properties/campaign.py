"""A campaign: many runs of one system, judged by every property.

All counts are of distinct histories.
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
OnRun = Callable[[int], None]


@dataclass(slots=True, kw_only=True)
class Tally:
    """One property's results in a campaign.

    Attributes:
        applied: histories with the property as a requirement.
        expected: violating histories with an expected breach, by cause.
        first: the first unexpected violation, or else the first one.
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
        """Return VIOLATED for any breach; HOLDS without undecidable situations."""
        return Verdict.VIOLATED if self.violated else self.evidence.verdict


@dataclass(slots=True, kw_only=True)
class Campaign:
    """Runs and their results.

    Attributes:
        tallies: one per property, in the given order.
        steps: total, on the histories' clocks.
    """

    tallies: list[Tally]
    is_expected: IsExpected = lambda _, __: False
    runs: int = 0
    histories: int = 0
    events: int = 0
    steps: int = 0
    _seen: set[int] = field(default_factory=set)

    def take(self, history: History, schedule: Schedule) -> None:
        """Count one run; judge a new history."""
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
        violations = tally.prop.violations(history)
        evidence = tally.prop.evidence(history, violations)
        tally.reached += evidence.relevant > 0
        tally.evidence += evidence
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
    """Run every schedule and judge the histories."""
    campaign = Campaign(
        tallies=[Tally(prop=prop) for prop in properties],
        is_expected=is_expected,
    )
    for schedule in schedules:
        history = system(schedule)
        # The enumeration has a run equal to each abandoned one.
        if not (isinstance(schedule, ExhaustiveSchedule) and schedule.skipped_at is not None):
            campaign.take(history, schedule)
        if on_run is not None:
            on_run(campaign.runs)
    return campaign


def steps_of(history: History) -> int:
    """Return the history's steps; 0 without events."""
    return history.events[-1].time if history.events else 0


def content_digest(history: History) -> int:
    """Return a 64-bit digest of the transactions and events, within one process.

    A collision among a million histories has a probability below 1 in ten million.
    """
    return hash((history.transactions, history.events))
