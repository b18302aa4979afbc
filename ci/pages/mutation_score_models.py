"""The page of generated mutants of the models.

``python -m ci.pages.mutation_score_models --write`` writes docs/mutation-score-models.md from
docs/mutation-score-models.jsonl, which ``python -m ci.mutation.models --publish`` writes.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from ci.pages.fates import caught_alone, cell, read_records, score
from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.models.judging.mutants import KINDS

PAGE = "docs/mutation-score-models.md"
RECORDS = ROOT / "docs/mutation-score-models.jsonl"

NOTICED_BY = {
    "stored run": "a run in `proofs/witnesses.json` is no longer a run, or reaches less",
    "refused run": "a step that a run in `proofs/dropping.json` shows to be forbidden is allowed",
    "proof": "an obligation is refuted or no longer proved",
    "recorded run": "a run of the reference is refused",
    "refused record": "a run of a faulty subject is allowed",
    "surroundings": "other steps are possible around the stored runs (`proofs/surroundings.json`)",
}
"""In the order in which they are asked; the first one counts."""

COMPARED = "surroundings"
"""It compares counts and followers of steps, and shows no wrong behaviour."""
WITHOUT = f"without {COMPARED}"

SAME = {
    "proved": "Z3 proves that steps are equal in all states that satisfy the invariants",
    "in small scopes": "no run of 6 steps in 5 small scopes reaches a state with another step",
}


def page(note: dict[str, Any], fates: Sequence[dict[str, Any]]) -> str:
    """Return the page; ``note`` has the numbers of the whole."""
    return filled(
        PAGE,
        {
            "models-command": _command(note),
            "models": _section(note, fates),
            "models-survivors": _survivors(fates),
        },
    )


def _command(note: dict[str, Any]) -> list[str]:
    return [
        f"`python -m ci.mutation.models --each {note['each']} --seed {note['seed']}` runs "
        f"{note['each']} mutants of each system in a random order, one of each system by turns, "
        "and appends each result to `build/mutation-score/models.jsonl`. A later call continues "
        "there. `--publish` writes this page's data.",
    ]


def _section(note: dict[str, Any], fates: Sequence[dict[str, Any]]) -> list[str]:
    by = Counter((one["fate"], one["by"]) for one in fates)
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    of_system: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in fates:
        kinds[one["what"].partition(":")[0]].append(one)
        of_system[one["module"]].append(one)
    counts = _counts(fates)
    return [
        f"{len(fates):,} of {note['total']:,} mutants were run: {note['each']} of each system, the "
        f"first of a random order of seed {note['seed']}. The score is the share of noticed "
        f"mutants among all but equal ones: **{score(counts)}**. Without the "
        f"{counts['noticed']:,} that only the surroundings notice it is "
        f"**{caught_alone(counts)}**: these are noticed by stored and recorded runs and proofs.",
        "",
        *table(
            ("result", "mutants", "meaning"),
            [
                *((f"noticed: {name}", by["caught", name], meaning)
                  for name, meaning in NOTICED_BY.items()),
                *((f"same: {name}", by["same", name], meaning) for name, meaning in SAME.items()),
                ("survived", sum(one["fate"] == "survived" for one in fates),
                 "a run reaches a state with another step, and nothing objects"),
            ],
        ),
        "",
        *table(
            ("change", "meaning", "noticed", "survived", "same", "score", WITHOUT),
            [(kind, meaning, *_row(kinds[kind])) for kind, meaning in KINDS.items()],
        ),
        "",
        *table(
            ("system", "noticed", "survived", "same", "score", WITHOUT),
            [(f"`{name}`", *_row(found)) for name, found in sorted(of_system.items())],
        ),
    ]  # fmt: skip


def _row(fates: Sequence[dict[str, Any]]) -> tuple[object, ...]:
    counts = _counts(fates)
    noticed = counts["caught"] + counts["noticed"]
    shown = (one or "" for one in (noticed, counts["survived"], counts["same"]))
    return (*shown, score(counts), caught_alone(counts))


def _counts(fates: Sequence[dict[str, Any]]) -> Counter[str]:
    """Return the fates, where only noticed stands for what the surroundings alone notice."""
    return Counter(
        "noticed" if one["fate"] == "caught" and one["by"] == COMPARED else one["fate"]
        for one in fates
    )


def _survivors(fates: Sequence[dict[str, Any]]) -> list[str]:
    left = sorted((one["module"], one["place"], one["what"], one["by"] or f"after: {one['where']}")
                  for one in fates if one["fate"] == "survived")  # fmt: skip
    cells = ((f"`{cell(part)}`" for part in row[:3]) for row in left)
    return table(
        ("system", "action", "change", "differs"),
        [(*shown, row[3]) for shown, row in zip(cells, left, strict=True)],
    )


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.mutation_score_models", {PAGE: page(*records())}))
