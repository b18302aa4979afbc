"""Correct rules with one fault each, from real systems.

``case`` must catch it; only cases of ``families`` may catch it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraply.adapters.conformance.rules.correct import LogicalClock
from paraply.adapters.conformance.rules.faulty_keys import (
    AfterImagesOnly,
    GroupsByTable,
    KeylessBesideKeyed,
    KeylessIsFree,
    KeysWithoutNames,
    KeysWithoutTables,
    LowersCase,
    NetChange,
    NoCascades,
    NoPadding,
    NoParents,
    PrimaryKeyOnly,
    RawBytes,
    SchemaChangeIsNoBarrier,
    SiblingsConflict,
    SortsRows,
    StopsAtUnknownCollation,
    WholeValues,
)
from paraply.adapters.conformance.rules.rule import Init, Rule, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A faulty applier and its cases."""

    rule: type[Rule]
    case: str
    families: str
    source: str

    @property
    def name(self) -> str:
        """Return the rule's name."""
        return self.rule.name

    @property
    def what(self) -> str:
        """Return the fault in one line."""
        return (self.rule.__doc__ or "").strip().splitlines()[0]


class StaleLowWaterMark(LogicalClock):
    """Keeps the old file's low-water mark when sequence numbers restart."""

    name = "stale_low_water_mark"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.mark = 0

    def place(self, transaction: Transaction) -> int | None:
        """Accept everything that the mark covers."""
        if transaction.lc <= self.mark:
            return self.free_worker()
        return super().place(transaction)

    def on_committed(self, transaction: Transaction) -> None:
        """Raise the mark only."""
        if not any(other.sn < transaction.sn for other in self.running):
            self.mark = max(self.mark, transaction.sn)


class NoFenceAtRotation(LogicalClock):
    """Begins the new file before the old one ends."""

    name = "no_fence_at_rotation"

    def place(self, transaction: Transaction) -> int | None:
        """Compare numbers inside one file only."""
        if any(o.file == transaction.file and o.sn <= transaction.lc for o in self.running):
            return None
        return self.free_worker()


class FallingNumbers(LogicalClock):
    """Detects a new file only by a falling number."""

    name = "falling_numbers"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.last = 0
        self.own_file = 0

    def on_received(self, transaction: Transaction) -> None:
        """Count files by numbers that fall."""
        self.own_file += transaction.sn < self.last
        self.last = transaction.sn
        transaction.file = self.own_file


class RepeatsTheRest(LogicalClock):
    """Resumes at the failed row after a deadlock."""

    name = "repeats_the_rest"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.tried: set[int] = set()

    def retries(self, errno: int) -> bool:
        """Remember the running transactions."""
        self.tried |= {one.id for one in self.running}
        return super().retries(errno)

    def rows_of(self, transaction: Transaction) -> Sequence[int]:
        """Omit a retry's first row."""
        rows = range(len(transaction.rows))
        return rows[1:] if transaction.id in self.tried and len(rows) > 1 else rows


class SkipsEmptyTurns(LogicalClock):
    """Commits empty transactions out of order."""

    name = "skips_empty_turns"

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Wait only with rows."""
        is_empty = transaction.kind == "rows" and not transaction.rows
        return is_empty or super().may_commit(transaction, order)


class WaitsForOneNumber(LogicalClock):
    """Waits for the number last_committed alone, not for lower ones."""

    name = "waits_for_one_number"

    def place(self, transaction: Transaction) -> int | None:
        """Look at one number."""
        if any(o.file != transaction.file or o.sn == transaction.lc for o in self.running):
            return None
        return self.free_worker()


class GapFreeMark(LogicalClock):
    """Waits for all numbers up to last_committed, filtered ones included."""

    name = "gap_free_mark"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.done: set[int] = set()
        self.file = 1

    def place(self, transaction: Transaction) -> int | None:
        """Count from 1 without a gap."""
        if transaction.file != self.file:
            if self.running:
                return None
            self.file, self.done = transaction.file, set()
        if not self.done.issuperset(range(1, min(transaction.lc, 100) + 1)):
            return None
        return super().place(transaction)

    def on_committed(self, transaction: Transaction) -> None:
        """Tick the number off."""
        if transaction.file == self.file:
            self.done.add(transaction.sn)


class ThirtyTwoBits(LogicalClock):
    """Keeps sequence numbers in 32 bits."""

    name = "thirty_two_bits"

    def place(self, transaction: Transaction) -> int | None:
        """Compare truncated numbers."""
        for other in self.running:
            same_file = other.file == transaction.file
            if not same_file or other.sn % 2**32 <= transaction.lc % 2**32:
                return None
        return self.free_worker()


class ReplacesByInsert(LogicalClock):
    """Compacts DELETE and INSERT of a key into INSERT."""

    name = "replaces_by_insert"

    def rows_of(self, transaction: Transaction) -> Sequence[int]:
        """Omit deletes before inserts."""
        rows = transaction.rows
        return [
            at
            for at, row in enumerate(rows)
            if not (
                row["op"] == "D"
                and any(
                    later["op"] == "I"
                    and later["table"] == row["table"]
                    and later["after"][0] == row["before"][0]
                    for later in rows[at + 1 :]
                )
            )
        ]


class CutsLongTransactions(LogicalClock):
    """Applies at most six rows of a transaction."""

    name = "cuts_long_transactions"

    def rows_of(self, transaction: Transaction) -> Sequence[int]:
        """Return the first six rows."""
        return range(min(6, len(transaction.rows)))


class DropsEmptyTransactions(LogicalClock):
    """Skips empty transactions and their GTIDs."""

    name = "drops_empty_transactions"

    def drops(self, transaction: Transaction) -> bool:
        """Drop empty transactions."""
        return transaction.kind == "rows" and not transaction.rows


class ForgetsTheTurn(LogicalClock):
    """Loses the turn in commit order on a retry."""

    name = "forgets_the_turn"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.has_retried = False

    def retries(self, errno: int) -> bool:
        """Remember the retry."""
        self.has_retried = True
        return super().retries(errno)

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Wait for a passed turn."""
        return not (self.has_retried and self.commit_order) and super().may_commit(
            transaction, order
        )


