"""Kernel that sums the states of both logs and finds each target state among the source's."""

from __future__ import annotations

import numpy as np
from numba import njit

from paraply.properties.two_logs.compiled.columns import Flags, Ints, Words

(POSITION, SKIPPING, SKIP, SKIPPED_TO, END, DRAINED, KEYS, FOLLOWED) = range(8)
"""In ``out``: last prefix, number of skips, target commit and prefix of the first one, whether the
last states are equal, whether the last source commit shows, the number of rows, and the
state-changing source commits that may have shown before the first skip.
"""
HERE_MAX = 4096
"""Prefixes at which a target may be that skipped nothing."""
_FIRST_SLOTS = 1 << 12


@njit(cache=True, nogil=True)
def _slot(keys: Words, low: np.uint64, high: np.uint64) -> int:
    mask = len(keys) - 1
    at = np.int64(low) & mask
    while keys[at, 0] != 0 and (keys[at, 0] != low or keys[at, 1] != high):
        at = (at + 1) & mask
    return int(at)


@njit(cache=True, nogil=True)
def _grown(keys: Words, first: Words, last: Words) -> tuple[Words, Words, Words]:
    slots = 2 * len(keys)
    more_keys = np.zeros((slots, 2), np.uint64)
    more_first = np.empty((slots, 2), np.uint64)
    more_last = np.empty((slots, 2), np.uint64)
    for at in range(len(keys)):
        if keys[at, 0] != 0:
            to = _slot(more_keys, keys[at, 0], keys[at, 1])
            more_keys[to, 0], more_keys[to, 1] = keys[at, 0], keys[at, 1]
            more_first[to, 0], more_first[to, 1] = first[at, 0], first[at, 1]
            more_last[to, 0], more_last[to, 1] = last[at, 0], last[at, 1]
    return more_keys, more_first, more_last


@njit(cache=True, nogil=True)
def _with_copies(
    low: np.uint64, high: np.uint64, keys: Words, copies: np.int64, row: int
) -> tuple[np.uint64, np.uint64]:
    """Return a sum modulo 2^128 with more copies, or fewer, of a row."""
    left = abs(copies)
    add_low, add_high = keys[row, 0], keys[row, 1]
    while left:
        if left & 1:
            if copies > 0:
                more = low + add_low
                high += add_high + np.uint64(more < low)
            else:
                more = low - add_low
                high -= add_high + np.uint64(more > low)
            low = more
        twice = add_low + add_low
        add_high += add_high + np.uint64(twice < add_low)
        add_low = twice
        left >>= 1
    return low, high


@njit(cache=True, nogil=True, inline="always")
def _moved(
    low: np.uint64, high: np.uint64, before: Words, after: Words, row: int
) -> tuple[np.uint64, np.uint64]:
    """Return a sum modulo 2^128 without a row's value before and with its value after."""
    less = low - before[row, 0]
    high -= before[row, 1] + np.uint64(less > low)
    more = less + after[row, 0]
    high += after[row, 1] + np.uint64(more < less)
    return more, high


