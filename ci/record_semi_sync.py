"""Record semi-synchronous sources: ``python -m ci.record_semi_sync FOLDER``.

Requires MariaDB and MySQL (ci/servers).
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

from paraply.adapters.live.semi_sync.recording import PLAIN, RESTART, TIME_OUT, record_source
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import write_history

SYNC, COMMIT = "AFTER_SYNC", "AFTER_COMMIT"
RUNS = (
    ("mariadb", SYNC, PLAIN), ("mariadb", SYNC, PLAIN), ("mariadb", SYNC, PLAIN),
    ("mariadb", SYNC, RESTART), ("mariadb", SYNC, RESTART), ("mariadb", SYNC, TIME_OUT),
    ("mariadb", COMMIT, PLAIN), ("mariadb", COMMIT, RESTART), ("mariadb", COMMIT, TIME_OUT),
    ("mysql", SYNC, PLAIN), ("mysql", SYNC, RESTART), ("mysql", SYNC, TIME_OUT),
    ("mysql", COMMIT, PLAIN), ("mysql", COMMIT, RESTART), ("mysql", COMMIT, TIME_OUT),
)  # fmt: skip
CLIENTS = {"mariadb": 4, "mysql": 1}
"""MySQL's log does not show which transactions commit together."""


def main() -> int:
    """Record one run of each kind; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_semi_sync", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transactions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; others count up")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        for seed, (flavour, mode, scenario) in enumerate(RUNS, start=options.seed):
            history = record_source(
                flavour, mode=mode, scenario=scenario, seed=seed,
                transactions=options.transactions, clients=CLIENTS[flavour],
            )  # fmt: skip
            name = f"{flavour}-{mode.lower().replace('_', '-')}-{scenario}-{seed}.jsonl.gz"
            _keep(history, options.folder / name)
            print(f"{name}: {history.header.subject}, {len(history.transactions)} transactions")
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    return 0


def _keep(history: History, file: Path) -> None:
    lines = "".join(f"{line}\n" for line in write_history(history))
    file.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
