"""``python -m tests.oracle``: hold the audit against a server; ``make oracle``."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from pathlib import Path

from tests.oracle.generator import FAMILIES
from tests.oracle.run import FLAVOURS, run


def main() -> int:
    """Run and print the tally; 1 if a pair was judged wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--flavour", choices=sorted(FLAVOURS), default="mariadb")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--store", type=Path, help="where to keep the tally, and to go on from")
    parser.add_argument(
        "--family", action="append", choices=FAMILIES, help="draw this one only (repeatable)"
    )
    parser.add_argument("--no-shrink", action="store_true")
    arguments = parser.parse_args()
    print(
        f"replay: python -m tests.oracle --flavour {arguments.flavour} --seed {arguments.seed} "
        f"--pairs {arguments.pairs}",
        flush=True,
    )
    tally = run(
        arguments.flavour,
        arguments.seed,
        pairs=arguments.pairs,
        seconds=arguments.seconds,
        store=arguments.store,
        shrinks=not arguments.no_shrink,
        families=arguments.family or FAMILIES,
    )
    print(tally.table())
    for each in tally.disagreements:
        print(json.dumps(each, ensure_ascii=False, indent=1))
    return int(bool(tally.disagreements))


if __name__ == "__main__":
    sys.exit(main())
