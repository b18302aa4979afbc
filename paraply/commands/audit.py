"""``paraply audit``: judge binary logs and write reports."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from paraply.adapters.binlog.blocks import BLOCK_BYTES
from paraply.adapters.binlog.input_files import bytes_total
from paraply.adapters.binlog.memory import BUDGET, DEFAULT_BYTES
from paraply.auditing.dump_age import DumpMoment
from paraply.auditing.engines import ENGINES
from paraply.auditing.pipeline import APPLIERS, AuditRequest, audit
from paraply.auditing.predicting import predict
from paraply.auditing.selection import GTID_NOT_SELECTABLE, START, STOP, Selection
from paraply.commands.audit_server import add_fetching, from_server
from paraply.errors import MALFORMED_WORKERS, STDIN_TWICE, UNKNOWN_APPLIER, USAGE
from paraply.file_arguments import (
    HtmlFile,
    InputPath,
    JsonFile,
    JunitFile,
    SarifFile,
    add_spark_arguments,
    needs_spark,
)
from paraply.number_arguments import positive, positive_seconds
from paraply.progress import progress
from paraply.reporting.files import STANDARD_OUTPUT, make_folder, require_writable, write_report
from paraply.reporting.terminal import render_terminal
from paraply.sandbox.plan import add_sandbox_argument
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

AVAILABLE_NOW = "available-now"

WORKERS_DEFAULT = "1,2,4,8,16,32"

MEMORY_BYTES_MIN = 16 << 20

WORKERS_MAX = 1024
"""MySQL's limit for replica_parallel_workers."""

WIDTH_IN_PIPES = 100

DESCRIPTION = """\
Read binary logs (MySQL 5.6 to 9.x, MariaDB 5.5 to 11), relay logs or the text that
mysqlbinlog -v prints, and say with evidence: is their metadata well-formed, is it safe
to apply them in parallel as it allows, do the row images fit each other, and how
parallel are they and could they be? Several files are one stream, in the order given.
"""

