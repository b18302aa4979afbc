"""``paraply verify``: judge an applier by the logs of source and target."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.errors import STDIN_TWICE, USAGE
from paraply.file_arguments import (
    HtmlFile,
    InputPath,
    JsonFile,
    JunitFile,
    SarifFile,
    add_spark_arguments,
    needs_spark,
)
from paraply.mining.workers import Processes, engine_on
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.properties.two_logs.streaming import REACH, WINDOW
from paraply.reporting.escape import visible
from paraply.reporting.files import STANDARD_OUTPUT, make_folder, write_report
from paraply.reporting.page import add_plain_argument
from paraply.reporting.verify.html import verify_html
from paraply.reporting.verify.json_form import verify_json
from paraply.reporting.verify.junit import verify_junit
from paraply.reporting.verify.sarif import verify_sarif
from paraply.reporting.verify.text import verify_text
from paraply.reporting.words import headline as audit_headline
from paraply.sandbox.kernel import has_unnamed_files
from paraply.sandbox.plan import add_sandbox_argument
from paraply.verifying.mapping import Rules, load_rules, parse_key, parse_rule
from paraply.verifying.pipeline import (
    ENGINES,
    InParts,
    VerifyRequest,
    load_engine,
    may_compile,
    parts_of,
    verify,
)
from paraply.verifying.result import MONITORED, REQUIREMENTS
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError

DESCRIPTION = """\
Judge what an applier did from two logs: that of the source and that of the target. The applier
needs no change and no cooperation. The report states the strongest level that the target's
history reached, with the first state that misses each stronger level.

levels, strongest first:
  prefix   every committed state of the target is a state of the source; none is skipped
  batches  the same, and a target commit may hold several source transactions
  atomic   whole source transactions, in an order that respects common rows
  per-key  the versions of each row come in order; transactions may be torn
  final    the last state is the source's last state
"""

EPILOG = """\
exit codes:
  0  holds     the required level is reached, and everything was decided
  1  violated  the required level is missed, or transactions are missing, changed or errant
  2  unknown   something could not be decided; the report names the reason and the remedy
  3  wrong usage, or a log that cannot be read

