"""Compiled replay rows between parts: the twin of ``ReplayState``'s."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.keyed_rows import CompiledReplayState
from paraply.properties.logs.compiled.left_replay import LeftState
from paraply.properties.logs.compiled.probing import probed_places
from paraply.properties.logs.compiled.replay_kernel import put_rows, rows_in_order
from paraply.properties.logs.compiled.replay_state import with_room
from paraply.properties.logs.replay_state import Resets

Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Ints = NDArray[np.int64]
_DOUBTS = [R.T_DOUBTED, R.T_MOVED]
GONE = -1
"""The number of a reset table."""


@dataclass(slots=True, kw_only=True)
class CompactRows:
    """Rows and graves in write order."""

    rows_max: int
    keys: Words
    images: Words
    others: Words
    table_of: Numbers
    """Each row's table, or GONE."""
    owner_keys: Words
    """In ascending order."""
    owner_rows: Words
    names: list[str]
    born: list[bool]
    followed: list[bool]
    """Whether another replay judges a table's rows."""
    written: Numbers
    doubted: Ints
    """(T_DOUBTED, T_MOVED) of each table."""

    @classmethod
    def of(cls, state: CompiledReplayState) -> Self:
        """Return the rows of ``state``."""
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
            followed=[
                bool(arrays.tables[number, R.T_KEYS] == R.FOLLOWED) for number in current.values()
            ],
            written=arrays.written[order],
            doubted=arrays.tables[[*current.values()]][:, _DOUBTS],
        )

    def move(self, by: int) -> None:
        """Add ``by`` to the ordinals."""
        self.written = (self.written + by).astype(np.int32)
        self.doubted = np.where(self.doubted == R.UNDOUBTED, R.UNDOUBTED, self.doubted + by)

    def to_state(self, listed_max: int = 0) -> CompiledReplayState:
        """Return a state with these rows."""
        state = CompiledReplayState(self.rows_max, listed_max)
        known = [
            state.number_of(name, R.FOLLOWED if is_followed else 1)
            for name, is_followed in zip(self.names, self.followed, strict=True)
        ]
        numbers = np.array([*known, state.gone()])
        state.arrays = with_room(state.arrays, len(self.keys), self.others.shape[1])
        put_rows(
            state.arrays, self.keys, self.images, self.others, numbers[self.table_of], self.written
        )
        state.arrays.tables[known, R.T_BORN] = self.born
        state.arrays.tables[np.ix_(known, _DOUBTS)] = self.doubted
        state.arrays.tables[known, R.T_TOUCHED] = 1
        arrays = state.arrays
        # The owner of a shared key need not be the last-written row.
        arrays.owner_keys[:] = 0
        places = probed_places(self.owner_keys, len(arrays.owner_keys))
        arrays.owner_keys[places], arrays.owner_rows[places] = self.owner_keys, self.owner_rows
        arrays.counts[R.N_OWNERS] = len(self.owner_keys)
        return state

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Estimate the state after a part that left ``later`` from nothing.

        Wrong if two rows shared a key, or a forgotten row was rewritten.
        """
        self.move(-transactions)
        numbers, later_numbers = self._merge_tables(later, resets)
        written = np.sort(later.keys)
        stays = ~_are_in(self.keys, written) & (not resets.everything)
        owned = ~_are_in(self.owner_rows, written) & ~_are_in(self.owner_keys, later.owner_keys)
        owned &= not resets.everything
        width = max(self.others.shape[1], later.others.shape[1])
        self.table_of = np.append(numbers[self.table_of[stays]], later_numbers[later.table_of])
        self.keys = np.append(self.keys[stays], later.keys)
        self.images = np.append(self.images[stays], later.images)
        self.written = np.append(self.written[stays], later.written)
        self.others = np.vstack(
            [_widened(self.others[stays], width), _widened(later.others, width)]
        )
        self.owner_keys = np.append(self.owner_keys[owned], later.owner_keys)
        self.owner_rows = np.append(self.owner_rows[owned], later.owner_rows)
        self._forget(max(0, len(self.keys) - self.rows_max))
        order = np.argsort(self.owner_keys)
        self.owner_keys, self.owner_rows = self.owner_keys[order], self.owner_rows[order]

    def _merge_tables(self, later: Self, resets: Resets) -> tuple[Numbers, Numbers]:
        known: dict[str, int] = {}
        doubts: list[list[int]] = []

        def number(name: str, is_born: bool, is_followed: bool, doubted: list[int]) -> int:
            at = known.setdefault(name.lower(), len(known))
            if at == len(self.names):
                self.names.append(name)
                self.born.append(is_born)
                self.followed.append(is_followed)
                doubts.append(doubted)
            else:
                doubts[at] = [*map(max, doubted, doubts[at])]
            return at

        tables = [*self._tables()]
        self.names, self.born, self.followed = [], [], []
        mine = [GONE if resets.cover(each[0].lower()) else number(*each) for each in tables]
        theirs = [number(*each) for each in later._tables()]
        self.doubted = np.array(doubts, np.int64).reshape(-1, len(_DOUBTS))
        return np.array([*mine, GONE], np.int32), np.array([*theirs, GONE], np.int32)

    def _tables(self) -> Iterator[tuple[str, bool, bool, list[int]]]:
        return zip(self.names, self.born, self.followed, self.doubted.tolist(), strict=True)

    def _forget(self, count: int) -> None:
        if not count:
            return
        for table in np.unique(self.table_of[:count]).tolist():
            if table != GONE:
                self.born[table] = False
        owned = ~_are_in(self.owner_rows, np.sort(self.keys[:count]))
        self.owner_keys, self.owner_rows = self.owner_keys[owned], self.owner_rows[owned]
        for name in ("keys", "images", "others", "table_of", "written"):
            setattr(self, name, getattr(self, name)[count:])

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Add doubts of another start."""
        known = {name.lower(): at for at, name in enumerate(self.names)}
        for name, *_, doubted in followed._tables():
            at = known.get(name.lower())
            if at is not None:
                new = [each if each > -transactions else R.UNDOUBTED for each in doubted]
                self.doubted[at] = np.maximum(new, self.doubted[at])

    def describe(self, digest: blake2b) -> None:
        """Feed all replay-relevant state into ``digest``."""
        tables = [*self._tables()]
        order = sorted(range(len(tables)), key=lambda table: tables[table][0].lower())
        ranks = np.array([*np.argsort(order), GONE], np.int32)
        for table in order:
            name, *what = tables[table]
            digest.update(repr((name.lower(), what)).encode())
        width = int(np.flatnonzero(self.others.any(axis=0))[-1]) + 1 if self.others.any() else 0
        for array in (
            self.keys, self.images, self.others[:, :width], ranks[self.table_of],
            self.owner_keys, self.owner_rows, self.written,
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(array).tobytes())


@dataclass(slots=True)
class RowsOfBoth:
    """The rows of kernels, which have a place for each left row, and the left rows."""

    compact: CompactRows
    left: LeftState

    def go_on(self, later: Self, resets: Resets, transactions: int) -> None:
        """Estimate the state after a part that left ``later`` from nothing."""
        self.compact.go_on(later.compact, resets, transactions)
        self.left.go_on(later.left, resets, transactions)
        self.left.keep(set(self.compact.keys.tolist()))

    def take_doubts(self, followed: Self, transactions: int) -> None:
        """Add doubts of another start."""
        self.compact.take_doubts(followed.compact, transactions)
        self.left.take_doubts(followed.left, transactions)

    def describe(self, digest: blake2b) -> None:
        """Feed all replay-relevant state into ``digest``."""
        self.compact.describe(digest)
        self.left.describe(digest)


def _are_in(values: Words, ascending: Words) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[places] == values)


def _widened(others: Words, width: int) -> Words:
    return np.pad(others, ((0, 0), (0, width - others.shape[1])))