EPILOG = """\
exit codes:
  0  holds     every check was decided and none was broken
  1  violated  a check was broken (with --strict: or unknown, or a warning was found)
  2  unknown   something could not be decided; the report says what, why, and the way out
  3  wrong usage, or nothing could be read

examples:
  paraply audit binlog.000001 binlog.000002
  paraply audit binlog.* --schema schema.sql --html report.html
  paraply audit --dsn mysql://me@db1 --fetch copied-logs
  paraply audit --follow s3://bucket/binlogs --out audits --trigger 60
  mysqlbinlog -vv --base64-output=DECODE-ROWS binlog.000007 | paraply audit - --json -
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument(
        "files",
        nargs="*",
        type=InputPath,
        metavar="FILE",
        help="log file, plain, .gz or .zst; - is standard input",
    )
    parser.add_argument(
        "--schema",
        type=InputPath,
        metavar="FILE",
        help="dump of the table definitions (mysqldump --no-data), for keys that the log lacks",
    )
    parser.add_argument(
        "--schema-at",
        choices=[DumpMoment.BEGIN, DumpMoment.END],
        default=DumpMoment.UNKNOWN,
        help="what moment of the log --schema shows (default: what the log leaves possible)",
    )
    parser.add_argument(
        "--dsn",
        metavar="URL",
        help="read the definitions from a server instead, mysql://user:password@host (only reads)",
    )
    add_fetching(parser)
    parser.add_argument(
        "--workers",
        metavar="LIST",
        default=WORKERS_DEFAULT,
        help="worker counts to compute the speed-up for (default: %(default)s)",
    )
    parser.add_argument(
        "--appliers",
        metavar="LIST",
        help=f"whose reading of the metadata to judge (default: {','.join(APPLIERS)})",
    )
    for option, kind, what in (
        ("--json", JsonFile, "write JSON; - is stdout"),
        ("--html", HtmlFile, "write the report as one HTML page"),
        ("--junit", JunitFile, "write JUnit XML for a build server"),
        ("--sarif", SarifFile, "write SARIF, with each finding at its bytes of the log"),
    ):
        parser.add_argument(option, type=kind, metavar="FILE", help=what)
    parser.add_argument(
        "--strict", action="store_true", help="count unknown and warnings as failure: exit code 1"
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="print ASCII sentences instead of tables, charts and colours",
    )
    parser.add_argument(
        "--start-gtid",
        metavar="GTID",
        help="judge from this transaction on (MariaDB: one GTID per domain, with commas)",
    )
    parser.add_argument("--stop-gtid", metavar="GTID", help="judge up to this transaction")
    parser.add_argument(
        "--domain", metavar="N", type=int, help="judge the transactions of one MariaDB domain"
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory_bytes,
        default=DEFAULT_BYTES,
        help="memory for unpacked events and rows of one transaction, like 512M or 4G "
        "(default: 1G)",
    )
    parser.add_argument("--details", action="store_true", help="print every section of the report")
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="readable or compiled implementation; the result is the same (default: %(default)s)",
    )
    add_spark_arguments(
        parser,
        what="judge parts of the log side by side, for terabytes (docs/spark.md)",
        out="write every violation to DIR/violations.parquet, sorted, each once; with --follow: "
        "Delta tables; workers of a cluster must reach DIR, which may be a URL",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="FILE is a folder, glob or URL: audit its files as the server ends them, into tables "
        "in --out, by a Spark streaming query (docs/spark.md)",
    )
    parser.add_argument(
        "--trigger",
        metavar="WHEN",
        default=AVAILABLE_NOW,
        type=trigger,
        help="with --follow: seconds between two looks at the folder, until Ctrl-C, or "
        "available-now: audit what is there (default: %(default)s)",
    )
    parser.add_argument(
        "--part-megabytes",
        metavar="N",
        type=positive,
        help="with --spark: size of a part, in steps of 32 (default: 1024)",
    )
    add_sandbox_argument(parser, obstacle=_obstacle, prepare=_load_engine)


def _obstacle(arguments: argparse.Namespace) -> str:
    if arguments.spark or arguments.follow:
        return "Spark starts processes and threads of other libraries"
    return "--dsn connects to a server" if arguments.dsn is not None else ""


def _load_engine(arguments: argparse.Namespace) -> None:
    # Imported late: a run without sandbox has no use for it.
    from paraply.auditing.loading import load_engine

    load_engine(
        AuditRequest(
            files=tuple(arguments.files),
            engine=arguments.engine,
            selection=_selection(arguments),
        )
    )


def run(arguments: argparse.Namespace) -> int:
    """Audit, report, and return the exit code."""
    BUDGET.bytes = arguments.memory
    with from_server(arguments) as told:
        return _run(arguments, told.assumptions, told.asked)


def _run(arguments: argparse.Namespace, assumptions: Sequence[str], asked: Sequence[str]) -> int:
    request = AuditRequest(
        files=tuple(arguments.files),
        schema=arguments.schema,
        schema_at=DumpMoment(arguments.schema_at),
        workers=parse_workers(arguments.workers),
        appliers=parse_appliers(arguments.appliers),
        engine=arguments.engine,
        selection=_selection(arguments),
    )
    stdin_times = [*request.files, request.schema].count("-")
    if stdin_times > 1:
        raise ParaplyError(STDIN_TWICE, times=stdin_times)
    outputs = {
        option: name
        for option in ("json", "html", "junit", "sarif")
        if (name := getattr(arguments, option)) is not None
    }
    if request.selection and are_tables(request.files):
        reason = "--start-gtid, --stop-gtid and --domain go with binary logs"
        raise ParaplyError(USAGE, reason=reason, command="paraply audit")
    if arguments.follow:
        _require_followable(request, arguments)
    elif not arguments.spark:
        _require_spark(request, arguments)
    if arguments.spark and are_tables(request.files):
        return _audit_tables(request, arguments)
    began = time.monotonic()
    if arguments.follow:
        # Imported late, as below.
        from paraply.commands.audit_following import follow

        result = follow(request, arguments)
    elif arguments.spark:
        result = _audit_on_spark(request, arguments)
    else:
        with progress("reading", total=bytes_total(request.files)) as advance:
            result = audit(request, advance)

    predict(request, result)
    result.assumptions += assumptions
    result.statements_asked += asked
    if STANDARD_OUTPUT not in outputs.values():
        write_report(
            STANDARD_OUTPUT,
            terminal_report(
                result,
                sys.stdout,
                plain=arguments.plain,
                details=arguments.details,
                seconds=time.monotonic() - began,
            ),
        )
    for option, name in outputs.items():
        write_report(name, _rendered(option, result, strict=arguments.strict))
    return exit_code(result, strict=arguments.strict)


def _rendered(option: str, result: AuditResult, *, strict: bool) -> str:
    # Imported late: most audits print to a terminal alone.
    if option == "json":
        from paraply.reporting.audit.json_form import render_json

        return render_json(result)
    if option == "html":
        from paraply.reporting.html import render_html

        return render_html(result)
    if option == "junit":
        from paraply.reporting.junit import render_junit

        return render_junit(result, strict=strict)
    from paraply.reporting.audit.sarif import render_sarif

    return render_sarif(result)


def _selection(arguments: argparse.Namespace) -> Selection:
    for option, given in ((START, arguments.start_gtid), (STOP, arguments.stop_gtid)):
        if given == "":  # Of a variable that is not set: the whole log is not meant.
            raise ParaplyError(
                GTID_NOT_SELECTABLE, option=option, text="''", reason="it names no GTID"
            )
    return Selection(
        start_gtid=arguments.start_gtid or "",
        stop_gtid=arguments.stop_gtid or "",
        domain=arguments.domain,
    )


def _require_followable(request: AuditRequest, arguments: argparse.Namespace) -> None:
    reason = ""
    if arguments.out is None:
        reason = "--follow needs --out"
    elif len(request.files) > 1 or "-" in request.files:
        reason = "--follow takes one folder, glob in quotes, or URL"
    elif request.schema_at is DumpMoment.END:
        reason = "--follow never sees the log's end: --schema-at end does not go with it"
    elif request.selection:
        reason = "--start-gtid, --stop-gtid and --domain do not go with --follow"
    elif arguments.spark or arguments.part_megabytes is not None:
        reason = "--follow is a Spark query of its own: leave --spark and --part-megabytes out"
    elif arguments.master == "none":
        reason = "--follow needs Spark, also on local[*]"
    if reason:
        raise ParaplyError(USAGE, reason=reason, command="paraply audit")


def _require_spark(request: AuditRequest, arguments: argparse.Namespace) -> None:
    reason = needs_spark(arguments, "part_megabytes")
    if not reason and arguments.trigger != AVAILABLE_NOW:
        reason = "--trigger goes with --follow"
    if are_tables(request.files):
        reason = (
            "tables of transactions (.parquet) are audited with --spark, which starts no Spark for "
            "small ones, or none at all with --master none"
        )
    if reason:
        raise ParaplyError(USAGE, reason=reason, command="paraply audit")


def _audit_on_spark(request: AuditRequest, arguments: argparse.Namespace) -> AuditResult:
    # Imported late: a plain audit needs neither Spark nor Arrow.
    from paraply.auditing.on_spark import VIOLATIONS_FILE, SparkRequest, audit_on_spark

    if arguments.out is not None:
        make_folder(arguments.out)
        require_writable(f"{arguments.out}/{VIOLATIONS_FILE}", "Parquet")
    megabytes = arguments.part_megabytes
    spark = SparkRequest(
        master=arguments.master,
        out=arguments.out,
        part_blocks=None if megabytes is None else max(1, (megabytes << 20) // BLOCK_BYTES),
    )
    with progress("judging parts", total=1) as advance:
        found, judge = audit_on_spark(request, spark, advance)
    again = sum(found.judged_again.values())
    sys.stderr.write(
        f"{counted(found.parts, 'part')} judged by {judge}"
        + (f", {counted(again, 'of them again', 'of them again')}" if again else "")
        + (f", rows followed in {counted(found.rounds, 'round')}" if found.rounds else "")
        + (f"; {counted(len(found.violations), 'violation')} in {arguments.out}/{VIOLATIONS_FILE}"
           if arguments.out else "")
        + "\n"
    )  # fmt: skip
    return found.result


def _audit_tables(request: AuditRequest, arguments: argparse.Namespace) -> int:
    from paraply.auditing.on_spark import VIOLATIONS_FILE
    from paraply.auditing.tables import as_json, as_text, audit_tables
    from paraply.mining.workers import engine_of

    for option in ("html", "junit", "sarif"):
        if getattr(arguments, option) is not None:
            reason = f"--{option} goes with binary logs: of tables there are --json and --out"
            raise ParaplyError(USAGE, reason=reason, command="paraply audit")
    violations = None
    if arguments.out is not None:
        make_folder(arguments.out)
        violations = f"{arguments.out}/{VIOLATIONS_FILE}"
        require_writable(violations, "Parquet")
    engine = engine_of(request.files, arguments.master)
    try:
        counts, written = audit_tables(request.files, engine, violations)
    finally:
        engine.close()
    if violations is not None:
        sys.stderr.write(f"{counted(written, 'violation')} in {violations}\n")
    if arguments.json != STANDARD_OUTPUT:
        write_report(STANDARD_OUTPUT, as_text(counts))
    if arguments.json is not None:
        write_report(arguments.json, as_json(counts))
    if arguments.strict and counts.verdict is Verdict.UNKNOWN:
        return Verdict.VIOLATED.exit_code
    return counts.verdict.exit_code


def are_tables(files: Sequence[str]) -> bool:
    """Return whether the input is Parquet tables."""
    return all(file.endswith(".parquet") for file in files)


def terminal_report(
    result: AuditResult, stream: TextIO, *, plain: bool, details: bool = True, seconds: float = 0
) -> str:
    """Return a coloured report, or ASCII.

    ``seconds`` is 0 if unknown.
    """
    is_terminal = stream.isatty()
    colour = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    fallback = (80 if is_terminal else WIDTH_IN_PIPES, 24)
    width = shutil.get_terminal_size(fallback).columns
    return render_terminal(
        result,
        width=width,
        colour=colour,
        plain=plain or not _draws_blocks(stream),
        details=details,
        speed=_speed(result, seconds) if is_terminal else "",
    )


def _speed(result: AuditResult, seconds: float) -> str:
    if seconds <= 0:
        return ""
    megabytes = sum(file.bytes_read for file in result.files) / 1e6
    return f"{megabytes:,.1f} MB in {seconds:,.1f} s ({megabytes / seconds:,.1f} MB/s)"


def exit_code(result: AuditResult, *, strict: bool) -> int:
    """Return the exit code; ``strict`` fails any imperfection."""
    doubtful = result.verdict is Verdict.UNKNOWN or any(
        finding.severity == "warning" for finding in result.lint
    )
    if strict and doubtful:
        return Verdict.VIOLATED.exit_code
    return result.verdict.exit_code


def trigger(text: str) -> str:
    """Check ``available-now`` or a number of seconds."""
    if text != AVAILABLE_NOW:
        positive_seconds(text)
    return text


def memory_bytes(text: str) -> int:
    """Parse ``512M`` or ``4G``."""
    match = re.fullmatch(r"(\d{1,9})([KMGT]?)", text.strip(), re.IGNORECASE)
    size = int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ") if match else 0
    if size < MEMORY_BYTES_MIN:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size of at least 16M, like 512M")
    return size


def parse_workers(text: str) -> tuple[int, ...]:
    """Parse worker counts, ascending and distinct."""
    counts = set()
    for part in text.split(","):
        if not part.strip().isdecimal() or not part.strip().isascii():
            raise ParaplyError(
                MALFORMED_WORKERS, text=text, reason=f"'{part.strip()}' is not a whole number"
            )
        count = int(part.strip()[:9])
        if not 1 <= count <= WORKERS_MAX:
            raise ParaplyError(
                MALFORMED_WORKERS, text=text, reason=f"{part.strip()} is not in 1..{WORKERS_MAX}"
            )
        counts.add(count)
    return tuple(sorted(counts))


def parse_appliers(text: str | None) -> tuple[str, ...]:
    """Parse appliers in canonical order; all by default."""
    if text is None:
        return APPLIERS
    names = {part.strip() for part in text.split(",")}
    for name in sorted(names):
        if name not in APPLIERS:
            close = difflib.get_close_matches(name, APPLIERS, n=1)
            raise ParaplyError(
                UNKNOWN_APPLIER,
                name=name,
                suggestion=f"; did you mean {close[0]}?" if close else "",
                known=", ".join(APPLIERS),
            )
    return tuple(name for name in APPLIERS if name in names)


def _draws_blocks(stream: TextIO) -> bool:
    try:
        "▁█─✗…−".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
