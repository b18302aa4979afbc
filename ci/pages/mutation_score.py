"""The page of generated mutants of the reference.

``python -m ci.pages.mutation_score --write`` writes docs/mutation-score.md from
docs/mutation-score.jsonl, which ``python -m ci.mutation --publish`` writes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ci.pages import judge_score, named_score
from ci.pages.fates import caught_alone, cell, fate_tables, read_records, score
from ci.pages.survivor_reasons import reason_of
from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.exploring.generated.reference import CUT_SHORT

PAGE = "docs/mutation-score.md"
RECORDS = ROOT / "docs/mutation-score.jsonl"
EARLIER = ROOT / "docs/mutation-score-earlier.txt"
"""Names of an earlier sample, whose survivors newer properties were written for."""

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
        {
            "reference": _section(note, fates),
            "reference-unseen": _unseen(fates, names_of_the_earlier_sample()),
            "reference-survivors": _survivors(fates),
        }
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
        f"noticed mutants among these and the survivors: **{score(counts)}**. By a property "
        f"alone it is **{caught_alone(counts)}**.",
        "",
        f"Both scores are shares of the {counts['caught']:,} caught, {counts['noticed']:,} noticed "
        f"and {counts['survived']:,} surviving mutants, and the second counts noticed ones, which "
        "break no property and leave a situation out, as not caught. Left out of both are "
        f"{counts['crashed']:,} crashed ones, whose runs give no verdict, {counts['legal']:,} "
        "legal ones, whose histories unchanged code gives on another schedule, and "
        f"{counts['same']:,} that are the same in every drawn run.",
        "",
        *fate_tables(valid, MEANINGS, alone="by a property alone"),
    ]


def _unseen(fates: Sequence[Mapping[str, Any]], known: Set[str]) -> list[str]:
    """Return the scores of the mutants that the earlier sample lacks."""
    unseen = [one for one in fates if one["name"] not in known]
    counts = Counter(one["fate"] for one in unseen)
    return [
        f"{len(fates) - len(unseen):,} of them were in an earlier sample, whose survivors newer "
        f"properties were written for. For the other {len(unseen):,} the score is "
        f"**{score(counts)}**, by a property alone **{caught_alone(counts)}**."
    ]


def _survivors(fates: Sequence[dict[str, Any]]) -> list[str]:
    survivors = [one for one in fates if one["fate"] == "survived"]
    cut_short = sum(one["by"] == CUT_SHORT for one in survivors)
    rows = sorted(
        (
            f"`{one['module']}`",
            f"`{one['place']}`",
            cell(one["what"]),
            f"not found in {one['runs']:,} runs; {cell(reason_of(one))}",
        )
        for one in survivors
    )
    return [
        f"No run of the {len(survivors):,} survivors breaks a property. Reasons are by hand: read "
        f"from the code, not measured. For {cut_short:,} the search for an equal run was cut "
        "short.",
        "",
        *table(("module", "function", "change", "reason"), rows),
    ]


def names_of_the_earlier_sample() -> frozenset[str]:
    """Return the names of its mutants."""
    return frozenset(EARLIER.read_text(encoding="utf-8").splitlines())


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.mutation_score", {PAGE: page(*records())}))
