"""``paraply check``: judge a recorded history."""

from __future__ import annotations

import argparse
from pathlib import Path

from paraply.counterexamples.workload_arguments import STRICT_HELP
from paraply.errors import USAGE
from paraply.file_arguments import InputPath, JsonFile, JunitFile
from paraply.judging.checking import (
    DEFAULT_LEVEL,
    Checked,
    check_bank,
    check_clients,
    check_histories,
    check_objects,
)
from paraply.judging.history_files import FileKind, clients_history, kind_of, own_histories
from paraply.models.recorded.monitors import MONITORS
from paraply.properties.isolation.judging import load_search_for
from paraply.properties.isolation.phenomena import LEVELS
from paraply.reporting.check_text import check_json, check_junit, check_text
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.page import add_plain_argument
from paraply.sandbox.plan import add_sandbox_argument
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.errors import ParaplyError

_EXAMPLE = """\
examples:
  paraply check counterexample.jsonl            a history of paraply, every property that applies
  paraply check runs/                           the same of a folder of Parquet files
  paraply check run.jsonl --monitor P07         is it a run of the system of theorem P07?
  paraply check history.edn                     a history of Jepsen: list-append, rw-register,
                                                bank, long-fork, set or counter
  paraply check history.json --level snapshot-isolation
  paraply check history.edn --log binlog.jsonl --level monotonic-prefix

exit codes: 0 the level, or every property judged, holds; 1 it is refuted, or one is broken; 2 it
is not decided, or one is unknown
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Judge a recorded history. One of servers, as paraply writes it, is judged by every\n"
        "applicable property; one of clients, as Jepsen and Elle have it, by the\n"
        "isolation level asked for. docs/isolation.md says what each level forbids."
    )
    parser.epilog = _EXAMPLE
    add_plain_argument(parser)
    parser.add_argument(
        "history", type=InputPath, metavar="HISTORY", help="a file, or a folder of Parquet files"
    )
    parser.add_argument(
        "--property",
        action="extend",
        nargs="+",
        default=[],
        metavar="P",
        help="of a history of paraply: judge only these (see paraply list properties)",
    )
    parser.add_argument(
        "--monitor",
        action="extend",
        nargs="+",
        default=[],
        metavar="P",
        help="of a history of paraply: follow it as a run of these theorems' systems: "
        + ", ".join(MONITORS),
    )
    parser.add_argument(
        "--level",
        choices=[level.name for level in LEVELS],
        metavar="L",
        help=f"of a history of clients: the level that decides ({DEFAULT_LEVEL}); one of "
        + ", ".join(level.name for level in LEVELS),
    )
    parser.add_argument(
        "--log",
        type=InputPath,
        metavar="F",
        help="of a history of clients: the source's log as JSON Lines, one transaction a line in "
        "commit order, as its writes [[key, value], ...]; of counters, as its number",
    )
    parser.add_argument(
        "--total", type=int, metavar="N", help="of a bank: what all accounts hold together"
    )
    parser.add_argument("--strict", action="store_true", help=STRICT_HELP)
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    parser.add_argument("--junit", type=JunitFile, metavar="F", help="write JUnit XML; - is stdout")
    add_sandbox_argument(parser, prepare=_load_search)


def _load_search(arguments: argparse.Namespace) -> None:
    if Path(arguments.history).is_file():
        load_search_for(Path(arguments.history).stat().st_size)


def run(arguments: argparse.Namespace) -> int:
    """Judge, print, and return the verdict's exit code."""
    outputs = [name for name in (arguments.json, arguments.junit) if name is not None]
    checked = check(arguments)
    if STANDARD_OUTPUT not in outputs:
        write_report(STANDARD_OUTPUT, check_text(checked))
    if arguments.json is not None:
        write_report(arguments.json, check_json(checked))
    if arguments.junit is not None:
        write_report(arguments.junit, check_junit(checked))
    return checked.verdict.exit_code


def check(arguments: argparse.Namespace) -> Checked:
    """Judge the history of the arguments."""
    name = arguments.history
    kind = kind_of(name)
    if kind in (FileKind.OURS, FileKind.PARQUET):
        _refuse_options(arguments, ("level", "log", "total"), "a history of paraply")
        return check_histories(
            name,
            own_histories(name, kind),
            arguments.property,
            monitors=arguments.monitor,
            is_strict=arguments.strict,
        )
    _refuse_options(arguments, ("property", "monitor", "strict"), "a history of clients")
    history = clients_history(name, kind, arguments.log)
    if isinstance(history, ClientHistory):
        _refuse_options(arguments, ("total",), "a history without accounts")
        if not history.data_type.has_versions:
            return check_objects(name, history, arguments.level)
        return check_clients(name, history, arguments.level or DEFAULT_LEVEL)
    return check_bank(name, history, arguments.level, total=arguments.total)


def _refuse_options(arguments: argparse.Namespace, names: tuple[str, ...], what: str) -> None:
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not False and value != []:
            raise ParaplyError(USAGE, reason=f"{what} has no --{name}", command="paraply check")
