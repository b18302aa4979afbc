"""The steps of each system around its stored runs.

``python -m ci.pages.proofs.surroundings`` stores ``proofs/surroundings.json`` (half a minute). A
model that allows more or less than before, or changes something else, has other numbers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ci.pages.proofs import dropping, witnesses
from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.surroundings import surroundings
from paraply.models.language.system import System

RECORD = Path(__file__).resolve().parents[3] / "proofs" / "surroundings.json"

Seen = dict[str, dict[str, Any]]


def runs(name: str) -> Iterator[dict[str, Any]]:
    """Yield the stored runs of a system."""
    yield from witnesses.stored()[name].values()
    for row in dropping.stored()[name]:
        if row["kind"] == "guard" and "run" in row:
            yield row["run"]


def measure(system: System) -> Seen:
    """Return what is seen of each action. Raises ``ValueError`` if a run is none of ``system``."""
    return surroundings(system, runs(system.name))


def stored() -> dict[str, Seen]:
    """Return the stored numbers."""
    record: dict[str, Seen] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def main(names: Sequence[str] = ()) -> int:
    """Measure and store systems, by default all."""
    blocks = []
    for system in systems():
        is_kept = bool(names) and system.name not in names
        seen = stored()[system.name] if is_kept else measure(system)
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(one)}" for name, one in seen.items())
        blocks.append(f"{json.dumps(system.name)}: {{\n{lines}\n}}")
        print(f"{system.name}: {sum(one['enabled'] for one in seen.values()):,} steps", flush=True)
    RECORD.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
