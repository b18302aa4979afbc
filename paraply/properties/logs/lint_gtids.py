"""Lint of GTIDs: unique and in order.

MySQL numbers per ``uuid`` or ``uuid:tag`` in flush order, except replicas without commit order and
groups with number blocks. MariaDB replicas rely on order per domain (``gtid_strict_mode``). Holes
are legal; replicas skip duplicates.
"""

from __future__ import annotations

from bisect import bisect_right

from paraply.properties.logs.lint_findings import NOTE, VIOLATION, WARNING, Findings, Tally
from paraply.vocabulary.audit_result import Reason
from paraply.vocabulary.log import LoggedTransaction

INTERVALS_MAX = 200_000
"""Limit of intervals, one per origin and hole; the oldest origin's first are dropped."""
ORIGINS_MAX = 10_000


class _SeenNumbers:
    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.highest = 0
        self.forgotten_up_to = 0

    def add(self, number: int) -> bool:
        starts, ends = self._starts, self._ends
        at = bisect_right(starts, number) - 1
        self.highest = max(self.highest, number)
        if at >= 0 and number <= ends[at]:
            return True
        joins_left = at >= 0 and ends[at] == number - 1
        joins_right = at + 1 < len(starts) and starts[at + 1] == number + 1
        if joins_left and joins_right:
            ends[at] = ends.pop(at + 1)
            del starts[at + 1]
        elif joins_left:
            ends[at] = number
        elif joins_right:
            starts[at + 1] = number
        else:
            starts.insert(at + 1, number)
            ends.insert(at + 1, number)
        return False

    def may_run_to(self, number: int, last: int) -> bool:
        """Return whether ``number`` is the highest, and ``last`` may follow without a hole."""
        return bool(self._ends) and self.highest == self._ends[-1] == number <= last

    def run_to(self, last: int) -> None:
        """Add the numbers after the highest, up to ``last``."""
        self._ends[-1] = self.highest = last

    def forget_lowest_half(self) -> None:
        half = max(1, len(self._starts) // 2)
        self.forgotten_up_to = self._ends[half - 1]
        del self._starts[:half], self._ends[:half]

    def __len__(self) -> int:
        return len(self._starts)


class GtidLint:
    """Checks one log's GTIDs."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._numbers: dict[str, _SeenNumbers] = {}
        self._intervals = 0
        self._highest_of_domain: dict[int, tuple[int, str]] = {}
        self._unsure = 0
        self._named = False
        self.out_of_order = Tally(
            "gtids_are_in_order",
            NOTE,
            "{count:transaction has|transactions have} a smaller number than one before of the "
            "same origin: legal for a replica without commit order and for group replication's "
            "blocks, not for the source's own log",
        )
        self.anonymous = Tally(
            "every_transaction_has_a_gtid",
            NOTE,
            "{count:anonymous transaction|anonymous transactions} in a log that has GTIDs",
        )
        self.tallies = (self.out_of_order, self.anonymous)

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction."""
        if not txn.gtid:
            if self._named:
                self.anonymous.note(txn)
            return
        self._named = True
        if txn.domain is not None:
            self._observe_mariadb(txn)
        else:
            origin, _, number = txn.gtid.rpartition(":")
            if origin and number.isdecimal():
                self._observe_mysql(txn, origin, int(number))

    def _observe_mysql(self, txn: LoggedTransaction, origin: str, number: int) -> None:
        before = self._numbers.get(origin)
        backwards = before is not None and number < before.highest
        if self._is_repeated(txn, origin, number):
            return
        if backwards:
            self.out_of_order.note(txn)

    def _observe_mariadb(self, txn: LoggedTransaction) -> None:
        domain, _, rest = txn.gtid.partition("-")
        server, _, number_text = rest.partition("-")
        if not number_text.isdecimal() or not domain.isdecimal():
            return
        number = int(number_text)
        if self._is_repeated(txn, f"{domain}-{server}", number):
            return
        highest, holder = self._highest_of_domain.pop(int(domain), (0, ""))
        if number < highest:
            self._findings.add(
                "gtids_are_in_order",
                WARNING,
                f"{txn.gtid} follows {holder} in its domain: replicas go back to it as their "
                "position, and gtid_strict_mode refuses it",
                txn,
            )
        elif number == highest:
            self._findings.add(
                "gtids_are_in_order",
                WARNING,
                f"{txn.gtid} has the number of {holder}: two servers wrote to one domain, and a "
                "replica that has one may skip the other",
                txn,
            )
        if number >= highest:
            highest, holder = number, txn.gtid
        if len(self._highest_of_domain) >= ORIGINS_MAX:
            del self._highest_of_domain[next(iter(self._highest_of_domain))]
        self._highest_of_domain[int(domain)] = (highest, holder)

    def _is_repeated(self, txn: LoggedTransaction, origin: str, number: int) -> bool:
        numbers = self._numbers.pop(origin, None)
        if numbers is None:
            numbers = _SeenNumbers()
            if len(self._numbers) >= ORIGINS_MAX:
                oldest = next(iter(self._numbers))
                self._intervals -= len(self._numbers.pop(oldest))
                self._unsure += 1
        self._numbers[origin] = numbers  # Last in order: the most recently used.
        size = len(numbers)
        if number <= numbers.forgotten_up_to:
            self._unsure += 1
        repeated = numbers.add(number)
        self._intervals += len(numbers) - size
        if repeated:
            self._findings.add(
                "gtids_are_unique",
                VIOLATION,
                f"{txn.gtid} is in the log twice: replicas skip the second, so either a file was "
                "given twice or its changes are lost",
                txn,
            )
        if self._intervals > INTERVALS_MAX:
            size = len(numbers)
            numbers.forget_lowest_half()
            self._intervals -= size - len(numbers)
        return repeated

    def reasons(self) -> list[Reason]:
        """Return why uniqueness is unknown."""
        if not self._unsure:
            return []
        return [
            Reason(
                property="gtids_are_unique",
                reason=f"{self._unsure} GTIDs could not be compared with all before them: the "
                "numbers are too scattered to remember",
                remedy="audit fewer files at once",
            )
        ]
