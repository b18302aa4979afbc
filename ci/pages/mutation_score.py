"""The page of generated mutants of the reference.

``python -m ci.pages.mutation_score --write`` writes docs/mutation-score.md from
docs/mutation-score.jsonl, which ``python -m ci.mutation --publish`` writes.
"""

from __future__ import annotations

import json
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
LATER = ROOT / "docs/mutation-score-later.jsonl"
"""A sample that later properties judged, by ``python -m ci.mutation --publish --later``."""
AGAIN = ROOT / "docs/mutation-score-again.jsonl"
"""Today's fates of survivors and noticed mutants, by ``python -m ci.mutation.again``."""
NOT_CAUGHT = frozenset({"survived", "noticed"})
NOT_GENERATED = "not generated today"

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
            "reference-later": _later(*read_records(LATER), {one["name"] for one in fates}),
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


def _later(
    note: Mapping[str, Any], fates: Sequence[Mapping[str, Any]], known: Set[str]
) -> list[str]:
    """Return the scores of a later sample, also of its mutants that the first one lacks."""
    counts = Counter(one["fate"] for one in fates)
    new = [one for one in fates if one["name"] not in known]
    of_new = Counter(one["fate"] for one in new)
    return [
        f"{len(fates):,} of {note['total']:,} mutants of a random order of seed {note['seed']}, "
        f"judged by later properties: the score is **{score(counts)}**, by a property alone "
        f"**{caught_alone(counts)}**. {len(new):,} of them are not among those above: **"
        f"{score(of_new)}**, by a property alone **{caught_alone(of_new)}**."
    ]


def _survivors(fates: Sequence[dict[str, Any]]) -> list[str]:
    survivors = [one for one in fates if one["fate"] == "survived"]
    cut_short = sum(one["by"] == CUT_SHORT for one in survivors)
    again = records_again()
    today = {one["name"]: today_of(one, again) for one in survivors}
    counts = Counter(text.partition(" by ")[0] for text in today.values())
    rows = sorted(
        (
            f"`{one['module']}`",
            f"`{one['place']}`",
            cell(one["what"]),
            f"not found in {one['runs']:,} runs; {cell(reason_of(one))}",
            today[one["name"]],
        )
        for one in survivors
    )
    noticed = [one for one in fates if one["fate"] == "noticed"]
    of_noticed = Counter(today_of(one, again).partition(" by ")[0] for one in noticed)
    return [
        f"No run of the {len(survivors):,} survivors broke a property of that time. Reasons are by "
        f"hand: read from the code, not measured. For {cut_short:,} the search for an equal run "
        "was cut short. The last column is measured: the fate with today's properties and drawn "
        f"runs, which do not enter the score ({_listed(counts)}). Of the {len(noticed)} noticed, "
        f"today: {_listed(of_noticed)}. With these fates for the old ones a property alone catches "
        f"**{caught_alone(counts_today(fates, again))}**.",
        "",
        *table(("module", "function", "change", "reason", "today"), rows),
    ]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {fate}" for fate, number in counts.most_common())


def counts_today(
    fates: Sequence[Mapping[str, Any]], again: Mapping[str, Mapping[str, Any]]
) -> Counter[str]:
    """Count the fates, of what was not caught those of today; a gone mutant counts nowhere."""
    return Counter(
        today_of(one, again).partition(" by ")[0] if one["fate"] in NOT_CAUGHT else one["fate"]
        for one in fates
    )


def today_of(one: Mapping[str, Any], again: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a mutant's fate today, and the property if one catches it."""
    found = again.get(one["name"])
    if found is None:
        return NOT_GENERATED
    fate = str(found["fate"])
    return f"{fate} by `{found['by']}`" if fate in ("caught", "noticed") else fate


def records_again() -> dict[str, dict[str, Any]]:
    """Return today's fates of survivors and noticed mutants by name."""
    lines = AGAIN.read_text(encoding="utf-8").splitlines()
    return {one["name"]: one for one in map(json.loads, lines)}


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.mutation_score", {PAGE: page(*records())}))
