"""What a run of the suite reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paraply.conforming.expected_failures import ExpectedFailure, verdict_of_results
from paraply.conforming.suite import Applier, CaseResult
from paraply.counterexamples.showing.alternatives import Alternatives
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReport:
    """The results of one run, over JSON lines or the wire.

    Attributes:
        schedules: per case.
        commands: what replays a failure, by case id.
        expected: failures that do not fail the run, by case id.
        is_strict: unknown and skipped cases and unexpected passes fail the run.
        alternatives: results of the choices not taken, by case id.
        remarks: lines after the summary.
    """

    applier: Applier
    results: Sequence[CaseResult]
    schedules: int
    seed: int
    commands: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, ExpectedFailure] = field(default_factory=dict)
    is_strict: bool = False
    alternatives: Mapping[str, Alternatives] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the gravest unexpected verdict."""
        return verdict_of_results(self.results, self.expected, strict=self.is_strict)

    def command(self, result: CaseResult) -> str:
        """Return the command that replays a failure, or an empty text."""
        return self.commands.get(result.case.id, "")

    def is_expected(self, result: CaseResult) -> bool:
        """Return whether the case is in the file of expected failures."""
        return result.case.id in self.expected
