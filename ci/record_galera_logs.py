"""Record a Galera round's logs: ``python -m ci.record_galera_logs FOLDER``.

Requires MariaDB and Galera (ci/servers).
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from pathlib import Path

from paraply.adapters.live.galera.lab import GaleraLab
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.servers import ServerRoom
from paraply.vocabulary.errors import ParaplyError

_READ = re.compile(
    rb"applying event 1,|wsrep_ordered_commit|wsrep_after_apply|release_commit\(\) for trx"
    rb"|to_isolation_(?:begin|end)\(|Apply TO END|: replaying "
)


def main() -> int:
    """Record one round; exit 3 on failure."""
    parser = argparse.ArgumentParser(prog="python -m ci.record_galera_logs", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transactions", type=int, default=400)
    parser.add_argument("--workload", default="mixed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    request = LiveRequest(
        mode="multi-master",
        workload=options.workload,
        transactions=options.transactions,
        seed=options.seed,
        say=lambda line: print(line, flush=True),
    )
    try:
        with ServerRoom() as room:
            lab = GaleraLab(request, room)
            told = lab.round(1)
            _record(lab, options.folder)
    except ParaplyError as error:
        print(f"{error.text}\n  {error.remedy}", file=sys.stderr)
        return 3
    print(f"{options.folder}: {dict(told.evidence)}")
    return 0


def _record(lab: GaleraLab, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for member in lab.members:
        with member.log.open("rb") as log:
            log.seek(lab.log_offsets[member.name])
            lines = b"".join(line for line in log if _READ.search(line))
        (file,) = lab.log_files(member)
        for name, content in (("error.log", lines), ("bin.000001", file.read_bytes())):
            packed = gzip.compress(content, mtime=0)
            (folder / f"{member.name}.{name}.gz").write_bytes(packed)


if __name__ == "__main__":
    sys.exit(main())
