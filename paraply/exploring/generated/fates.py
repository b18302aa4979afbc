"""Outcomes of generated mutants, and a file of them that a later run continues."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

from paraply.mutating.operators import Mutation, Swaps, mutations
from paraply.vocabulary.whole_files import appearing


class Fate(Enum):
    """The outcome of a mutant."""

    CAUGHT = "caught"
    NOTICED = "noticed"
    """Nothing is broken, but a common situation never occurs: the verdict is unknown."""
    SURVIVED = "survived"
    """Something differs, and nothing objects."""
    LEGAL = "legal"
    """The histories that differ are also those of unchanged code, on other schedules."""
    SAME = "same"
    """Nothing differs."""
    CRASHED = "crashed"
    """Runs raise an exception or do not end, and no other run shows anything."""
    INVALID = "invalid"
    """Python rejects it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutation of a module; ``name`` is unique and independent of line numbers."""

    module: types.ModuleType
    mutation: Mutation
    name: str

    @property
    def room(self) -> str:
        """Return the module without the package's name."""
        return self.module.__name__.removeprefix("paraply.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A mutant's fate.

    Attributes:
        by: the property or test that caught it, the exception, or why it survives.
        where: the subject and dialect whose run caught it.
        runs: histories or tests until then.
    """

    name: str
    module: str
    place: str
    line: int
    what: str
    fate: Fate
    by: str = ""
    where: str = ""
    runs: int = 0


def judged(mutant: Mutant, fate: Fate, by: str = "", runs: int = 0, *, where: str = "") -> Judged:
    """Return a fate of a mutant."""
    return Judged(
        name=mutant.name,
        module=mutant.room,
        place=mutant.mutation.place,
        line=mutant.mutation.line,
        what=mutant.mutation.what,
        fate=fate,
        by=by,
        where=where,
        runs=runs,
    )


def as_record(one: Judged) -> dict[str, Any]:
    """Return a fate for JSON."""
    return asdict(one) | {"fate": one.fate.value}


def mutants_of(modules: Iterable[str], swaps: Swaps) -> Iterator[Mutant]:
    """Yield every mutant of some modules."""
    for name in modules:
        module = importlib.import_module(name)
        seen: Counter[str] = Counter()
        for mutation in mutations(inspect.getsource(module), swaps=swaps):
            text = f"{name}:{mutation.place}:{mutation.what}"
            seen[text] += 1
            yield Mutant(module, mutation, f"{text}#{seen[text]}")


def shuffled(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    """Return a random order whose prefixes are samples."""
    return Random(seed).sample(list(mutants), len(mutants))


class Store:
    """Fates in JSON lines, appended one by one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Judged]:
        """Return the fates by mutant; a half-written last line is left out."""
        found = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                one = Judged(**{**record, "fate": Fate(record["fate"])})
                found[one.name] = one
        return found

    def add(self, one: Judged) -> None:
        """Append a fate."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(as_record(one), ensure_ascii=False) + "\n"
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # A killed process left half a line.
                    line = "\n" + line
            file.write(line.encode())

    def note(self, **numbers: int) -> None:
        """Write beside the fates what was drawn."""
        with appearing(self._notes) as part:
            part.write_text(json.dumps(numbers) + "\n", encoding="utf-8")

    def noted(self) -> dict[str, int]:
        """Return what was drawn."""
        found: dict[str, int] = json.loads(self._notes.read_text(encoding="utf-8"))
        return found

    @property
    def _notes(self) -> Path:
        return self.path.with_suffix(".json")
