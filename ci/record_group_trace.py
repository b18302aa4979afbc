"""Record a real group's run: ``python -m ci.record_group_trace FILE.jsonl.gz``.

Requires MySQL (ci/servers) and the right to capture loopback frames.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paraply.adapters.live.group.run import record_group_run
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace_jsonl import write_group_trace


def main() -> int:
    """Record one run; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_group_trace", description=__doc__)
    parser.add_argument("file", type=Path, help="compressed if its name ends in .gz")
    parser.add_argument("--mysql-basedir", type=Path)
    parser.add_argument("--transactions", type=int, default=6_500)
    parser.add_argument("--collections", type=int, default=1, help="periodic ones to wait for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--single-primary", action="store_true")
    options = parser.parse_args()
    try:
        with ServerRoom() as room:
            run = record_group_run(
                room,
                find_mysql(options.mysql_basedir),
                transactions=options.transactions,
                collections=options.collections,
                seed=options.seed,
                is_multi_primary=not options.single_primary,
                say=lambda line: print(line, flush=True),
            )
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    write_group_trace(run.trace, options.file)
    print(f"{options.file}: {len(run.trace.transactions)} transactions, {dict(run.outcomes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
