"""Lint of logical timestamps (last_committed LC, sequence_number SN).

Sources: MySQL's ``Mts_submode_logical_clock::schedule_next_event`` (ER_RPL_INCONSISTENT_TIMESTAMPS,
ER_RPL_INCONSISTENT_SEQUENCE_NO, ER_MTS_CANT_PARALLEL in 5.7) and ``rpl_trx_tracking.cc`` (source
side).
"""

from __future__ import annotations

from paraply.properties.logs.lint_findings import NOTE, VIOLATION, WARNING, Findings, Tally
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.log import LoggedKind, LoggedTransaction


class ClockLint:
    """Checks one log's timestamps."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._clock: int | None = None
        self._first = 0
        self._last = 0
        self._last_ref: TransactionRef | None = None
        self._stamped = False
        self.gaps = Tally(
            "sequence_numbers_are_contiguous",
            NOTE,
            "{count:gap|gaps}, {amount:number|numbers} missing: a filtered stream or numbers the "
            "source burned; MySQL's scheduler drains its workers at each",
        )
        self.zero_parents = Tally(
            "last_committed_names_a_parent",
            NOTE,
            "{count:transaction|transactions} after the first of a file with last_committed=0: "
            "MySQL's scheduler drains its workers before each, a scheduler that only compares "
            "numbers starts them at once",
        )
        self.zero_stamps = Tally(
            "zero_timestamps_mark_view_changes",
            NOTE,
            "{count:transaction that is|transactions that are} no view change, with (0, 0): the "
            "marker that group replication writes first to a relay log; every applier must run "
            "them alone",
        )
        self.late_starts = Tally(
            "log_begins_with_its_clock",
            NOTE,
            "{count:clock run begins|clock runs begin} past sequence_number 1: the beginning of "
            "the log is not among the input",
        )
        self.unseen_parents = Tally(
            "parents_are_in_the_log",
            NOTE,
            "{count:transaction depends|transactions depend} on one before the first that was "
            "read: nothing shows that the dependency is right",
        )
        self.half_stamped = Tally(
            "every_transaction_is_stamped",
            WARNING,
            "{count:transaction has|transactions have} no logical timestamp in a log whose others "
            "have one; an applier must run these alone",
        )
        self.tallies = (
            self.gaps,
            self.zero_parents,
            self.zero_stamps,
            self.late_starts,
            self.unseen_parents,
            self.half_stamped,
        )

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction."""
        if txn.clock != self._clock:
            # Rotation and restart begin a new clock; that is no fault.
            self._clock = txn.clock
            self._restart()
        last_committed, sequence_number = txn.last_committed, txn.sequence_number
        if last_committed is None or sequence_number is None:
            if self._stamped and txn.kind is not LoggedKind.INCIDENT:
                self.half_stamped.note(txn)
            return
        self._stamped = True
        if last_committed == 0 and sequence_number == 0:
            self._check_zero(txn)
            self._restart()
            return
        if txn.kind is LoggedKind.VIEW_CHANGE:
            self._findings.add(
                "view_changes_are_alone",
                WARNING,
                f"a view change has ({last_committed}, {sequence_number}) instead of (0, 0), so it "
                "may be applied beside other transactions",
                txn,
            )
        if last_committed < 0 or sequence_number <= 0 or last_committed >= sequence_number:
            self._findings.add(
                "last_committed_is_below_sequence_number",
                VIOLATION,
                f"last_committed={last_committed} is not below sequence_number={sequence_number}: "
                "the transaction would wait for itself; MySQL 8.0 replaces the timestamp by "
                "(0, 0), 5.7 stops",
                txn,
            )
        self._check_order(txn, last_committed, sequence_number)

    def _check_zero(self, txn: LoggedTransaction) -> None:
        if txn.kind is not LoggedKind.VIEW_CHANGE:
            self.zero_stamps.note(txn)

    def _check_order(self, txn: LoggedTransaction, last_committed: int, number: int) -> None:
        last = self._last
        if last == 0:
            self._first = number
            if number > 1:
                self.late_starts.note(txn)
        elif number <= last:
            self._report_backwards(txn, number)
            # What follows is compared with the new number: a merged file is one finding.
            self._first = number
        elif number > last + 1:
            self.gaps.note(txn, number - last - 1)
        if last and last_committed == 0 and number > last:
            self.zero_parents.note(txn)
        elif 0 < last_committed < self._first - 1:
            self.unseen_parents.note(txn)
        self._last = max(number, 0)
        self._last_ref = get_reference(txn)

    def _report_backwards(self, txn: LoggedTransaction, number: int) -> None:
        restarted = number == 1 or txn.last_committed == 0
        others = (self._last_ref,) if self._last_ref is not None else ()
        if restarted:
            self._findings.add(
                "clock_restarts_only_at_rotation",
                VIOLATION,
                f"sequence_number restarts at {number} after {self._last} with no rotation between "
                "them: the file was merged or rewritten, and dependencies across the seam are lost",
                txn,
                *others,
            )
        else:
            self._findings.add(
                "sequence_number_increases",
                VIOLATION,
                f"sequence_number={number} follows {self._last}: MySQL 8.0 warns and drains its "
                "workers, 5.7 stops, and other appliers may take the transaction for done",
                txn,
                *others,
            )

    def _restart(self) -> None:
        self._first = self._last = 0
        self._last_ref = None
