"""Builds a campaign's plan from options or its folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from paraply.conforming.child_systems import TIMEOUT_S, ChildCommand, children_of
from paraply.errors import USAGE
from paraply.file_arguments import ClassFile, InputPath
from paraply.judging.recorded_systems import recorded_system
from paraply.mining.campaign import StopWhen, read_plan
from paraply.mining.plan import Plan, source_digest
from paraply.mining.systems import System, systems_of
from paraply.number_arguments import positive, positive_seconds, within
from paraply.reporting.escape import visible
from paraply.vocabulary.errors import ParaplyError, register

PROGRAM_NOT_TRUSTED = register(
    "P325",
    "the stored campaign names a program to run: {program}",
    "read that command; add --trust to run it, or name the applier on the command line again",
)

HISTORIES = 200
BATCH = 500
SEED_MAX = (1 << 40) - 1
"""Run seeds have 64 bits, in disjoint ranges per campaign."""

PLANNING = (
    "subjects", "mutants", "applier", "command_line", "case", "timeout", "histories", "seed",
    "workload", "defaults", "guided", "fast", "batch", "recorded",
)  # fmt: skip


def add_plan_arguments(parser: argparse._ArgumentGroup) -> None:
    """Add the :data:`PLANNING` options; defaults are falsy."""
    parser.add_argument(
        "--subjects", metavar="S,...", help="subject or subject:dialect, or all (default: all)"
    )
    parser.add_argument("--mutants", metavar="M,...", help="mutants, or all (default: none)")
    parser.add_argument(
        "--applier", type=ClassFile, metavar="FILE:CLASS",
        help="an applier in a child process, as for paraply conform; a command goes after --",
    )  # fmt: skip
    parser.add_argument(
        "--case", action="extend", nargs="+", default=[], metavar="ID",
        help="with an applier: the cases to run it on (those with random logs)",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=positive_seconds, metavar="SECONDS",
        help=f"with an applier: how long to wait for its answer ({TIMEOUT_S:g})",
    )  # fmt: skip
    parser.add_argument(
        "command_line", nargs="*", metavar="COMMAND", help="after --: an applier to run"
    )
    parser.add_argument(
        "--recorded", action="extend", nargs="+", default=[], type=InputPath, metavar="FILE",
        help="recorded histories of appliers (.jsonl, or a folder of Parquet files)",
    )  # fmt: skip
    parser.add_argument(
        "--histories", type=positive, metavar="N",
        help=f"histories of each subject, dialect and mutant ({HISTORIES}; all, where there are "
        "only recorded ones)",
    )  # fmt: skip
    parser.add_argument(
        "--seed",
        type=within(int, 0, SEED_MAX),
        metavar="S",
        help="of random choices, below 2^40 (0)",
    )
    parser.add_argument(
        "--workload", metavar="NAME=VALUE,...",
        help="sizes and options, each for the subjects that have it",
    )  # fmt: skip
    parser.add_argument(
        "--defaults", action="store_true",
        help="draw no size and no option of subjects; so do --guided, --fast and mutants",
    )  # fmt: skip
    parser.add_argument(
        "--guided", action="store_true",
        help="vary programs that reached something new, instead of choosing blindly",
    )  # fmt: skip
    parser.add_argument(
        "--fast", action="store_true",
        help="compiled LOGICAL_CLOCK and composed system, without crashes; the reference confirms "
        "each find (with --batch 50000)",
    )  # fmt: skip
    parser.add_argument(
        "--batch", type=positive, metavar="N",
        help=f"histories that are written, or lost, together ({BATCH})",
    )  # fmt: skip


def planned(arguments: argparse.Namespace) -> tuple[Plan, StopWhen]:
    """Return plan and stop rule; bare ``--resume`` reads the folder.

    A folder may come from somebody else: a program that only its plan names runs with ``--trust``.
    Raises ``ParaplyError`` P724 or P728 without a usable plan, P325 for a program without trust.
    """
    values = [getattr(arguments, option) for option in PLANNING]
    is_bare = all(value is None or value is False or value == [] for value in values)
    stop_when = StopWhen(arguments.stop_when or StopWhen.NEVER)
    if arguments.resume and is_bare and not arguments.compare:
        plan, stored = read_plan(arguments.out)
        stop_when = stop_when if arguments.stop_when else stored
        _require_trust(plan, arguments.out, is_trusted=arguments.trust)
        return replace(plan, source=source_digest()), stop_when
    return plan_of(arguments), stop_when


def _require_trust(plan: Plan, place: str, *, is_trusted: bool) -> None:
    programs = dict.fromkeys(one.started_program for one in plan.systems if one.started_program)
    for program in map(visible, programs):
        if not is_trusted:
            raise ParaplyError(PROGRAM_NOT_TRUSTED, where=place, program=program)
        print(f"paraply: the stored campaign runs: {program}", file=sys.stderr)


def plan_of(arguments: argparse.Namespace) -> Plan:
    """Return the plan of the command line."""
    for option in ("guided", "compare"):
        if arguments.fast and getattr(arguments, option):
            raise usage(f"--fast keeps no coverage that --{option} could go by: leave one out")
    subjects, mutants = _names(arguments.subjects), _names(arguments.mutants)
    children = _children(arguments)
    recorded = [recorded_system(file) for file in dict.fromkeys(arguments.recorded)]
    if not subjects and not mutants and not children and not recorded:
        subjects = ["all"]
    words = words_of(_names(arguments.workload), option="--workload")
    is_drawn = not (arguments.defaults or arguments.guided or arguments.fast or arguments.compare)
    own = systems_of(
        subjects, mutants, words, draw_seed=(arguments.seed or 0) if is_drawn else None
    )
    systems = (*own, *children, *recorded)
    histories = arguments.histories or HISTORIES
    if arguments.histories is None and len(recorded) == len(systems):
        histories = max(system.count for system in recorded)
    return Plan(
        systems=systems,
        histories=histories,
        seed=arguments.seed or 0,
        batch_histories=min(arguments.batch or BATCH, histories),
        is_guided=arguments.guided,
        is_fast=arguments.fast,
        source=source_digest(),
    )


def _children(arguments: argparse.Namespace) -> tuple[System, ...]:
    program = tuple(arguments.command_line)
    if arguments.compare and (program or arguments.applier is not None or arguments.recorded):
        raise usage("--compare compares what mutants need, and an applier is none")
    if arguments.applier is not None and program:
        raise usage("both --applier and a command are given")
    if arguments.applier is None and not program:
        for option in ("case", "timeout"):
            if getattr(arguments, option):
                raise usage(
                    f"--{option} goes with an applier: --applier FILE:CLASS, or a command after --"
                )
        return ()
    command = ChildCommand(
        applier=arguments.applier or "", program=program, timeout=arguments.timeout or TIMEOUT_S
    )
    return children_of(command, arguments.case, seed=arguments.seed or 0)


def usage(reason: str) -> ParaplyError:
    """Return the error for conflicting options."""
    return ParaplyError(USAGE, reason=reason, command="paraply mine")


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").split(",") if name]


def words_of(texts: Sequence[str], *, option: str) -> dict[str, str]:
    """Return settings by name; P301 if malformed or repeated."""
    words: dict[str, str] = {}
    for word in texts:
        name, equals, value = word.partition("=")
        if not equals or not name or name in words:
            raise usage(f"{option} {word} is not name=value once")
        words[name] = value
    return words