examples:
  paraply verify source/binlog.0* --target replica/binlog.0*
  paraply verify source/bin.000007 --target dw/bin.000003 --map 'shop.*=dw.*' --require atomic
  paraply verify bin.000001 --target bin.000001 --map shop._orders_new=shop.orders
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument(
        "source",
        nargs="+",
        type=InputPath,
        metavar="SOURCE",
        help="log of the source; - is standard input",
    )
    parser.add_argument(
        "--target",
        nargs="+",
        required=True,
        type=InputPath,
        metavar="TARGET",
        help="log of the target",
    )
    parser.add_argument(
        "--require",
        choices=tuple(REQUIREMENTS),
        help="level that decides the exit code (default: prefix if both logs have the same "
        "transactions, else final)",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="S=T[:COLUMNS]",
        help="rows of source table S go to target table T; COLUMNS: id,total=amount,...",
    )
    parser.add_argument(
        "--map-file", type=InputPath, metavar="FILE", help="mapping in TOML (docs/verify.md)"
    )
    parser.add_argument(
        "--filtered",
        action="append",
        default=[],
        metavar="TABLE",
        help="table of the source that the target does not take, on purpose",
    )
    parser.add_argument(
        "--ignored",
        action="append",
        default=[],
        metavar="TABLE",
        help="table of the target that is not of the source",
    )
    parser.add_argument(
        "--key",
        action="append",
        default=[],
        metavar="TABLE=COLUMNS",
        help="columns that identify a row of a source table, where no log names its key",
    )
    for option, whose in (("--schema", "source"), ("--target-schema", "target")):
        parser.add_argument(
            option, type=InputPath, metavar="FILE", help=f"table definitions of the {whose}"
        )
    for option, whose in (("--dsn", "source"), ("--target-dsn", "target")):
        parser.add_argument(
            option,
            metavar="URL",
            help=f"read the definitions of the {whose} from its server instead, "
            "mysql://user:password@host (only reads)",
        )
    parser.add_argument(
        "--audit",
        action="store_true",
        help="also audit the target's own log: its logical timestamps, or commit groups",
    )
    parser.add_argument(
        "--monitor",
        action="extend",
        nargs="+",
        default=[],
        choices=MONITORED,
        metavar="P",
        help="follow both logs as a run of these theorems' systems: P07 commit order, P13 "
        "nothing ahead of the source, P17 and P50 nothing twice, P18 nothing passed over; for "
        "others (paraply prove --list), report why logs do not decide",
    )
    parser.add_argument(
        "--by-content",
        action="store_true",
        help="match rows only, also where both logs have the same GTIDs",
    )
    parser.add_argument(
        "--drained",
        action="store_true",
        help="the target had applied everything: rows that are late at its end are lost",
    )
    parser.add_argument(
        "--window",
        type=positive,
        default=WINDOW,
        metavar="N",
        help="source transactions to keep before and after the target (default: %(default)s)",
    )
    parser.add_argument(
        "--reach",
        type=positive,
        default=REACH,
        metavar="N",
        help="how far ahead an explanation by whole transactions may look (default: %(default)s)",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="readable: do not decide large healthy logs by the compiled engine; the result is the "
        "same (default: %(default)s)",
    )
    parser.add_argument(
        "--parts",
        type=positive,
        metavar="N",
        help="read each log in N parts, side by side in processes (with --spark: in its tasks; "
        "default there: a part per GB)",
    )
    add_spark_arguments(
        parser,
        what="read parts of both logs in Spark's tasks (docs/verify.md)",
        out="folder for what the tasks read; workers of a cluster must reach it, also by URL",
    )
    for option, kind, what in (
        ("--json", JsonFile, "write JSON; - is stdout"),
        ("--junit", JunitFile, "write JUnit XML"),
        ("--sarif", SarifFile, "write SARIF"),
        ("--html", HtmlFile, "write the report as one HTML page"),
    ):
        parser.add_argument(option, type=kind, metavar="FILE", help=what)
    add_plain_argument(parser)
    add_sandbox_argument(parser, obstacle=_obstacle, prepare=_load_engine)


def _obstacle(arguments: argparse.Namespace) -> str:
    for option, url in (("--dsn", arguments.dsn), ("--target-dsn", arguments.target_dsn)):
        if url is not None:
            return f"{option} connects to a server"
    if arguments.spark:
        return "Spark starts processes and threads of other libraries"
    if arguments.parts is not None:
        return "--parts starts processes"
    return "" if has_unnamed_files() else "the file system of TMPDIR gives every file a name"


def _load_engine(arguments: argparse.Namespace) -> None:
    """Load the compiled engine before the process locks itself; the files are not opened."""
    from paraply.auditing.loading import load_engine as load_engine_of_audit
    from paraply.auditing.loading import sample_log

    if arguments.monitor:
        import_module("paraply.verifying.monitoring")
    if arguments.audit:
        load_engine_of_audit(AuditRequest(files=tuple(arguments.target), engine=arguments.engine))
    request = VerifyRequest(
        source=tuple(arguments.source), target=tuple(arguments.target), engine=arguments.engine
    )
    if may_compile(request):
        with sample_log() as name:
            load_engine(name)


