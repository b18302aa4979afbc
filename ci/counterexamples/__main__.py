"""Try the counterexamples of the models on real servers: ``python -m ci.counterexamples``.

``[--only NAME...] [--server VERSION...] [--list] [--publish]``; a name is that of a script or of a
counterexample, a version such as ``mysql`` or ``mariadb-11.8``. ``--publish`` stores the results in
docs/counterexamples.jsonl and writes the page. Exit code 1 if a script did not reach its situation,
3 if no server is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymysql

from ci.counterexamples.registry import SCRIPTS, Script
from ci.counterexamples.scripts import (  # noqa: F401
    commit_order,
    crashes,
    galera,
    group,
    semi_sync,
    stamps,
)
from ci.counterexamples.stage import ScriptError, Stage
from ci.pages.counterexamples import PAGE
from ci.pages.writing import ROOT
from paraply.adapters.servers import (
    Installation,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
from paraply.vocabulary.errors import ParaplyError

Result = dict[str, Any]

SERVERS: Mapping[str, Callable[[], Installation]] = {
    "mariadb": find_mariadb,
    "mariadb-11.8": find_mariadb_11_8,
    "mysql": find_mysql,
}
"""As ``ci/servers --only`` names them."""
_NO_SERVER = 3
_ATTEMPTS = 2
"""A busy machine may let a step come too late."""


def perform(script: Script, installation: Installation) -> Result:
    """Run a script on one installation; ``error`` says why it decided nothing."""
    error = ""
    for _ in range(_ATTEMPTS):
        began = time.monotonic()
        with ServerRoom() as room:
            stage = Stage(installation, room)
            try:
                script.act(stage)
                error = ""
            except (ScriptError, ParaplyError, pymysql.MySQLError) as reason:
                error = str(reason)
        if not error:
            break
    return {
        "script": script.name,
        "server": installation.version_text,
        "decisions": stage.decisions,
        "notes": stage.notes,
        "seconds": round(time.monotonic() - began, 1),
        "error": error,
    }


def chosen(names: Sequence[str]) -> list[Script]:
    """Return the scripts of these names, or those that decide these counterexamples."""
    return [
        one
        for one in SCRIPTS.values()
        if not names or one.name in names or set(names) & set(one.decides)
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run scripts and print what they decide."""
    parser = argparse.ArgumentParser(prog="python -m ci.counterexamples", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--server", nargs="+", choices=SERVERS, default=list(SERVERS))
    parser.add_argument("--list", action="store_true", help="list the scripts and end")
    parser.add_argument("--publish", action="store_true", help="store the results for the page")
    given = parser.parse_args(argv)
    scripts = chosen(given.only)
    if not scripts:
        parser.error(f"no script {', '.join(given.only)}; --list has all")
    if given.list:
        for one in scripts:
            print(f"{one.name} ({', '.join(one.decides)}): {one.meaning}")
        return 0
    results: list[Result] = []
    for name in given.server:
        try:
            installation = SERVERS[name]()
        except ParaplyError as reason:
            print(f"{name}: left out: {reason.text}", flush=True)
            continue
        for script in scripts:
            if installation.flavour in script.families:
                results.append(perform(script, installation))
                print(_told(results[-1]), flush=True)
                if given.publish:
                    _publish(results[-1])
    if not results:
        return _NO_SERVER
    return 1 if any(one["error"] for one in results) else 0


def _told(result: Result) -> str:
    lines = [f"{result['script']} on {result['server']}, {result['seconds']} s"]
    lines += [f"  {note}" for note in result["notes"]]
    if result["error"]:
        lines.append(f"  not decided: {result['error']}")
    return "\n".join(lines)


def _publish(result: Result) -> None:
    if result["error"]:
        return
    lines = [json.dumps(one, sort_keys=True) for one in PAGE.merged(PAGE.stored(), [result])]
    text = "".join(f"{line}\n" for line in lines)
    (ROOT / PAGE.results).write_text(text, encoding="utf-8")
    PAGE.main(["--write"])


if __name__ == "__main__":
    sys.exit(main())
