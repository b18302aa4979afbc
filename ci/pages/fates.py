"""What the pages of generated mutants share."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ci.pages.writing import table


def read_records(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    note, *fates = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return note, fates


def cell(value: object) -> str:
    """Return text for a table's cell."""
    return str(value).replace("|", "\\|")


def score(counts: Mapping[str, int]) -> str:
    """Return the share of detected mutants among these and the survivors."""
    return _share(counts["caught"] + counts["noticed"], counts)


def caught_alone(counts: Mapping[str, int]) -> str:
    """Return the same share without the mutants that are only noticed."""
    return _share(counts["caught"], counts)


def _share(detected: int, counts: Mapping[str, int]) -> str:
    whole = counts["caught"] + counts["noticed"] + counts["survived"]
    return f"{100 * detected / whole:.1f} % of {whole:,}" if whole else "none counts"


def fate_tables(
    fates: Iterable[Mapping[str, Any]], meanings: Mapping[str, str], *, alone: str = ""
) -> list[str]:
    """Return the tables of fates, of all mutants and by module.

    ``alone`` names a column for the score without the noticed mutants; empty for none.
    """
    by_module: dict[str, Counter[str]] = defaultdict(Counter)
    for one in fates:
        by_module[one["module"]][one["fate"]] += 1
    counts: Counter[str] = sum(by_module.values(), Counter())
    return [
        *table(
            ("result", "mutants", "meaning"),
            [(name, counts[name], meaning) for name, meaning in meanings.items()],
        ),
        "",
        *table(
            ("module", *meanings, "score", *([alone] if alone else [])),
            [
                (
                    f"`{module}`",
                    *(found[name] or "" for name in meanings),
                    score(found),
                    *([caught_alone(found)] if alone else []),
                )
                for module, found in sorted(by_module.items())
            ],
        ),
    ]
