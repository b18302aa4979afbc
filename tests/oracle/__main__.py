"""``python -m tests.oracle``: hold the audit against a server; ``make oracle``."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from pathlib import Path

from tests.oracle.generator import FAMILIES
from tests.oracle.judge import COMPLETE
from tests.oracle.run import FLAVOURS, UNKNOWN_MAX, run


def main() -> int:
    """Run and print the tally; 1 if a pair was judged wrongly, or too many are unknown."""
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
    # A few thousand pairs cannot show a share.
    shares = {name: tally.unknown_share(name) for name in sorted(COMPLETE)}
    often = [name for name, share in shares.items() if share > UNKNOWN_MAX]
    if tally.pairs >= 10_000 and often:
        print(f"unknown for more than {UNKNOWN_MAX:.0%} with all knowledge: {', '.join(often)}")
        return 1
    return int(bool(tally.disagreements))


if __name__ == "__main__":
    sys.exit(main())
