"""The blocks of docs/mutation-score.md about mutants of judges and of the conformance harness.

``python -m ci.mutation judges --publish`` writes their data, docs/mutation-score-judges.jsonl, or,
with ``--modules`` and a package of ``APART``, that of its own sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ci.pages.fates import caught_alone, cell, fate_tables, read_records, score
from ci.pages.writing import ROOT, table

RECORDS = ROOT / "docs/mutation-score-judges.jsonl"
APART = {
    "paraply.properties.logs.compiled": ROOT / "docs/mutation-score-kernels.jsonl",
    "paraply.properties.logs.compiled, drawn later": ROOT
    / "docs/mutation-score-kernels-later.jsonl",
    "paraply.conforming": ROOT / "docs/mutation-score-conforming.jsonl",
}
"""Packages with a sample of their own; for one drawn later, no test was written before."""
MEANINGS = {
    "caught": "one of its own tests fails or does not end",
    "noticed": "only stored answers differ, of random histories, logs and tables",
    "survived": "no own test fails",
    "same": "no own test fails, and at least 200 random inputs that reach the function have the "
    "answers of unchanged code; not counted",
}
WORDING = "the wording of a message; no verdict depends on it"
SLOW = "the tests of audits in parts that could show it take longer than 10 seconds"
MEMORY = "a bound of memory that is off by one"
EQUAL = "equivalent"
ROOM = "equivalent: only more memory"
EFFORT = "equivalent: the same results by another number of runs or processes"
REASONS: Mapping[str, str] = {
    "properties.logs.part_borders:Carried": SLOW,
    "properties.logs.replayed_part": SLOW,
    "properties.logs.critical_path:one_after_the_other": SLOW,
    "properties.logs.log_lint:LogLint._check_half": WORDING,
    "properties.logs.table_census:_show_key": WORDING,
    "properties.logs.scheduling_models:PartitionModel.place": MEMORY,
    "properties.logs.conflict_index:AccessTable._forget_oldest": MEMORY,
    "properties.logs.compiled.named_tables:NamedTables._make_lanes:`self._used`": "equivalent: "
    "both arrays have one shape",
    "properties.logs.compiled.named_tables:NamedTables._make_lanes:`0`": ROOM,
    "properties.logs.compiled.replay_state:with_room": ROOM,
    "properties.logs.compiled.left_replay:LeftState.__init__:`0`": "equivalent: each batch sets it",
    "properties.logs.compiled.rule_kernel:place_by_group:`1`": "equivalent: not 0",
    "properties.logs.compiled.left_replay:_digest_of": "equivalent but for one digest in 2^64",
    "properties.logs.compiled.state:power_for:`1`": ROOM,
    "properties.logs.compiled.state:grown:`3`": ROOM,
    "properties.logs.compiled.judge_kernel:judge:`3` → `4`#2": "equivalent: times 0",
    "properties.logs.compiled.replay_borders:CompactRows.take_doubts": EFFORT,
    "properties.logs.compiled.touch_kernel:read_ahead": "equivalent: it only fetches memory",
    "conforming.self_test:_failed": EFFORT,
    "conforming.self_test:run_self_test": EFFORT,
    "conforming.self_test:self_tests": EFFORT,
    "conforming.self_test:_forked_self_test": "runs in other processes only, where calls are not "
    "recorded; a test fails with it",
    "conforming.child_systems:ChildSystem.as_json:`''`": "equivalent: the field is for other kinds",
    "conforming.shrinking:Failure": "equivalent: the body of a protocol's method",
    "properties.machines": "a check of the test machines, which other tests repeat",
}
"""Why a survivor is left, by the start of its name."""
OPEN = {"not compared": "open: neither examined nor compared with unchanged code"}


def blocks() -> dict[str, list[str]]:
    """Return the blocks by name."""
    note, fates = records()
    apart = {package: read_records(path) for package, path in APART.items()}
    every = [*fates, *(one for _, found in apart.values() for one in found)]
    return {
        "judges": _section(note, fates),
        "judges-apart": _apart(apart),
        "judges-survivors": _survivors(every),
    }


def records_of(packages: Sequence[str]) -> Path:
    """Return where the sample of packages is published."""
    return APART.get(packages[0], RECORDS) if len(packages) == 1 else RECORDS


def records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the published numbers and fates."""
    return read_records(RECORDS)


def _section(note: Mapping[str, int], fates: Sequence[Mapping[str, Any]]) -> list[str]:
    valid = [one for one in fates if one["fate"] in MEANINGS]
    counts = Counter(one["fate"] for one in valid)
    return [
        f"{len(fates):,} of {note['total']:,} mutants were run, the first of a random order of "
        f"seed {note['seed']}; {len(fates) - len(valid):,} are no valid programs. The score is the "
        f"share of caught and noticed mutants among these and the survivors: **{score(counts)}**. "
        f"Without the {counts['noticed']:,} that only stored answers find it is "
        f"**{caught_alone(counts)}**.",
        "",
        *fate_tables(valid, MEANINGS, alone="by own tests alone"),
    ]


def _apart(
    samples: Mapping[str, tuple[Mapping[str, int], Sequence[Mapping[str, Any]]]],
) -> list[str]:
    rows = []
    for package, (note, fates) in samples.items():
        counts = Counter(one["fate"] for one in fates)
        equal = sum(one["fate"] == "survived" and reason_of(one).startswith(EQUAL) for one in fates)
        counts["survived"] -= equal
        rows.append(
            (
                f"`{package.removeprefix('paraply.')}`",
                f"{note['total']:,}",
                f"{len(fates):,}",
                note["seed"],
                *(counts[fate] for fate in ("caught", "survived")),
                equal,
                score(counts),
            )
        )
    head = (
        "package",
        "mutants",
        "run",
        "seed",
        "caught",
        "survived",
        "equivalent, by hand",
        "score",
    )
    return table(head, rows)


def _survivors(fates: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = sorted(
        (f"`{one['module']}`", f"`{one['place']}`", cell(one["what"]), cell(reason_of(one)))
        for one in fates
        if one["fate"] == "survived"
    )
    return table(("module", "function", "change", "reason"), rows)


def reason_of(one: Mapping[str, Any]) -> str:
    """Return why a survivor is left: by hand, or what the run found."""
    if one["place"].endswith(".__str__"):
        return WORDING
    name = one["name"].removeprefix("paraply.")
    found = str(one["by"])
    by_hand = (text for start, text in REASONS.items() if name.startswith(start))
    return next(by_hand, OPEN.get(found, found))
