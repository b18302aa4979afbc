"""Judges two logs whose target states are all states of the source, in order.

This is the common case: a healthy replica. :func:`judge_prefixes` returns what
:func:`paraply.properties.two_logs.streaming.judge_streaming` returns, or None where any target
state is no prefix or goes back, a row was changed outside of a log, or the logs are further apart
than the window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraply.properties.two_logs.compiled.columns import CommitColumns, Ints
from paraply.properties.two_logs.compiled.prefix_kernel import (
    DRAINED,
    END,
    FOLLOWED,
    HERE_MAX,
    KEYS,
    POSITION,
    SKIP,
    SKIPPED_TO,
    SKIPPING,
    judge,
)
from paraply.properties.two_logs.judgement import End, Judgement, Level, Miss, Witness

KEYS_MAX = 1 << 26
"""Different rows of both logs: some 6 GB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixJudgement:
    """The judgement, with the prefix after each target commit and the number of rows."""

    judgement: Judgement
    positions: Ints
    live_rows: int


def judge_prefixes(
    source: CommitColumns, target: CommitColumns, *, window: int
) -> PrefixJudgement | None:
    """Return the judgement if all target states are rising prefixes, else None."""
    if not (len(source) and len(target)):
        return None
    sums = np.zeros((len(source) + 1, 2), np.uint64)
    effective = np.zeros(len(source) + 1, np.int64)
    positions = np.zeros(len(target), np.int64)
    out = np.zeros(16, np.int64)
    is_decided = judge(
        source.ends, source.keys, source.before, source.after, source.counts,
        target.ends, target.keys, target.before, target.after, target.counts,
        window, min(HERE_MAX, window), KEYS_MAX, sums, effective, positions, out,
    )  # fmt: skip
    if not is_decided:
        return None
    skipping, is_equal = int(out[SKIPPING]), bool(out[END])
    witnesses = []
    if skipping:
        witnesses.append(
            Witness(
                missed=Level.PREFIX,
                why=Miss.SKIPPED,
                target=int(out[SKIP]),
                source=int(out[SKIPPED_TO]),
            )
        )
    found = Judgement(
        level=Level.BATCHES if skipping else Level.PREFIX,
        end=End.EQUAL if is_equal else End.BEHIND,
        end_position=len(source) if is_equal else int(out[POSITION]),
        is_drained=bool(out[DRAINED]),
        source_commits=len(source),
        target_commits=len(target),
        prefixes=len(target),
        skipping=skipping,
        left_early=skipping > 0 and int(out[FOLLOWED]) + 1 < int(effective[-1]),
        rewritten=_rewritten(source, target),
        witnesses=witnesses,
    )
    return PrefixJudgement(judgement=found, positions=positions, live_rows=int(out[KEYS]))


def _rewritten(source: CommitColumns, target: CommitColumns) -> int:
    again = target.keys[target.rewritten]
    if not len(again):
        return 0
    known = set(map(tuple, source.keys[source.rewritten].tolist()))
    return sum(tuple(key) not in known for key in again.tolist())
