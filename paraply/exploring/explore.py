"""Explore a subject, judge it, and shrink counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from paraply.counterexamples.hunt import system_of
from paraply.counterexamples.shrinking import Smallest, make_small
from paraply.properties.campaign import Campaign, Tally, run_campaign
from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Expectation, Property
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.verdict import Verdict, combine


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A campaign's result for one property.

    ``is_sought``: the subject should break it in this dialect or with these options.
    """

    tally: Tally
    is_sought: bool
    smallest: Smallest | None = None

    @property
    def prop(self) -> Property:
        """Return the property."""
        return self.tally.prop

    @property
    def is_expected(self) -> bool:
        """Return whether every breach has an expected cause."""
        return 0 < self.tally.violated == self.tally.expected

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; a missing sought breach gives UNKNOWN."""
        if self.is_sought and not self.tally.violated:
            return Verdict.UNKNOWN
        return self.tally.verdict

    @property
    def note(self) -> str:
        """Return a remark."""
        if self.is_expected:
            return "expected of this dialect"
        if self.tally.expected:
            return f"expected in {self.tally.expected:,}, not in the others"
        if self.tally.violated:
            return ""
        if self.is_sought:
            return "the breach expected of this dialect was not found"
        if self.verdict is Verdict.UNKNOWN:
            return self.tally.evidence.reason
        return "reached" if self.prop.expectation is Expectation.SOMETIMES else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One judged exploration.

    ``set_aside`` properties lack events in any history, or have declared unreachable situations.
    ``is_cut``: some requested schedules were not run.
    """

    subject: Subject
    workload: Workload
    campaign: Campaign
    findings: tuple[Finding, ...]
    set_aside: tuple[str, ...] = field(default=())
    is_cut: bool = False

    @property
    def options_off(self) -> tuple[str, ...]:
        """Return 0 or false options, which prevent situations."""
        options = self.subject.options_of(self.workload)
        return tuple(name for name, value in options.items() if not value)

    def verdict(self, *, allow_expected: bool = False) -> Verdict:
        """Return the gravest verdict, UNKNOWN at best if cut.

        ``allow_expected`` ignores known breaches.
        """
        verdicts = [Verdict.UNKNOWN] if self.is_cut else []
        verdicts += [
            Verdict.HOLDS if allow_expected and finding.is_expected else finding.verdict
            for finding in self.findings
        ]
        return combine(verdicts)


def is_expected(subject: Subject, workload: Workload, prop: Property, history: History) -> bool:
    """Return whether an expected cause precedes the breach."""
    causes = subject.causes_of(workload, prop.name)
    if not causes:
        return False
    last = first_breaking_event(history, prop)
    until = history if last is None else replace(history, events=history.events[: last + 1])
    return any(cause.occurs(until) for cause in causes)


def explore(
    subject: Subject,
    workload: Workload,
    properties: Sequence[Property],
    schedules: Iterable[Schedule],
    *,
    seed: int = 0,
    is_named: bool = False,
    on_run: Callable[[int], None] | None = None,
) -> Result:
    """Run every schedule, judge, and shrink breaches.

    ``seed`` is for shrinking. ``is_named`` keeps all properties.
    """
    campaign = run_campaign(
        system_of(subject, workload),
        properties,
        schedules,
        is_expected=partial(is_expected, subject, workload),
        on_run=on_run,
    )
    known = subject.known_breaches(workload)
    unreachable = subject.unreachable_in(subject.dialect_of(workload))
    findings = []
    set_aside = []
    for tally in campaign.tallies:
        name = tally.prop.name
        is_silent = not tally.reached and not tally.violated
        is_foreign = not tally.applied and name not in known
        if is_silent and not is_named and (is_foreign or name in unreachable):
            set_aside.append(name)
            continue
        smallest = None
        if tally.first is not None:
            smallest = make_small(subject, workload, tally.prop, tally.first, seed=seed)
        findings.append(Finding(tally=tally, is_sought=name in known, smallest=smallest))
    return Result(
        subject=subject,
        workload=workload,
        campaign=campaign,
        findings=tuple(findings),
        set_aside=tuple(set_aside),
    )
