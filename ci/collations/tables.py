"""Stored weight tables, whole or as changes to a base."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ci.collations.measure import Weight

Run = list[int | str]
"""``[first, weight]`` or ``[first, last, weight, step]``."""

CONTRACTIONS_MAX = 4_000
"""More mean reordering; UCA 9 and 14 have some 900, mostly Thai and Lao vowel signs."""


@dataclass(slots=True, kw_only=True)
class Table:
    """A collation's weights, or changes to ``base``."""

    name: str
    base: str | None = None
    weights: dict[int, Weight] = field(default_factory=dict)
    contractions: dict[str, Weight] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return the stored form."""
        runs = encode_runs(self.weights)
        assert decode_runs(runs) == self.weights, self.name
        return {
            "base": self.base,
            "runs": runs,
            "contractions": {
                text: _hex(weight) for text, weight in sorted(self.contractions.items())
            },
        }


def _hex(weight: Weight) -> str:
    return ".".join(level.hex() for level in weight)


def encode_runs(weights: dict[int, Weight]) -> list[Run]:
    """Join neighbours with level 1 constant or rising by one."""
    runs: list[Run] = []
    open_run: tuple[int, int, Weight, int | None] | None = None
    last: Weight = ()
    for code in sorted(weights):
        weight = weights[code]
        if open_run is not None and code == open_run[1] + 1:
            step = _step(last, weight)
            if step is not None and open_run[3] in (None, step):
                open_run = (open_run[0], code, open_run[2], step)
                last = weight
                continue
        if open_run is not None:
            runs.append(_close(open_run))
        open_run, last = (code, code, weight, None), weight
    if open_run is not None:
        runs.append(_close(open_run))
    return runs


def _step(one: Weight, two: Weight) -> int | None:
    if len(one[0]) != len(two[0]) or one[1:] != two[1:]:
        return None
    step = int.from_bytes(two[0], "big") - int.from_bytes(one[0], "big")
    return step if step in (0, 1) else None


def _close(run: tuple[int, int, Weight, int | None]) -> Run:
    first, last, weight, step = run
    return [first, _hex(weight)] if first == last else [first, last, _hex(weight), step or 0]


def decode_runs(runs: Iterable[Run]) -> dict[int, Weight]:
    """Invert :func:`encode_runs`."""
    weights: dict[int, Weight] = {}
    for run in runs:
        first, last, text, step = run if len(run) == 4 else (run[0], run[0], run[1], 0)
        level1, *others = (bytes.fromhex(level) for level in str(text).split("."))
        start = int.from_bytes(level1, "big")
        for code in range(int(first), int(last) + 1):
            number = start + (code - int(first)) * int(step)
            weights[code] = (number.to_bytes(len(level1), "big"), *others)
    return weights


def write_compressed(path: Path, tables: Iterable[Table]) -> int:
    """Write XZ-compressed JSON; return its bytes."""
    document = {table.name: table.document() for table in tables}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    data = lzma.compress(text, format=lzma.FORMAT_XZ, preset=9 | lzma.PRESET_EXTREME)
    path.write_bytes(data)
    return len(data)
