"""``paraply conform``: run the suite against an applier in a child process."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from paraply.adapters.conformance.cases import Case, cases_named, suite
from paraply.adapters.conformance.cases.scaled import (
    all_pairs,
    covered_json,
    read_covered,
    scaled_case,
    uncovered_scales,
)
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import Role
from paraply.adapters.conformance.tracker_host import tracker_host_command
from paraply.adapters.conformance.tracking import (
    Precision,
    Tracker,
    TrackerFaultError,
    measure_precision,
)
from paraply.commands.conform_logs import (
    cases_of_logs,
    configure_logs,
    log_words,
    run_other_slices,
)
from paraply.commands.conform_outputs import (
    check_show,
    is_as_recorded,
    recorded_run,
    run_with_progress,
    write_outputs,
)
from paraply.commands.conform_wire import configure_wire, run_wire
from paraply.conforming.breaches import other_choices
from paraply.conforming.expected_failures import ExpectedFailure, read_expected_failures
from paraply.conforming.suite import (
    EXPLORED_MAX,
    SCHEDULES,
    SHORT_LOG,
    Applier,
    CaseResult,
    Conformance,
)
from paraply.conforming.wire.suite import SCHEDULES as WIRE_SCHEDULES
from paraply.counterexamples.showing.alternatives import Alternatives
from paraply.errors import USAGE
from paraply.file_arguments import (
    ClassFile,
    InputPath,
    JsonFile,
    JunitFile,
    LogFile,
    OutputFolder,
    SarifFile,
)
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.properties.registry import verdict_of
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.counterexample_text import history_lines
from paraply.reporting.escape import visible
from paraply.reporting.files import write_report
from paraply.reporting.page import add_plain_argument
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.verdict import Verdict

APPLIER_NEVER_SPOKE = register(
    "P636",
    "the applier sent no message: {reason}",
    "let it answer 'init' on its standard output (docs/protocol.md), or raise --timeout",
)

TIMEOUT_S = 10.0

_EXAMPLE = """\
examples:
  paraply conform -- ./my-applier --workers 4
  paraply conform --case A B-prefix-01 --junit conform.xml -- go run ./cmd/applier
  paraply conform --applier my_applier.py:Applier
  paraply conform --log binlog.* --schema schema.sql -- ./my-applier
  paraply conform --role tracker -- ./my-tracker
  paraply conform --wire -- ./start-my-applier {source_dsn} {target_dsn}
  paraply conform --self-test

exit codes: 0 every case passes or is skipped; 1 a case fails (beside those expected); 2 a case is
unknown, because its situation never occurred, or every case was skipped
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run an applier as a child process: the harness plays source and database, chooses every\n"
        "interleaving, and judges what happens. docs/protocol.md defines the messages."
    )
    parser.epilog = _EXAMPLE
    add_plain_argument(parser)
    parser.add_argument(
        "--case",
        action="extend",
        nargs="+",
        default=[],
        metavar="ID",
        help="only these: an id, a family's letter, or how ids begin (see paraply list cases)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of all choices (0)")
    parser.add_argument(
        "--schedules",
        type=positive,
        metavar="N",
        help=f"schedules to run for each case ({SCHEDULES}; over the wire {WIRE_SCHEDULES})",
    )
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help=f"cases of at most {SHORT_LOG} transactions: run every schedule that differs in more "
        f"than the order of independent steps (by default {EXPLORED_MAX})",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=0.0,
        metavar="S",
        help="then run generated cases of other sizes for S seconds: pairs not covered so far",
    )
    parser.add_argument(
        "--covered",
        metavar="F",
        type=JsonFile,
        help="with --budget: remember the pairs in a JSON file",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_S,
        metavar="T",
        help=f"seconds to wait for an answer that the protocol promises ({TIMEOUT_S:g})",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="undecided cases and unexpected passes fail",
    )
    parser.add_argument(
        "--show",
        action="extend",
        nargs="+",
        default=[],
        metavar="ID",
        help="print these cases in full, or all failures: all (three failures, grouped by cause)",
    )
    parser.add_argument("--junit", type=JunitFile, metavar="F", help="write JUnit XML; - is stdout")
    parser.add_argument("--sarif", type=SarifFile, metavar="F", help="write SARIF; - is stdout")
    parser.add_argument("--tap", action="store_true", help="print TAP in place of the report")
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    parser.add_argument(
        "--html",
        metavar="DIR",
        type=OutputFolder,
        help="write pages: the cases, and each failure's run",
    )
    parser.add_argument(
        "--expected-failures", metavar="F", type=InputPath, help="TOML file of failures known of"
    )
    parser.add_argument(
        "--stderr", metavar="F", type=LogFile, help="add the applier's stderr to a file"
    )
    parser.add_argument("--program", metavar="P", help="replay one run of one case, and show it")
    parser.add_argument(
        "--keep", metavar="IDS", type=_ids, help="with --program: only these of the log"
    )
    parser.add_argument(
        "--applier",
        type=ClassFile,
        metavar="FILE:CLASS",
        help="a Python class in place of a command",
    )
    parser.add_argument(
        "--role",
        choices=[role.value for role in Role],
        default=Role.APPLIER.value,
        help="tracker: names what each transaction waits for (applier)",
    )
    parser.add_argument(
        "--self-test", action="store_true", help="run the suite on appliers with known faults"
    )
    configure_logs(parser)
    configure_wire(parser)
    parser.add_argument("command_line", nargs="*", metavar="COMMAND", help="after --: the applier")


