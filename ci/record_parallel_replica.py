"""Record parallel replicas of MariaDB: ``python -m ci.record_parallel_replica FOLDER``.

Requires MariaDB (ci/servers).
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

from paraply.adapters.live.pair.mariadb.recording import record_replica
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import write_history

RUNS = (
    ("conservative", "rows"), ("conservative", "rows"), ("conservative", "chains"),
    ("conservative", "scans"), ("conservative", "scans"), ("conservative", "scans"),
    ("optimistic", "hot"), ("optimistic", "scans"), ("aggressive", "hot"),
    ("optimistic", "hot"), ("aggressive", "hot"),
)  # fmt: skip


def main() -> int:
    """Record one run of each kind; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_parallel_replica")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transactions", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; others count up")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        for seed, (mode, workload) in enumerate(RUNS, start=options.seed):
            history = record_replica(
                mode=mode, workload=workload, seed=seed, transactions=options.transactions
            )
            lines = "".join(f"{line}\n" for line in write_history(history))
            name = f"mariadb-{mode}-{workload}-{seed}.jsonl.gz"
            (options.folder / name).write_bytes(gzip.compress(lines.encode(), mtime=0))
            print(f"{name}: {history.header.subject}, {len(history.transactions)} transactions")
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
