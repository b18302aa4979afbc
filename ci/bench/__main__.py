"""``python -m ci.bench [NAME ...]``: run benchmarks and print the measurements.

Numbers are medians over interleaved rounds (A, B, A, B, ...). Only ``--strict`` affects the exit
code, since shared machines vary in speed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

from ci.bench.registry import BENCHMARKS, MEGABYTES, SIZES, Options, Report
from ci.bench.storing import Stored, machine, store

MODULES = (
    "ci.bench.audit",
    "ci.bench.audit_mixes",
    "ci.bench.clients",
    "ci.bench.conform",
    "ci.bench.minimal",
    "ci.bench.explore",
    "ci.bench.gtid_sets",
    "ci.bench.history_scale",
    "ci.bench.isolation",
    "ci.bench.mining",
    "ci.bench.proofs",
    "ci.bench.scope",
    "ci.bench.spark",
    "ci.bench.states",
    "ci.bench.traces",
    "ci.bench.verify",
    "ci.bench.watch",
    "ci.bench.wire",
)
"""Modules that register benchmarks."""


def render(report: Report) -> str:
    """Return the report for a terminal."""
    lines = [f"{report.benchmark}: {report.input}", ""]
    width = max((len(item.contestant) for item in report.measured), default=0)
    for item in report.measured:
        value = f"{item.value:,.2f}" if item.value < 1000 else f"{item.value:,.0f}"
        lines.append(f"  {item.contestant:<{width}}  {item.quantity:<22} {value:>14} {item.unit}")
    lines.append("")
    for goal in report.goals:
        bound = "at most" if goal.at_most else "at least"
        lines.append(f"  {goal.word}  {goal.name}: {goal.got:,.2f} ({bound} {goal.wanted:,.2f})")
    lines.extend(f"  note: {remark}" for remark in report.remarks)
    return "\n".join(lines)


def _usual_sizes() -> str:
    others = [f"{size:g} for {name}" for name, size in SIZES.items() if size != MEGABYTES]
    return ", ".join([f"{MEGABYTES:g}", *others])


def main(argv: list[str] | None = None) -> int:
    """Run the named benchmarks, by default all."""
    for module in MODULES:
        importlib.import_module(module)
    parser = argparse.ArgumentParser(prog="python -m ci.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(sorted(BENCHMARKS)))
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contestant")
    parser.add_argument(
        "--megabytes", type=float, help=f"size of generated logs (default: {_usual_sizes()})"
    )
    parser.add_argument(
        "--transactions", type=int, default=1_000_000, help="size of tables of transactions"
    )
    parser.add_argument(
        "--histories", type=int, default=10_000_000, help="size of a campaign by kernels"
    )
    parser.add_argument("--seed", type=int, default=0, help="of generated input")
    parser.add_argument("--folder", type=Path, help="keep generated inputs here")
    parser.add_argument("--seconds-max", type=float, default=600, help="limit of one run")
    parser.add_argument("--json", type=Path, help="also write the reports as JSON")
    parser.add_argument(
        "--store", type=Path, metavar="FILE",
        help="put reports of usual sizes into this file (docs/speed.jsonl), in place of older ones",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit 1 if a goal is missed")
    chosen = parser.parse_args(argv)
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if chosen.store and chosen.megabytes:
        parser.error("only results of the usual sizes are stored: leave out --megabytes")
    reports = []
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        options = Options(
            rounds=chosen.rounds, megabytes=MEGABYTES, seed=chosen.seed,
            folder=chosen.folder or Path(scratch), seconds_max=chosen.seconds_max,
            transactions=chosen.transactions, histories=chosen.histories,
            keeps_inputs=chosen.folder is not None,
        )  # fmt: skip
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in chosen.names or sorted(BENCHMARKS):
            size = chosen.megabytes or SIZES[name]
            report = BENCHMARKS[name](replace(options, megabytes=size))
            reports.append(report)
            print(render(report), flush=True)
            if chosen.store:
                # At once: a later one may take long, or fail.
                store(chosen.store, Stored(report=report, day=date.today(), machine=machine()))
    if chosen.json:
        chosen.json.write_text(json.dumps([report.as_json() for report in reports], indent=2))
    missed = any(not goal.is_met for report in reports for goal in report.goals)
    return 1 if missed and chosen.strict else 0


if __name__ == "__main__":
    sys.exit(main())