def run(arguments: argparse.Namespace) -> int:
    """Run the cases and return the gravest exit code."""
    role = Role(arguments.role)
    remarks: tuple[str, ...] = ()
    if arguments.log is not None:
        _refuse_options_beside_logs(arguments)
        cases, remarks = cases_of_logs(arguments, role)
    else:
        cases = cases_named(arguments.case, role)
    if arguments.self_test:
        from paraply.conforming.self_test import run_self_test

        return run_self_test(cases, schedules=arguments.schedules or SCHEDULES, seed=arguments.seed)
    check_show(arguments, cases)
    command = _command(arguments)
    expected: Mapping[str, ExpectedFailure] = {}
    if arguments.expected_failures is not None:
        known = suite() if arguments.log is None else cases
        expected = read_expected_failures(Path(arguments.expected_failures), known)
    if arguments.wire:
        _refuse_options_of_json_lines(arguments)
        return run_wire(arguments, cases, command, expected)
    arguments.schedules = arguments.schedules or SCHEDULES
    started = command
    if role is Role.TRACKER:
        started = tracker_host_command(command, timeout=arguments.timeout)
    with CommandLauncher(
        started, log=arguments.stderr and Path(arguments.stderr), timeout=arguments.timeout
    ) as launcher:
        conformance = Conformance(
            launcher,
            schedules=arguments.schedules,
            seed=arguments.seed,
            role=role,
            explored_max=None if arguments.exhaustive else EXPLORED_MAX,
        )
        applier = conformance.meet()
        if applier.fault and not applier.has_spoken:
            said = f"; its last line: {visible(applier.stderr[-1])}" if applier.stderr else ""
            raise ParaplyError(APPLIER_NEVER_SPOKE, reason=f"{visible(applier.fault)}{said}")
        if applier.fault:
            sys.stdout.write(_not_met(applier))
            return Verdict.VIOLATED.exit_code
        if arguments.program is not None:
            return _replay(conformance, cases, arguments)
        results = run_with_progress("running the suite", cases, conformance.run_all)
        if arguments.budget > 0:
            run_more = _run_budget if arguments.log is None else run_other_slices
            results += run_more(conformance, arguments)
        others = {} if arguments.html is None else _choices_not_taken(conformance, results)
    commands = {
        result.case.id: _again(result, arguments, command)
        for result in results
        if result.breach is not None
    }
    if role is Role.TRACKER:
        applier = replace(applier, precision=_precision(command, cases, arguments))
    report = SuiteReport(
        applier=applier,
        results=results,
        schedules=arguments.schedules,
        seed=arguments.seed,
        commands=commands,
        expected=expected,
        is_strict=arguments.strict,
        alternatives=others,
        remarks=remarks,
    )
    return write_outputs(arguments, report)


def _choices_not_taken(
    conformance: Conformance, results: Sequence[CaseResult]
) -> dict[str, Alternatives]:
    found = {}
    failed = [(one.case, one.breach) for one in results if one.breach is not None]
    with progress("running the choices not taken", total=len(failed)) as advance:
        for number, (case, breach) in enumerate(failed, start=1):
            found[case.id] = other_choices(conformance, case, breach)
            advance(number)
    return found


def _refuse_options_of_json_lines(arguments: argparse.Namespace) -> None:
    given = {
        "--applier": arguments.applier is not None,
        "--role tracker": arguments.role != Role.APPLIER.value,
        "--exhaustive": arguments.exhaustive,
        "--budget": arguments.budget > 0,
        "--covered": arguments.covered is not None,
        "--stderr": arguments.stderr is not None,
    }
    _refuse(given, "--wire starts a command and runs fixed cases")