class NeverRetries(LogicalClock):
    """Gives up at the first deadlock."""

    name = "never_retries"

    def retries(self, errno: int) -> bool:
        """Treat every error as final."""
        return False


class CommitsAsItComes(LogicalClock):
    """Accepts the commit-order option and ignores it."""

    name = "commits_as_it_comes"

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Never wait."""
        return True


class CheckpointAhead(LogicalClock):
    """Saves the received position, not the committed one."""

    name = "checkpoint_ahead"

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save everything received."""
        return last_received


class AppliesAgain(LogicalClock):
    """Applies everything after the last position twice."""

    name = "applies_again"

    def resumes_at(self, resume: Mapping[str, Any]) -> set[int]:
        """Use the position alone."""
        return set()

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save no position."""
        return None


class TakesGapsForDone(LogicalClock):
    """Treats gaps below the newest commit as committed."""

    name = "takes_gaps_for_done"

    def resumes_at(self, resume: Mapping[str, Any]) -> set[int]:
        """Fill the gaps."""
        return set(range(1, max(resume["executed"], default=0) + 1))


FAULTS = (
    Fault(rule=StaleLowWaterMark, case="A-rotation-01", families="ACKLMO", source="gh-ost PR 1454"),
    Fault(rule=NoFenceAtRotation, case="A-rotation-02", families="ACKLMO", source="WL#7165"),
    Fault(rule=FallingNumbers, case="A-rotation-07", families="ACO", source="gh-ost PR 1692"),
    Fault(rule=RepeatsTheRest, case="L-retry-09", families="LO", source="error 1213 rolls back"),
    Fault(rule=SkipsEmptyTurns, case="L-empty-10", families="L", source="GTID_NEXT"),
    Fault(rule=LowersCase, case="D-collation-09", families="D", source="tiflow issue 9489"),
    Fault(rule=GroupsByTable, case="F-order-09", families="DEFGHIJLMO", source="tiflow 9430"),
    Fault(rule=WaitsForOneNumber, case="B-prefix-01", families="*", source="gh-ost PR 1454"),
    Fault(rule=GapFreeMark, case="C-sparse-01", families="*", source="gh-ost PR 1692"),
    Fault(rule=ThirtyTwoBits, case="C-sparse-04", families="C", source="MySQL bug 103636"),
    Fault(rule=RawBytes, case="D-collation-01", families="D", source="tiflow issue 9489"),
    Fault(rule=NoPadding, case="D-collation-03", families="D", source="aws pgactive issue 327"),
    Fault(rule=PrimaryKeyOnly, case="E-unique-01", families="DEIJKLMO", source="MySQL bug 86078"),
    Fault(rule=NetChange, case="E-unique-03", families="EIJO", source="Percona PXC-3729"),
    Fault(rule=WholeValues, case="E-unique-04", families="E", source="MySQL bug 111027"),
    Fault(rule=NoParents, case="F-parent-01", families="FGO", source="dtle issue 795"),
    Fault(rule=NoCascades, case="G-cascade-01", families="G", source="Percona PXC-3449"),
    Fault(rule=KeylessIsFree, case="H-keyless-01", families="H", source="dtle as restated"),
    Fault(rule=KeylessBesideKeyed, case="H-keyless-02", families="H", source="dtle as restated"),
    Fault(rule=AfterImagesOnly, case="I-move-01", families="DEFGIJKLMO", source="tiflow 10918"),
    Fault(rule=SortsRows, case="I-move-03", families="DEFGHIJLMO", source="tiflow issue 9430"),
    Fault(rule=ReplacesByInsert, case="J-compact-02", families="IJO", source="tiflow PR 3218"),
    Fault(rule=CutsLongTransactions, case="J-whole-01", families="GJLO", source="otter issue 106"),
    Fault(rule=SchemaChangeIsNoBarrier, case="K-ddl-01", families="KALM", source="maxwell 804"),
    Fault(rule=DropsEmptyTransactions, case="K-empty-08", families="KL", source="GTID_NEXT"),
    Fault(rule=ForgetsTheTurn, case="L-retry-06", families="LO", source="MySQL bug 89247"),
    Fault(rule=NeverRetries, case="L-retry-05", families="LO", source="gh-ost PR 1665"),
    Fault(rule=CommitsAsItComes, case="L-order-02", families="LMO", source="pgsql-hackers"),
    Fault(rule=CheckpointAhead, case="M-position-06", families="MO", source="maxwell issue 2016"),
    Fault(rule=AppliesAgain, case="M-crash-02", families="MO", source="WL#4648, recovery"),
    Fault(rule=TakesGapsForDone, case="M-crash-02", families="MO", source="MySQL manual, gaps"),
    Fault(rule=KeysWithoutNames, case="N-parallel-02", families="N", source="dm issue 2035"),
    Fault(rule=KeysWithoutTables, case="N-parallel-03", families="N", source="dm issue 2035"),
    Fault(rule=SiblingsConflict, case="F-siblings-07", families="F", source="MySQL bug 110071"),
    Fault(
        rule=StopsAtUnknownCollation,
        case="N-fallback-05",
        families="N",
        source="Vitess PR 19535",
    ),
)
