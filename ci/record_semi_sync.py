"""Record semi-synchronous sources: ``python -m ci.record_semi_sync FOLDER``.

Requires MariaDB and MySQL (ci/servers).
"""

from __future__ import annotations

import argparse
import sys

from ci.recorded_runs import record_runs
from paraply.adapters.live.semi_sync.recording import (
    APART,
    PLAIN,
    RESTART,
    TIME_OUT,
    record_source,
)
from paraply.models.recorded.sources import seen_outside
from paraply.vocabulary.history import History

SYNC, COMMIT = "AFTER_SYNC", "AFTER_COMMIT"
RUNS = (
    ("mariadb", SYNC, PLAIN), ("mariadb", SYNC, PLAIN), ("mariadb", SYNC, PLAIN),
    ("mariadb", SYNC, RESTART), ("mariadb", SYNC, RESTART), ("mariadb", SYNC, TIME_OUT),
    ("mariadb", COMMIT, PLAIN), ("mariadb", COMMIT, RESTART), ("mariadb", COMMIT, TIME_OUT),
    ("mysql", SYNC, PLAIN), ("mysql", SYNC, RESTART), ("mysql", SYNC, TIME_OUT),
    ("mysql", COMMIT, PLAIN), ("mysql", COMMIT, RESTART), ("mysql", COMMIT, TIME_OUT),
    ("mariadb", COMMIT, PLAIN), ("mariadb", COMMIT, PLAIN), ("mariadb", COMMIT, RESTART),
    ("mariadb", COMMIT, TIME_OUT), ("mariadb", COMMIT, APART), ("mysql", COMMIT, APART),
)  # fmt: skip


def clients(flavour: str, mode: str) -> int:
    """Return how many clients commit at once.

    MySQL's log does not show which transactions commit together, so that each is read as a group.
    Before the engine commit groups wait as one, so that there MySQL has one client.
    """
    return 1 if (flavour, mode) == ("mysql", SYNC) else 4


def record(kind: tuple[str, str, str], seed: int, transactions: int) -> tuple[str, History]:
    """Return the beginning of the file's name, and the run."""
    flavour, mode, scenario = kind
    history = record_source(
        flavour, mode=mode, scenario=scenario, seed=seed, transactions=transactions,
        clients=clients(flavour, mode),
    )  # fmt: skip
    name = f"{flavour}-{mode.lower().replace('_', '-')}-{scenario}"
    steps = seen_outside(history, by_transaction=mode == COMMIT).steps
    print(f"{name}: {len(steps)} steps for the model", file=sys.stderr)
    return name, history


def main() -> int:
    """Record one run of each kind; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_semi_sync", description=__doc__)
    return record_runs(parser, RUNS, record, transactions=40)


if __name__ == "__main__":
    sys.exit(main())
