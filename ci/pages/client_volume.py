"""The tables of docs/client-volume.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ci.pages.stored_results import Result, ResultsPage
from ci.pages.writing import table


def results_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table of the targets and one of all rounds."""
    yield from table(
        ("target", "server", "rounds", "confirmed", "operations", "contradicted", "undocumented"),
        map(_total, dict.fromkeys(_target(one) for one in results), [results] * len(results)),
    )
    yield ""
    yield from table(
        ("target", "load", "seed", "confirmed", "aborted or unknown", "1/s", "seen"),
        map(_round, results),
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


def _round(one: Result) -> tuple[str, ...]:
    reads = "" if one["reads"] == "source" else f", reads at {one['reads']}"
    return (
        one["target"],
        f"{one['workload']}, {one['isolation']}{reads}",
        str(one["seed"]),
        f"{one['committed']:,}",
        f"{one['transactions'] - one['committed']:,}",
        f"{one['committed per second']:,}",
        ", ".join(f"{name} {count:,}" for name, count in one["seen"].items()),
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
