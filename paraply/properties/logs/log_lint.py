"""Lint of a log's metadata in one pass.

No server writes a violation; a warning needs a reason. Only violations change the verdict.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Protocol

from paraply.properties.logs.lint_clock import ClockLint
from paraply.properties.logs.lint_findings import NOTE, VIOLATION, WARNING, Findings, Tally
from paraply.properties.logs.lint_gtids import GtidLint
from paraply.properties.logs.overlap_rules import get_commit_group
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import LintFinding, Reason, TransactionRef
from paraply.vocabulary.log import LoggedKind, LoggedTransaction

LINT_MAX = 1_000
CLOSED_GROUPS_MAX = 10_000
"""Ids do not recur within a run."""
CLOCK_SKEW_S = 60


class KeptHeaders(Protocol):
    """What is kept of transactions, to name few of them later."""

    def __len__(self) -> int: ...

    def header(self, at: int) -> LoggedTransaction:
        """Return one without rows and keys."""
        ...


class CommitGroupLint:
    """Checks contiguous commit groups, and counts sizes."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._group: tuple[int, int] | None = None
        self._size = 0
        self._previous: TransactionRef | None = None
        self._closed: OrderedDict[tuple[int, int], TransactionRef | tuple[KeptHeaders, int]] = (
            OrderedDict()
        )
        self._sizes: dict[int, int] = {}
        self.single_members = Tally(
            "commit_ids_are_shared",
            NOTE,
            "{count:commit group has|commit groups have} an id but one member: MariaDB writes an "
            "id only for two or more, so members were filtered out",
        )
        self._single: LoggedTransaction | None = None

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction."""
        group = get_commit_group(txn)
        counts = int(self._findings.is_judged(txn))
        if group is not None and group == self._group:
            self._size += counts
            self._single = None
        else:
            self._close()
            self._group, self._size = group, counts
            self._single = txn if txn.commit_id is not None else None
            if txn.commit_id is not None and group is not None and group in self._closed:
                self._findings.add(
                    "commit_groups_are_contiguous",
                    WARNING,
                    f"commit id {txn.commit_id} comes back after other transactions: the log was "
                    "merged or reordered; a conservative applier runs the two parts one after the "
                    "other, others may not",
                    txn,
                    self._last_of(group),
                )
        self._previous = get_reference(txn)

    def _close(self) -> None:
        if self._size:
            self._sizes[self._size] = self._sizes.get(self._size, 0) + 1
        if self._single is not None:
            self.single_members.note(self._single)
        if self._group is not None and self._previous is not None:
            self.note_closed([(self._group, self._previous)])

    def note_closed(
        self, groups: Iterable[tuple[tuple[int, int], TransactionRef | tuple[KeptHeaders, int]]]
    ) -> None:
        """Note groups that are over, each with its last member."""
        self._closed.update(groups)
        for _ in range(len(self._closed) - CLOSED_GROUPS_MAX):
            self._closed.popitem(last=False)

    def _last_of(self, group: tuple[int, int]) -> TransactionRef:
        last = self._closed[group]
        return last if isinstance(last, TransactionRef) else get_reference(last[0].header(last[1]))

    def sizes(self) -> dict[int, int]:
        """Return groups per size, including the open one."""
        sizes = dict(self._sizes)
        if self._size:
            sizes[self._size] = sizes.get(self._size, 0) + 1
        return dict(sorted(sizes.items()))


class LogLint:
    """Runs every rule on one log."""

    def __init__(self, listed_max: int = LINT_MAX) -> None:
        self.findings = Findings(listed_max)
        self._clock = ClockLint(self.findings)
        self._gtids = GtidLint(self.findings)
        self.groups = CommitGroupLint(self.findings)
        self._half: LoggedTransaction | None = None
        self.closing: LintFinding | None = None
        """Finding at a part-checked log's end."""
        self._servers: dict[int, None] = {}
        self._time_s = 0
        self._committed_at_us = 0
        self._statements = Tally(
            "changes_are_row_based",
            WARNING,
            "{count:transaction logs|transactions log} statements instead of rows: what they "
            "change cannot be audited, and dependency tracking by write sets falls back there",
        )
        self._incidents = Tally(
            "server_logged_no_incident",
            WARNING,
            "{count:incident|incidents}: the server lost events and says so; replicas stop there",
        )
        self._time_backwards = Tally(
            "time_moves_forward",
            NOTE,
            f"{{count:transaction begins|transactions begin}} more than {CLOCK_SKEW_S} s before "
            "one that the log has earlier: a clock was set back, a replica caught up, or files "
            "are out of order",
        )
        self._commit_backwards = Tally(
            "commit_times_move_forward",
            NOTE,
            f"{{count:transaction was|transactions were}} committed more than {CLOCK_SKEW_S} s "
            "before one that the log has earlier",
        )
        self._server_changes = Tally(
            "one_server_wrote_the_log",
            NOTE,
            "transactions of {amount:more server|more servers} are in the log: it is a replica's "
            "or a group's",
        )

    def observe(self, txn: LoggedTransaction) -> None:
        """Check the next transaction."""
        self._check_half(txn)
        self._gtids.observe(txn)
        self._clock.observe(txn)
        self.groups.observe(txn)
        if txn.kind is LoggedKind.STATEMENT:
            self._statements.note(txn)
        elif txn.kind is LoggedKind.INCIDENT:
            self._incidents.note(txn)
        self._check_origin(txn)

    def _check_half(self, txn: LoggedTransaction) -> None:
        half, self._half = self._half, None
        if half is not None:
            severity, text = self._judged_half(half, same_file=half.start.file == txn.start.file)
            self.findings.add("transactions_are_complete", severity, text, half)
        if not txn.complete:
            self._half = txn

    def _judged_half(self, half: LoggedTransaction, *, same_file: bool) -> tuple[str, str]:
        if half.lacks_beginning:
            if half.ordinal == 1:
                return WARNING, (
                    "the log begins inside the transaction, as a relay log may: name the file "
                    "before it, too"
                )
            return VIOLATION, "the transaction has no beginning"
        if same_file:
            return VIOLATION, (
                "the transaction has no end, yet the file goes on: an applier would apply half of "
                "it or hang"
            )
        return WARNING, (
            "the transaction has no end, as after a crash; the next file begins anew and it must "
            "not be applied"
        )

    def _check_origin(self, txn: LoggedTransaction) -> None:
        if txn.server_id not in self._servers and len(self._servers) < LINT_MAX:
            if self._servers:
                self._server_changes.note(txn)
            self._servers[txn.server_id] = None
        if txn.event_time_s:
            if txn.event_time_s < self._time_s - CLOCK_SKEW_S:
                self._time_backwards.note(txn)
            self._time_s = max(self._time_s, txn.event_time_s)
        if txn.committed_at_us:
            if txn.committed_at_us < self._committed_at_us - CLOCK_SKEW_S * 1_000_000:
                self._commit_backwards.note(txn)
            self._committed_at_us = max(self._committed_at_us, txn.committed_at_us)

    def results(self) -> list[LintFinding]:
        """Return single findings, then counted ones."""
        found = list(self.findings.listed)
        if self.closing is not None:
            found.append(self.closing)
        if self._half is not None:
            closing = Findings(1, self.findings.is_judged)
            closing.add(
                "transactions_are_complete",
                WARNING,
                "the log ends inside the transaction: it was cut, or is still being written",
                self._half,
            )
            found.extend(closing.listed)
        tallies = self.tallies()
        found.extend(finding for tally in tallies if (finding := tally.finding()) is not None)
        return found

    def tallies(self) -> tuple[Tally, ...]:
        """Return the counters in order of their findings."""
        return (
            *self._clock.tallies,
            *self._gtids.tallies,
            self.groups.single_members,
            self._statements,
            self._incidents,
            self._time_backwards,
            self._commit_backwards,
            self._server_changes,
        )

    def judge_only(self, is_judged: Callable[[LoggedTransaction], bool]) -> None:
        """Keep findings at these transactions; the rules follow all."""
        self.findings.is_judged = is_judged
        for tally in self.tallies():
            tally.is_judged = is_judged

    @property
    def violations(self) -> int:
        """Return violations, listed or dropped."""
        return self.findings.violations

    def reasons(self) -> list[Reason]:
        """Return why well-formedness is unknown."""
        return self._gtids.reasons()
