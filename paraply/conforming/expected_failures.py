"""Expected failures, each with a reason and link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.conformance.cases.case import Case
from paraply.conforming.suite import CaseResult, Result
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import read_toml
from paraply.vocabulary.verdict import Verdict, combine

UNREADABLE_EXPECTED_FAILURES = register(
    "P340",
    "the expected failures cannot be read: {reason}",
    "write one [[expected]] table for each case, with case, reason and link, as "
    "docs/write-an-adapter.md shows",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFailure:
    """A case's expected failure."""

    case: str
    reason: str
    link: str


def read_expected_failures(path: Path, cases: Sequence[Case]) -> dict[str, ExpectedFailure]:
    """Return expected failures by case; P340 for invalid entries."""
    try:
        document = read_toml(path)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except ValueError as error:
        raise _unreadable(path, str(error)) from None
    unknown = set(document) - {"expected"}
    entries = document.get("expected", [])
    if unknown or not isinstance(entries, list):
        raise _unreadable(path, f"there is {', '.join(sorted(unknown)) or 'no list'} in it")
    known = {case.id for case in cases}
    found: dict[str, ExpectedFailure] = {}
    for number, entry in enumerate(entries, start=1):
        for name in ("case", "reason", "link"):
            if not isinstance(entry, dict) or not str(entry.get(name, "")).strip():
                raise _unreadable(path, f"entry {number} has no {name}")
        if entry["case"] not in known:
            raise _unreadable(path, f"entry {number}: there is no case {entry['case']}")
        found[entry["case"]] = ExpectedFailure(
            case=entry["case"], reason=entry["reason"], link=entry["link"]
        )
    return found


def verdict_of_results(
    results: Sequence[CaseResult], expected: Mapping[str, ExpectedFailure], *, strict: bool
) -> Verdict:
    """Return the gravest unexpected verdict; UNKNOWN if undecided."""
    verdicts = []
    for result in results:
        is_known = result.case.id in expected
        verdict = result.result.verdict
        if result.result is Result.FAIL and is_known:
            verdict = Verdict.HOLDS
        elif strict and (is_known or result.result not in (Result.PASS, Result.SLOW)):
            verdict = Verdict.VIOLATED
        if verdict is not None:
            verdicts.append(verdict)
    return combine(verdicts)


def _unreadable(path: Path, reason: str) -> ParaplyError:
    return ParaplyError(UNREADABLE_EXPECTED_FAILURES, where=str(path), reason=reason)
