"""The table of work: which runs of which system belong to which batch.

It is arithmetic, not a list: the batches of 10^13 histories take no more memory than those of ten.
Batch ``n`` is round ``n // systems`` of system ``n % systems``, so that every system is looked at
early.
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

PLAN_FILE = "campaign.json"
"""What a campaign writes first: a folder with it is one."""
PLAN_FORMAT = 3
"""Version of the campaign's folder; a reader refuses another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A range of runs of one system: ``count`` of them, from run ``first`` (from 0) on."""

    number: int
    round: int
    system: int
    first: int
    count: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A campaign before it is run; equal plans give equal tables.

    Attributes:
        systems: what is run.
        histories: how many histories of each system, at most.
        seed: of all random choices; run n has seed ``seed * SEED_STRIDE + n``.
        batch_histories: histories per batch: what is lost at most when a worker dies.
        is_guided: later rounds vary the programs that reached something new.
        is_fast: systems that the kernels know run there, and only what they find is kept.
        source: digest of the source that ran it, so that two versions are never mixed.
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
        """Return how many batches each system has."""
        return -(-self.histories // self.batch_histories)

    @property
    def batches(self) -> int:
        """Return how many batches there are."""
        return self.rounds * len(self.systems)

    def batch(self, number: int) -> Batch:
        """Return one batch, by its number from 0."""
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
        """Return how many histories there are of one system, by its number, at most."""
        most = self.systems[system].histories_max
        return self.histories if most is None else min(self.histories, most)

    def seed_of(self, run: int) -> int:
        """Return the random seed of a run; ``paraply explore --seed`` has the same ones."""
        return self.seed * SEED_STRIDE + run

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, from which :func:`plan_from_json` makes it again."""
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
        """Return a digest of everything that decides what the table holds."""
        text = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """Return the plan that :meth:`Plan.as_json` described."""
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
    """Return what another plan has otherwise, option by option, as a command line names them."""
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
    """Return which sizes and options of one system differ."""
    old, new = ({**value, **value.get("options", {})} for value in (before, after))
    return ", ".join(
        f"{name} was {old.get(name, 'its default')} and is {new.get(name, 'its default')}"
        for name in sorted(old.keys() | new.keys())
        if name != "options" and old.get(name) != new.get(name)
    )


def source_digest() -> str:
    """Return a digest of the code that decides what a run does and how it is judged."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    packages = ("adapters/conformance", "mining", "properties", "reference_impl", "vocabulary")
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
