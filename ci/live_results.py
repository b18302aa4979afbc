"""Run every live target long enough to mean something, and store what came out.

``python -m ci.live_results [--only TARGET...] [--list] [--out DIR]`` takes over an hour with all
servers. Each mode runs healthy until it has at least 20,000 transactions, then under every fault of
the target; ``--list`` only prints the commands. Results go into docs/live-results.jsonl, and its
page is written again; histories that break something stay in the folder. What no server is there
for is named and left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adapters.live.target import LiveRequest, LiveTarget
from adapters.live.targets import TARGETS
from ci.check import ROOT
from paraply.live_judging import command_of, new_result

_HEALTHY: dict[str, dict[str, int]] = {
    "mysql-gr": {"rounds": 4, "transactions": 5_500},
    "mariadb-semisync": {"rounds": 9, "transactions": 3_000},
    "mysql-semisync": {"rounds": 9, "transactions": 3_000},
}
_HEALTHY_USUAL = {"rounds": 11}
"""Rounds that make 20,000 transactions: a source that is lost is lost midway."""
_STRUCK: dict[str, dict[str, int]] = {
    "galera": {"transactions": 1_500},
    # Three rounds strike each member once.
    "mysql-gr": {"rounds": 3, "transactions": 600},
    "mysql-semisync": {},
    "mariadb/cut-network": {"transactions": 1_500},
    "mariadb/cut-relay-log": {"transactions": 1_500},
    "mariadb/cut-source-log": {"transactions": 1_500},
    "mariadb/forged-commit-ids": {"rounds": 3, "seed": 310},
    "mariadb/forged-idempotent": {"rounds": 3, "seed": 310},
    "mariadb/kill-replica": {"transactions": 400, "seed": 310},
    "mariadb/kill-replica-ddl": {"transactions": 400, "seed": 310},
    "mariadb/kill-source": {"transactions": 600},
    "mariadb/kill-source-ddl": {"transactions": 600},
    "mysql/kill-waiter": {"rounds": 3},
    # Every worker that is rolled back sleeps a second or more.
    "mysql/forged-idempotent": {"transactions": 300},
}
"""What differs from the usual under faults, by target or by target and fault."""
_STRUCK_USUAL = {"transactions": 1_000}
_SEED, _STRUCK_SEED = 100, 300
_NO_SERVER = 3
_FROM_OUTSIDE = "existing"
"""Has no servers of its own."""


def requests(target: LiveTarget, mode: str) -> Iterator[LiveRequest]:
    """Yield what is run of one mode of a target: healthy, then every fault."""
    healthy: dict[str, Any] = _HEALTHY.get(target.name, _HEALTHY_USUAL)
    yield LiveRequest(mode=mode, seed=_SEED, **healthy)
    for fault in target.faults:
        of_target = _STRUCK.get(target.name, _STRUCK_USUAL)
        own: dict[str, Any] = {
            "seed": _STRUCK_SEED, **of_target, **_STRUCK.get(f"{target.name}/{fault}", {})
        }  # fmt: skip
        yield LiveRequest(mode=mode, fault=fault, **own)


def commands(only: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and command of all that is stored, of the targets named or of all."""
    for target in TARGETS:
        if target.name != _FROM_OUTSIDE and (not only or target.name in only):
            for mode in target.modes:
                for request in requests(target, mode):
                    name = f"{target.name}-{mode}-{request.fault}"
                    yield name, command_of(new_result(target, request))


def _store(command: str, name: str, out: Path) -> int:
    """Run one command and store its result at once; return its exit code."""
    result = out / f"{name}.json"
    print(command, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--allow-expected",
         "--json", str(result), "--out", str(out)],
        cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode == _NO_SERVER:
        # The server is not there, or its version has no such mode.
        print(f"{name}: left out, see above", flush=True)
    else:
        stored = [sys.executable, "-m", "paraply.live_results_page", "--add", str(result)]
        subprocess.run(stored, cwd=ROOT, check=True)
    return done.returncode


def main() -> int:
    """Run all, store the results; exit code 1 if something broke that is not documented to."""
    parser = argparse.ArgumentParser(prog="python -m ci.live_results", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="TARGET", default=[])
    parser.add_argument("--list", action="store_true", help="print the commands and end")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "live-results")
    options = parser.parse_args()
    if options.list:
        for _, command in commands(options.only):
            print(command)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    codes = [_store(command, name, options.out) for name, command in commands(options.only)]
    return 1 if 1 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
