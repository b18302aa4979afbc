"""Explore a subject, judge it, and shrink counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from paraply.counterexamples.hunt import Spotted, system_of
from paraply.counterexamples.shrinking import Smallest, make_small
from paraply.mining.drawing import Drawing
from paraply.mining.judges import is_explained, unexplained
from paraply.properties.campaign import Campaign, Tally, run_campaign
from paraply.properties.registry import Expectation, Property
from paraply.reference_impl.subject import Subject, Workload, workload_of_header
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.verdict import OVER_SERIALISES, Verdict, combine, word_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A campaign's result for one property.

    ``is_sought``: the subject should break it in this dialect or with these options.
    ``is_drawn``: runs have options of their own, of which other breaches may be known.
    """

    tally: Tally
    is_sought: bool
    is_drawn: bool = False
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
    def is_of_the_draw(self) -> bool:
        """Return whether only runs break it whose drawn options are known for that."""
        return self.is_drawn and self.is_expected and not self.is_sought

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; a missing sought breach gives UNKNOWN."""
        if self.is_sought and not self.tally.violated:
            return Verdict.UNKNOWN
        return self.tally.evidence.verdict if self.is_of_the_draw else self.tally.verdict

    @property
    def over_serialises(self) -> bool:
        """Return whether the property is one of precision or speed, and broken."""
        return self.word == OVER_SERIALISES

    @property
    def word(self) -> str:
        """Return the verdict's word."""
        return word_of(self.verdict, is_safety=self.prop.is_safety)

    @property
    def note(self) -> str:
        """Return a remark."""
        if self.is_of_the_draw:
            return "known of drawn options"
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

    ``workload`` is that of every run; with ``drawing`` only what is given in it.
    ``set_aside`` properties lack events in any history, or have declared unreachable situations.
    ``is_cut``: some requested schedules were not run.
    """

    subject: Subject
    workload: Workload
    campaign: Campaign
    findings: tuple[Finding, ...]
    set_aside: tuple[str, ...] = field(default=())
    is_cut: bool = False
    is_strict: bool = False
    drawing: Drawing | None = None

    @property
    def options_off(self) -> tuple[str, ...]:
        """Return 0 or false options, which prevent situations."""
        is_drawn = self.drawing is not None
        options = self.workload.options if is_drawn else self.subject.options_of(self.workload)
        return tuple(name for name, value in options.items() if not value)

    def verdict(self, *, allow_expected: bool = False) -> Verdict:
        """Return the gravest verdict, UNKNOWN at best if cut.

        ``allow_expected`` ignores known breaches. Those of precision and speed count only if
        ``is_strict``.
        """
        verdicts = [Verdict.UNKNOWN] if self.is_cut else []
        for finding in self.findings:
            is_allowed = allow_expected and finding.is_expected and not finding.is_of_the_draw
            is_slow = finding.over_serialises and not self.is_strict
            verdicts.append(Verdict.HOLDS if is_allowed or is_slow else finding.verdict)
        return combine(verdicts)


def explore(
    subject: Subject,
    workload: Workload,
    properties: Sequence[Property],
    schedules: Iterable[Schedule],
    *,
    seed: int = 0,
    is_named: bool = False,
    drawing: Drawing | None = None,
    on_run: Callable[[int], None] | None = None,
) -> Result:
    """Run every schedule, judge, and shrink breaches.

    ``seed`` is for shrinking. ``is_named`` keeps all properties. With ``drawing`` each run has a
    workload of its own, and the schedules are those of ``drawn_schedules``.
    """
    campaign = run_campaign(
        system_of(subject, workload) if drawing is None else drawing.run,
        properties,
        schedules,
        is_expected=partial(is_explained, subject),
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
        finding = Finding(tally=tally, is_sought=name in known, is_drawn=drawing is not None)
        if tally.first is not None and not finding.is_of_the_draw:
            smallest = make_small(
                subject,
                tally.prop if finding.is_expected else unexplained(subject, tally.prop),
                Spotted.of(workload_of_header(tally.first.history.header), tally.first),
                seed=seed,
            )
            finding = replace(finding, smallest=smallest)
        findings.append(finding)
    return Result(
        subject=subject,
        workload=workload,
        campaign=campaign,
        findings=tuple(findings),
        set_aside=tuple(set_aside),
        drawing=drawing,
    )