def _refuse_options_beside_logs(arguments: argparse.Namespace) -> None:
    given = {
        "--wire": arguments.wire,
        "--self-test": arguments.self_test,
        "--covered": arguments.covered is not None,
    }
    _refuse(given, "--log makes cases that speak JSON lines")


def _refuse(given: Mapping[str, bool], why: str) -> None:
    words = [name for name, is_given in given.items() if is_given]
    if words:
        raise ParaplyError(
            USAGE, reason=f"{why}: leave out {', '.join(words)}", command="paraply conform"
        )


def _run_budget(conformance: Conformance, arguments: argparse.Namespace) -> list[CaseResult]:
    covered = read_covered(arguments.covered and Path(arguments.covered))
    known = all_pairs()
    before = len(covered & known)
    results = []
    ends = time.monotonic() + arguments.budget
    with progress("running cases of other sizes", total=arguments.budget) as advance:
        for scale in uncovered_scales(set(covered), arguments.seed):
            if time.monotonic() >= ends:
                break
            results.append(conformance.run_case(scaled_case(scale)))
            covered |= scale.pairs
            advance(arguments.budget - (ends - time.monotonic()))
    if arguments.covered is not None:
        write_report(arguments.covered, covered_json(covered & known))
    sys.stderr.write(
        f"budget: {len(results)} cases of other sizes; pairs of sizes covered: "
        f"{len(covered & known)} of {len(known)}, {before} of them before\n"
    )
    return results


def _ids(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(",") if word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of ids (1,4,7)") from None


def _command(arguments: argparse.Namespace) -> list[str]:
    if arguments.applier is not None and arguments.command_line:
        raise ParaplyError(
            USAGE, reason="both --applier and a command are given", command="paraply conform"
        )
    if arguments.applier is not None:
        return host_command(arguments.applier)
    if not arguments.command_line:
        raise ParaplyError(
            USAGE, reason="no applier: give its command after --", command="paraply conform"
        )
    return list(arguments.command_line)


def _precision(
    command: Sequence[str], cases: Sequence[Case], arguments: argparse.Namespace
) -> Precision | None:
    tracker = Tracker(command, timeout=arguments.timeout)
    try:
        return measure_precision(tracker, (case.log(arguments.seed) for case in cases))
    except TrackerFaultError:
        return None
    finally:
        tracker.process.kill()


def _not_met(applier: Applier) -> str:
    lines = [f"FAIL the applier does not speak the protocol: {visible(applier.fault)}"]
    lines += [f"  {visible(line)}" for line in applier.stderr[-5:]]
    return "\n".join([*lines, ""])


def _again(result: CaseResult, arguments: argparse.Namespace, command: Sequence[str]) -> str:
    assert result.breach is not None
    words = ["paraply", "conform", *(log_words(arguments) if arguments.log else ())]
    words += ["--case", result.case.id, "--seed", str(result.breach.seed)]
    if result.breach.kept is not None:
        words += ["--keep", ",".join(map(str, result.breach.kept))]
    words.append(f"--program={result.breach.program}")
    if arguments.role != Role.APPLIER.value:
        words += ["--role", arguments.role]
    applier = ["--applier", arguments.applier] if arguments.applier else ["--", *command]
    return shlex.join([*words, *applier])


def _replay(conformance: Conformance, cases: Sequence[Case], arguments: argparse.Namespace) -> int:
    case, schedule = recorded_run(arguments, cases)
    run = conformance.run_once(case, schedule, arguments.seed, arguments.keep)
    properties = conformance.properties_of(case)
    judged = [(prop, verdict_of(run.history, prop)) for prop in properties]
    broken = [prop for prop, verdict in judged if verdict is Verdict.VIOLATED]
    lines = [f"{case.id}: {case.fact}", "", *history_lines(run.history, broken), ""]
    if run.fault:
        lines.append(f"FAIL {visible(run.fault)}")
    if not is_as_recorded(schedule):
        lines.append("NOT the run recorded: the applier asked for other things this time")
    for prop, verdict in judged:
        lines.append(f"{verdict.word:8} {prop.name}")
        if verdict is Verdict.VIOLATED:
            lines += [f"  {visible(str(one))}" for one in prop.violations(run.history)[:5]]
    sys.stdout.write("\n".join([*lines, ""]))
    verdicts = [verdict for _, verdict in judged]
    if run.fault or Verdict.VIOLATED in verdicts:
        return Verdict.VIOLATED.exit_code
    return judged[0][1].exit_code
