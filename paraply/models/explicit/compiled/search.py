"""The breadth-first search of a state space, on arrays: the fast twin of ``StateSpace.search``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraply.models.explicit.compiled.kernels import (
    COUNT,
    GENERATED,
    NEXT,
    REFUSED,
    Ints,
    Words,
    fill,
    visit,
)
from paraply.models.explicit.compiled.program import ALL, Program
from paraply.models.explicit.layout import WORD
from paraply.models.explicit.search import Found, StateSpace
from paraply.models.explicit.symmetry import Move

_STATES_FIRST = 10_000
"""Room for states at first; it at least doubles."""


class CompiledSearch:
    """All states found so far, nearest first, with the state before each."""

    def __init__(self, space: StateSpace, moves: Sequence[Move]) -> None:
        self.space = space
        self.program = Program(space)
        self._rows = _words(self.program.rows).view(np.int64)
        self._kept, self._added = (
            _words(one).reshape(-1, self.program.words)
            for one in (self.program.kept, self.program.added)
        )
        self._moves = _parts(moves, self.program.words)
        self._bits = np.zeros(2 * self.program.words + self.program.others, np.uint64)
        self._room = np.zeros(2 * self.program.words, np.uint64)
        self._progress = np.array([0, 1, 1, -1], np.int64)
        self._orbit = len(moves) + 1

    def search(self, start: int, states_max: int) -> Found:
        """Visit every state up to a breach or ``states_max``."""
        self._states = _words([self.program.in_words(start)])
        self._parents = np.zeros(1, np.int32)
        self._grow()
        begin, end, depth = 0, 1, 0
        broken, last = self._first_broken(begin, end)
        while begin < end and not broken and end < states_max:
            if (outside := self._visit(0, begin, end)) >= 0:
                self.space.successors(self._packed(outside), lambda _: None)
                raise AssertionError  # The readable successors have raised ScopeExceededError.
            begin, end = end, int(self._progress[COUNT])
            depth += 1
            broken, last = self._first_broken(begin, end)
        return Found(
            distinct=end,
            generated=int(self._progress[GENERATED]),
            depth=depth - (begin == end),
            broken=broken,
            trace=self._trace(last) if broken else (),
            is_complete=begin == end and not broken,
            orbit=self._orbit,
        )

    def _visit(self, first: int, begin: int, end: int) -> int:
        """Run rows for some states; return the state that they refuse, or -1."""
        self._progress[NEXT] = begin
        while self._progress[NEXT] < end and self._progress[REFUSED] < 0:
            visit(
                self._rows, first, self._kept, self._added, self._moves, self._bits, self._room,
                self._states, self._parents, self._slots, self._progress, end,
            )  # fmt: skip
            if self._progress[COUNT] > len(self._states) - len(self._kept):
                self._grow()
        return int(self._progress[REFUSED])

    def _grow(self) -> None:
        count = self._progress[COUNT]
        room = 1 << (2 * int(count) + len(self._kept) + _STATES_FIRST).bit_length()
        states, parents = self._states[:count], self._parents[:count]
        self._states = np.empty((room, self.program.words), np.uint64)
        self._parents = np.empty(room, np.int32)
        self._states[: len(states)], self._parents[: len(parents)] = states, parents
        self._slots = np.zeros(2 * room, np.int32)
        fill(self._states, count, self._slots)

    def _first_broken(self, begin: int, end: int) -> tuple[str, int]:
        for name, first in self.program.statements.items():
            if (last := self._visit(first, begin, end)) >= 0:
                assert dict(self.space.broken)[name](self._packed(last))
                return name, last
        return "", -1

    def _packed(self, at: int) -> int:
        return sum(int(word) << WORD * place for place, word in enumerate(self._states[at]))

    def _trace(self, at: int) -> tuple[int, ...]:
        trace = [self._packed(at)]
        while at:
            at = int(self._parents[at])
            trace.append(self._packed(at))
        return tuple(reversed(trace))


def _words(rows: Sequence[Sequence[int]]) -> Words:
    return np.array([[number & ALL for number in row] for row in rows], np.uint64)


def _parts(moves: Sequence[Move], words: int) -> Ints:
    """Return word, mask, new word and left shift of each part, and whether its move ends."""
    rows: list[list[int]] = []
    for move in moves:
        for mask, left, right in move:
            for word in range(words):
                for new in range(words):
                    far = left - right + WORD * (word - new)
                    bits = mask >> WORD * word & ALL
                    bits &= ALL >> far if far >= 0 else ALL << -far
                    if bits and abs(far) < WORD:
                        rows.append([word, bits, new, far, 0])
        rows[-1][-1] = 1
    return _words(rows).view(np.int64).reshape(-1, 5)
