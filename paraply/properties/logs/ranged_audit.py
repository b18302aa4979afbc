"""The audit of a part of a log, with the knowledge of the rest.

Transactions that are passed over still move the clocks, the commit groups, the GTIDs and the rows.
So a finding of the part is a finding of the whole log whose transactions all lie in the part.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.overlap_rules import LANES_MAX, OverlapRule, Place
from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import LoggedTransaction


class RuleWithin:
    """An overlap rule that counts overlaps among judged transactions.

    In each lane these follow each other, so the latest ones of a run are judged.
    """

    def __init__(self, rule: OverlapRule) -> None:
        self._rule = rule
        self._judged: dict[int, tuple[int, int]] = {}
        """Run and judged transactions in it, by lane."""

    @property
    def name(self) -> str:
        """The applier's name in reports."""
        return self._rule.name

    @property
    def lanes_forgotten(self) -> int:
        """Lanes forgotten while possibly in use."""
        return self._rule.lanes_forgotten

    def place(self, txn: LoggedTransaction) -> Place:
        """Return the place of a judged transaction."""
        place = self._rule.place(txn)
        run, judged = self._judged.pop(place.lane, (place.run, 0))
        if run != place.run:
            judged = 0
        if len(self._judged) >= LANES_MAX:
            del self._judged[next(iter(self._judged))]
        self._judged[place.lane] = (place.run, judged + 1)
        return replace(place, allowed=min(place.allowed, judged))

    def pass_over(self, txn: LoggedTransaction) -> None:
        """Let an unjudged transaction take its place."""
        self._rule.place(txn)


class RangedAuditor(Auditor):
    """Judges some transactions, and follows the others.

    In each MariaDB domain, and in a log without domains, the judged ones must follow each other.
    """

    def __init__(self, row_keys: RowKeys, options: AuditOptions | None = None) -> None:
        super().__init__(row_keys, options)
        self._rules = [RuleWithin(rule) for rule in self._safety._rules]
        self._safety._rules = self._rules
        # The lint reports at the current transaction or the one before.
        self._latest_judged: deque[int] = deque(maxlen=2)
        self._lint.judge_only(lambda txn: txn.ordinal in self._latest_judged)

    def observe(self, txn: LoggedTransaction) -> None:
        """Judge the next transaction."""
        self._latest_judged.append(txn.ordinal)
        super().observe(txn)

    def pass_over(self, txn: LoggedTransaction, *, follow_rows: bool) -> None:
        """Follow an unjudged transaction."""
        self._lint.observe(txn)
        if not txn.complete:
            return
        for rule in self._rules:
            rule.pass_over(txn)
        self._parallelism.pass_over(txn)
        if follow_rows:
            self._replay.pass_over(txn)
