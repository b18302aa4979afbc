"""The tables of docs/client-volume.md."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import starmap
from statistics import median

from ci.pages.stored_results import Result, ResultsPage
from ci.pages.writing import table


def results_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table of the targets and one of their loads."""
    yield from table(
        ("target", "server", "rounds", "confirmed", "operations", "contradicted", "undocumented"),
        map(_total, dict.fromkeys(_target(one) for one in results), [results] * len(results)),
    )
    yield ""
    loads: dict[tuple[str, str], list[Result]] = {}
    for one in sorted(results, key=lambda one: (one["target"], one["workload"])):
        loads.setdefault((one["target"], _load(one)), []).append(one)
    yield from table(
        ("target", "load", "rounds", "confirmed", "aborted or unknown", "1/s, median", "seen"),
        starmap(_load_line, loads.items()),
    )
    yield ""


def _target(one: Result) -> tuple[str, str]:
    return one["target"], one["server"]


def _total(target: tuple[str, str], results: Sequence[Result]) -> tuple[str, ...]:
    own = [one for one in results if _target(one) == target]
    return (
        *target,
        str(len(own)),
        *(f"{sum(one[name] for one in own):,}" for name in ("committed", "operations")),
        *(str(sum(len(one[name]) for one in own)) for name in ("contradicted", "undocumented")),
    )


def _load(one: Result) -> str:
    reads = "" if one["reads"] == "source" else f", reads at {one['reads']}"
    return f"{one['workload']}, {one['isolation']}{reads}"


def _load_line(load: tuple[str, str], rounds: Sequence[Result]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    for one in rounds:
        seen.update(one["seen"])
    return (
        *load,
        str(len(rounds)),
        f"{sum(one['committed'] for one in rounds):,}",
        f"{sum(one['transactions'] - one['committed'] for one in rounds):,}",
        f"{median(one['committed per second'] for one in rounds):,.0f}",
        ", ".join(f"{name} {count:,}" for name, count in sorted(seen.items())),
    )


PAGE = ResultsPage(
    module="ci.pages.client_volume",
    page="docs/client-volume.md",
    results="docs/client-volume.jsonl",
    written_by="python -m ci.client_volume",
    key=lambda one: (one["target"], one["server"], f"{one['seed']:06}"),
    lines=results_lines,
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
