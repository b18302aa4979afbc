"""Run every live target and store the results.

``python -m ci.live_results [--only TARGET...] [--server NAME] [--list] [--out DIR]`` takes over an
hour; ``--list`` only prints the commands. Each mode runs at least 20,000 healthy transactions, then
several domains and replicas, then every fault. Results go to docs/live-results.jsonl; violating
histories stay in the folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ci.check import ROOT
from ci.existing_servers import (
    add_server_option,
    data_source_names,
    servers_named_in,
    use_server,
)
from ci.pages.live_results import PAGE
from paraply.adapters.live.existing.target import EXISTING
from paraply.adapters.live.target import LiveRequest, LiveTarget
from paraply.adapters.live.targets import TARGETS
from paraply.observing.judging import command_of, new_result
from paraply.vocabulary.errors import ParaplyError

_HEALTHY: dict[str, dict[str, int]] = {
    "mysql-gr": {"rounds": 4, "transactions": 5_500},
    "mariadb-semisync": {"rounds": 9, "transactions": 3_000},
    "mysql-semisync": {"rounds": 9, "transactions": 3_000},
}
_HEALTHY_USUAL = {"rounds": 11}
"""For 20,000 transactions; the source's loss ends rounds midway."""
_STRUCK: dict[str, dict[str, int]] = {
    "galera": {"transactions": 1_500},
    # Three rounds strike each member once.
    "mysql-gr": {"rounds": 3, "transactions": 600},
    "mysql-semisync": {},
    "mariadb/cut-network": {"transactions": 1_500},
    "mariadb/cut-relay-log": {"transactions": 1_500},
    "mariadb/cut-source-log": {"rounds": 3},
    "mariadb/forged-commit-ids": {"rounds": 3, "seed": 310},
    "mariadb/forged-idempotent": {"rounds": 3, "seed": 310},
    "mariadb/kill-replica": {"transactions": 400, "seed": 310},
    "mariadb/kill-replica-ddl": {"transactions": 400, "seed": 310},
    "mariadb/kill-source": {"transactions": 600},
    "mariadb/kill-source-ddl": {"transactions": 600},
    "mysql/kill-waiter": {"rounds": 3},
    "mysql/cut-source-log": {"rounds": 4},
    # Every worker that is rolled back sleeps a second or more.
    "mysql/forged-idempotent": {"transactions": 300},
}
"""Options under faults."""
_STRUCK_USUAL = {"transactions": 1_000}
_WIDER: dict[str, Any] = {"replicas": 2, "domains": 3, "rounds": 3}
"""Also run healthy: 6,000 transactions in several domains."""
_OF_PAIRS = ("mariadb", "mysql")
_SEED, _WIDER_SEED, _STRUCK_SEED = 100, 200, 300
_NO_SERVER = 3
_EXISTING_ROUNDS = 3


def requests(target: LiveTarget, mode: str) -> Iterator[LiveRequest]:
    """Yield one mode's runs."""
    if target is EXISTING:
        for names in data_source_names():
            yield LiveRequest(mode=mode, seed=_SEED, rounds=_EXISTING_ROUNDS, servers=names)
        return
    healthy: dict[str, Any] = _HEALTHY.get(target.name, _HEALTHY_USUAL)
    yield LiveRequest(mode=mode, seed=_SEED, **healthy)
    if target.name in _OF_PAIRS:
        yield LiveRequest(mode=mode, seed=_WIDER_SEED, **_WIDER)
    for fault in target.faults:
        of_target = _STRUCK.get(target.name, _STRUCK_USUAL)
        own: dict[str, Any] = {
            "seed": _STRUCK_SEED, **of_target, **_STRUCK.get(f"{target.name}/{fault}", {})
        }  # fmt: skip
        yield LiveRequest(mode=mode, fault=fault, **own)


def commands(only: list[str]) -> Iterator[str]:
    """Yield the commands, by default of all targets."""
    for target in TARGETS:
        if not only or target.name in only:
            for mode in target.modes:
                for request in requests(target, mode):
                    yield command_of(new_result(target, request))


def _store(command: str, number: int, out: Path) -> int:
    result = out / f"{number}.json"
    print(command, flush=True)
    try:
        with servers_named_in(command):
            return _stored(command, result, out)
    except ParaplyError as reason:
        print(f"left out: {reason.text}", flush=True)
        return _NO_SERVER


def _stored(command: str, result: Path, out: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--allow-expected",
         "--json", str(result), "--out", str(out)],
        cwd=ROOT, check=False,
    )  # fmt: skip
    if done.returncode == _NO_SERVER:
        # The server is not there, or its version has no such mode.
        print("left out, see above", flush=True)
    else:
        stored = [sys.executable, "-m", PAGE.module, "--add", str(result)]
        subprocess.run(stored, cwd=ROOT, check=True)
    return done.returncode


def main() -> int:
    """Run all; exit code 1 for undocumented breaches."""
    parser = argparse.ArgumentParser(prog="python -m ci.live_results", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="TARGET", default=[])
    parser.add_argument("--list", action="store_true", help="print the commands and end")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "live-results")
    add_server_option(parser)
    options = parser.parse_args()
    use_server(options.server)
    if options.list:
        print(*commands(options.only), sep="\n")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    codes = [
        _store(command, number, options.out)
        for number, command in enumerate(commands(options.only), start=1)
    ]
    return 1 if 1 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
