"""Runs that reach every step and situation of the theorems' systems.

``python -m ci.pages.proofs.witnesses`` stores shortest runs in ``proofs/witnesses.json`` (a minute
or two). A proof is vacuous for an unreachable step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.proving import capacity_of, reach
from paraply.models.judging.solver import may_happen
from paraply.models.judging.traces import to_data
from paraply.models.language.concrete import Scope
from paraply.models.language.system import Statement, System

RECORD = Path(__file__).resolve().parents[3] / "proofs" / "witnesses.json"
STEPS_MAX = 12
SCOPES = (
    Scope(low=-1, high=1, size=1),
    Scope(low=-1, high=0, size=2),
    Scope(low=0, high=1, size=2),
    Scope(low=-1, high=3, size=1),
    Scope(low=-1, high=2, size=2),
)
"""Search scopes, smallest first."""


def wanted(system: System) -> Iterator[Statement]:
    """Yield a system's situations and enabled actions."""
    yield from system.covers
    for action in system.actions:
        yield Statement(f"{action.name} is possible", action.parameters, action.guard)


def measure(system: System) -> dict[str, Any]:
    """Return a run per situation. Raises ``SystemExit``."""
    found: dict[str, Any] = {}
    for situation in wanted(system):
        capacity = capacity_of(system)
        scopes = (s for s in SCOPES if may_happen(system, situation, s, capacity=capacity))
        runs = (reach(system, situation, scope, STEPS_MAX) for scope in scopes)
        run = next((run for run in runs if run is not None), None)
        if run is None:
            raise SystemExit(f"{system.name} never reaches {situation.name}")
        found[situation.name] = to_data(run)
    return found


def stored() -> dict[str, dict[str, Any]]:
    """Return the stored runs."""
    if not RECORD.exists():
        return {}
    record: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def main(names: Sequence[str] = ()) -> int:
    """Search and store the runs of systems, by default all."""
    lines = []
    for system in systems():
        is_kept = bool(names) and system.name not in names
        runs = stored()[system.name] if is_kept else measure(system)
        longest = max(len(data["steps"]) for data in runs.values())
        print(f"{system.name}: {len(runs)} runs, the longest of {longest} steps", flush=True)
        told = ",\n".join(f" {json.dumps(name)}: {json.dumps(data)}" for name, data in runs.items())
        lines.append(f"{json.dumps(system.name)}: {{\n{told}\n}}")
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
