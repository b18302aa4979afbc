"""Count the cases that real servers turn into binary logs: ``python -m ci.wire_cases``.

The result, docs/wire-cases.jsonl, has a line per server and case: ``family``, ``server``, ``case``
and ``reason``. The page is docs/wire.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ci.check import ROOT
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import Case, log_for
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.installation import Installation
from paraply.adapters.wire.case_logs import CaseLogs, NotOnWireError, as_logged
from paraply.commands.conform_wire import own_target
from paraply.progress import progress

STORE = ROOT / "docs" / "wire-cases.jsonl"
FINDERS = {"mysql": find_mysql, "mariadb": find_mariadb}


def outcomes(installation: Installation, cases: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """Yield each case's id, and the reason why it is no log of the server; empty if it is one."""
    with ServerRoom() as room, tempfile.TemporaryDirectory() as folder:
        logs = CaseLogs(own_target(room, installation), Path(folder))
        for case in cases:
            try:
                logs.make(as_logged(log_for(case, 0)))
            except NotOnWireError as error:
                yield case.id, str(error)
            else:
                yield case.id, ""


def main() -> int:
    """Make every case's log on both servers, and store the outcomes."""
    cases = cases_named([])
    lines = []
    with progress("logs of cases", len(FINDERS) * len(cases)) as advance:
        for family, find in FINDERS.items():
            installation = find()
            for case, reason in outcomes(installation, cases):
                known = {"family": family, "server": ".".join(map(str, installation.version))}
                lines.append(json.dumps({**known, "case": case, "reason": reason}))
                advance(len(lines))
    STORE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
