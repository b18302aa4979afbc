"""What ``paraply conform`` does alike over JSON lines and over the wire."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from paraply.adapters.conformance.cases import Case
from paraply.adapters.conformance.cases.scaled import case_of_id
from paraply.conforming.suite import CaseResult
from paraply.errors import USAGE
from paraply.progress import progress
from paraply.reporting.conform.files import conform_json, conform_junit, conform_tap
from paraply.reporting.conform.html import write_conform_pages
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.conform.sarif import conform_sarif
from paraply.reporting.conform.screen import SHOW_ALL, conform_text
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import RecordedSchedule

RunAll = Callable[[Sequence[Case], Callable[[CaseResult], None]], list[CaseResult]]


def run_with_progress(what: str, cases: Sequence[Case], run_all: RunAll) -> list[CaseResult]:
    """Run the cases with a progress bar."""
    done = count(1)
    with progress(what, total=len(cases)) as advance:
        return run_all(cases, lambda _: advance(next(done)))


def write_outputs(arguments: argparse.Namespace, report: SuiteReport) -> int:
    """Print the report, write the files that were asked for, and return the exit code."""
    if arguments.tap:
        write_report(STANDARD_OUTPUT, conform_tap(report))
    elif STANDARD_OUTPUT not in (arguments.json, arguments.junit, arguments.sarif):
        write_report(STANDARD_OUTPUT, conform_text(report, arguments.show))
    if arguments.json is not None:
        write_report(arguments.json, conform_json(report))
    if arguments.junit is not None:
        write_report(arguments.junit, conform_junit(report))
    if arguments.sarif is not None:
        write_report(arguments.sarif, conform_sarif(report, _file_of_applier(arguments)))
    if arguments.html is not None:
        index = write_conform_pages(Path(arguments.html), report)
        sys.stderr.write(f"pages: {index}\n")
    return report.verdict.exit_code


def _file_of_applier(arguments: argparse.Namespace) -> str:
    """Return the file of the class, or the first file that the command names."""
    if arguments.applier is not None:
        return str(arguments.applier).rpartition(":")[0]
    words: list[str] = arguments.command_line
    return next((word for word in words if Path(word).is_file()), words[0])


def check_show(arguments: argparse.Namespace, cases: Sequence[Case]) -> None:
    """Raise for a word of ``--show`` that names no case of this run."""
    for word in arguments.show:
        is_generated = arguments.budget > 0 and case_of_id(word) is not None
        is_run = is_generated or any(case.id.startswith(word) for case in cases)
        if word != SHOW_ALL and not is_run:
            raise ParaplyError(
                USAGE,
                reason=f"--show {word} names none of the cases of this run",
                command="paraply conform",
            )


def recorded_run(
    arguments: argparse.Namespace, cases: Sequence[Case]
) -> tuple[Case, RecordedSchedule]:
    """Return the case and the schedule of ``--program``."""
    if len(cases) != 1:
        raise ParaplyError(
            USAGE, reason="--program needs one case by its id", command="paraply conform"
        )
    return cases[0], RecordedSchedule(decode_program(parse_program(arguments.program)))


def is_as_recorded(schedule: RecordedSchedule) -> bool:
    """Return whether the run made the recorded choices."""
    return tuple(schedule.choices[: len(schedule.program)]) == schedule.program
