"""``paraply replay``: repeat and judge a recorded run step by step."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from paraply.counterexamples.hunt import properties_of
from paraply.counterexamples.replaying import Replay, replay
from paraply.counterexamples.workload_arguments import (
    add_workload_arguments,
    workload_of,
)
from paraply.errors import USAGE
from paraply.file_arguments import InputPath, JsonFile
from paraply.judging.recorded_files import FILE_NOT_READ, histories_in
from paraply.reference_impl.subject import Subject, Workload, workload_of_header
from paraply.registries import mutant_named, subject_named
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.page import add_plain_argument
from paraply.reporting.replay_text import Judged, judged_by, replay_json, replay_text
from paraply.sandbox.plan import add_sandbox_argument
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict, combine

_EXAMPLE = """\
examples:
  paraply replay out/applier-logical_clock_unordered-engine_commits_follow_the_log.jsonl
  paraply replay --subject applier --dialect database --program AwAAAAAAAAAAAAEBAQ
  paraply replay --mutant first_item_decides --program AAEC --choices

exit codes: 0 every property judged holds; 1 one is broken; 2 one is unknown, since its situation
did not occur or was not decidable, or the run is not the one recorded
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Make a recorded run again, check that it is the same, show it step by step and judge\n"
        "it by every applicable property."
    )
    parser.epilog = _EXAMPLE
    add_plain_argument(parser)
    parser.add_argument(
        "file", nargs="?", type=InputPath, metavar="FILE", help="histories as JSON Lines"
    )
    parser.add_argument("--program", metavar="TEXT", help="the choices, as reports print them")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--subject", metavar="S", help="what to run a --program on")
    who.add_argument("--mutant", metavar="M", help="run this mutant instead of its subject")
    add_workload_arguments(parser)
    parser.add_argument(
        "--property", action="extend", nargs="+", default=[], metavar="P", help="judge only these"
    )
    parser.add_argument("--choices", action="store_true", help="list every choice that was made")
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    add_sandbox_argument(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run to repeat."""

    subject: Subject
    workload: Workload
    program: str
    recorded: History | None = None


def run(arguments: argparse.Namespace) -> int:
    """Replay the histories; return the gravest exit code."""
    verdicts: list[Verdict] = []
    documents = []
    for request in requests_of(arguments):
        properties = properties_of(request.subject, arguments.property)
        done = replay(request.subject, request.workload, request.program, request.recorded)
        judged = [judged_by(prop, done.history) for prop in properties]
        if not arguments.property:
            unreachable = request.subject.unreachable_in(request.workload.dialect)
            judged = [
                one
                for one in judged
                if one.verdict is not Verdict.UNKNOWN
                or (one.prop.name not in unreachable and one.prop.applies_to(done.history))
            ]
        verdicts += [one.verdict for one in judged]
        if done.difference:
            verdicts.append(Verdict.UNKNOWN)
        if arguments.json != STANDARD_OUTPUT:
            write_report(STANDARD_OUTPUT, _text(request, done, judged, arguments))
        documents.append(replay_json(done, judged))
    if arguments.json is not None:
        write_report(
            arguments.json,
            json_document({"verdict": combine(verdicts).word, "runs": documents}),
        )
    return combine(verdicts).exit_code


def _text(
    request: Request,
    done: Replay,
    judged: list[Judged],
    arguments: argparse.Namespace,
) -> str:
    return replay_text(
        done,
        judged,
        was_recorded=request.recorded is not None,
        with_choices=arguments.choices,
        title=_title(request, arguments.mutant),
    )


def _title(request: Request, mutant: str | None) -> str:
    who = f"{request.subject.name} with the fault {mutant}" if mutant else request.subject.name
    return f"{who}, dialect {request.workload.dialect}" if request.workload.dialect else who


def requests_of(arguments: argparse.Namespace) -> list[Request]:
    """Return the runs of the file or program."""
    if (arguments.file is None) == (arguments.program is None):
        raise ParaplyError(USAGE, reason="give either FILE or --program", command="paraply replay")
    if arguments.file is not None:
        return [_request_of(history, arguments) for history in _histories(arguments.file)]
    if arguments.mutant is not None:
        subject = mutant_named(arguments.mutant).subject
    elif arguments.subject is not None:
        subject = subject_named(arguments.subject)
    else:
        raise ParaplyError(
            USAGE, reason="--program needs --subject or --mutant", command="paraply replay"
        )
    return [
        Request(
            subject=subject,
            workload=workload_of(arguments, subject),
            program=arguments.program,
        )
    ]


def _request_of(history: History, arguments: argparse.Namespace) -> Request:
    name = arguments.mutant or arguments.subject or history.header.subject
    subject = mutant_named(name).subject if arguments.mutant else subject_named(name)
    return Request(
        subject=subject,
        workload=workload_of_header(history.header),
        program=history.header.program,
        recorded=history,
    )


def _histories(name: str) -> list[History]:
    histories = histories_in(Path(name))
    if not histories:
        raise ParaplyError(FILE_NOT_READ, where=name, reason="it holds no history")
    return histories
