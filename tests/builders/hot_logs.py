"""Generated logs whose few rows are hot, so that short ones have conflicts enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.bench import workload
from ci.bench.generate_log import generate


def hot_log(
    path: Path,
    *,
    size_bytes: int,
    dialect: str = "mysql",
    seed: int = 0,
    rows: int = 100,
    block_transactions: int = 100,
) -> Path:
    """Write a log of the benchmark's workload on tables of ``rows`` rows; return its path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workload, "SBTEST_ROWS", rows)
        patch.setattr(workload, "ACCOUNTS", rows)
        patch.setattr("ci.bench.generate_log.BLOCK_TRANSACTIONS", block_transactions)
        generate(path, dialect=dialect, size_bytes=size_bytes, seed=seed)
    return path


def hot_logs(folder: Path, *, seed: int) -> dict[str, Path]:
    """Write a log of 300 kB per dialect; return their paths."""
    return {
        dialect: hot_log(
            folder / f"{dialect}.000001", dialect=dialect, size_bytes=300_000, seed=seed
        )
        for dialect in ("mariadb", "mysql")
    }
