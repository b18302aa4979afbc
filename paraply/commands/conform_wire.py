"""``paraply conform --wire``: an unmodified applier behind a gate on the MySQL protocol."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Mapping, Sequence

from paraply.adapters.conformance.cases import Case
from paraply.adapters.servers import Installation, Server, ServerRoom, find_mariadb, find_mysql
from paraply.adapters.wire.commands import HELD, HoldRule
from paraply.adapters.wire.run import PATIENCE_S, Fault
from paraply.conforming.expected_failures import ExpectedFailure, verdict_of_results
from paraply.conforming.suite import Applier, CaseResult
from paraply.conforming.wire.suite import SCHEDULES, USER, WireConformance, WireOptions
from paraply.errors import USAGE
from paraply.progress import progress
from paraply.reporting.conform.files import conform_json, conform_junit, conform_tap
from paraply.reporting.conform.text import conform_text
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.verifying.result import REQUIREMENTS
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict

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
        "--server",
        choices=tuple(_SERVERS),
        default="mariadb",
        help="family of the target and of the served log (%(default)s)",
    )
    group.add_argument(
        "--faults",
        type=_faults,
        default=tuple(Fault),
        metavar="LIST",
        help=f"faults to inject in turn: none, or of {', '.join(one.value for one in Fault)} (all)",
    )
    group.add_argument(
        "--require",
        choices=tuple(REQUIREMENTS),
        default="atomic",
        help="level of paraply verify that the target's log must reach (%(default)s)",
    )
    group.add_argument(
        "--compacts",
        action="store_true",
        help="the applier may write only the last of several versions of a row",
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
        default=PATIENCE_S,
        metavar="S",
        help="seconds to wait for the applier's timers at the end (%(default)s)",
    )


def run_wire(
    arguments: argparse.Namespace,
    cases: Sequence[Case],
    command: Sequence[str],
    expected: Mapping[str, ExpectedFailure],
) -> int:
    """Run the cases and return the gravest exit code."""
    options = WireOptions(
        schedules=arguments.schedules or SCHEDULES,
        seed=arguments.seed,
        faults=arguments.faults,
        required=arguments.require,
        compacts=arguments.compacts,
        patience_s=arguments.patience,
        rule=HoldRule(
            hold=arguments.hold or re.compile(HELD, re.I | re.S), let_pass=arguments.let_pass
        ),
    )
    with ServerRoom() as room:
        server = own_target(room, _SERVERS[arguments.server]())
        folder = room.directory / "cases"
        folder.mkdir()
        conformance = WireConformance(server, command, folder, options)
        if arguments.program is not None:
            return _replay(conformance, cases, arguments)
        with progress("running the suite over the wire", total=len(cases)) as advance:
            done = 0

            def on_case(_: CaseResult) -> None:
                nonlocal done
                done += 1
                advance(done)

            results = conformance.run_all(cases, on_case)
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
    verdict = verdict_of_results(results, expected, strict=arguments.strict)
    _write(arguments, applier, results, commands, expected, verdict, options, conformance)
    return verdict.exit_code


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


def _write(
    arguments: argparse.Namespace,
    applier: Applier,
    results: Sequence[CaseResult],
    commands: Mapping[str, str],
    expected: Mapping[str, ExpectedFailure],
    verdict: Verdict,
    options: WireOptions,
    conformance: WireConformance,
) -> None:
    how = {"schedules": options.schedules, "seed": options.seed}
    if arguments.tap:
        sys.stdout.write(conform_tap(results, expected))
    elif STANDARD_OUTPUT not in (arguments.json, arguments.junit):
        sys.stdout.write(conform_text(applier, results, commands, expected, **how))
        sys.stdout.write(
            f"{conformance.overlapped} of {conformance.runs} runs had two open transactions; "
            f"forced rests: {conformance.forced}\n"
        )
    if arguments.json is not None:
        document = conform_json(applier, results, commands, expected, verdict, **how)
        write_report(arguments.json, document)
    if arguments.junit is not None:
        write_report(arguments.junit, conform_junit(results, expected, strict=arguments.strict))


def _replay(
    conformance: WireConformance, cases: Sequence[Case], arguments: argparse.Namespace
) -> int:
    if len(cases) != 1:
        raise ParaplyError(
            USAGE, reason="--program needs one case by its id", command="paraply conform"
        )
    (case,) = cases
    program = decode_program(parse_program(arguments.program))
    schedule = RecordedSchedule(program)
    judged = conformance.run_once(case, schedule, arguments.seed, arguments.faults)
    lines = [f"{case.id}: {case.fact}", ""]
    lines += [f"{number:4} {text}" for number, text in enumerate(judged.run.trace, 1)]
    if tuple(schedule.choices[: len(program)]) != program:
        lines.append("NOT the run recorded: the applier offered other choices this time")
    lines += [f"{judged.verdict.word}", *(f"  {one}" for one in judged.findings), ""]
    sys.stdout.write("\n".join(lines))
    return judged.verdict.exit_code


def _again(arguments: argparse.Namespace) -> list[str]:
    words = ["--server", arguments.server, "--require", arguments.require]
    for option, value in (("--hold", arguments.hold), ("--pass", arguments.let_pass)):
        if value is not None:
            words += [option, value.pattern]
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
