"""Commits as arrays, and the kernel that makes them from row changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.fingerprints import MODULUS

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]
HALF = MODULUS // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitColumns:
    """Net changes of commits; keys and values are pairs of words, low first.

    A row without a key has ``counts``: its key is its image, ``after`` a number of copies in two's
    complement, and ``before`` 0.
    """

    ends: Ints
    """Exclusive end of each commit's changes."""
    keys: Words
    before: Words
    after: Words
    rewritten: Flags
    counts: Flags

    def __len__(self) -> int:
        return len(self.ends)

    def without_first(self, count: int) -> CommitColumns:
        """Return all but the first commits."""
        if not count:
            return self
        start = int(self.ends[count - 1])
        return CommitColumns(
            ends=self.ends[count:] - start,
            keys=self.keys[start:],
            before=self.before[start:],
            after=self.after[start:],
            rewritten=self.rewritten[start:],
            counts=self.counts[start:],
        )

    def changes_of(self, at: int) -> slice:
        """Return where the changes of commit ``at``, from 0, are."""
        return slice(int(self.ends[at - 1]) if at else 0, int(self.ends[at]))

    def commit(self, at: int) -> Commit:
        """Return commit ``at``, from 0."""
        place = self.changes_of(at)
        keys, before, after = (
            [low | high << 64 for low, high in words[place].tolist()]
            for words in (self.keys, self.before, self.after)
        )
        changes, copies, again = {}, {}, []
        kinds = zip(self.rewritten[place].tolist(), self.counts[place].tolist(), strict=True)
        for key, old, new, (is_again, counts) in zip(keys, before, after, kinds, strict=True):
            if counts:
                copies[key] = new if new < HALF else new - MODULUS
                continue
            changes[key] = (old, new)
            if is_again:
                again.append(key)
        return Commit(changes=changes, copies=copies, rewritten=frozenset(again))

    def __iter__(self) -> Iterator[Commit]:
        return map(self.commit, range(len(self)))


@njit(cache=True, nogil=True, inline="always")
def _moves(before: Words, after: Words, change: int) -> bool:
    return bool(after[change, 0] != before[change, 0] or after[change, 1] != before[change, 1])


@njit(cache=True, nogil=True)
def net_changes(
    row_ends: Ints, row_keys: Words, row_images: Words, row_counts: Flags,
    seen_at: Ints, seen: Ints,
    ends: Ints, keys: Words, before: Words, after: Words, rewritten: Flags, counts: Flags,
    row_of: Ints,
) -> int:  # fmt: skip
    """Write each transaction's net changes; return their number.

    ``row_keys`` and ``row_images`` have columns before, after, before high, after high; a low word
    of 0 is no row. ``row_counts`` marks rows of tables without a key. ``seen_at`` (zeros) and
    ``seen`` are a scratch hash table, a power of two larger than twice the changes of a
    transaction. ``row_of`` is the first row of a change.
    """
    mask = len(seen) - 1
    made, row = 0, 0
    for index in range(len(row_ends)):
        first = made
        while row < row_ends[index]:
            of_key = row_images if row_counts[row] else row_keys
            for side in range(2):
                if row_images[row, side] == 0:
                    continue
                low, high = of_key[row, side], of_key[row, 2 + side]
                at = np.int64(low) & mask
                while seen_at[at] == index + 1 and (
                    keys[seen[at], 0] != low or keys[seen[at], 1] != high
                ):
                    at = (at + 1) & mask
                if seen_at[at] != index + 1:
                    seen_at[at], seen[at] = index + 1, made
                    keys[made, 0], keys[made, 1] = low, high
                    before[made] = 0
                    after[made] = 0
                    counts[made] = row_counts[row]
                    rewritten[made] = not row_counts[row]
                    row_of[made] = row
                    if side == 0 and not row_counts[row]:
                        before[made, 0], before[made, 1] = row_images[row, 0], row_images[row, 2]
                    made += 1
                change = seen[at]
                if row_counts[row]:
                    copies = np.int64(after[change, 0]) + 2 * side - 1
                    after[change, 0] = np.uint64(copies)
                    after[change, 1] = np.uint64(-1 if copies < 0 else 0)
                elif side == 0:
                    after[change] = 0
                else:
                    after[change, 0], after[change, 1] = row_images[row, 1], row_images[row, 3]
                    if _moves(before, after, change):
                        rewritten[change] = False
            row += 1
        kept = first
        for change in range(first, made):
            if counts[change] and after[change, 0] == 0:
                continue
            if _moves(before, after, change):
                rewritten[change] = False
            if kept < change:
                for word in range(2):
                    keys[kept, word] = keys[change, word]
                    before[kept, word] = before[change, word]
                    after[kept, word] = after[change, word]
                rewritten[kept], counts[kept] = rewritten[change], counts[change]
                row_of[kept] = row_of[change]
            kept += 1
        ends[index] = made = kept
    return made
