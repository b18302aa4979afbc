"""Judge commits that insert so many rows: ``python -m ci.bench.live_rows ROWS compiled|readable``.

A child process whose peak memory ``ci.bench verify`` measures.
"""

from __future__ import annotations

import sys

import numpy as np

from paraply.properties.two_logs.compiled.columns import CommitColumns
from paraply.properties.two_logs.compiled.prefixes import judge_prefixes
from paraply.properties.two_logs.judgement import Level
from paraply.properties.two_logs.streaming import judge_streaming

ROWS_PER_COMMIT = 3


def inserted(rows: int) -> CommitColumns:
    """Return commits of three inserted rows each."""
    chance = np.random.default_rng(1)
    rows -= rows % ROWS_PER_COMMIT

    def words() -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        return chance.integers(1, 1 << 63, (rows, 2), np.uint64)

    return CommitColumns(
        ends=np.arange(ROWS_PER_COMMIT, rows + 1, ROWS_PER_COMMIT),
        keys=words(),
        before=np.zeros((rows, 2), np.uint64),
        after=words(),
        rewritten=np.zeros(rows, np.bool_),
        counts=np.zeros(rows, np.bool_),
    )


def main(rows: int, engine: str) -> None:
    """Judge the commits against themselves, all within the window."""
    commits = inserted(rows)
    if engine == "compiled":
        found = judge_prefixes(commits, commits, window=rows)
        assert found is not None
        assert found.judgement.level is Level.PREFIX
    else:
        assert judge_streaming(commits, commits, window=rows).level is Level.PREFIX


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
