"""Commits as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.compiled.columns import CommitColumns
from paraply.properties.two_logs.fingerprints import MODULUS

WORD = (1 << 64) - 1


def columns(commits: Sequence[Commit]) -> CommitColumns:
    rows = []
    for commit in commits:
        rows += [
            (key, before, after, key in commit.rewritten, False)
            for key, (before, after) in commit.changes.items()
        ]
        rows += [(key, 0, added % MODULUS, False, True) for key, added in commit.copies.items()]

    def words(of: int) -> np.ndarray:
        pairs = [(row[of] & WORD, row[of] >> 64) for row in rows]
        return np.array(pairs, np.uint64).reshape(-1, 2)

    return CommitColumns(
        ends=np.cumsum(
            [len(commit.changes) + len(commit.copies) for commit in commits], dtype=np.int64
        ),
        keys=words(0),
        before=words(1),
        after=words(2),
        rewritten=np.array([row[3] for row in rows], np.bool_),
        counts=np.array([row[4] for row in rows], np.bool_),
    )
