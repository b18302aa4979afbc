"""The part of docs/mutation-score.md about named mutants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ci.mutation.named import WORKLOADS, Search, stored, summary
from ci.pages.writing import table

QUICK = 100
"""Mutants that every workload finds within so many runs have no line of their own."""


def blocks() -> dict[str, list[str]]:
    """Return the blocks of the page."""
    return {"named": list(_lines(stored()))}


def _lines(searches: list[Search]) -> Iterator[str]:
    if not searches:
        yield "Not run yet."
        return
    yield f"At most {max(one.runs_max for one in searches):,} runs each. Caught of all:"
    yield ""
    yield from (f"- {line}" for line in summary(searches))
    yield ""
    by_mutant: dict[str, dict[str, Search]] = defaultdict(dict)
    for one in searches:
        by_mutant[one.mutant][one.workload] = one
    rows = [
        (f"`{name}`", found["default"].subject, *(_cell(found[each]) for each in WORKLOADS))
        for name, found in sorted(by_mutant.items())
        if found.keys() == set(WORKLOADS)
        and not all(one.caught_by and one.runs <= QUICK for one in found.values())
    ]
    yield f"The table leaves out the mutants that each workload finds within {QUICK} runs."
    yield ""
    yield from table(("mutant", "subject", *WORKLOADS), rows)


def _cell(one: Search) -> str:
    if one.caught_by:
        return f"{one.runs:,}"
    return f"not in {one.runs:,}" if one.runs else "does not end"
