"""The page of generated mutants of the reference.

``python -m ci.pages.mutation_score --write`` writes docs/mutation-score.md from
docs/mutation-score.jsonl, which ``python -m ci.mutation --publish`` writes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ci.pages import judge_score, named_score
from ci.pages.fates import cell, fate_tables, read_records, score
from ci.pages.writing import ROOT, filled, pages_main, table

PAGE = "docs/mutation-score.md"
RECORDS = ROOT / "docs/mutation-score.jsonl"

MEANINGS = {
    "caught": "a property is broken, unexpectedly, in a run of the default campaign",
    "noticed": "nothing is broken, but a property is unknown that at least 15 healthy runs of a "
    "dialect or subject decide: its situation never occurs, or evidence is missing",
    "survived": "a history differs, and nothing objects",
    "legal": "histories differ, and unchanged code gives each of them on another schedule",
    "same": "no run differs: equivalent, or no drawn run shows it",
    "crashed": "runs raise an exception or do not end, which is no verdict, and no other run shows "
    "anything; not counted as caught",
}


def page(note: dict[str, Any], fates: Sequence[dict[str, Any]]) -> str:
    """Return the page; ``note`` has the numbers of the whole."""
    return filled(
        PAGE,
        {"reference": _section(note, fates), "reference-survivors": _survivors(fates)}
        | judge_score.blocks()
        | named_score.blocks(),
    )


def _section(note: dict[str, Any], fates: Sequence[dict[str, Any]]) -> list[str]:
    valid = [one for one in fates if one["fate"] != "invalid"]
    counts = Counter(one["fate"] for one in valid)
    return [
        f"{len(fates):,} of {note['total']:,} mutants were run, the first of a random order of "
        f"seed {note['seed']}, with {note['each']} healthy runs of each dialect; "
        f"{len(fates) - len(valid):,} are no valid programs. The score is the share of caught and "
        f"noticed mutants among these and the survivors: **{score(counts)}**.",
        "",
        *fate_tables(valid, MEANINGS),
    ]


def _survivors(fates: Sequence[dict[str, Any]]) -> list[str]:
    survivors = sorted(
        (one["module"], one["place"], one["what"], str(one["by"]))
        for one in fates
        if one["fate"] == "survived"
    )
    rows = [(f"`{m}`", f"`{p}`", cell(w), cell(r)) for m, p, w, r in survivors]
    return table(("module", "function", "change", "remark"), rows)


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.mutation_score", {PAGE: page(*records())}))