@njit(cache=True, nogil=True)
def judge(
    source_ends: Ints, source_keys: Words, source_before: Words, source_after: Words,
    source_counts: Flags,
    target_ends: Ints, target_keys: Words, target_before: Words, target_after: Words,
    target_counts: Flags,
    window: int, here_max: int, keys_max: int,
    sums: Words, effective: Ints, positions: Ints, out: Ints,
) -> bool:  # fmt: skip
    """Return whether all target states are rising prefixes and no row changed outside of a log.

    Also False where the last source commit, which the target lacks, counts copies of rows.
    ``sums`` and ``effective`` (state-changing commits so far) have an entry per prefix.
    """
    keys = np.zeros((_FIRST_SLOTS, 2), np.uint64)
    first = np.empty((_FIRST_SLOTS, 2), np.uint64)
    last = np.empty((_FIRST_SLOTS, 2), np.uint64)
    known = 0
    low, high = np.uint64(0), np.uint64(0)
    row = 0
    for commit in range(len(source_ends)):
        while row < source_ends[commit]:
            if source_counts[row]:
                copies = np.int64(source_after[row, 0])
                low, high = _with_copies(low, high, source_keys, copies, row)
                row += 1
                continue
            at = _slot(keys, source_keys[row, 0], source_keys[row, 1])
            if keys[at, 0] == 0:
                keys[at, 0], keys[at, 1] = source_keys[row, 0], source_keys[row, 1]
                first[at, 0], first[at, 1] = source_before[row, 0], source_before[row, 1]
                known += 1
            elif last[at, 0] != source_before[row, 0] or last[at, 1] != source_before[row, 1]:
                return False
            last[at, 0], last[at, 1] = source_after[row, 0], source_after[row, 1]
            low, high = _moved(low, high, source_before, source_after, row)
            row += 1
            if 5 * known > 3 * len(keys):
                if known > keys_max:
                    return False
                keys, first, last = _grown(keys, first, last)
        sums[commit + 1, 0], sums[commit + 1, 1] = low, high
        moves = low != sums[commit, 0] or high != sums[commit, 1]
        effective[commit + 1] = effective[commit] + moves
    last[:] = first
    here, next_here = np.zeros(here_max + 1, np.int64), np.zeros(here_max + 1, np.int64)
    count = 1
    low, high = np.uint64(0), np.uint64(0)
    row = 0
    prefix = 0
    prefixes = len(source_ends)
    for commit in range(len(target_ends)):
        while row < target_ends[commit]:
            if target_counts[row]:
                copies = np.int64(target_after[row, 0])
                low, high = _with_copies(low, high, target_keys, copies, row)
                row += 1
                continue
            at = _slot(keys, target_keys[row, 0], target_keys[row, 1])
            if keys[at, 0] == 0:
                keys[at, 0], keys[at, 1] = target_keys[row, 0], target_keys[row, 1]
                known += 1
            elif last[at, 0] != target_before[row, 0] or last[at, 1] != target_before[row, 1]:
                return False
            last[at, 0], last[at, 1] = target_after[row, 0], target_after[row, 1]
            low, high = _moved(low, high, target_before, target_after, row)
            row += 1
            if 5 * known > 3 * len(keys):
                if known > keys_max:
                    return False
                keys, first, last = _grown(keys, first, last)
        furthest = min(prefixes, prefix + window)
        while prefix <= furthest and (sums[prefix, 0] != low or sums[prefix, 1] != high):
            prefix += 1
        if prefix > furthest:
            return False
        positions[commit] = prefix
        # Where the target may be if it skipped nothing since it last did.
        found, nearest, at = 0, 0, here[0]
        while at <= prefixes:
            if at > here[count - 1] and effective[at] - effective[here[count - 1]] > 1:
                break
            if at - here[0] >= here_max:
                return False
            if sums[at, 0] == low and sums[at, 1] == high:
                while nearest + 1 < count and here[nearest + 1] <= at:
                    nearest += 1
                if effective[at] - effective[here[nearest]] <= 1:
                    next_here[found] = at
                    found += 1
            at += 1
        if not found:
            next_here[0] = prefix
            found = 1
            if not out[SKIPPING]:
                out[SKIP], out[SKIPPED_TO] = commit + 1, prefix
            out[SKIPPING] += 1
        if not out[SKIPPING]:
            out[FOLLOWED] = max(out[FOLLOWED], effective[next_here[found - 1]])
        here, next_here, count = next_here, here, found
    if prefixes - prefix > window:
        return False
    out[POSITION], out[KEYS] = prefix, known
    out[END] = low == sums[prefixes, 0] and high == sums[prefixes, 1]
    out[DRAINED] = 1
    for row in range(source_ends[prefixes - 2] if prefixes > 1 else 0, source_ends[prefixes - 1]):
        if source_counts[row]:
            if not out[END]:
                return False
            continue
        at = _slot(keys, source_keys[row, 0], source_keys[row, 1])
        if last[at, 0] != source_after[row, 0] or last[at, 1] != source_after[row, 1]:
            out[DRAINED] = 0
    return True
