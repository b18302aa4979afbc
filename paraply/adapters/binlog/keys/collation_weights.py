"""The servers' measured collation weights, loaded on demand.

``collation_data/README.md`` documents them.
"""

from __future__ import annotations

import json
import lzma
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DATA = files("paraply.adapters.binlog") / "collation_data"
"""A resource, readable from zip archives."""

Weight = tuple[bytes, ...]


class UnmeasuredCharacter(KeyError):  # noqa: N818 - it is an answer, not a fault
    """A character without a measured weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollationEntry:
    """One collation; ``table`` is None without measured weights."""

    name: str
    charset: str
    pads: bool
    table: str | None


@cache
def collation_entries() -> dict[str, CollationEntry]:
    """Return every collation by name.

    Names with different weights (Croatian) have no table.
    """
    entries: dict[str, CollationEntry] = {}
    for server in _catalogue()["servers"].values():
        for name, facts in server["collations"].items():
            entry = CollationEntry(
                name=name,
                charset=facts["charset"],
                pads=facts["pad"] == "PAD SPACE",
                table=facts["weights"],
            )
            known = entries.setdefault(name, entry)
            if known != entry:
                entries[name] = CollationEntry(
                    name=name, charset=entry.charset, pads=True, table=None
                )
    return entries


@cache
def _catalogue() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "collations.json").read_text(encoding="utf-8"))
    return document


@cache
def byte_characters(charset: str) -> tuple[str, ...] | None:
    """Return an 8-bit character set's characters by byte.

    Bytes on which servers differ are empty.
    """
    sets = json.loads((DATA / "charsets.json").read_text(encoding="utf-8"))
    if charset not in sets:
        return None
    other = sets.get(f"{charset}@mysql", sets[charset])
    return tuple(
        chr(point) if point == twin and point >= 0 else ""
        for point, twin in zip(sets[charset], other, strict=True)
    )


class WeightTable(dict[str, Weight]):
    """Weights by character, loaded on demand.

    ``contractions`` have joint weights of character pairs.
    """

    def __init__(
        self, runs: list[list[Any]], contractions: dict[str, str], base: WeightTable | None
    ) -> None:
        super().__init__()
        self._starts = [run[0] for run in runs]
        self._runs = runs
        self._base = base
        self.contractions: dict[str, Weight] = dict(base.contractions) if base else {}
        self.contractions |= {pair: _weight(text) for pair, text in contractions.items()}
        self.contraction_starts = frozenset(pair[0] for pair in self.contractions)

    def __missing__(self, character: str) -> Weight:
        weight = self._find(ord(character))
        if weight is None:
            if self._base is None:
                raise UnmeasuredCharacter(character)
            weight = self._base[character]
        self[character] = weight
        return weight

    def _find(self, code: int) -> Weight | None:
        index = bisect_right(self._starts, code) - 1
        if index < 0:
            return None
        run = self._runs[index]
        if len(run) == 2:
            return _weight(run[1]) if run[0] == code else None
        first, last, text, step = run
        if code > last:
            return None
        weight = _weight(text)
        if not step:
            return weight
        number = int.from_bytes(weight[0], "big") + (code - first)
        return (number.to_bytes(len(weight[0]), "big"), *weight[1:])


@cache
def _weight(text: str) -> Weight:
    return tuple(bytes.fromhex(level) for level in text.split("."))


@cache
def weight_table(name: str) -> WeightTable:
    """Return a weight table of ``collations.json``."""
    document = _family(_catalogue()["tables"][name])[name]
    base = weight_table(document["base"]) if document["base"] else None
    return WeightTable(document["runs"], document["contractions"], base)


def _family(file: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress((DATA / f"{file}.json.xz").read_bytes()))
    return document
