"""The page of the long fuzzing run: ``python -m ci.pages.fuzzing --write``."""

from __future__ import annotations

import json
import sys
from typing import Any

from ci.pages.writing import ROOT, filled, pages_main, table

PAGE = "docs/fuzzing.md"
STORE = ROOT / "docs" / "fuzzing.json"


def page(found: dict[str, Any]) -> str:
    """Return the page of a stored tally."""
    return filled(PAGE, {"run": run(found), "readers": readers(found)})


def run(found: dict[str, Any]) -> list[str]:
    """Return what the run was in all."""
    broken = sum(len(one["broken"]) for one in found["readers"].values())
    return [
        f"Seed {found['seed']}: {found['inputs']:,} inputs in {found['cpu_seconds']:,} seconds of "
        f"processor time, one process, at most {found['peak_megabytes']:,} MB of memory; "
        f"{broken or 'no'} input{'s' if broken != 1 else ''} that broke a reader."
    ]


def readers(found: dict[str, Any]) -> list[str]:
    """Return the tally of each reader."""
    rows = []
    for name, one in found["readers"].items():
        refused = sum(n for what, n in one["outcomes"].items() if what.split()[-1].startswith("P"))
        rate = one["inputs"] / one["cpu_seconds"]
        rows.append(
            (name, f"{one['inputs']:,}", f"{one['inputs'] - refused:,}", f"{refused:,}",
             f"{rate:,.0f}", str(len(one["broken"])))
        )  # fmt: skip
    return table(("reader", "inputs", "read", "refused", "per second", "broken"), rows)


if __name__ == "__main__":
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    sys.exit(pages_main("ci.pages.fuzzing", {PAGE: page(stored)}))
