"""Bounded lists of findings, and counters of repeated ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import LintFinding, TransactionRef
from paraply.vocabulary.counting import Counted
from paraply.vocabulary.log import LoggedTransaction

VIOLATION = "violation"
WARNING = "warning"
NOTE = "note"


def _every(txn: LoggedTransaction) -> bool:
    return True


@dataclass(slots=True)
class Findings:
    """Findings in order; past ``listed_max`` only counted."""

    listed_max: int
    is_judged: Callable[[LoggedTransaction], bool] = _every
    """Findings at others are dropped."""
    listed: list[LintFinding] = field(default_factory=list)
    dropped: int = 0
    violations: int = 0

    def add(
        self,
        rule: str,
        severity: str,
        message: str,
        txn: LoggedTransaction,
        *others: TransactionRef,
    ) -> None:
        """Add a finding with earlier ``others``."""
        if not self.is_judged(txn):
            return
        if severity == VIOLATION:
            self.violations += 1
        if len(self.listed) >= self.listed_max:
            self.dropped += 1
            return
        self.listed.append(
            LintFinding(
                rule=rule,
                severity=severity,
                message=message,
                file=txn.start.file,
                offset=txn.start.offset,
                transactions=(*others, get_reference(txn)),
            )
        )


@dataclass(slots=True)
class Tally:
    """A count, with its first occurrence."""

    rule: str
    severity: str
    message: str
    """Text with count ``{count:gap|gaps}`` and sum ``{amount:...|...}``."""
    count: int = 0
    amount: int = 0
    first: TransactionRef | None = None
    is_judged: Callable[[LoggedTransaction], bool] = _every
    """Occurrences at others do not count."""

    def note(self, txn: LoggedTransaction, amount: int = 1) -> None:
        """Count one occurrence at ``txn``."""
        if not self.is_judged(txn):
            return
        if self.first is None:
            self.first = get_reference(txn)
        self.count += 1
        self.amount += amount

    def finding(self) -> LintFinding | None:
        """Return one summary finding, if any."""
        if self.first is None:
            return None
        return LintFinding(
            rule=self.rule,
            severity=self.severity,
            message=self.message.format(count=Counted(self.count), amount=Counted(self.amount)),
            file=self.first.file,
            offset=self.first.offset,
            transactions=(self.first,),
        )
