"""``paraply conform --log``: cases from a user's own logs and counterexamples."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from paraply.adapters.conformance.cases import Case
from paraply.adapters.conformance.own_logs.cases import (
    OTHER_SIZES,
    SLICE_TRANSACTIONS,
    OwnCases,
    own_cases,
)
from paraply.adapters.conformance.own_logs.reading import OwnLogs
from paraply.adapters.conformance.protocol import Role
from paraply.conforming.own_logs import cases_of_logs as chosen_cases
from paraply.conforming.own_logs import is_for, own_logs
from paraply.conforming.suite import CaseResult, Conformance
from paraply.file_arguments import InputPath
from paraply.number_arguments import positive
from paraply.progress import progress


def configure_logs(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``--log``."""
    group = parser.add_argument_group(
        "your own logs",
        "make cases from binary logs, text dumps of them, or counterexamples, in place of the "
        "suite (docs/protocol.md)",
    )
    group.add_argument(
        "--log",
        action="extend",
        nargs="+",
        type=InputPath,
        metavar="FILE",
        help="logs in order, or histories (.jsonl) of explore and mine",
    )
    group.add_argument(
        "--schema", type=InputPath, metavar="F", help="tables as the logs begin (mysqldump -d)"
    )
    group.add_argument(
        "--slice",
        type=positive,
        default=SLICE_TRANSACTIONS,
        metavar="N",
        help="transactions of a case (%(default)s)",
    )
    group.add_argument(
        "--keep-values",
        action="store_true",
        help="do not replace names and values by pseudonyms",
    )


def cases_of_logs(
    arguments: argparse.Namespace, role: Role
) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """Return the cases of ``--log`` that ``--case`` names, and remarks about the rest."""
    cases, made = chosen_cases(
        _own_logs(arguments),
        tuple(arguments.case),
        role=role,
        size=arguments.slice,
        keep_values=arguments.keep_values,
    )
    return cases, tuple(line for one in made for line in _remarks(one))


def run_other_slices(conformance: Conformance, arguments: argparse.Namespace) -> list[CaseResult]:
    """Run cases of other slice lengths for ``--budget`` seconds."""
    results: list[CaseResult] = []
    ends = time.monotonic() + arguments.budget
    with progress("running slices of other lengths", total=arguments.budget) as advance:
        for case in _other_cases(arguments, conformance.role, lambda: time.monotonic() >= ends):
            results.append(conformance.run_case(case))
            advance(arguments.budget - (ends - time.monotonic()))
    sys.stderr.write(f"budget: {len(results)} cases of other slices\n")
    return results


def log_words(arguments: argparse.Namespace) -> list[str]:
    """Return the options that make the same cases again."""
    words = ["--log", *arguments.log]
    if arguments.schema is not None:
        words += ["--schema", arguments.schema]
    return words + ["--keep-values"] * arguments.keep_values


def _other_cases(
    arguments: argparse.Namespace, role: Role, is_over: Callable[[], bool]
) -> Iterator[Case]:
    logs = _own_logs(arguments)
    for size in OTHER_SIZES:
        if size == arguments.slice or is_over():
            continue
        for case in own_cases(logs, size, keep_values=arguments.keep_values).cases:
            if is_over():
                return
            if is_for(case, role):
                yield case


def _own_logs(arguments: argparse.Namespace) -> OwnLogs:
    return own_logs(arguments.log, arguments.schema)


def _remarks(own: OwnCases) -> Iterator[str]:
    tally = own.tally
    yield (
        f"log: transactions: {tally.transactions:,}; slices of at most {own.size}: "
        f"{own.slices:,}, used: {own.used:,}; cases: {len(own.cases):,}"
    )
    if own.used + len(own.refused) < own.slices:
        yield "log: the other slices were not run: name them by --case, or give a --budget"
    for reason, count in tally.unusable.most_common():
        if count:
            yield f"log: {count:,} in no case: {reason.what}; remedy: {reason.remedy}"
    if own.unsafe:
        yield (
            f"log: slices without a case with recorded metadata: {own.unsafe:,}, because it lets "
            "conflicting transactions overlap, as on tables without a key (see paraply audit)"
        )
    if own.unstamped:
        yield (
            f"log: slices without a case with recorded metadata: {own.unstamped:,}, because they "
            "have no increasing logical timestamps"
        )
    for text in own.refused:
        yield f"log: the source refuses {text}"
    for fault in tally.report.diagnostics():
        yield f"log: {fault.text}; remedy: {fault.remedy}"
