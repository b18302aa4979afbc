"""``paraply explore``: judge a subject on many schedules."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from paraply.counterexamples.hunt import properties_of
from paraply.counterexamples.replaying import replay_command
from paraply.counterexamples.workload_arguments import (
    STRICT_HELP,
    add_workload_arguments,
    sizes_given,
    workload_of,
)
from paraply.exploring.explore import Result, explore
from paraply.exploring.state_space import STATES_MAX, StateSpace, state_space
from paraply.file_arguments import JsonFile, OutputFolder
from paraply.mining.drawing import SIZES_MAX, Drawing, drawn_schedules
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import subject_named
from paraply.reporting.explore_text import explore_json, explore_text
from paraply.reporting.files import STANDARD_OUTPUT, make_folder, write_report
from paraply.reporting.page import add_plain_argument
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.schedule import Exploration, Schedule

SCHEDULES = 500
RUNS_MAX = 1_000_000
"""Exhaustive default: some minutes."""

_EXAMPLE = """\
examples:
  paraply explore applier                              500 random runs, every property
  paraply explore applier --option crashes=1 checkpoints=1
  paraply explore applier --defaults --transactions 6
  paraply explore applier --dialect logical_clock_unordered --property readers_see_prefixes
  paraply explore certifier --exhaustive --transactions 3 --rows 2
  paraply explore group --exhaustive --transactions 2 --rows 2 --members 2 --option broadcasts=1
  paraply explore semi_sync --states --transactions 2 --members 3 --option rotations=1

exit codes: 0 every property holds, or is one of precision and speed (over-serialises, unless
--strict); 1 one is broken, expected or not; 2 one is unknown: its
situation never occurred, a breach the dialect is known for was not found, or an exhaustive
exploration was cut short
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run a subject on many schedules, judge each history that differs from the others by\n"
        "every applicable property, and make a small counterexample of every breach. Sizes and\n"
        "options that are not given are drawn anew for each random run."
    )
    parser.epilog = _EXAMPLE
    add_plain_argument(parser)
    parser.add_argument("subject", metavar="SUBJECT", help="see paraply list subjects")
    add_workload_arguments(parser, SIZES_MAX)
    parser.add_argument(
        "--defaults",
        action="store_true",
        help="draw no size and no option: those not given have their defaults",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--schedules",
        type=positive,
        default=SCHEDULES,
        metavar="N",
        help=f"random schedules ({SCHEDULES})",
    )
    how.add_argument(
        "--exhaustive",
        action="store_true",
        help="every schedule, depth first; symmetric rows count as one; options have small values "
        "unless given",
    )
    how.add_argument(
        "--states",
        nargs="?",
        const="reduced",
        choices=("reduced", "full"),
        help="every state once (semi_sync); unless full, symmetric replicas are merged",
    )
    parser.add_argument(
        "--runs-max",
        type=positive,
        default=RUNS_MAX,
        metavar="N",
        help=f"give up an exhaustive exploration after so many runs ({RUNS_MAX:,}) or states "
        f"({STATES_MAX:,} at most)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of random choices (0)")
    parser.add_argument(
        "--property",
        action="extend",
        nargs="+",
        default=[],
        metavar="P",
        help="judge only these (see paraply list properties)",
    )
    parser.add_argument(
        "--allow-expected",
        action="store_true",
        help="breaches that the dialect is known for do not make the exit code 1",
    )
    parser.add_argument("--strict", action="store_true", help=STRICT_HELP)
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    parser.add_argument(
        "--out", metavar="DIR", type=OutputFolder, help="write each counterexample to a file in DIR"
    )


def run(arguments: argparse.Namespace) -> int:
    """Explore, print, and return the exit code."""
    subject = subject_named(arguments.subject)
    workload = workload_of(arguments, subject)
    if arguments.exhaustive or arguments.states:
        workload = subject.small_scope(workload)
    properties = properties_of(subject, arguments.property)
    exploration: Exploration | StateSpace | None = None
    if arguments.states:
        exploration = _states(arguments, subject, workload)
    elif arguments.exhaustive:
        exploration = Exploration(runs_max=arguments.runs_max)
    drawing = None
    if exploration is None and not arguments.defaults:
        drawing = Drawing(subject=subject, given=workload, sizes=frozenset(sizes_given(arguments)))
    schedules: Iterable[Schedule] = (
        drawn_schedules(arguments.seed, arguments.schedules) if exploration is None else exploration
    )
    # The number of schedules is known only at the end; the bar runs to the bound.
    total = arguments.runs_max if arguments.exhaustive else arguments.schedules
    if isinstance(exploration, StateSpace):
        total = len(exploration)
    with progress(f"exploring {subject.name}", total=total) as advance:
        result = explore(
            subject,
            workload,
            properties,
            schedules,
            seed=arguments.seed,
            is_named=bool(arguments.property),
            drawing=drawing,
            on_run=advance,
        )
    is_cut = exploration is not None and not exploration.is_complete
    result = replace(result, is_cut=is_cut, is_strict=arguments.strict)
    commands = replay_commands(result, None if arguments.out is None else Path(arguments.out))
    if arguments.json != STANDARD_OUTPUT:
        write_report(
            STANDARD_OUTPUT,
            explore_text(
                result,
                how=_how(arguments, exploration),
                commands=commands,
                allow_expected=arguments.allow_expected,
            ),
        )
    if arguments.json is not None:
        search = {"seed": arguments.seed, "schedules": arguments.schedules}
        if exploration is not None:
            search = {"runs_max": arguments.runs_max, "is_complete": exploration.is_complete}
        if isinstance(exploration, StateSpace):
            search |= {"states": exploration.states, "states_watched": exploration.watched}
        document = explore_json(
            result, search=search, commands=commands, allow_expected=arguments.allow_expected
        )
        write_report(arguments.json, document)
    return result.verdict(allow_expected=arguments.allow_expected).exit_code


def _states(arguments: argparse.Namespace, subject: Subject, workload: Workload) -> StateSpace:
    states_max = min(arguments.runs_max, STATES_MAX)
    with progress(f"states of {subject.name}", total=states_max) as advance:
        return state_space(
            subject,
            workload,
            states_max=states_max,
            is_reduced=arguments.states == "reduced",
            on_state=advance,
        )


def _how(arguments: argparse.Namespace, exploration: Exploration | StateSpace | None) -> str:
    if isinstance(exploration, StateSpace):
        every = "every state" if exploration.is_complete else "NOT every state (--runs-max)"
        return f"{every}: {exploration.in_words()}\na run to each end and each breach"
    if exploration is None:
        return f"random schedules of seed {arguments.seed}"
    if exploration.is_complete:
        return "every schedule"
    return f"NOT every schedule (stopped by --runs-max {arguments.runs_max})"


def replay_commands(result: Result, folder: Path | None) -> dict[str, str]:
    """Return replay commands and perhaps write their files."""
    commands = {}
    for finding in result.findings:
        if finding.smallest is None:
            continue
        file = ""
        if folder is not None:
            dialect = f"-{result.workload.dialect}" if result.workload.dialect else ""
            path = folder / f"{result.subject.name}{dialect}-{finding.prop.name}.jsonl"
            make_folder(str(folder))
            lines = write_history(finding.smallest.counterexample.history)
            write_report(str(path), "".join(f"{line}\n" for line in lines))
            file = str(path)
        commands[finding.prop.name] = replay_command(
            result.subject, finding.smallest, finding.prop, file=file
        )
    return commands
