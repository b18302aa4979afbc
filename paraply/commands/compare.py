"""``paraply compare``: one workload through every applier, on a simulated clock."""

from __future__ import annotations

import argparse

from paraply.auditing.comparing import (
    BINLOG,
    TRANSACTIONS,
    WORKERS,
    CompareRequest,
    compare,
)
from paraply.counterexamples.workload_arguments import command_line
from paraply.errors import STDIN_TWICE
from paraply.file_arguments import InputPath, JsonFile
from paraply.progress import progress
from paraply.reference_impl.workloads.streams import STREAMS
from paraply.reference_impl.workloads.zipfian import THETA_DEFAULT
from paraply.reporting.compare_text import compare_json, compare_text
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.sandbox.plan import add_sandbox_argument
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

_EXAMPLE = """\
workloads:
{workloads}
  binlog        the transactions of binary logs, with the keys that an audit finds

appliers are named in full or by their beginning: serial, c0 to c4, p2, p3 (WL#4648), mysql,
mariadb, rule (rules of third-party appliers, restated)

examples:
  paraply compare --workload hot-keys --workers 8
  paraply compare --workload oltp --transactions 100000 --appliers serial,c3,mysql,mariadb
  paraply compare --workers 16 binlog.000001 binlog.000002 --json compare.json

exit codes: 0 compared, 3 wrong usage or nothing could be read. To judge a log, use paraply
audit; to judge an applier, paraply conform.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run one workload through every applier on one simulated clock and one table of costs:\n"
        "ticks, speed-up, what went out of order, and whether one position is enough."
    )
    parser.epilog = _EXAMPLE.format(
        workloads="\n".join(f"  {one.name:<13} {one.meaning}" for one in STREAMS.values())
    )
    parser.add_argument(
        "files", nargs="*", type=InputPath, metavar="BINLOG", help="logs, as paraply audit reads"
    )
    parser.add_argument(
        "--workload",
        metavar="W",
        help="see below; default: binlog where there are logs, else hot-keys",
    )
    parser.add_argument(
        "--workers", type=int, default=WORKERS, metavar="N", help=f"0 is serial ({WORKERS})"
    )
    parser.add_argument(
        "--transactions",
        type=int,
        metavar="N",
        help=f"how many to generate ({TRANSACTIONS:,}), or to take of a log (all)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the workload (0)")
    parser.add_argument(
        "--theta",
        type=float,
        default=THETA_DEFAULT,
        metavar="T",
        help=f"skew of popular keys, from 0 to below 1 ({THETA_DEFAULT})",
    )
    parser.add_argument("--appliers", metavar="LIST", help="names with commas (all)")
    parser.add_argument(
        "--schema", type=InputPath, metavar="FILE", help="dump of the table definitions"
    )
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    add_sandbox_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare, report, and return the exit code."""
    request = request_of(arguments)
    stdin_times = [*request.files, request.schema].count("-")
    if stdin_times > 1:
        raise ParaplyError(STDIN_TWICE, times=stdin_times)
    with progress("comparing", total=1.0) as advance:
        result = compare(request, advance)
    if arguments.json != STANDARD_OUTPUT:
        write_report(STANDARD_OUTPUT, compare_text(result, command=again(request)))
    if arguments.json is not None:
        write_report(arguments.json, compare_json(result))
    return Verdict.HOLDS.exit_code


def request_of(arguments: argparse.Namespace) -> CompareRequest:
    """Return the requested comparison."""
    files = tuple(arguments.files)
    workload = arguments.workload or (BINLOG if files else "hot-keys")
    transactions = arguments.transactions
    if transactions is None:
        transactions = 0 if workload == BINLOG else TRANSACTIONS
    names = (arguments.appliers or "").split(",")
    return CompareRequest(
        workload=workload,
        workers=arguments.workers,
        transactions=transactions,
        seed=arguments.seed,
        theta=arguments.theta,
        appliers=tuple(name.strip() for name in names if name.strip()),
        files=files,
        schema=arguments.schema,
    )


def again(request: CompareRequest) -> str:
    """Return the command that repeats the comparison."""
    words = ["paraply", "compare", "--workload", request.workload, "--workers",
             str(request.workers), "--transactions", str(request.transactions)]  # fmt: skip
    if request.workload != BINLOG:
        words += ["--seed", str(request.seed), "--theta", f"{request.theta:g}"]
    if request.appliers:
        words += ["--appliers", ",".join(request.appliers)]
    if request.schema is not None:
        words += ["--schema", request.schema]
    return command_line([*words, *request.files])
