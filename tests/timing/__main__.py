"""``python -m tests.timing``: time real replicas and store the results; ``make timing``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.timing.loads import LOADS
from tests.timing.replica import timed_replica

MODES = ("minimal", "conservative", "optimistic", "aggressive")
WORKERS = (1, 2, 4, 8, 16)
REPEATS = 5


def main() -> int:
    """Record each load, apply it in every mode, and append a line per cell."""
    parser = argparse.ArgumentParser(prog="python -m tests.timing", description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder for the recorded logs")
    parser.add_argument("--store", type=Path, required=True, help="JSON lines, rewritten")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--load", action="append", choices=sorted(LOADS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    cells = [("none", 0), *((mode, workers) for mode in MODES for workers in arguments.workers)]
    with timed_replica() as pair, arguments.store.open("w") as store:
        for name in arguments.load or LOADS:
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
