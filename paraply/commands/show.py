"""``paraply show``: a history as an HTML page to step through."""

from __future__ import annotations

import argparse
import os
import webbrowser
from collections.abc import Collection, Sequence
from pathlib import Path

from paraply.counterexamples.showing.pages import INDEX, page_of, write_pages
from paraply.file_arguments import InputPath, OutputPath
from paraply.judging.recorded_files import histories_in, history_files
from paraply.mining.plan import PLAN_FILE
from paraply.progress import progress
from paraply.registries import property_named
from paraply.reporting.files import (
    STANDARD_OUTPUT,
    require_folder,
    require_writable,
    write_report,
)
from paraply.sandbox.child import is_locked
from paraply.sandbox.plan import add_sandbox_argument
from paraply.vocabulary.errors import ParaplyError, register

NOTHING_TO_SHOW = register(
    "P350",
    "there is nothing to show: {reason}",
    "name a file of histories (.jsonl), or a folder with such files, as `paraply explore --out`, "
    "`paraply mine` and `paraply conform` write them",
)

_EXAMPLE = """\
examples:
  paraply show counterexample.jsonl --open
  paraply show out/ --out report/
  paraply show out/mine --open                 the report of a campaign, its counterexamples linked
  paraply show run.jsonl --property engine_commits_follow_the_log --out run.html

exit codes: 0 the page is written; 3 the file cannot be read
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write a history as one HTML page, without network or server: lanes over time, the state\n"
        "at every step, dependencies, what is broken and when, and where the run can be made\n"
        "again every choice taken otherwise, the nearest run that passes among them.\n"
        "The folder of a campaign becomes its report: breaches, discovery curve, situations."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument(
        "path",
        type=InputPath,
        metavar="HISTORY|DIR",
        help="histories as JSON Lines, or the folder of a campaign",
    )
    parser.add_argument(
        "--out",
        type=OutputPath,
        metavar="F",
        help="the page, or the folder for several (default: beside HISTORY)",
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument(
        "--property", action="extend", nargs="+", default=[], metavar="P", help="judge only these"
    )
    parser.add_argument("--mutant", metavar="M", help="the run was made by this mutant")
    parser.add_argument(
        "--no-alternatives", action="store_true", help="do not run the choices not taken"
    )
    add_sandbox_argument(parser, obstacle=_obstacle, outputs=_outputs, finish=_finish)


def _obstacle(arguments: argparse.Namespace) -> str:
    is_campaign = _is_campaign(Path(arguments.path))
    return "a library that opens sockets reads the tables of a campaign" if is_campaign else ""


def _is_campaign(path: Path) -> bool:
    # Also by a link or a pipe of that name, which the reader of campaigns refuses.
    return os.path.lexists(path / PLAN_FILE)


def _outputs(arguments: argparse.Namespace) -> Collection[str]:
    # How many histories the file has decides whether a page or a folder is written.
    path = Path(arguments.path)
    targets = [Path(arguments.out)] * 2 if arguments.out is not None else [
        _beside(path, is_alone=True), _beside(path, is_alone=False)
    ]  # fmt: skip
    return str(targets[0]), f"{targets[1]}/"


def _finish(arguments: argparse.Namespace, written: Sequence[str]) -> None:
    if arguments.open:
        index = next((name for name in written if Path(name).name == INDEX), written[0])
        _open(Path(index))


def run(arguments: argparse.Namespace) -> int:
    """Write the pages and print their paths."""
    for name in arguments.property:
        property_named(name)
    path = Path(arguments.path)
    out = None if arguments.out is None else Path(arguments.out)
    if _is_campaign(path):
        # Imported late: only campaigns need Arrow.
        from paraply.campaigning.pages import write_campaign_pages

        folder = out or _beside(path, is_alone=False)
        require_folder(str(folder))
        return _written(write_campaign_pages(path, folder), arguments)
    if not path.exists():
        reason = "there is no such file or folder"
        raise ParaplyError(NOTHING_TO_SHOW, where=str(path), reason=reason)
    files = history_files(path)
    found = [(file, history) for file in files for history in histories_in(file)]
    if not found:
        reason = "it holds no history"
        raise ParaplyError(NOTHING_TO_SHOW, where=str(path), reason=reason)
    is_alone = len(found) == 1 and path.is_file()
    target = out or _beside(path, is_alone=is_alone)
    if is_alone:
        require_writable(str(target), "HTML")
    else:
        require_folder(str(target))
    pages = []
    with progress("making pages", total=len(found)) as advance:
        for number, (file, history) in enumerate(found, start=1):
            name = file.stem if len(found) == len(files) else f"{file.stem}-{number}"
            pages.append(
                page_of(
                    name,
                    str(file),
                    history,
                    mutant=arguments.mutant or "",
                    properties=arguments.property,
                    with_alternatives=not arguments.no_alternatives,
                )
            )
            advance(number)
    if is_alone:
        write_report(str(target), pages[0].html)
        return _written(target, arguments)
    return _written(write_pages(target, pages), arguments)


def _written(path: Path, arguments: argparse.Namespace) -> int:
    write_report(STANDARD_OUTPUT, f"{path}\n")
    if arguments.open and not is_locked():
        _open(path)
    return 0


def _open(page: Path) -> None:
    webbrowser.open(page.resolve().as_uri())


def _beside(path: Path, *, is_alone: bool) -> Path:
    return path.with_suffix(".html") if is_alone else path.with_name(f"{path.stem}-pages")
