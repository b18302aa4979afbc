"""Explores a small scope (:mod:`.scope_kernel`) exhaustively."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraply.mining.compiled import scope_kernel as K
from paraply.vocabulary.verdict import Verdict

FAULTS = {
    "": K.RIGHT,
    "collection_keeps_window": K.COLLECTION_KEEPS_WINDOW,
    "barrier_keeps_window": K.BARRIER_KEEPS_WINDOW,
    "lowest_writer": K.LOWEST_WRITER,
    "view_change_is_no_barrier": K.VIEW_CHANGE_IS_NO_BARRIER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeResult:
    """The result of an exploration."""

    schedules: int
    states: int
    """Applier states over all schedules."""
    overlapping: int
    """Schedules with overlaps; others show nothing."""
    violating: int
    witness: tuple[int, ...]
    """First breaking schedule, if any."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on ``conflicting_transactions_never_overlap``."""
        if self.violating:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.overlapping else Verdict.UNKNOWN


def explore_scope(
    transactions: int, *, workers: int = 4, fault: str = "", symmetric: bool = True
) -> ScopeResult:
    """Explore schedules of 1 to 8 transactions on three rows.

    ``symmetric`` ignores row names. Raises ``ValueError`` for invalid arguments.
    """
    if not 1 <= transactions <= K.STEPS_MAX:
        raise ValueError(f"transactions must be in 1..{K.STEPS_MAX}: {transactions}")
    if fault not in FAULTS:
        raise ValueError(f"no such fault: {fault}; known: {', '.join(filter(None, FAULTS))}")
    counters = np.zeros(K.COUNTERS, np.int64)
    witness = np.full(K.STEPS_MAX, -1, np.int64)
    K.explore(transactions, workers, FAULTS[fault], symmetric, counters, witness)
    schedules, states, violating, overlapping = counters.tolist()
    return ScopeResult(
        schedules=schedules,
        states=states,
        overlapping=overlapping,
        violating=violating,
        witness=tuple(step for step in witness.tolist() if step >= 0),
    )


def find_smallest(fault: str, transactions_max: int = 4) -> ScopeResult:
    """Return the smallest breaching scope, else the largest."""
    result = explore_scope(1, fault=fault)
    for transactions in range(2, transactions_max + 1):
        if result.violating:
            break
        result = explore_scope(transactions, fault=fault)
    return result


def words(witness: tuple[int, ...]) -> str:
    """Return a readable schedule.

    >>> words((3, 9, 16))
    'write {0,1}; collect, write {0}; view change'
    """
    return "; ".join(_word(step) for step in witness)


def _word(step: int) -> str:
    if step >= K.VIEW_CHANGE:
        return "view change" if step == K.VIEW_CHANGE else "rejoin"
    rows = ",".join(str(row) for row in range(K.ROWS) if step >> row & 1)
    return ("collect, " if step >= K.COLLECTS else "") + f"write {{{rows}}}"
