"""Run client workloads on every live target and store what they show of the vendors' documents.

``python -m ci.client_claims [--only TARGET...] [--workload W...] [--server NAME] [--list] [--out
DIR]`` takes an hour; ``--list`` only prints the commands. Results go to docs/claims.jsonl;
recordings that refute a document stay in the folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ci.check import ROOT
from ci.existing_servers import add_server_option, use_server
from ci.pages.claims import PAGE
from paraply.adapters.live.clients.options import CLIENT_WORKLOADS, NO_WAIT
from paraply.adapters.live.clients.site import WAITS
from paraply.adapters.live.targets import TARGETS

_COMMON = ("--transactions", "1500", "--duration", "20", "--clients", "8", "--seed", "1")
_COMMITTED = ("read-committed", "repeatable-read", "serializable")
_ALL = ("read-uncommitted", *_COMMITTED)
_SNAPSHOT = ("repeatable-read",)
_NO_SERVER = 3

Runs = tuple[tuple[str, tuple[str, ...]], ...]


def _at_each_consistency() -> Runs:
    """Return runs at each value of ``group_replication_consistency``."""
    return tuple(
        (f"list-append --reads any --wait {name}", _SNAPSHOT)
        for name in WAITS["mysql-gr"]
        if name != NO_WAIT
    )


_PAIR: Runs = (
    ("list-append", _ALL),
    ("list-append --reads replica", ("repeatable-read", "serializable")),
    ("list-append --reads replica --wait gtid-wait", _SNAPSHOT),
    ("rw-register", ("repeatable-read", "serializable")),
    ("rw-register --reads any", _SNAPSHOT),
    ("bank", ("repeatable-read", "serializable")),
    ("long-fork --reads any", _SNAPSHOT),
    ("set", ("read-committed", "serializable")),
    ("set --reads replica", _SNAPSHOT),
    ("set --reads replica --wait gtid-wait", _SNAPSHOT),
    ("counter", ("read-committed", "serializable")),
    ("counter --reads any", _SNAPSHOT),
    ("counter --reads any --wait gtid-wait", _SNAPSHOT),
)
_SEMI_SYNC: Runs = tuple((name, _SNAPSHOT) for name in ("list-append", "set", "counter"))
_RUNS: dict[str, Runs] = {
    "mariadb --mode optimistic": _PAIR,
    "mysql --mode logical-clock": _PAIR,
    "galera --mode multi-master": (
        ("list-append", _ALL),
        ("list-append --wait sync-wait", _ALL),
        ("list-append --reads any", _ALL),
        ("list-append --reads any --wait sync-wait", _ALL),
        ("rw-register --wait sync-wait", _SNAPSHOT),
        ("bank --wait sync-wait", ("repeatable-read", "serializable")),
        ("long-fork --reads any", _SNAPSHOT),
        ("set --reads any", _SNAPSHOT),
        ("set --reads any --wait sync-wait", _SNAPSHOT),
        ("counter --reads any", _SNAPSHOT),
        ("counter --reads any --wait sync-wait", _SNAPSHOT),
    ),
    "mysql-gr --mode multi-primary": (
        ("list-append", ("read-committed", "repeatable-read")),
        *_at_each_consistency(),
        ("bank", _SNAPSHOT),
        ("long-fork --reads any", _SNAPSHOT),
        ("set --reads any", _SNAPSHOT),
        ("counter --reads any --wait before", _SNAPSHOT),
    ),
    "mysql-gr --mode single-primary": (
        ("list-append --reads any", ("repeatable-read", "serializable")),
        *_at_each_consistency(),
        ("set --reads any", _SNAPSHOT),
        ("counter --reads any --wait before-and-after", _SNAPSHOT),
    ),
    **{
        f"{family}-semisync --mode {mode}": _SEMI_SYNC
        for family in ("mariadb", "mysql")
        for mode in ("AFTER_SYNC", "AFTER_COMMIT")
    },
}


def commands(only: Sequence[str] = (), workloads: Sequence[str] = ()) -> Iterator[str]:
    """Yield the commands, by default of all targets and workloads."""
    for target, runs in _RUNS.items():
        if not only or target.partition(" ")[0] in only:
            for workload, levels in runs:
                if workloads and workload.partition(" ")[0] not in workloads:
                    continue
                for level in levels:
                    yield " ".join(
                        ("paraply live", target, f"--workload {workload}", f"--isolation {level}",
                         *_COMMON)
                    )  # fmt: skip


def _store(command: str, number: int, out: Path) -> int:
    result = out / f"{number}.json"
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--out", str(out), "--json", str(result)],
        cwd=ROOT, check=False,
    )  # fmt: skip
    if result.is_file():
        subprocess.run(
            [sys.executable, "-m", PAGE.module, "--add", str(result)], cwd=ROOT, check=True
        )  # fmt: skip
    return done.returncode


def main() -> int:
    """Run the commands; exit code 3 if no server is installed."""
    parser = argparse.ArgumentParser(prog="python -m ci.client_claims", description=__doc__)
    names = [target.name for target in TARGETS]
    parser.add_argument("--only", nargs="+", choices=names, default=[], metavar="TARGET")
    parser.add_argument("--workload", nargs="+", choices=CLIENT_WORKLOADS, default=[], metavar="W")
    parser.add_argument("--list", action="store_true", help="print the commands")
    parser.add_argument("--out", type=Path, default=Path("out/claims"), metavar="DIR")
    add_server_option(parser)
    arguments = parser.parse_args()
    use_server(arguments.server)
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    codes = set()
    for number, command in enumerate(commands(arguments.only, arguments.workload), start=1):
        print(command, flush=True)
        if not arguments.list:
            codes.add(_store(command, number, out))
    return _NO_SERVER if _NO_SERVER in codes else 0


if __name__ == "__main__":
    sys.exit(main())
