"""``python -m tests.timing``: time real replicas and store the results; ``make timing``."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from functools import partial
from pathlib import Path

from tests.timing.loads import LOADS
from tests.timing.mysql_replica import SYNC_S, timed_mysql_replica
from tests.timing.replica import timed_replica

SERVERS = {
    "mariadb": timed_replica,
    "mysql": timed_mysql_replica,
    "mysql-syncs": partial(timed_mysql_replica, row_s=0, sync_s=SYNC_S),
}
"""``mysql-syncs`` takes a fixed time per sync of the replica's log instead of per row event."""
MODES = {
    "mariadb": ("minimal", "conservative", "optimistic", "aggressive"),
    "mysql": ("ordered", "unordered"),
    "mysql-syncs": ("ordered", "unordered"),
}
"""Of MySQL by replica_preserve_commit_order; WRITESET is the only tracking of 9.7."""
SERIAL = {"mariadb": ("none", 0), "mysql": ("ordered", 1), "mysql-syncs": ("ordered", 1)}
"""The serial apply. MySQL 9.7 has no replica without workers."""
WORKERS = (1, 2, 4, 8, 16)
REPEATS = 5


def main() -> int:
    """Record each load, apply it in every mode, and append a line per cell."""
    parser = argparse.ArgumentParser(prog="python -m tests.timing", description=__doc__)
    parser.add_argument("--server", choices=sorted(SERVERS), default="mariadb")
    parser.add_argument("--logs", type=Path, required=True, help="folder for the recorded logs")
    parser.add_argument("--store", type=Path, required=True, help="JSON lines, rewritten")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--load", action="append", choices=sorted(LOADS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    modes = MODES[arguments.server]
    every = [SERIAL[arguments.server], *itertools.product(modes, arguments.workers)]
    cells = list(dict.fromkeys(every))
    with SERVERS[arguments.server]() as pair, arguments.store.open("w") as store:
        for name in arguments.load or [
            # MySQL has no domains.
            name
            for name, load in LOADS.items()
            if arguments.server == "mariadb" or load.domains == 1
        ]:
            recorded = pair.record(LOADS[name], arguments.logs, arguments.seed)
            found = {cell: [] for cell in cells}
            states = set()
            # Cells take turns, so that a slow minute of the machine hits all of them.
            for _ in range(arguments.repeats):
                for cell in cells:
                    found[cell].append(pair.apply(recorded, *cell))
                    states.add(tuple(pair.checksums()))
            assert len(states) == 1, f"{name}: the modes end in different states"
            for (mode, workers), runs in found.items():
                line = {
                    "server": pair.version, "log": recorded.log.name, "mode": mode,
                    "workers": workers, "seconds": [round(run.seconds, 4) for run in runs],
                    "retries": [run.retries for run in runs],
                }  # fmt: skip
                print(json.dumps(line), file=store, flush=True)
                print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
