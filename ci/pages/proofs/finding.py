"""Find invariants automatically.

``python -m ci.pages.proofs.finding`` searches them (a minute or two) and repeats each proof with
them. It stores ``proofs/finding.json`` for ``proofs/FOUND.md``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.finding import find_invariants, with_invariants
from paraply.models.judging.lifting import NotLiftableError
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.smtlib import text
from paraply.models.language.system import Statement, System, obligations
from paraply.models.systems.variants import variant_of_applier
from paraply.vocabulary.counting import counted

RECORD = Path(__file__).resolve().parents[3] / "proofs" / "finding.json"
TIMEOUT_S = 12.0
"""Per statement; most take less than a second."""

CORE = ("certify", "collect_garbage", "start", "finish")
"""Without view changes and local transactions."""


def core_of_the_applier() -> System:
    """Return LC/SN assignment, garbage collection and scheduling."""
    whole = variant_of_applier(name="wl8440")()
    actions = [action for action in whole.actions if action.name in CORE]
    return replace(whole, name=f"{whole.name}, core", actions=actions)


def subjects() -> Iterator[tuple[System, Statement]]:
    """Yield every safety statement with its system."""
    core = core_of_the_applier()
    for statement in core.safety:
        if statement.name in ("conflicting_rows_are_ordered", "without_write_set_is_alone"):
            yield core, statement
    for system in systems():
        for statement in system.safety:
            yield system, statement


def measure(system: System, statement: Statement) -> dict[str, Any]:
    """Return one statement's result as JSON-ready data."""
    started = time.monotonic()
    row: dict[str, Any] = {"system": system.name, "statement": statement.name, "found": []}
    try:
        found = find_invariants(system, statement, timeout_s=TIMEOUT_S)
    except NotLiftableError as refusal:
        return row | {"reason": str(refusal)}
    row["seconds"] = round(time.monotonic() - started, 1)
    if found is None:
        return row | {"reason": "none found"}
    parts = obligations(with_invariants(system, found, statement))
    unproved = [p for p in parts if judge_z3(p).answer is not Answer.PROVED]
    if unproved:
        return row | {"reason": f"{counted(len(unproved), 'obligation')} unproved"}
    return row | {"found": [text(s.body) for s in found], "obligations": len(parts)}


def stored() -> list[dict[str, Any]]:
    """Return the stored results."""
    if not RECORD.exists():
        return []
    record: list[dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def page() -> str:
    """Return ``proofs/FOUND.md``."""
    record = stored()
    proved = [row for row in record if row["found"]]
    lines = [
        "# Invariants found by machine", "",
        "The invariants of the theorems are written by hand. This page shows how many can be "
        "found automatically. A system is projected onto the elements that a statement names "
        "(`paraply/models/judging/projection.py`). Z3's Spacer finds an invariant of the "
        "projection, which is lifted to all elements (`paraply/models/judging/lifting.py`). Every "
        "obligation is then proved again with it instead of the hand-written ones, so the search "
        "need not be trusted.", "",
        f"Found for {len(proved)} of {len(record)} statements.", "",
        "| system | statement | invariants | obligations | seconds to find |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for row in record:
        result = (
            f"{len(row['found'])} | {row['obligations']} | {row['seconds']}"
            if row["found"]
            else f"{row.get('reason', 'none is needed')} | – | –"
        )
        lines.append(f"| {row['system']} | `{row['statement']}` | {result} |")
    lines += [
        "", "If none is found, the search ran out of time, or the statement depends on an element "
        "that it does not name, for example the row from which LC was derived, or a third "
        "transaction.", "", "## Invariants", "", "<!-- generated: invariants -->", "",
    ]  # fmt: skip
    for row in proved:
        lines += [f"### {row['system']}: `{row['statement']}`", "", "```"]
        lines += [*row["found"], "```", ""]
    lines += ["<!-- end -->", "", "## How to re-run", ""]
    lines += ["```", "python -m ci.pages.proofs.finding", "```", ""]
    return "\n".join(lines)


def main(names: Sequence[str] = ()) -> int:
    """Search and store for systems, by default all."""
    rows = []
    kept = {(row["system"], row["statement"]): row for row in stored()} if names else {}
    for system, statement in subjects():
        known = kept.get((system.name, statement.name)) if system.name not in names else None
        rows.append(row := known or measure(system, statement))
        print(f"{row['system']}, {row['statement']}: "
              f"{counted(len(row['found']), 'invariant')} {row.get('reason', '')}",
              flush=True)  # fmt: skip
    lines = ",\n".join(json.dumps(row) for row in rows)
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
