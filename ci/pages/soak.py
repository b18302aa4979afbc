"""The page of long runs: ``python -m ci.pages.soak --write`` writes docs/soak.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ci.pages.writing import filled, pages_main, table
from ci.soak import Soak, stored

PAGE = "docs/soak.md"
ROWS = 12
BAR_CHARACTERS = 40


def page(runs: Sequence[Soak]) -> str:
    """Return the page of the stored runs."""
    return filled(PAGE, {"runs": [line for run in runs for line in section(run)]})


def section(run: Soak) -> list[str]:
    """Return one run: its amount, its verdict about memory, and memory over time."""
    most = max(size for _, size in run.megabytes)
    step = max(1, -(-len(run.megabytes) // ROWS))
    rows = [
        (f"{at:,.0f}", f"{size:,.0f}", f"`{'#' * round(BAR_CHARACTERS * size / most)}`")
        for at, size in run.megabytes[::step]
    ]
    growth = "flat" if run.is_flat else "**growing**"
    return [
        f"## {run.name.capitalize()}",
        "",
        f"`{run.command}`: {run.work}; {run.seconds:,.0f} s, {run.cpu_seconds:,.0f} s of CPU time, "
        f"exit code {run.exit_code}.",
        "",
        f"Memory is {growth}: {run.growth:+.1%} from the second to the last quarter, at most "
        f"{most:,.0f} MB.",
        "",
        *table(("seconds", "MB", "memory"), rows),
        "",
    ]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.soak", {PAGE: page(stored())}))
