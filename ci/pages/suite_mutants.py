"""The page of generated faulty appliers and their detection.

``python -m ci.pages.suite_mutants --write`` writes docs/suite-mutants.md (twenty minutes of CPU);
``--sample N`` runs N at random.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from paraply.conforming.mutation.campaign import Fate, Judged, judged_mutants
from paraply.conforming.suite import SCHEDULES
from paraply.progress import progress

PAGE = Path("docs/suite-mutants.md")

_STILL_RIGHT = "MySQLCoordinator"
"""It waits as LogicalClock does, and longer where MySQL does."""
_TITLES = {
    Fate.SURVIVED: "Survivors: some run differs from those of the unchanged applier, no case fails",
    Fate.SAME: "Every run is, event by event, that of the unchanged applier",
    Fate.NOTICED: "Noticed: a case is unknown, as nothing overlaps in it any more (exit code 2)",
}
_MEANINGS = {
    Fate.CAUGHT: "a case fails or is slow, or the applier breaks the protocol",
    Fate.NOTICED: "no case fails, and one is unknown that was passed",
    Fate.SAME: "no run differs: equivalent, or the suite never reaches the change",
    Fate.SURVIVED: "some run differs, and no case fails",
}


def page(judged: Sequence[Judged], total: int) -> str:
    """Return the page; ``total`` mutants exist."""
    valid = [one for one in judged if one.fate is not Fate.INVALID]
    counts = Counter(one.fate for one in valid)
    detected = counts[Fate.CAUGHT] + counts[Fate.NOTICED]
    survivors = [one for one in valid if one.fate is Fate.SURVIVED]
    right = sum(one.rule == _STILL_RIGHT for one in survivors)
    differing = len(valid) - counts[Fate.SAME] - right
    lines = [
        "# Mutants of the conformance suite",
        "",
        "<!-- generated: results -->",
        "",
        "Each mutant is a right applier with one small generated change: another comparison, a",
        "missing statement, another constant, a swapped name. The suite runs on it with "
        f"{SCHEDULES} schedules",
        "a case. `ci/pages/suite_mutants.py` generates this page.",
        "",
        f"{len(valid):,} of {total:,} mutants were run, drawn at random. {detected:,} of the "
        f"{differing:,} that behave differently",
        f"in some run, and are wrong, were detected ({_share(detected, differing)}).",
        f"{right} survivors of `{_STILL_RIGHT}` are right: they lack only a wait of MySQL beyond",
        "last_committed.",
        "",
        "<!-- generated: results -->",
        "",
        "| result | mutants | meaning |",
        "| --- | ---: | --- |",
    ]
    lines += [f"| {fate.value} | {counts[fate]} | {_MEANINGS[fate]} |" for fate in _MEANINGS]
    for fate, title in _TITLES.items():
        chosen = [one for one in valid if one.fate is fate]
        if chosen:
            lines += ["", f"## {title}", "", "| rule | function | change |", "| --- | --- | --- |"]
            lines += sorted(f"| {one.rule} | `{one.place}` | {_cell(one.what)} |" for one in chosen)
    return "\n".join([*lines, "", "<!-- end -->", ""])


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Run the mutants and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True)
    parser.add_argument("--sample", type=int, default=None, metavar="N")
    options = parser.parse_args(arguments)
    judged: list[Judged] = []
    total = 0
    with progress("running mutants") as advance:
        mutants = judged_mutants(
            schedules=SCHEDULES, seed=0, processes=os.cpu_count() or 1, sample=options.sample
        )
        for one, total in mutants:  # noqa: B007 - the last total is written
            judged.append(one)
            advance(len(judged))
    PAGE.write_text(page(judged, total), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
