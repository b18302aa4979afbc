"""Drop each guard, assumption and invariant, and check that a proof fails.

``python -m ci.pages.proofs.dropping [SYSTEM ...]`` uses Z3 (half a minute), or searches a run that
only this piece forbids. It stores ``proofs/dropping.json`` for ``proofs/DROPPING.md``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.certificates.store import Store
from paraply.models.judging.dropping import Piece, follows, forbidden, is_idle, users, without
from paraply.models.judging.proving import reach
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.judging.traces import to_data
from paraply.models.language.concrete import Scope
from paraply.models.language.system import Obligation, System, obligations
from paraply.vocabulary.counting import counted

RECORD = Path(__file__).resolve().parents[3] / "proofs" / "dropping.json"
STEPS_MAX = 2_000_000
"""Z3's own steps, far above every proof."""

REASONS = {
    "run": "no proof needs it, but a stored run ends where only it forbids the next step, so a "
    "replay notices",
    "follows": "it follows from the rest, so nothing changes without it",
    "idle": "a step that only it forbids changes nothing",
    "none": "no proof needs it, and no short run meets it",
}
"""A replay shows the first, Z3 the others."""

SCOPES = (
    Scope(high=1, size=1),
    Scope(high=2, size=2),
    Scope(high=3, size=2),
    Scope(high=1, size=3),
)
"""Search scopes, smallest first."""

STEPS_SOUGHT_MAX = 5
"""Most runs take two."""


def is_proved(obligation: Obligation) -> bool:
    """Return whether Z3 proves an obligation."""
    return judge_z3(obligation, steps_max=STEPS_MAX).answer is Answer.PROVED


def noticed_by(system: System, piece: Piece, proofs: Iterable[tuple[str, str]]) -> str:
    """Return the first proof that fails."""
    left = {(part.statement, part.step): part for part in obligations(without(system, piece))}
    for name in proofs:
        if name in left and not is_proved(left[name]):
            return "/".join(name)
    return ""


def reason_for(system: System, piece: Piece) -> dict[str, Any]:
    """Return the reason, with its run if any."""
    if is_proved(follows(system, piece)):
        return {"reason": "follows"}
    if piece.kind == "invariant":
        return {"reason": "none"}
    if piece.kind == "guard" and is_proved(is_idle(system, piece)):
        return {"reason": "idle"}
    where, situation = forbidden(system, piece)
    for scope in SCOPES:
        run = reach(where, situation, scope, STEPS_SOUGHT_MAX if where is system else 0)
        if run is not None:
            return {"reason": "run", "run": to_data(run)}
    return {"reason": "none"}


def measure(system: System) -> list[dict[str, Any]]:
    """Return the failing proof or reason per piece."""
    rows: list[dict[str, Any]] = []
    for piece, proofs in users(system, Store()).items():
        noticed = noticed_by(system, piece, proofs)
        row = {"kind": piece.kind, "piece": str(piece), "proofs": len(proofs), "noticed": noticed}
        rows.append(row if noticed else row | reason_for(system, piece))
    return rows


def stored() -> dict[str, list[dict[str, Any]]]:
    """Return the stored results."""
    if not RECORD.exists():
        return {}
    record: dict[str, list[dict[str, Any]]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def share_noticed(rows: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Return numbers of detected and independent pieces.

    Dependent pieces follow from the rest or forbid no change.
    """
    telling = [row for row in rows if row.get("reason") not in ("follows", "idle")]
    return sum(bool(row["noticed"]) or "run" in row for row in telling), len(telling)


def page() -> str:
    """Return ``proofs/DROPPING.md``."""
    record = stored()
    everything = [row for rows in record.values() for row in rows]
    used = share_noticed(row for row in everything if row["proofs"])
    behaviour = share_noticed(row for row in everything if row["kind"] != "invariant")
    counts = Counter(
        (row["kind"], "a proof" if row["noticed"] else row["reason"]) for row in everything
    )
    kinds = ("guard", "assumption", "start", "invariant")
    columns = ("a proof", *REASONS)
    lines = [
        "# What if something were left out?", "",
        "A proof that holds for every specification is worthless. Therefore each condition of a "
        "guard, each assumption, each initial condition and each invariant is dropped in turn. The "
        "certificates show which proofs use it. Z3 checks whether one of them fails without it. "
        "If none does, a run is searched that only this piece forbids.", "",
        f"Proofs use {used[1]} independent pieces. The loss of {used[0]} of them is detected "
        f"({_percent(*used)}). {behaviour[1]} conditions, assumptions and initial conditions, used "
        f"or not, change the behaviour. The loss of {behaviour[0]} of them is detected "
        f"({_percent(*behaviour)}).", "",
        "| left out | noticed by a proof | by a run | follows | idle | none |",
        "| --- |" + " --- |" * len(columns),
        *(f"| {kind} | " + " | ".join(str(counts[kind, column]) for column in columns) + " |"
          for kind in kinds),
        "",
        *(f"- **{name}**: {words}." for name, words in REASONS.items()), "",
        "That a proof \"uses\" something means that its certificate does; there may be another "
        "proof without it. An invariant counts as used where it helps another statement.", "",
    ]  # fmt: skip
    for name, rows in record.items():
        left = [row for row in rows if not row["noticed"]]
        if left:
            lines += [f"## {name}", "", "| no proof notices the loss of | used by | because |",
                      "| --- | --- | --- |"]  # fmt: skip
            lines += [f"| `{row['piece']}` | {row['proofs']} | {_because(row)} |" for row in left]
            lines.append("")
    lines += ["## How to re-run", "", "```", "python -m ci.pages.proofs.dropping", "```", ""]
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def _because(row: dict[str, Any]) -> str:
    if "run" not in row:
        return str(row["reason"])
    return f"run, {counted(len(row['run']['steps']), 'step')}"


def main(names: Sequence[str] = ()) -> int:
    """Measure and store systems, by default all."""
    record = {}
    for system in systems():
        if names and system.name not in names:
            record[system.name] = stored()[system.name]
            continue
        record[system.name] = rows = measure(system)
        noticed = sum(bool(row["noticed"]) for row in rows)
        print(f"{system.name}: {noticed} of {len(rows)} noticed by a proof", flush=True)
    blocks = []
    for name, rows in record.items():
        inner = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        blocks.append(f"{json.dumps(name)}: [\n{inner}\n]")
    RECORD.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    seen, telling = share_noticed(row for rows in record.values() for row in rows)
    print(f"{seen} of {telling} noticed by a proof or a run")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
