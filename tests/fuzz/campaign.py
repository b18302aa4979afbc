"""A long run over all readers: its tally is stored after each turn, and a later run continues it.

Each reader first gets :data:`EACH_LEAST` inputs, the one with the fewest next. Then the readers of
at least :data:`FAST` inputs per second of processor time have equal shares of that time.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci.bench.measure import cpu_seconds
from tests.fuzz.oracle import limit_memory
from tests.fuzz.readers import Reader

EACH_LEAST = 1_000
FAST = 1_000
TURN_S = 4.0


@dataclass
class Tally:
    """What a reader's inputs were so far."""

    inputs: int = 0
    cpu_seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[int] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Return inputs per second of processor time."""
        return self.inputs / max(self.cpu_seconds, 0.001)


Turn = Callable[[Reader, int, range, float, Path], tuple[Counter[str], list[int]]]
"""See :func:`tests.fuzz.__main__.fuzz`."""


def load(store: Path, seed: int) -> tuple[int, dict[str, Tally]]:
    """Return the seed and the tallies of a store; a new one has the given seed."""
    if not store.exists():
        return seed, {}
    document = json.loads(store.read_text(encoding="utf-8"))
    found = {name: Tally(**one) for name, one in document["readers"].items()}
    for one in found.values():
        one.outcomes = Counter(one.outcomes)
    return document["seed"], found


def save(store: Path, seed: int, tallies: Mapping[str, Tally]) -> None:
    """Replace the store."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    document = {
        "seed": seed,
        "inputs": sum(one.inputs for one in tallies.values()),
        "cpu_seconds": round(sum(one.cpu_seconds for one in tallies.values())),
        "peak_megabytes": peak,
        "readers": {name: vars(one) for name, one in sorted(tallies.items())},
    }
    partial = store.with_name(f"{store.name}.part")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, store)


def next_reader(tallies: Mapping[str, Tally]) -> str:
    """Return whose turn it is."""
    name, fewest = min(tallies.items(), key=lambda one: one[1].inputs)
    fast = {name: one for name, one in tallies.items() if one.rate >= FAST}
    if fewest.inputs < EACH_LEAST or not fast:
        return name
    return min(fast, key=lambda one: fast[one].cpu_seconds)


def run(
    every: Sequence[Reader],
    *,
    store: Path,
    seed: int,
    inputs: int,
    deadline: float,
    turn: Turn,
    artifacts: Path,
) -> bool:
    """Continue until there are so many inputs, or until the deadline; return whether none broke."""
    seed, stored = load(store, seed)
    tallies = {reader.name: stored.get(reader.name, Tally()) for reader in every}
    by_name = {reader.name: reader for reader in every}
    for name, tally in tallies.items():  # Those that broke once, first.
        for number in tuple(tally.broken):
            _, broken = turn(by_name[name], seed, range(number, number + 1), _later(60), artifacts)
            tally.broken = sorted({*tally.broken} - {number} | {*broken})
    gc.collect()
    gc.freeze()
    while sum(one.inputs for one in tallies.values()) < inputs and time.monotonic() < deadline:
        name = next_reader(tallies)
        tally, before = tallies[name], cpu_seconds()
        limit_memory()  # From what earlier readers loaded and compiled.
        outcomes, broken = turn(
            by_name[name], seed, range(tally.inputs, 1 << 62), _later(TURN_S), artifacts
        )
        tally.inputs += outcomes.total() + len(broken)
        tally.cpu_seconds = round(tally.cpu_seconds + cpu_seconds() - before, 2)
        tally.outcomes += outcomes
        tally.broken += broken
        save(store, seed, tallies)
    return not any(one.broken for one in tallies.values())


def _later(seconds: float) -> float:
    return time.monotonic() + seconds
