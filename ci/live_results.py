"""Run every live target long enough to mean something, and store what came out.

``python -m ci.live_results [--only TARGET...] [--out DIR]`` takes about an hour with all servers.
Each mode runs healthy until it has at least 20,000 transactions, then every fault of the target
for one round. Results go into docs/live-results.jsonl, and its page is written again; histories
that break something stay in the folder. What no server is there for is named and left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from adapters.live.target import LiveTarget
from adapters.live.targets import TARGETS
from ci.check import ROOT

_ROUNDS = {"mysql-gr": (4, 5_500), "mariadb-semisync": (9, 3_000), "mysql-semisync": (9, 3_000)}
_ROUNDS_USUAL = (11, 2_000)
"""Rounds and transactions of each that make 20,000: a source that is lost is lost midway."""
_STRUCK_TRANSACTIONS = {"mysql-gr": 2_000}
_STRUCK_TRANSACTIONS_USUAL = 1_500
_SEED, _STRUCK_SEED = 100, 300
_NO_SERVER = 3
_FROM_OUTSIDE = "existing"
"""Has no servers of its own."""


def commands(target: LiveTarget, mode: str) -> Iterator[list[str]]:
    """Yield the arguments of ``paraply live`` for one mode of a target: healthy, then struck."""
    rounds, transactions = _ROUNDS.get(target.name, _ROUNDS_USUAL)
    struck = _STRUCK_TRANSACTIONS.get(target.name, _STRUCK_TRANSACTIONS_USUAL)
    yield [
        target.name, "--mode", mode, "--rounds", str(rounds),
        "--transactions", str(transactions), "--seed", str(_SEED),
    ]  # fmt: skip
    if target.faults:
        yield [
            target.name, "--mode", mode, "--fault", *target.faults,
            "--transactions", str(struck), "--seed", str(_STRUCK_SEED),
        ]  # fmt: skip


def _store(arguments: list[str], name: str, out: Path) -> int:
    """Run one command and store its results at once; return its exit code."""
    result = out / f"{name}.json"
    print("paraply live", *arguments, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "paraply", "live", *arguments, "--allow-expected",
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
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "live-results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    codes = [
        _store(arguments, f"{target.name}-{mode}-{number}", options.out)
        for target in TARGETS
        if target.name != _FROM_OUTSIDE and (not options.only or target.name in options.only)
        for mode in target.modes
        for number, arguments in enumerate(commands(target, mode))
    ]
    return 1 if 1 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
