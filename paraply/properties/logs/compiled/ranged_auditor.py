"""The batch twin of ``paraply.properties.logs.ranged_audit.RangedAuditor``."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np

from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.auditor import CompiledAuditor
from paraply.properties.logs.compiled.batches import (
    KINDS,
    BatchParts,
    BatchSource,
    Ints,
    JudgedBatch,
    batch_of_one,
    digested_one,
    judged_batch,
    require_compilable,
)
from paraply.properties.logs.compiled.lint import lint_batch
from paraply.properties.logs.compiled.passing_kernel import pass_over
from paraply.properties.logs.compiled.path import CompiledPath
from paraply.properties.logs.compiled.state import LANES_MAX, State, grown
from paraply.properties.logs.critical_path import TracedPath
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable

GAP_MAX = 1 << 20
"""Transactions passed over between judged ones: the rings have a line for each."""
_ALLOWED = {C.CLOCK: C.D_ALLOWED, C.GROUP: C.D_GROUP_ALLOWED}


class _RangedPath(CompiledPath):
    """The chain of judged transactions."""

    has_gaps = False
    """Whether some were passed over in between: the readable ring does not count these."""

    def _trace(self) -> TracedPath:
        found = super()._trace()
        if self.has_gaps and not found.whole:
            raise NotCompilable("a chain through more of the log than is kept")
        return found


class CompiledRangedAuditor(CompiledAuditor):
    """Judges some batches and transactions, and follows the others.

    In each MariaDB domain, and in a log without domains, the judged ones must follow each other.
    Raises ``NotCompilable`` if only the readable auditor works.
    """

    _PATH = _RangedPath
    _path: _RangedPath

    def __init__(
        self, row_keys: RowKeys, source: BatchSource, options: AuditOptions | None = None, *,
        left: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(row_keys, source, options, left=left)
        # The lint reports at the current transaction or the one before.
        self._latest_judged: deque[range] = deque(maxlen=2)
        self._lint.judge_only(
            lambda txn: any(txn.ordinal in judged for judged in self._latest_judged)
        )
        self._run = -1
        self._judged_in_run = 0
        self._judged_in_lane: Ints = np.zeros(LANES_MAX, np.int64)
        self._passed = dict.fromkeys(self._has, False)

    def observe_batch(self, parts: BatchParts) -> None:
        """Judge a batch of plain transactions."""
        first = parts.first_ordinal
        self._latest_judged.append(range(first, first + len(parts.row_ends)))
        super().observe_batch(parts)

    def observe(self, txn: LoggedTransaction, rows: BatchParts | None = None) -> None:
        """Judge the next transaction, whose ``rows`` kernels read."""
        self._latest_judged.append(range(txn.ordinal, txn.ordinal + 1))
        super().observe(txn, rows)

    # Transactions that are passed over

    def pass_over_batch(self, parts: BatchParts, *, follow_rows: bool) -> None:
        """Follow a batch of unjudged plain transactions."""
        lint_batch(self._lint, parts)
        batch = judged_batch(parts)
        columns = batch.columns
        self._pass_over(
            columns, parts.first_ordinal,
            has_clock=bool((columns[:, C.B_SEQUENCE_NUMBER] > 0).any()),
            has_groups=bool(columns[:, C.B_HAS_DOMAIN].any()),
        )  # fmt: skip
        if follow_rows:
            with self._compiled_replay.telling_nothing():
                self._compiled_replay.observe_batch(batch, parts.first_ordinal, self._source)

    def pass_over(
        self, txn: LoggedTransaction, rows: BatchParts | None, *, follow_rows: bool
    ) -> None:
        """Follow an unjudged transaction, whose ``rows`` kernels read."""
        require_compilable(txn, has_rows=rows is not None)
        self._lint.observe(txn)
        if not txn.complete:
            return
        kind = KINDS[txn.kind]
        batch = batch_of_one(txn, kind) if rows is None else digested_one(txn, kind, rows)
        self._pass_over(
            batch.columns, txn.ordinal, has_clock=bool(txn.sequence_number),
            has_groups=txn.domain is not None or txn.commit_id is not None,
        )  # fmt: skip
        if follow_rows:
            with self._compiled_replay.telling_nothing():
                self._compiled_replay.observe(txn, batch)

    def _pass_over(
        self, columns: Ints, first_ordinal: int, *, has_clock: bool, has_groups: bool
    ) -> None:
        self._passed[LOGICAL_CLOCK] |= has_clock
        self._passed[COMMIT_GROUP] |= has_groups
        self._number_lanes(columns)
        state = self._state
        pass_over(
            state.scalars, state.limits, state.stretch_starts, state.stretch_counts, state.lanes,
            columns, first_ordinal, state.places[C.CLOCK],
        )  # fmt: skip

    # Places

    def _judge(self, batch: JudgedBatch, first_ordinal: int) -> Ints:
        passed = first_ordinal - 1 - int(self._state.scalars[C.S_ORDINAL])
        if passed > 0:
            self._path.has_gaps |= self._transactions > len(batch.columns)
            self._state = skipped(self._state, passed)
        placed = super()._judge(batch, first_ordinal)
        if batch.columns[0, C.B_KIND] != C.SKIPPED:
            self._cut_to_judged(batch.columns, placed)
        return placed

    def _cut_to_judged(self, columns: Ints, placed: Ints) -> None:
        """Count overlaps among judged transactions, as ``ranged_audit.RuleWithin``."""
        before = np.zeros((len(placed), 2), np.int64)
        runs = placed[:, C.D_RUN]
        at = np.arange(len(runs))
        begins = np.diff(runs, prepend=runs[0]) != 0
        first_of_run = np.maximum.accumulate(np.where(begins, at, 0))
        before[:, C.CLOCK] = at - first_of_run
        if runs[0] == self._run:
            before[first_of_run == 0, C.CLOCK] += self._judged_in_run
        self._run, self._judged_in_run = int(runs[-1]), int(before[-1, C.CLOCK]) + 1
        for lane in np.unique(columns[:, C.B_LANE]).tolist():
            members = np.flatnonzero(columns[:, C.B_LANE] == lane)
            before[members, C.GROUP] = self._judged_in_lane[lane] + np.arange(len(members))
            self._judged_in_lane[lane] += len(members)
        in_groups = (columns[:, C.B_HAS_DOMAIN] > 0) | (columns[:, C.B_COMMIT_ID] >= 0)
        # As the kernel: last_committed groups serve timing only.
        counted = {C.CLOCK: slice(None), C.GROUP: in_groups & (columns[:, C.B_SEQUENCE_NUMBER] < 0)}
        for rule, column in _ALLOWED.items():
            excess = np.maximum(placed[:, column] - before[:, rule], 0)
            placed[:, column] -= excess
            if rule in self._state.order:
                self._state.evidence[rule, C.E_ALLOWED] -= excess[counted[rule]].sum()

    def result(self) -> AuditResult:
        """Return the readable auditor's result."""
        if all(self._has[rule] or self._passed[rule] for rule in self._has):
            raise NotCompilable("logs of MySQL and of MariaDB in one stream")
        return super().result()


def skipped(state: State, count: int) -> State:
    """Return the state after ``count`` more transactions, of which nothing is remembered."""
    scalars = state.scalars
    last = int(scalars[C.S_ORDINAL]) + count
    chains = scalars[C.S_CHAINS :].reshape(C.CHAINS, 3)
    nothing = chains[:, C.OLD] == chains[:, C.NEXT]
    chains[nothing, C.OLDEST] = last + 1
    kept = last + 1 - int(chains[:, C.OLDEST].min())
    if kept > GAP_MAX:
        raise NotCompilable("judged transactions with too many others in between")
    while kept + 2 >= len(state.past):
        state = grown(state, C.GROW_PAST, 0)
    lines = np.arange(last + 1 - min(count, len(state.past)), last + 1) % len(state.past)
    state.ranks[lines] = C.NONE
    state.past[lines] = 0
    state.past[np.ix_(lines, C.H_TOUCH_START + np.arange(C.CHAINS))] = chains[:, C.NEXT]
    state.past[lines, C.H_TABLE_START] = scalars[C.S_TABLE_NEXT]
    state.past[lines, C.H_TIE_START] = scalars[C.S_TIE_NEXT]
    scalars[C.S_ORDINAL] = last
    return state
