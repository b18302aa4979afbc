"""The page of generated faulty appliers, which the conformance suite must detect.

``python -m ci.pages.suite_mutants --write`` writes docs/suite-mutants.md from
docs/suite-mutants.jsonl, which ``python -m ci.mutation suite --publish`` writes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ci.pages.fates import cell, fate_tables, read_records, score
from ci.pages.writing import ROOT, filled, pages_main, table

PAGE = "docs/suite-mutants.md"
RECORDS = ROOT / "docs/suite-mutants.jsonl"

INTRODUCTION = (
    "Each mutant is a right applier with one small generated change: another comparison, a missing "
    "statement, another constant, a swapped name. The appliers are five rules, the machinery that "
    "runs them (both in `paraply/adapters/conformance/rules/`), and the sample program with "
    "threads.",
    "",
    '`make mutation-score ARGS="suite --sample 2000"` continues where it ended, and '
    "`python -m ci.mutation suite --publish` writes this page's data.",
)
MEANINGS = {
    "caught": "a case fails or is slow, or the applier breaks the protocol or hangs",
    "noticed": "no case fails, and one is unknown that was passed: exit code 2",
    "survived": "some run differs, and no case fails",
    "legal": "some run differs, and the applier is right: not counted",
    "same": "every run is, event by event, that of the unchanged applier: not counted",
}
LEGAL: Mapping[str, str] = {
    "MySQLCoordinator.": "it waits as LogicalClock does, and lacks only a wait of MySQL's",
    "RuleApplier._on_init: `{*self.offered": "it offers less, so that cases are skipped",
}
"""Why a survivor is right, by function and start of the change."""
SILENT_SKIP = "it does not report what it skips after a crash, and applies the rest as it must"
REASONS: Mapping[str, str] = {
    "Applier.attempt: `if self.commit_order:": "it keeps the commit order also unasked: slower",
    "Applier.on_txn: `self.boundary = False`": "after a rotation nothing overlaps: slower",
    "Applier.on_txn: `self.channel.tell(type='skip'": SILENT_SKIP,
    "RuleApplier._on_txn: `self._tell(type='skip'": SILENT_SKIP,
}
"""Why the suite misses a survivor, by function and start of the change."""
OPEN = "open: not examined"


def page(note: Mapping[str, Any], fates: Sequence[Mapping[str, Any]]) -> str:
    """Return the page; ``note`` has the numbers of the whole."""
    valid = [with_examined_fate(one) for one in fates if one["fate"] in MEANINGS]
    return filled(PAGE, {"results": _results(note, fates, valid), "survivors": _survivors(valid)})


def with_examined_fate(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a survivor that was found to be right as legal."""
    is_right = one["fate"] == "survived" and _reason(one, LEGAL)
    return {**one, "fate": "legal"} if is_right else one


def _results(
    note: Mapping[str, Any], fates: Sequence[Mapping[str, Any]], valid: Sequence[Mapping[str, Any]]
) -> list[str]:
    return [
        *INTRODUCTION,
        "",
        f"{len(fates):,} of {note['total']:,} mutants were run, in a random order of seed "
        f"{note['seed']}, with {note['rules']} schedules a case for rules and {note['threads']} "
        f"for the program with threads; {len(fates) - len(valid):,} are no valid programs. The "
        "score is the share of caught and noticed mutants among these and the survivors: "
        f"**{score(Counter(one['fate'] for one in valid))}**.",
        "",
        *fate_tables(valid, MEANINGS),
    ]


def _survivors(valid: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = sorted(
        (f"`{one['place']}`", cell(one["what"]), one["fate"], str(one["by"]), reason_of(one))
        for one in valid
        if one["fate"] in ("survived", "legal")
    )
    return table(("function", "change", "result", "differs in", "reason"), rows)


def reason_of(one: Mapping[str, Any]) -> str:
    """Return what was found out about a mutant that nothing detects."""
    return _reason(one, LEGAL) or _reason(one, REASONS) or OPEN


def _reason(one: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    name = f"{one['place']}: {one['what']}"
    return next((text for start, text in reasons.items() if name.startswith(start)), "")


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.suite_mutants", {PAGE: page(*records())}))
