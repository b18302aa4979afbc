"""``paraply mutants``: show which property catches each fault."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

from paraply.counterexamples.hunt import RUNS_MAX
from paraply.counterexamples.replaying import replay_command
from paraply.exploring.mutation_testing import MutantResult, try_mutant
from paraply.file_arguments import JsonFile
from paraply.number_arguments import positive
from paraply.progress import progress
from paraply.properties.campaign import steps_of
from paraply.registries import mutant_named, property_named, registered_mutants
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.explore_text import history_records
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.page import page
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.verdict import Verdict

_EXAMPLE = """\
examples:
  paraply mutants                                all of them, as a table
  paraply mutants first_item_decides             one, with the smallest history that shows it
  paraply mutants --json mutants.json --seed 7

exit codes: 0 every mutant is caught by the property it names (one that is said to be equivalent:
by none); 1 not so
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Put one fault at a time into a subject and search for a history in which the property\n"
        "that the fault names is broken. A property that catches no fault has shown nothing."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants (default: all)")
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    parser.add_argument(
        "--no-times", action="store_true", help="leave seconds out: equal input, equal output"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of random choices (0)")
    parser.add_argument(
        "--runs-max",
        type=positive,
        default=RUNS_MAX,
        metavar="N",
        help=f"give up on a mutant after so many runs ({RUNS_MAX:,})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Try the mutants; 1 if one differs from its statement."""
    mutants = [mutant_named(name) for name in dict.fromkeys(arguments.names)]
    mutants = mutants or list(registered_mutants())
    results = []
    with progress("hunting mutants", total=len(mutants)) as advance:
        for done, mutant in enumerate(mutants):
            advance(done)
            results.append(try_mutant(mutant, seed=arguments.seed, runs_max=arguments.runs_max))
    if arguments.json != STANDARD_OUTPUT:
        lines = mutant_lines(results, with_times=not arguments.no_times)
        if arguments.names:
            lines += [line for result in results for line in story_lines(result)]
        lines += ["", summary(results, seed=arguments.seed, with_times=not arguments.no_times), ""]
        write_report(STANDARD_OUTPUT, "\n".join(lines))
    if arguments.json is not None:
        document = {"seed": arguments.seed, "mutants": [_as_json(result) for result in results]}
        write_report(arguments.json, json_document(document))
    verdict = Verdict.HOLDS if all(one.is_as_stated for one in results) else Verdict.VIOLATED
    return verdict.exit_code


def mutant_lines(results: Sequence[MutantResult], *, with_times: bool = True) -> list[str]:
    """Return each family's mutants with catcher and source."""
    heading = ("mutant", "trx", "steps", "runs", "s" if with_times else "")
    rows = [
        (
            result.mutant.name,
            *(("", "") if result.smallest is None else _size(result)),
            f"{result.runs:,}",
            f"{result.seconds:.2f}" if with_times else "",
        )
        for result in results
    ]
    head, *drawn = plain_table(heading, rows, indent="  ")
    lines = [head]
    family = None
    for result, line in zip(results, drawn, strict=True):
        if result.mutant.family != family:
            family = result.mutant.family
            lines += ["", family]
        lines.append(line)
        lines += textwrap.wrap(
            f"{caught_by(result)}; {result.mutant.source}",
            page().width,
            initial_indent="      ",
            subsequent_indent="      ",
        )
    return lines


def caught_by(result: MutantResult) -> str:
    """Return the catching property, or that the mutant survives."""
    if result.mutant.survives_because:
        others = ", ".join(result.caught_by_others)
        return f"NOT EQUIVALENT, caught by {others}" if others else "equivalent, caught by none"
    word = "caught by" if result.smallest else "SURVIVES"
    return f"{word} {result.mutant.caught_by}"


def _size(result: MutantResult) -> tuple[str, str]:
    assert result.smallest is not None
    history = result.smallest.counterexample.history
    return str(len(history.transactions)), str(steps_of(history))


def story_lines(result: MutantResult) -> list[str]:
    """Return the fault and its smallest history."""
    mutant = result.mutant
    lines = ["", "", f"{mutant.name}: {mutant.fault}"]
    if mutant.survives_because:
        return [*lines, f"Equivalent: {mutant.survives_because}"]
    if result.smallest is None:
        return [*lines, f"no history found in which {mutant.caught_by} catches it"]
    prop = property_named(mutant.caught_by)
    history = result.smallest.counterexample.history
    return [
        *lines,
        "",
        *counterexample_lines(prop, history),
        "",
        f"replay: {_command(result)}",
    ]


def _command(result: MutantResult) -> str:
    assert result.smallest is not None
    mutant = result.mutant
    prop = property_named(mutant.caught_by)
    return replay_command(mutant.subject, result.smallest, prop, mutant=mutant.name)


def summary(results: Sequence[MutantResult], *, seed: int, with_times: bool = True) -> str:
    """Return the number caught."""
    equivalent = [result for result in results if result.mutant.survives_because]
    caught = sum(result.smallest is not None for result in results)
    text = f"{caught} of {len(results) - len(equivalent)} caught by the property they name"
    if equivalent:
        survived = sum(result.is_as_stated for result in equivalent)
        text += f", {survived} of {len(equivalent)} equivalent"
    seconds = sum(result.seconds for result in results)
    return f"{text}; seed {seed}" + (f", {seconds:.0f} s" if with_times else "")


def _as_json(result: MutantResult) -> dict[str, Any]:
    mutant = result.mutant
    value: dict[str, Any] = {
        "name": mutant.name,
        "family": mutant.family,
        "source": mutant.source,
        "fault": mutant.fault,
        "subject": mutant.subject.name,
        "caught_by": mutant.caught_by,
        "survives_because": mutant.survives_because,
        "is_as_stated": result.is_as_stated,
        "runs": result.runs,
        "seconds": round(result.seconds, 3),
    }
    if result.smallest is not None:
        transactions, steps = _size(result)
        value |= {
            "transactions": int(transactions),
            "steps": int(steps),
            "violations": [str(one) for one in result.smallest.counterexample.violations],
            "program": result.smallest.program,
            "command": _command(result),
            "history": history_records(result.smallest.counterexample.history),
        }
    return value
