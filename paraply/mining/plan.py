"""The plan: runs of systems, in computed batches.

Batch ``n`` is round ``n // systems`` of system ``n % systems``, so all systems start early.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from paraply.mining.systems import System, system_from_json
from paraply.properties.search import SEED_STRIDE
from paraply.vocabulary.shapes import require_range, require_shape

PLAN_FILE = "campaign.json"
"""Marks campaign folders."""
PLAN_FORMAT = 3
"""Folder version; readers refuse others."""
HISTORIES_MAX = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """``count`` runs of a system, from ``first`` (0-based)."""

    number: int
    round: int
    system: int
    first: int
    count: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan; equal plans give equal tables.

    Attributes:
        histories: maximum per system.
        seed: run n has ``seed * SEED_STRIDE + n``.
        batch_histories: loss when a worker dies.
        is_guided: vary programs with new features.
        is_fast: use kernels; keep only findings.
        source: source digest; versions never mix.
    """

    systems: tuple[System, ...]
    histories: int
    seed: int
    batch_histories: int
    is_guided: bool = False
    is_fast: bool = False
    source: str = ""

    @property
    def rounds(self) -> int:
        """Return batches per system."""
        return -(-self.histories // self.batch_histories)

    @property
    def batches(self) -> int:
        """Return the number of batches."""
        return self.rounds * len(self.systems)

    def batch(self, number: int) -> Batch:
        """Return a batch; numbers start at 0."""
        turn, system = divmod(number, len(self.systems))
        first = turn * self.batch_histories
        return Batch(
            number=number,
            round=turn,
            system=system,
            first=first,
            count=max(0, min(self.batch_histories, self.histories_of(system) - first)),
        )

    def histories_of(self, system: int) -> int:
        """Return a system's maximum number of histories."""
        most = self.systems[system].histories_max
        return self.histories if most is None else min(self.histories, most)

    def seed_of(self, run: int) -> int:
        """Return a run's seed, as for ``paraply explore --seed``."""
        return self.seed * SEED_STRIDE + run

    def as_json(self) -> dict[str, Any]:
        """Return plain values for :func:`plan_from_json`."""
        return {
            "format": PLAN_FORMAT,
            "source": self.source,
            "seed": self.seed,
            "histories": self.histories,
            "batch_histories": self.batch_histories,
            "is_guided": self.is_guided,
            "is_fast": self.is_fast,
            "systems": [system.as_json() for system in self.systems],
        }

    @cached_property
    def digest(self) -> str:
        """Return a digest of all that determines rows."""
        text = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


_SHAPE = {
    "systems": [dict],
    "histories": int,
    "seed": int,
    "batch_histories": int,
    "is_guided": bool,
    "is_fast": bool,
    "source": str,
}


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """Read :meth:`Plan.as_json`; ``ValueError`` for another shape."""
    require_shape(value, _SHAPE, "the plan")
    for name in ("histories", "batch_histories"):
        require_range(value[name], 1, HISTORIES_MAX, name)
    if not value["systems"]:
        raise ValueError("the plan has no system")
    return Plan(
        systems=tuple(system_from_json(each) for each in value["systems"]),
        histories=value["histories"],
        seed=value["seed"],
        batch_histories=value["batch_histories"],
        is_guided=value["is_guided"],
        is_fast=value["is_fast"],
        source=value["source"],
    )


def differences(before: Plan, plan: Plan) -> list[str]:
    """Return changes, named as options."""
    found = [
        f"{name} was {old} and is {new}"
        for name, old, new in (
            ("the source of paraply", before.source, plan.source),
            ("--seed", before.seed, plan.seed),
            ("--histories", before.histories, plan.histories),
            ("--batch", before.batch_histories, plan.batch_histories),
            ("--guided", before.is_guided, plan.is_guided),
            ("--fast", before.is_fast, plan.is_fast),
        )
        if old != new
    ]
    old_systems = {system.name: system.as_json() for system in before.systems}
    systems = {system.name: system.as_json() for system in plan.systems}
    for what, names in (
        ("not named now", old_systems.keys() - systems.keys()),
        ("not part of it", systems.keys() - old_systems.keys()),
    ):
        if names:
            first, *others = sorted(names)
            found.append(f"{first}{f' and {len(others):,} more' if others else ''}: {what}")
    for name in sorted(old_systems.keys() & systems.keys()):
        if old_systems[name] != systems[name]:
            found.append(f"{name}: {_changes(old_systems[name], systems[name])}")
            break
    return found or ["its systems are in another order"]


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    old, new = ({**value, **value.get("options", {})} for value in (before, after))
    return ", ".join(
        f"{name} was {old.get(name, 'its default')} and is {new.get(name, 'its default')}"
        for name in sorted(old.keys() | new.keys())
        if name != "options" and old.get(name) != new.get(name)
    )


def source_digest() -> str:
    """Return a digest of the simulating and judging code."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    packages = ("adapters/conformance", "mining", "properties", "reference_impl", "vocabulary")
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
