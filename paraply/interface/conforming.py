"""``paraply.conform``: run the conformance suite against an applier."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.conformance.cases import Case, cases_named, suite
from paraply.adapters.conformance.host import NO_SUCH_CLASS, host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.own_logs.cases import (
    SLICE_TRANSACTIONS,
    UNKNOWN_OWN_CASE,
    OwnCases,
    own_cases,
    size_of_id,
)
from paraply.adapters.conformance.own_logs.reading import OwnLogs, is_history
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.rules.rule import Rule
from paraply.adapters.conformance.rules.trackers import TrackingRule
from paraply.adapters.conformance.tracker_host import tracker_host_command
from paraply.auditing.input_files import STANDARD_INPUT, open_inputs
from paraply.conforming.expected_failures import (
    ExpectedFailure,
    read_expected_failures,
    verdict_of_results,
)
from paraply.conforming.suite import SCHEDULES, CaseResult, Conformance
from paraply.errors import USAGE
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


def own_logs(files: Sequence[str | Path], schema: str | Path | None = None) -> OwnLogs:
    """Return a user's logs, to make cases of; raises ``ParaplyError`` for unreadable ones."""
    names = tuple(map(str, files))
    if STANDARD_INPUT in names:
        reason = "--log reads files more than once: standard input is none"
        raise ParaplyError(USAGE, reason=reason, command="paraply conform")
    inputs = open_inputs([name for name in names if not is_history(name)])
    return OwnLogs(
        files=names, is_text=inputs.is_text, schema=None if schema is None else str(schema)
    )


def cases_of_logs(
    logs: OwnLogs,
    names: Sequence[str] = (),
    *,
    role: Role = Role.APPLIER,
    size: int = SLICE_TRANSACTIONS,
    keep_values: bool = False,
) -> tuple[tuple[Case, ...], tuple[OwnCases, ...]]:
    """Return the cases of logs with these ids or beginnings, and what became of the logs.

    An id names its own slice length; else it is ``size``. Raises ``ParaplyError`` without a case.
    """
    sizes = dict.fromkeys(size_of_id(name) or size for name in names)
    made = tuple(
        own_cases(logs, each, keep_values=keep_values, named=tuple(names))
        for each in sizes or (size,)
    )
    cases = tuple(case for one in made for case in one.cases if is_for(case, role))
    for name in names:
        if not any(case.id.startswith(name) for case in cases):
            raise ParaplyError(UNKNOWN_OWN_CASE, where=", ".join(logs.files), name=name)
    if not cases:
        reason = "no slice of the log can show what a tracker does"
        raise ParaplyError(USAGE, reason=reason, command="paraply conform")
    return cases, made


def is_for(case: Case, role: Role) -> bool:
    """Return whether a case is for programs of this role."""
    return role is Role.APPLIER or case.is_for_trackers


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
