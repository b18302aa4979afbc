"""Group failures by cause: the broken property and the kind of its first violation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum

from paraply.conforming.suite import CaseResult, Result
from paraply.properties.registry import Violation

_VALUES_BEGIN = re.compile(r"[:({\[]")
_NUMBER = re.compile(r"-?\d[\d,.]*")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Cause:
    """A broken property and the kind of violation; a fault has no property."""

    prop: str
    kind: str

    @property
    def title(self) -> str:
        """Return both in one line."""
        return f"{self.prop} ({self.kind})" if self.prop else self.kind


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """The failures with one cause, smallest run first."""

    cause: Cause
    failures: tuple[CaseResult, ...]

    @property
    def smallest(self) -> CaseResult:
        """Return the failure with the smallest run."""
        return self.failures[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the case ids, sorted."""
        return tuple(sorted(one.case.id for one in self.failures))


def cause_of(failure: CaseResult) -> Cause:
    """Return why a case failed."""
    breach = failure.breach
    if breach is not None:
        return Cause(breach.prop.name, kind_of_violation(breach.violations[0]))
    return Cause("", failure.kind or kind_of_fault(failure.reason))


def groups_by_cause(results: Iterable[CaseResult]) -> list[CauseGroup]:
    """Return the failures by cause, the most frequent first."""
    found: dict[Cause, list[CaseResult]] = {}
    for result in results:
        if result.result is Result.FAIL:
            found.setdefault(cause_of(result), []).append(result)
    groups = [CauseGroup(cause, tuple(sorted(ones, key=_size))) for cause, ones in found.items()]
    return sorted(groups, key=lambda group: (-len(group.failures), group.ids[0]))


def kind_of_violation(violation: Violation) -> str:
    """Return the class name as words, with the values of its enums."""
    words = _WORD.sub(" ", type(violation).__name__).lower()
    values = [getattr(violation, one.name) for one in fields(violation)]  # type: ignore[arg-type]
    kinds = [str(value.value).replace("_", " ") for value in values if isinstance(value, Enum)]
    return ", ".join([words, *kinds])


def kind_of_fault(reason: str) -> str:
    """Return the reason without numbers and what follows the first colon or bracket."""
    return _NUMBER.sub("N", _VALUES_BEGIN.split(reason)[0]).strip() or reason


def _size(failure: CaseResult) -> tuple[int, int, str]:
    if failure.breach is None:
        return len(failure.notes), len(failure.reason), failure.case.id
    history = failure.breach.history
    return len(history.transactions), len(history.events), failure.case.id
