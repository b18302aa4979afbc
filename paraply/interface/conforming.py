"""``paraply.conform``: run the conformance suite against an applier."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.conformance.cases import cases_named, suite
from paraply.adapters.conformance.host import NO_SUCH_CLASS, host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.rules.rule import Rule
from paraply.adapters.conformance.rules.trackers import TrackingRule
from paraply.adapters.conformance.tracker_host import tracker_host_command
from paraply.conforming.expected_failures import (
    ExpectedFailure,
    read_expected_failures,
    verdict_of_results,
)
from paraply.conforming.own_logs import cases_of_logs, own_logs
from paraply.conforming.suite import SCHEDULES, CaseResult, Conformance
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformedCase:
    """The result of one case.

    Attributes:
        id: like ``B-prefix-01``.
        fact: correct behaviour.
        result: ``pass``, ``fail``, ``skip`` or ``unknown``.
    """

    id: str
    fact: str
    result: str
    reason: str
    is_expected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformReport:
    """The result of a run; unexpected failures are VIOLATED.

    ``fault`` is the protocol fault, if any.
    """

    verdict: Verdict
    applier: str
    fault: str
    cases: tuple[ConformedCase, ...]

    @property
    def failed(self) -> tuple[ConformedCase, ...]:
        """Return the unexpected failures."""
        return tuple(one for one in self.cases if one.result == "fail" and not one.is_expected)


def conform(
    applier: type[Rule | TrackingRule] | str | Sequence[str],
    *,
    cases: Iterable[str] = (),
    logs: Sequence[str | Path] = (),
    schema: str | Path | None = None,
    schedules: int = SCHEDULES,
    seed: int = 0,
    timeout: float = TIMEOUT_S,
    expected_failures: str | Path | None = None,
    strict: bool = False,
) -> ConformReport:
    """Run the suite against an applier in child processes.

    Args:
        applier: ``FILE:CLASS``, ``MODULE:CLASS``, or a command's words.
        cases: ids, prefixes, or family letters.
        logs: binary logs in order, text dumps of them, or histories: cases of these, with
            pseudonyms, in place of the suite's.
        schema: tables as the logs begin.
        schedules: runs per case.
        timeout: seconds per answer.
        expected_failures: TOML file of known failures.
        strict: unknown, skipped and unexpectedly passed cases fail.

    Raises ``ParaplyError`` for an unknown class, command or case, and unreadable logs.
    """
    is_tracker = isinstance(applier, type) and issubclass(applier, TrackingRule)
    role = Role.TRACKER if is_tracker else Role.APPLIER
    names = tuple(cases)
    if logs:
        chosen, _ = cases_of_logs(own_logs(logs, schema), names, role=role)
    else:
        chosen = cases_named(list(names), role)
    expected: Mapping[str, ExpectedFailure] = {}
    if expected_failures is not None:
        expected = read_expected_failures(Path(expected_failures), suite())
    words = _words(applier)
    if is_tracker:
        words = tracker_host_command(words, timeout=timeout)
    with CommandLauncher(words, timeout=timeout) as launcher:
        conformance = Conformance(launcher, schedules=schedules, seed=seed, role=role)
        met = conformance.meet()
        results = [] if met.fault else conformance.run_all(chosen)
    return ConformReport(
        verdict=Verdict.VIOLATED
        if met.fault
        else verdict_of_results(results, expected, strict=strict),
        applier=met.name,
        fault=met.fault,
        cases=tuple(_case(result, expected) for result in results),
    )


def _case(result: CaseResult, expected: Mapping[str, ExpectedFailure]) -> ConformedCase:
    return ConformedCase(
        id=result.case.id,
        fact=result.case.fact,
        result=result.result.value,
        reason=result.reason,
        is_expected=result.case.id in expected,
    )


def _words(applier: type[Rule | TrackingRule] | str | Sequence[str]) -> list[str]:
    if isinstance(applier, str):
        return host_command(applier)
    if not isinstance(applier, type):
        return list(applier)
    try:
        file = inspect.getsourcefile(applier)
    except (OSError, TypeError):
        file = None
    if file is None or not Path(file).is_file() or "." in applier.__qualname__:
        reason = f"{applier.__qualname__} is no class at the top level of a file"
        raise ParaplyError(NO_SUCH_CLASS, where=applier.__module__, reason=reason)
    return host_command(f"{file}:{applier.__qualname__}")
