"""Kernel that finds each transaction's distinct keys and tables."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def collect(
    transactions: Ints, count: int, rows: Ints, keys: Words, tables: Ints,
    seen_keys: Words, seen_at: Ints, table_seen: Ints, stamp: int,
    key_ends: Ints, distinct: Words, primary: Flags, table_ends: Ints, numbers: Ints,
    census: Ints,
) -> int:  # fmt: skip
    """List each transaction's distinct keys and tables; return the next stamp.

    ``seen_keys`` and ``seen_at`` form a scratch hash table twice the key count; ``stamp`` separates
    transactions. ``table_seen`` has stamps; ``census`` counts operations per table.
    """
    mask = np.int64(len(seen_keys) - 1)
    row, key_count, table_count = 0, 0, 0
    for index in range(count):
        stamp += 1
        row_end = transactions[index, L.T_ROW_END]
        while row < row_end:
            slot = rows[row, L.R_TABLE]
            number = tables[slot, L.D_NUMBER]
            census[number, rows[row, L.R_OPERATION]] += 1
            if table_seen[number] != stamp:
                table_seen[number] = stamp
                numbers[table_count] = number
                table_count += 1
            start = rows[row, L.R_KEY_START]
            of_table = tables[slot, L.D_KEY_END] - tables[slot, L.D_KEY_START]
            for at_key in range(of_table):
                for side in range(2):
                    key = keys[start + at_key, side]
                    if key == 0:
                        continue
                    at = np.int64(key & np.uint64(mask))
                    while seen_at[at] == stamp and seen_keys[at] != key:
                        at = (at + 1) & mask
                    if seen_at[at] == stamp:
                        continue
                    seen_at[at] = stamp
                    seen_keys[at] = key
                    distinct[key_count] = key
                    primary[key_count] = at_key == 0 and tables[slot, L.D_PRIMARY] != 0
                    key_count += 1
            row += 1
        key_ends[index] = key_count
        table_ends[index] = table_count
    return stamp
