"""The rows of a compiled replay between two parts of a log: the twin of ``ReplayState``'s part."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import NDArray

from properties.logs.compiled import replay_state as R
from properties.logs.compiled.keyed_rows import CompiledReplayState
from properties.logs.compiled.probing import probed_places
from properties.logs.compiled.replay_kernel import put_rows, rows_in_order
from properties.logs.compiled.replay_state import with_room
from properties.logs.replay_state import Resets

Words = NDArray[np.uint64]
GONE = -1
"""In place of a table that was reset: its rows only take up room."""


@dataclass(slots=True, kw_only=True)
class CompactRows:
    """Rows and graves in the order they were last written, in arrays of just their size."""

    rows_max: int
    keys: Words
    images: Words
    others: Words
    table_of: NDArray[np.int32]
    """Index of the row's table, or GONE."""
    owner_keys: Words
    """Ascending."""
    owner_rows: Words
    names: list[str]
    born: list[bool]

    @classmethod
    def of(cls, state: CompiledReplayState) -> Self:
        """Return what ``state`` holds."""
        arrays = state.arrays
        order = rows_in_order(arrays)
        numbers = np.full(len(arrays.tables), GONE, np.int32)
        current = state.current()
        numbers[list(current.values())] = np.arange(len(current))
        owned = np.flatnonzero(arrays.owner_keys)
        owned = owned[np.argsort(arrays.owner_keys[owned])]
        return cls(
            rows_max=int(arrays.counts[R.N_ROWS_MAX]),
            keys=arrays.keys[order],
            images=arrays.images[order],
            others=arrays.others[order],
            table_of=numbers[arrays.table_of[order]],
            owner_keys=arrays.owner_keys[owned],
            owner_rows=arrays.owner_rows[owned],
            names=list(current),
            born=[bool(arrays.tables[number, R.T_BORN]) for number in current.values()],
        )

    def to_state(self, listed_max: int = 0) -> CompiledReplayState:
        """Return a state that holds this."""
        state = CompiledReplayState(self.rows_max, listed_max)
        self._put_into(state)
        for name, born in zip(self.names, self.born, strict=True):
            state.arrays.tables[state.number_of(name), R.T_BORN] = born
        arrays = state.arrays
        # The owner of a key that two rows hold is not always the one that was written last.
        arrays.owner_keys[:] = 0
        places = probed_places(self.owner_keys, len(arrays.owner_keys))
        arrays.owner_keys[places], arrays.owner_rows[places] = self.owner_keys, self.owner_rows
        arrays.counts[R.N_OWNERS] = len(self.owner_keys)
        return state

    def _put_into(self, state: CompiledReplayState) -> None:
        numbers = np.array([state.number_of(name) for name in self.names] + [state.gone()])
        state.arrays = with_room(state.arrays, len(self.keys), self.others.shape[1])
        tables = numbers[self.table_of]
        put_rows(state.arrays, self.keys, self.images, self.others, tables)

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Become what is left after ``transactions`` that left ``later`` from nothing, at a guess.

        It is right unless two rows held one key, or a row was forgotten and written again.
        """
        state = self.to_state()
        if resets.everything:
            state.reset_all()
        for schema in resets.schemas:
            state.reset_schema(schema)
        for name in resets.tables:
            state.reset(name)
        for name, born in zip(later.names, later.born, strict=True):
            if resets.cover(name.lower()):
                state.arrays.tables[state.number_of(name), R.T_BORN] = born
        later._put_into(state)
        left = CompactRows.of(state)
        for name in self.__slots__:
            setattr(self, name, getattr(left, name))

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Do nothing: logs whose tables have foreign keys go to the readable replay."""

    def describe(self, digest: blake2b) -> None:
        """Feed everything that a replay from here depends on into ``digest``."""
        order = sorted(range(len(self.names)), key=lambda table: self.names[table].lower())
        ranks = np.array([*np.argsort(order), GONE], np.int32)
        for table in order:
            digest.update(repr((self.names[table].lower(), self.born[table])).encode())
        width = int(np.flatnonzero(self.others.any(axis=0))[-1]) + 1 if self.others.any() else 0
        for array in (
            self.keys, self.images, self.others[:, :width], ranks[self.table_of],
            self.owner_keys, self.owner_rows,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).tobytes())
