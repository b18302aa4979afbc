"""``paraply show``: a history as one page that is stepped through in a browser."""

from __future__ import annotations

import argparse
import shlex
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.exploring import properties_of
from paraply.progress import progress
from paraply.recorded_files import histories_in, history_files
from paraply.registries import mutant_named, property_named, registered_properties, subject_named
from paraply.report.files import require_writable, write_report
from paraply.report.show_html import show_html
from paraply.report.table_page import index_html
from paraply.showing.alternatives import Alternatives, alternatives_of
from paraply.showing.document import Shown
from paraply.workload_arguments import workload_of_header
from properties.registry import Expectation, Property, verdict_of
from reference_impl.subject import Subject, Workload
from vocabulary.errors import ParaplyError, register
from vocabulary.history import History
from vocabulary.programs import decode_program, parse_program
from vocabulary.verdict import Verdict, combine

NOTHING_TO_SHOW = register(
    "P350",
    "there is no history in it",
    "name a file of histories (.jsonl), or a folder with such files, as `paraply explore --out`, "
    "`paraply mine` and `paraply conform` write them",
)

_EXAMPLE = """\
examples:
  paraply show counterexample.jsonl --open
  paraply show out/ --out report/
  paraply show run.jsonl --property engine_commits_follow_the_log --out run.html

exit codes: 0 the page is written; 3 the file cannot be read
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``paraply show``."""
    parser.description = (
        "Write a history as one HTML page, without network or server: lanes over time, the state\n"
        "at every step, dependencies, what is broken and when, and where the run can be made\n"
        "again every choice taken otherwise, the nearest run that passes among them."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument("path", type=Path, metavar="HISTORY|DIR", help="histories as JSON Lines")
    parser.add_argument(
        "--out", type=Path, metavar="F", help="the page, or the folder for several (beside PATH)"
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument(
        "--property", action="extend", nargs="+", default=[], metavar="P", help="judge only these"
    )
    parser.add_argument("--mutant", metavar="M", help="the run was made by this mutant")
    parser.add_argument(
        "--no-alternatives", action="store_true", help="do not run the choices not taken"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    name: str
    html: str
    verdict: Verdict
    broken: Sequence[Property]
    history: History


def run(arguments: argparse.Namespace) -> int:
    """Write the pages, and say where they are."""
    for name in arguments.property:
        property_named(name)
    files = history_files(arguments.path)
    found = [(file, history) for file in files for history in histories_in(file)]
    if not found:
        raise ParaplyError(NOTHING_TO_SHOW, where=str(arguments.path))
    is_alone = len(found) == 1 and arguments.path.is_file()
    target = arguments.out or _beside(arguments.path, is_alone=is_alone)
    if is_alone:
        require_writable(str(target))
    else:
        target.mkdir(parents=True, exist_ok=True)
    pages = []
    with progress("making pages", total=len(found)) as advance:
        for number, (file, history) in enumerate(found, start=1):
            name = file.stem if len(found) == len(files) else f"{file.stem}-{number}"
            pages.append(_page(name, file, history, arguments))
            advance(number)
    if is_alone:
        write_report(str(target), pages[0].html)
        written = target
    else:
        written = _write_all(target, pages)
    sys.stdout.write(f"{written}\n")
    if arguments.open:
        webbrowser.open(written.resolve().as_uri())
    return 0


def _beside(path: Path, *, is_alone: bool) -> Path:
    return path.with_suffix(".html") if is_alone else path.with_name(f"{path.stem}-pages")


def _write_all(folder: Path, pages: Sequence[_Page]) -> Path:
    rows = []
    for page in pages:
        write_report(str(folder / f"{page.name}.html"), page.html)
        rows.append(
            {
                "href": f"{page.name}.html",
                "name": page.name,
                "verdict": page.verdict.word,
                "cells": {
                    "subject": page.history.header.subject,
                    "broken": ", ".join(prop.name for prop in page.broken),
                    "transactions": len(page.history.transactions),
                    "events": len(page.history.events),
                },
            }
        )
    verdict = combine(page.verdict for page in pages)
    headline = f"{sum(bool(page.broken) for page in pages):,} of {len(pages):,} break something."
    write_report(str(folder / "index.html"), index_html("Histories", headline, verdict, rows))
    return folder / "index.html"


def _page(name: str, file: Path, history: History, arguments: argparse.Namespace) -> _Page:
    subject = _subject(history, arguments.mutant)
    properties = _properties(subject, arguments.property)
    broken = [prop for prop in properties if prop.violations(history)]
    again = subject is not None and bool(history.header.program)
    alternatives: Alternatives | None = None
    if subject is not None and again and broken and not arguments.no_alternatives:
        workload = workload_of_header(history.header)
        choices = decode_program(parse_program(history.header.program))
        runner = subject.run
        alternatives = alternatives_of(
            lambda schedule: runner(schedule, workload), broken[0], choices
        )
    words = ["paraply", "replay", str(file)]
    if arguments.mutant:
        words += ["--mutant", arguments.mutant]
    shown = Shown(
        history=history,
        broken=broken,
        alternatives=alternatives,
        replay=shlex.join(words) if again else "",
        test=_test(history, arguments.mutant, broken[0]) if again and broken else "",
    )
    verdict = combine(verdict_of(history, prop) for prop in properties)
    return _Page(
        name=name,
        html=show_html(shown, verdict=verdict),
        verdict=verdict,
        broken=broken,
        history=history,
    )


def _subject(history: History, mutant: str | None) -> Subject | None:
    if mutant is not None:
        return mutant_named(mutant).subject
    try:
        return subject_named(history.header.subject)
    except ParaplyError:
        return None


def _properties(subject: Subject | None, names: Sequence[str]) -> list[Property]:
    if names:
        return [property_named(name) for name in names]
    if subject is not None:
        return [
            prop for prop in properties_of(subject, []) if prop.expectation is Expectation.ALWAYS
        ]
    return [
        prop
        for prop in registered_properties()
        if prop.expectation is Expectation.ALWAYS and prop.is_safety
    ]


def _test(history: History, mutant: str | None, prop: Property) -> str:
    workload: Workload = workload_of_header(history.header)
    getter = (
        f'mutant_named("{mutant}").subject'
        if mutant
        else f'subject_named("{history.header.subject}")'
    )
    imported = "mutant_named" if mutant else "subject_named"
    return f'''\
from paraply.registries import {imported}, property_named
from paraply.replaying import replay
from reference_impl.subject import Workload


def test_{prop.name}():
    workload = {workload!r}
    history = replay({getter}, workload, "{history.header.program}").history
    assert property_named("{prop.name}").violations(history) == ()
'''
