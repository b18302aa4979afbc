"""Record parallel replicas of MariaDB: ``python -m ci.record_parallel_replica FOLDER``.

Requires MariaDB (ci/servers).
"""

from __future__ import annotations

import argparse
import sys

from ci.recorded_runs import record_runs
from paraply.adapters.live.pair.mariadb.recording import record_replica
from paraply.vocabulary.history import History

RUNS = (
    ("conservative", "rows"), ("conservative", "rows"), ("conservative", "chains"),
    ("conservative", "scans"), ("conservative", "scans"), ("conservative", "scans"),
    ("optimistic", "hot"), ("optimistic", "scans"), ("aggressive", "hot"),
    ("optimistic", "hot"), ("aggressive", "hot"),
)  # fmt: skip


def record(kind: tuple[str, str], seed: int, transactions: int) -> tuple[str, History]:
    """Return the beginning of the file's name, and the run."""
    mode, workload = kind
    history = record_replica(mode=mode, workload=workload, seed=seed, transactions=transactions)
    return f"mariadb-{mode}-{workload}", history


def main() -> int:
    """Record one run of each kind; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_parallel_replica")
    return record_runs(parser, RUNS, record, transactions=80)


if __name__ == "__main__":
    sys.exit(main())
