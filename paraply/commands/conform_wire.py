"""``paraply conform --wire``: an unmodified applier behind a gate on the MySQL protocol."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paraply.adapters.conformance.cases import Case
from paraply.adapters.servers import Installation, Server, ServerRoom, find_mariadb, find_mysql
from paraply.adapters.wire.run import PATIENCE_S, Fault
from paraply.commands.conform_outputs import (
    is_as_recorded,
    recorded_run,
    run_with_progress,
    write_outputs,
)
from paraply.conforming.expected_failures import ExpectedFailure
from paraply.conforming.suite import Applier
from paraply.conforming.wire.profiles import NO_PROFILE, PROFILES, Profile, options_of
from paraply.conforming.wire.suite import SCHEDULES, USER, WireConformance
from paraply.reporting.conform.report import SuiteReport
from paraply.verifying.result import REQUIREMENTS

_SERVERS = {"mariadb": find_mariadb, "mysql": find_mysql}
_SERVER_OPTIONS = (
    "--binlog-row-metadata=FULL",
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
)
_SERVER_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
"""Fixed, because GTIDs are content by which a schedule orders commands."""


def configure_wire(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``--wire``."""
    group = parser.add_argument_group(
        "over the wire",
        "run an unmodified applier between a served log and a real server; in its command, "
        "{source_dsn}, {target_dsn}, {source_host}, {source_port}, {target_host}, {target_port} "
        "and {user} stand for the gate's addresses (docs/wire.md)",
    )
    group.add_argument(
        "--wire", action="store_true", help="speak the MySQL protocol in place of JSON lines"
    )
    group.add_argument(
        "--profile",
        choices=tuple(PROFILES),
        help="settings for a known program, which other options replace (docs/wire.md#profiles)",
    )
    group.add_argument(
        "--server",
        choices=tuple(_SERVERS),
        help="family of the target and of the served log (mariadb)",
    )
    group.add_argument(
        "--faults",
        type=_faults,
        metavar="LIST",
        help=f"faults to inject in turn: none, or of {', '.join(one.value for one in Fault)} (all)",
    )
    group.add_argument(
        "--require",
        choices=tuple(REQUIREMENTS),
        help="level of paraply verify that the target's log must reach (atomic)",
    )
    group.add_argument(
        "--compacts",
        action="store_true",
        help="the applier may write only the last of several versions of a row",
    )
    group.add_argument(
        "--ghost",
        metavar="NAME",
        help="the program copies {table} within one server to the table NAME (_{table}_gho), "
        "and reads the server's own log",
    )
    group.add_argument(
        "--begin",
        type=_pattern,
        metavar="REGEX",
        help="with --ghost: output of a program that has copied the rows",
    )
    group.add_argument(
        "--hold", type=_pattern, metavar="REGEX", help="commands that wait for the schedule"
    )
    group.add_argument(
        "--pass",
        dest="let_pass",
        type=_pattern,
        metavar="REGEX",
        help="commands that never wait, such as heartbeats",
    )
    group.add_argument(
        "--patience",
        type=float,
        metavar="S",
        help=f"seconds to wait for the applier's timers at the end ({PATIENCE_S:g})",
    )


def run_wire(
    arguments: argparse.Namespace,
    cases: Sequence[Case],
    command: Sequence[str],
    expected: Mapping[str, ExpectedFailure],
) -> int:
    """Run the cases and return the gravest exit code."""
    profile = _profile(arguments)
    options = replace(
        options_of(profile),
        schedules=arguments.schedules or SCHEDULES,
        seed=arguments.seed,
        named=frozenset(arguments.case),
    )
    with ServerRoom() as room:
        server = own_target(room, _SERVERS[profile.server]())
        folder = room.directory / "cases"
        folder.mkdir()
        conformance = WireConformance(server, command, folder, options)
        if arguments.program is not None:
            return _replay(conformance, cases, arguments)
        results = run_with_progress("running the suite over the wire", cases, conformance.run_all)
        applier = Applier(
            name=f"{command[0]} over the wire to {server.installation.version_text}",
            features=frozenset({"apply"}),
        )
    commands = {
        result.case.id: shlex.join(
            ["paraply", "conform", "--wire", *result.replay, *_again(arguments), "--", *command]
        )
        for result in results
        if result.replay
    }
    remark = (
        f"{conformance.overlapped} of {conformance.runs} runs had two open transactions; "
        f"forced rests: {conformance.forced}"
    )
    report = SuiteReport(
        applier=applier,
        results=results,
        schedules=options.schedules,
        seed=options.seed,
        commands=commands,
        expected=expected,
        is_strict=arguments.strict,
        remarks=(remark,),
    )
    return write_outputs(arguments, report)


def _given(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the options that replace settings of the profile, as texts."""
    values = {
        "--profile": arguments.profile,
        "--server": arguments.server,
        "--require": arguments.require,
        "--hold": arguments.hold and arguments.hold.pattern,
        "--pass": arguments.let_pass and arguments.let_pass.pattern,
        "--ghost": arguments.ghost,
        "--begin": arguments.begin and arguments.begin.pattern,
        "--patience": arguments.patience and f"{arguments.patience:g}",
    }
    return {name: value for name, value in values.items() if value is not None}


def _profile(arguments: argparse.Namespace) -> Profile:
    known = PROFILES.get(arguments.profile, NO_PROFILE)
    fields = {
        "--server": "server",
        "--require": "required",
        "--hold": "hold",
        "--pass": "let_pass",
        "--ghost": "ghost",
        "--begin": "begin",
    }
    given = _given(arguments)
    texts = {field: given[name] for name, field in fields.items() if name in given}
    known = replace(known, **texts)  # type: ignore[arg-type]
    return replace(
        known,
        compacts=arguments.compacts or known.compacts,
        faults=known.faults if arguments.faults is None else arguments.faults,
        patience_s=arguments.patience or known.patience_s,
    )


def own_target(room: ServerRoom, installation: Installation) -> Server:
    """Start a server with the account that the applier uses."""
    server = room.start(installation, options=_SERVER_OPTIONS, server_uuid=_SERVER_UUID)
    server.run(
        [
            "SET SESSION sql_log_bin = 0",
            f"CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY ''",
            f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1'",
        ]
    )
    return server


def _replay(
    conformance: WireConformance, cases: Sequence[Case], arguments: argparse.Namespace
) -> int:
    case, schedule = recorded_run(arguments, cases)
    judged = conformance.run_once(
        case, schedule, arguments.seed, conformance.options.faults, arguments.keep
    )
    lines = [f"{case.id}: {case.fact}", ""]
    lines += [f"{number:4} {text}" for number, text in enumerate(judged.run.trace, 1)]
    if not is_as_recorded(schedule):
        lines.append("NOT the run recorded: the applier offered other choices this time")
    lines += [f"{judged.verdict.word}", *(f"  {one}" for one in judged.findings), ""]
    sys.stdout.write("\n".join(lines))
    return judged.verdict.exit_code


def _again(arguments: argparse.Namespace) -> list[str]:
    words = [word for pair in _given(arguments).items() for word in pair]
    return words + ["--compacts"] * arguments.compacts


def _faults(text: str) -> tuple[Fault, ...]:
    names = [word for word in text.split(",") if word and word != "none"]
    try:
        return tuple(Fault(name) for name in names)
    except ValueError:
        known = ", ".join(one.value for one in Fault)
        raise argparse.ArgumentTypeError(f"{text!r} is none of: none, {known}") from None


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.I | re.S)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
