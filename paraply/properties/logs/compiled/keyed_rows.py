"""Keyed rows in arrays, with the readable replay's resets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.replay_state import new_replay, with_tables
from paraply.properties.logs.replay_state import Resets


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table's final row count."""

    name: str
    rows: int


class CompiledReplayState:
    """The resettable part of ``ReplayState``, over arrays."""

    def __init__(self, rows_max: int, listed_max: int) -> None:
        self.arrays = new_replay(rows_max, listed_max)
        self.resets: Resets | None = None
        self._unknown: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    @property
    def forgotten(self) -> int:
        """Return the number of forgotten rows."""
        return int(self.arrays.counts[R.N_FORGOTTEN])

    def begin(self) -> None:
        """Start noting resets, losses and rows."""
        self.resets = Resets()
        self.arrays.tables[:, R.T_ROWS] = 0
        self.arrays.counts[R.N_FORGOTTEN] = 0

    def current(self) -> dict[str, int]:
        """Return current table numbers by name."""
        return {self._names[number]: number for number in self._numbers.values()}

    def gone(self) -> int:
        """Return the number of a reset table."""
        number = self._new("")
        self.reset("")
        return number

    def number_of(self, name: str, keys: int = 1) -> int:
        """Return a table's current number; a new one has ``keys`` keys."""
        number = self._numbers.get(name.lower())
        if number is None:
            number = self._new(name)
        self.arrays.tables[number, R.T_KEYS] = keys
        return number

    def known_number(self, name: str) -> int:
        """Return a table's current number, -1 if it has none."""
        return self._numbers.get(name.lower(), -1)

    def _new(self, name: str) -> int:
        number = self._numbers[name.lower()] = len(self._names)
        self._names.append(name)
        self.arrays = with_tables(self.arrays, number + 1)
        self.arrays.counts[R.N_TABLES] = number + 1
        table = self.arrays.tables[number]
        table[R.T_NEXT], table[[R.T_DOUBTED, R.T_MOVED]] = R.SETTLED, R.UNDOUBTED
        table[R.T_UNKNOWN] = name.lower() in self._unknown
        return number

    def set_unknown(self, names: set[str]) -> None:
        """Set of which lower-case tables the foreign keys are unknown."""
        self._unknown = names
        for name, number in self._numbers.items():
            self.arrays.tables[number, R.T_UNKNOWN] = name in names

    def names_with(self, column: int, mark: int = 1) -> list[str]:
        """Return the tables, also reset ones, with a mark (``replay_state.T_CASCADED``)."""
        marked = np.flatnonzero(self.arrays.tables[: len(self._names), column] == mark)
        return [self._names[number] for number in marked.tolist()]

    def tables(self) -> list[TableRows]:
        """Return tables in order of first touch."""
        return [
            TableRows(self._names[number], int(self.arrays.tables[number, R.T_ROWS]))
            for number in self._numbers.values()
        ]

    def reset(self, name: str, *, born: bool = False) -> None:
        """Forget a table's rows; ``born`` is empty."""
        if self.resets is not None:
            self.resets.tables.add(name.lower())
        number = self._numbers.pop(name.lower(), None)
        if number is not None:
            self.arrays.tables[number, R.T_STALE] = 1
        if born:
            number = self._new(name)
            self.arrays.tables[number, [R.T_BORN, R.T_TOUCHED]] = 1

    def reset_schema(self, schema: str) -> None:
        """Forget every table of a lower-case schema."""
        if self.resets is not None:
            self.resets.schemas.add(schema)
        for name in [n for n in self._numbers if n.partition(".")[0] == schema]:
            self.reset(name)

    def reset_all(self) -> None:
        """Forget everything except the counts."""
        if self.resets is not None:
            self.resets.everything = True
        counts = self.arrays.counts.copy()
        rows_max, listed_max = int(counts[R.N_ROWS_MAX]), int(counts[R.N_LISTED_MAX])
        self.arrays = new_replay(rows_max, listed_max)
        for kept in range(R.N_FOUND, R.COUNTS):
            self.arrays.counts[kept] = counts[kept]
        self.arrays.counts[R.N_TABLES] = 0
        self._numbers.clear()
        self._names.clear()
