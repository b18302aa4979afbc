"""Would the proofs notice if a guard, an assumption or an invariant were left out?

``python -m paraply.proof_dropping`` leaves out each thing that a specification says, one at a time,
asks Z3 whether some obligation fails without it (half a minute), and stores what came out in
``proofs/dropping.json``, from which ``proofs/DROPPING.md`` is made.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from models.certificates.__main__ import systems
from models.certificates.store import Store
from models.dropping import Piece, follows, is_idle, users, without
from models.solver import Answer, judge_z3
from models.system import Obligation, System, obligations

RECORD = Path(__file__).resolve().parent.parent / "proofs" / "dropping.json"
STEPS_MAX = 2_000_000
"""Of Z3's own count. What is not proved by then counts as not proved; proofs take far less."""

WORDS = {
    "follows": "it follows from the rest, so nothing changes without it",
    "idle": "a step that it forbids changes nothing",
    "not needed": "the claims hold without it too; it is there to say what servers do",
}


def is_proved(obligation: Obligation) -> bool:
    """Return whether Z3 proves an obligation."""
    return judge_z3(obligation, steps_max=STEPS_MAX).answer is Answer.PROVED


def noticed_by(system: System, piece: Piece, proofs: Iterable[tuple[str, str]]) -> str:
    """Return the first of some proofs that fails without a piece, or nothing."""
    left = {(part.statement, part.step): part for part in obligations(without(system, piece))}
    for name in proofs:
        if name in left and not is_proved(left[name]):
            return "/".join(name)
    return ""


def reason_for(system: System, piece: Piece) -> str:
    """Return why no proof misses a piece: a key of ``WORDS``."""
    if is_proved(follows(system, piece)):
        return "follows"
    if piece.kind == "guard" and is_proved(is_idle(system, piece)):
        return "idle"
    return "not needed"


def measure(system: System) -> list[dict[str, Any]]:
    """Return, for each piece of a system, what notices that it is gone, or why nothing does."""
    rows: list[dict[str, Any]] = []
    for piece, proofs in users(system, Store()).items():
        noticed = noticed_by(system, piece, proofs)
        row = {"kind": piece.kind, "piece": str(piece), "proofs": len(proofs), "noticed": noticed}
        rows.append(row if noticed else row | {"reason": reason_for(system, piece)})
    return rows


def stored() -> dict[str, list[dict[str, Any]]]:
    """Return what was stored last; empty if nothing was."""
    if not RECORD.exists():
        return {}
    record: dict[str, list[dict[str, Any]]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def share_noticed(record: dict[str, list[dict[str, Any]]]) -> tuple[int, int]:
    """Return how many pieces are noticed, of those that a proof uses and that say something.

    What follows from the rest says nothing that is not said elsewhere.
    """
    used = [row for rows in record.values() for row in rows if row["proofs"]]
    telling = [row for row in used if row.get("reason") not in ("follows", "idle")]
    return sum(bool(row["noticed"]) for row in telling), len(telling)


def page() -> str:
    """Return ``proofs/DROPPING.md``."""
    record = stored()
    noticed, telling = share_noticed(record)
    counts = Counter(
        (row["kind"], "noticed" if row["noticed"] else row["reason"])
        for rows in record.values() for row in rows
    )  # fmt: skip
    kinds = ("guard", "assumption", "start", "invariant")
    columns = ("noticed", *WORDS)
    lines = [
        "# What if something were left out?", "",
        "A proof that would go through whatever the specification says shows nothing. So each "
        "condition of a guard, each assumption, each initial condition and each invariant is left "
        "out in turn. Which proofs use it is read from their certificates; Z3 says whether one "
        f"of them fails without it. Of {telling} things that a proof uses and that say something "
        f"of their own, the loss of {noticed} is noticed "
        f"({100 * noticed / max(telling, 1):.1f} %).", "",
        "| left out | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
        *(f"| {kind} | " + " | ".join(str(counts[kind, column]) for column in columns) + " |"
          for kind in kinds),
        "",
        "What is lost without notice, and why:", "",
        *(f"- **{name}**: {words}" for name, words in WORDS.items()), "",
        "That a proof \"uses\" something means that its certificate does; there may be another "
        "proof without it.", "",
    ]  # fmt: skip
    for name, rows in record.items():
        left = [row for row in rows if not row["noticed"]]
        if left:
            lines += [f"## {name}", "", "| lost without notice | used by proofs | because |",
                      "| --- | --- | --- |"]  # fmt: skip
            lines += [f"| `{row['piece']}` | {row['proofs']} | {row['reason']} |" for row in left]
            lines.append("")
    lines += ["## How to re-run", "", "```", "python -m paraply.proof_dropping", "```", ""]
    return "\n".join(lines)


def main() -> int:
    """Measure and store."""
    record = {}
    for system in systems():
        record[system.name] = rows = measure(system)
        print(f"{system.name}: {len(rows)} pieces, {sum(bool(r['noticed']) for r in rows)} noticed",
              flush=True)  # fmt: skip
    blocks = []
    for name, rows in record.items():
        inner = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        blocks.append(f"{json.dumps(name)}: [\n{inner}\n]")
    RECORD.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    noticed, telling = share_noticed(record)
    print(f"{noticed} of {telling} noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
