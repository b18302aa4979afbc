"""Repeat every proof with other seeds and orders: ``python -m paraply.proving.stability``.

Both solvers run ten seeds and ten orders (about ten minutes). Results go to
``proofs/stability.json``. A later solver version may lose a seed-dependent proof.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.solver import PACKAGES, SOLVERS, Answer
from paraply.models.language.system import Obligation, obligations
from paraply.number_arguments import within

ROUNDS_MAX = 1_000_000
TIMEOUTS_S = (0.001, 1_000_000)
"""Solvers count milliseconds, Z3 in 32 bits."""
RECORD = Path(__file__).resolve().parents[1] / "proofs" / "stability.json"


def rounds(judge: str, seeds: int, orders: int) -> list[tuple[int, int]]:
    """Return seeds and orders; the kernel ignores both."""
    if judge not in SOLVERS:
        return [(0, 0)]
    return [(seed, 0) for seed in range(seeds)] + [(0, order) for order in range(1, orders + 1)]


def measure(
    judge: str, parts: Sequence[Obligation], asked: Sequence[tuple[int, int]], timeout_s: float
) -> dict[str, Any]:
    """Return a judge's results as JSON-ready data."""
    rounds_s, slowest = [], 0.0
    failed: list[dict[str, object]] = []
    for seed, order in asked:
        spent: defaultdict[str, float] = defaultdict(float)
        for part in parts:
            judgment = JUDGES[judge](part.shuffled(order), timeout_s=timeout_s, seed=seed)
            spent[part.system] += judgment.seconds
            slowest = max(slowest, judgment.seconds)
            if judgment.answer is not Answer.PROVED:
                failed.append({"system": part.system, "statement": part.statement,
                               "step": part.step, "seed": seed, "order": order})  # fmt: skip
        rounds_s.append(spent)
        print(f"{judge} seed {seed} order {order}: {sum(spent.values()):.1f} s, "
              f"{len(failed)} failures so far", flush=True)  # fmt: skip
    return {
        "version": version(PACKAGES[judge]) if judge in PACKAGES else "",
        "seeds": sum(order == 0 for _, order in asked),
        "orders": sum(order != 0 for _, order in asked),
        "obligations": len(parts),
        "asked": len(parts) * len(asked),
        "failed": failed,
        "median_seconds": round(statistics.median(sum(spent.values()) for spent in rounds_s), 1),
        "slowest_seconds": round(slowest, 2),
        "systems": {
            name: round(statistics.median(spent[name] for spent in rounds_s), 2)
            for name in dict.fromkeys(part.system for part in parts)
        },
    }


def renewed(
    old: dict[str, Any], new: dict[str, Any], parts: Sequence[Obligation]
) -> dict[str, Any]:
    """Return a judge's stored results with some systems measured again."""
    names = dict.fromkeys(part.system for part in parts)
    spent = {name: {**old["systems"], **new["systems"]}[name] for name in names}
    before = len(parts) - new["obligations"]
    asked = before * old["asked"] // old["obligations"] + new["asked"]
    failed = [one for one in old["failed"] if one["system"] not in new["systems"]]
    return {
        **new,
        "seeds": min(old["seeds"], new["seeds"]),
        "orders": min(old["orders"], new["orders"]),
        "obligations": len(parts),
        "asked": asked,
        "failed": failed + new["failed"],
        "median_seconds": round(sum(spent.values()), 1),
        "slowest_seconds": max(old["slowest_seconds"], new["slowest_seconds"]),
        "systems": spent,
    }


def table(record: dict[str, Any]) -> list[str]:
    """Return the record as a Markdown table."""
    lines = [
        "| judge | obligations | seeds | other orders | asked | failed | all, s | slowest, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for judge, row in record.items():
        rounds_of = (row["seeds"], row["orders"]) if row["version"] else ("–", "–")
        name = f"{judge} {row['version']}".strip()
        lines.append(
            f"| {name} | {row['obligations']:,} | {rounds_of[0]} | {rounds_of[1]} | "
            f"{row['asked']:,} | {len(row['failed'])} | {row['median_seconds']} | "
            f"{row['slowest_seconds']:.2f} |"
        )
    return lines


def stored() -> dict[str, Any]:
    """Return the stored record."""
    if not RECORD.exists():
        return {}
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and store; exit code 1 if unproved."""
    parser = argparse.ArgumentParser(
        prog="python -m paraply.proving.stability", description=__doc__
    )
    parser.add_argument("--seeds", type=within(int, 1, ROUNDS_MAX), default=10)
    parser.add_argument("--orders", type=within(int, 0, ROUNDS_MAX), default=10)
    parser.add_argument("--timeout", type=within(float, *TIMEOUTS_S), default=10.0,
                        help="seconds per obligation")  # fmt: skip
    parser.add_argument("--system", action="append", metavar="NAME",
                        help="measure this one, and keep what is stored of the others")  # fmt: skip
    parser.add_argument("--record", type=Path, default=RECORD, help="where to store it")
    chosen = parser.parse_args(argv)
    parts = [part for system in systems() for part in obligations(system)]
    named = [part for part in parts if not chosen.system or part.system in chosen.system]
    record = {
        judge: measure(judge, named, rounds(judge, chosen.seeds, chosen.orders), chosen.timeout)
        for judge in JUDGES
    }
    if chosen.system:
        record = {judge: renewed(stored()[judge], row, parts) for judge, row in record.items()}
    chosen.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["failed"] for row in record.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
