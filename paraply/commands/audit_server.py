"""What ``paraply audit --dsn`` takes from a server: definitions, variables and binary logs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from paraply.auditing.dump_age import DumpMoment
from paraply.errors import USAGE
from paraply.file_arguments import OutputFolder
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ParaplyError

MEGABYTES = 1024


@dataclass(slots=True)
class FromServer:
    """What a report says about a server that was asked."""

    assumptions: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Statements, in order."""


def add_fetching(parser: argparse.ArgumentParser) -> None:
    """Add the options that copy a server's logs."""
    parser.add_argument(
        "--fetch",
        type=OutputFolder,
        metavar="DIR",
        help="with --dsn, instead of FILE: copy the server's newest binary logs into DIR, and "
        "audit them",
    )
    parser.add_argument(
        "--fetch-megabytes",
        type=positive,
        metavar="N",
        help=f"with --fetch: at most this much, but always the newest log (default: {MEGABYTES})",
    )


@contextmanager
def from_server(arguments: argparse.Namespace) -> Iterator[FromServer]:
    """Set the files and the schema that a server gives, and yield what to say of it.

    Raises ``ParaplyError``: P301 for options that do not go together, P61x and P627 for a server
    or a folder.
    """
    reason = _contradiction(arguments)
    if reason:
        raise ParaplyError(USAGE, reason=reason, command="paraply audit")
    if arguments.dsn is None:
        yield FromServer()
        return
    # Imported late: most audits need no server.
    from paraply.adapters.servers.definitions import schema_file

    told = FromServer()
    if arguments.fetch is not None:
        _fetch(arguments, told)
    # After the logs, so that no statement of theirs is newer than the definitions.
    if not arguments.follow:
        arguments.schema_at = DumpMoment.END
    with schema_file(arguments.dsn) as (arguments.schema, server):
        variables = ", ".join(f"{name}={value}" for name, value in server.variables.items())
        told.asked += server.asked
        told.assumptions[:0] = [
            f"the definitions are those of the server now ({variables})",
            f"the server was asked {counted(len(told.asked), 'statement')}, all of them "
            "SHOW or SELECT of information_schema",
        ]
        yield told


def _contradiction(arguments: argparse.Namespace) -> str:
    if arguments.dsn is not None and arguments.schema is not None:
        return "--schema and --dsn both give definitions"
    if arguments.schema_at and arguments.schema is None:
        return "--schema-at goes with --schema"
    if arguments.fetch is None:
        if arguments.fetch_megabytes is not None:
            return "--fetch-megabytes goes with --fetch"
        return "" if arguments.files else "name a log file, or a server's: --dsn with --fetch"
    if arguments.dsn is None:
        return "--fetch needs the server: --dsn"
    if arguments.files or arguments.follow:
        return "--fetch takes the logs of the server, so it goes with no FILE"
    return ""


def _fetch(arguments: argparse.Namespace, told: FromServer) -> None:
    from paraply.adapters.servers.binlog_dump import LIST_LOGS, LogPlace, dump_log, newest_logs
    from paraply.adapters.servers.existing import ExistingServer, parse_dsn

    server = ExistingServer(parse_dsn(arguments.dsn), name="server", is_read_only=True)
    newest = newest_logs(server, (arguments.fetch_megabytes or MEGABYTES) << 20)
    told.asked.append(LIST_LOGS)
    total = sum(log.offset for log in newest)
    with progress("copying logs", total=total) as advance:
        start = LogPlace(file=newest[0].file, offset=4)
        files = dump_log(server, start, Path(arguments.fetch), advance)
    arguments.files = [str(file) for file in files]
    told.assumptions.append(
        f"{counted(len(files), 'log')} of the server from {newest[0].file} on came over the "
        "replication protocol, as a replica gets them"
    )