def run(arguments: argparse.Namespace) -> int:
    """Verify, report, and return the exit code."""
    with ExitStack() as stack:
        for option, schema in (("dsn", "schema"), ("target_dsn", "target_schema")):
            url = getattr(arguments, option)
            if url is None:
                continue
            if getattr(arguments, schema) is not None:
                names = [f"--{name.replace('_', '-')}" for name in (schema, option)]
                reason = f"{names[0]} and {names[1]} both give definitions"
                raise ParaplyError(USAGE, reason=reason, command="paraply verify")
            # Imported late: most runs need no server.
            from paraply.adapters.servers.definitions import schema_file

            named = f"--{option.replace('_', '-')}"
            file, _ = stack.enter_context(schema_file(url, option=named))
            setattr(arguments, schema, file)
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    inputs = [*arguments.source, *arguments.target]
    refused = needs_spark(arguments)
    if refused:
        raise ParaplyError(USAGE, reason=refused, command="paraply verify")
    if arguments.monitor and "-" in inputs:
        reason = "--monitor reads both logs again, and standard input can be read once"
        raise ParaplyError(USAGE, reason=reason, command="paraply verify")
    if arguments.audit and "-" in arguments.target:
        reason = "--audit reads the target's log again, and standard input can be read once"
        raise ParaplyError(USAGE, reason=reason, command="paraply verify")
    if inputs.count("-") > 1:
        raise ParaplyError(STDIN_TWICE, times=inputs.count("-"))
    outputs = {
        option: name
        for option in ("json", "junit", "sarif", "html")
        if (name := getattr(arguments, option)) is not None
    }
    request = VerifyRequest(
        source=tuple(arguments.source),
        target=tuple(arguments.target),
        rules=rules_of(arguments),
        schema=arguments.schema,
        target_schema=arguments.target_schema,
        required=arguments.require,
        by_content=arguments.by_content,
        is_drained=arguments.drained,
        window=arguments.window,
        reach=arguments.reach,
        engine=arguments.engine,
    )
    with progress("reading", total=_bytes_total(inputs)) as advance:
        if arguments.spark or arguments.parts is not None:
            with _readers(arguments, request) as (how, name):
                result = verify(request, advance, how)
            sys.stderr.write(course_of(how, name))
        else:
            result = verify(request, advance)
    if arguments.audit:
        audited = audit(
            AuditRequest(files=request.target, schema=request.target_schema, engine=request.engine)
        )
        result.add_metadata(audited.verdict, audit_headline(audited))
    if arguments.monitor:
        # Imported late: most runs need no model.
        from paraply.verifying.monitoring import monitor_logs

        names = tuple(dict.fromkeys(arguments.monitor))
        drained = request.is_drained
        result.add_monitors(
            monitor_logs(request.source, request.target, names, result.names, is_drained=drained)
        )
    if STANDARD_OUTPUT not in outputs.values():
        write_report(STANDARD_OUTPUT, verify_text(result))
    renderers = {
        "json": verify_json,
        "junit": verify_junit,
        "sarif": verify_sarif,
        "html": verify_html,
    }
    for option, name in outputs.items():
        write_report(name, renderers[option](result))
    return result.verdict.exit_code


@contextmanager
def _readers(
    arguments: argparse.Namespace, request: VerifyRequest
) -> Iterator[tuple[InParts, str]]:
    """Yield how to read in parts, and what the workers are called."""
    if not arguments.spark:
        processes = Processes(arguments.parts)
        yield InParts(parts=arguments.parts, map_parts=processes.map), processes.name
        return
    if arguments.out is not None:
        make_folder(arguments.out)
    files = (*request.source, *request.target)
    parts = arguments.parts or max(map(parts_of, (request.source, request.target)))
    with engine_on(files, arguments.master, arguments.out) as (engine, folder):
        yield InParts(parts=parts, map_parts=engine.map, folder=folder), engine.name


def course_of(how: InParts, workers: str) -> str:
    """Return a line on how two logs were read."""
    if how.in_one_piece:
        return f"both logs were read in one piece: {visible(how.in_one_piece)}\n"
    again = f", {counted(how.again, 'of them again', 'of them again')}" if how.again else ""
    return f"both logs were read in {counted(how.read, 'part')} by {workers}{again}\n"


def rules_of(arguments: argparse.Namespace) -> Rules:
    """Return the mapping of file and options."""
    rules = Rules() if arguments.map_file is None else load_rules(arguments.map_file)
    return replace(
        rules,
        tables=(*rules.tables, *map(parse_rule, arguments.map)),
        keys=dict(map(parse_key, arguments.key)),
        filtered=rules.filtered | set(arguments.filtered),
        ignored=rules.ignored | set(arguments.ignored),
    )


def _bytes_total(names: list[str]) -> int | None:
    if any(name == "-" or not os.path.isfile(name) for name in names):
        return None
    return sum(os.stat(name).st_size for name in names)
