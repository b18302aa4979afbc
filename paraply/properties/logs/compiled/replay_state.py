"""The array twin of ``paraply.properties.logs.replay_state``.

A row is its first key's 64-bit digest and one image digest. Past the bound the least recently
written is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled.probing import empty_table, lengthened, probed_places

Ints = NDArray[np.int64]
Indexes = NDArray[np.int32]
Words = NDArray[np.uint64]

# Columns of ``counts``.
(
    N_ROWS,
    N_USED,
    N_OLDEST,
    N_NEWEST,
    N_FREE,
    N_OWNERS,
    N_FOUND,
    N_MISSING,
    N_UNKNOWN,
    N_DUPLICATE,
    N_CHECKED,
    N_FORGOTTEN,
    N_LISTED,
    N_DROPPED,
    N_FINDINGS,
    N_ROWS_MAX,
    N_LISTED_MAX,
    N_PUTS,
    N_LOSSES,
    N_IN_DOUBT,
    N_TABLES,
) = range(21)
"""N_PUTS and N_LOSSES count within a batch (``Losses``)."""
COUNTS = 21
NOWHERE = -1
HIDDEN, LOST = 1, 2
"""Digests of a unique key of which images do not show all: not changed, and changed."""

# Columns of a table of the replay.
(
    T_BORN,
    T_ROWS,
    T_STALE,
    T_KEYS,
    T_TOUCHED,
    T_UNKNOWN,
    T_NEXT,
    T_REFERS_TO_ITSELF,
    T_DOUBTED,
    T_MOVED,
    T_CASCADED,
    T_UNEXPLAINED,
    T_BELOW_START,
    T_BELOW_END,
) = range(14)
TABLE_COLUMNS = 14
"""T_STALE: replaced by a reset; T_KEYS: key count, or FOLLOWED; T_TOUCHED: the log changed it, or
made it. T_UNKNOWN: foreign keys are not known; T_NEXT is that from the next row on, or SETTLED.
T_REFERS_TO_ITSELF: perhaps. T_DOUBTED is the ordinal of the last change that may cascade into the
table, or UNDOUBTED, by a delete if T_CASCADED; T_MOVED is that of the last of them that may have
left a row under another identity. T_UNEXPLAINED: rows do not fit. T_BELOW_START and T_BELOW_END
are the lines of ``Replay.below``.
"""
SETTLED = -1
UNDOUBTED = -(1 << 62)
FOLLOWED = -1
"""Another replay judges the table's rows; here they only take their places in write order."""
NAMELESS = 4
"""Added to the operation of a followed table's row that no key names."""

# Columns of what a change of a table's rows cascades into.
W_WHEN, W_TABLE, W_DELETES, W_MOVES = range(4)
"""W_WHEN is the place of the key that an update changes, or UPDATED for any, or DELETED."""
BELOW_COLUMNS = 4
DELETED, UPDATED = -1, -2

# Columns of a finding.
F_ROW, F_CODE, F_KEY = range(3)
FINDING_COLUMNS = 3
GONE, NEVER, DIFFERENT, TAKEN = range(4)
"""Deleted, never inserted, looked different, key taken."""


class Replay(NamedTuple):
    """All rows and graves."""

    counts: Ints
    keys: Words
    images: Words
    """Image digest, 0 for a grave."""
    others: Words
    """Further UNIQUE keys (row, key), 0 for none."""
    table_of: Indexes
    older: Indexes
    newer: Indexes
    written: Indexes
    """Ordinal of the last change."""
    index: Indexes
    """Open addressing: row plus one."""
    owner_keys: Words
    owner_rows: Words
    """Open addressing: further UNIQUE key to identity."""
    tables: Ints
    below: Ints
    """What cascades, by table (T_BELOW_START)."""
    findings: Ints
    kept: Words
    """Scratch: the further UNIQUE keys of a row that an update does not show."""
    losses: Words
    """Forgotten followed rows of a batch: puts of such rows before, and key."""


def new_replay(rows_max: int, listed_max: int, small: int = 1 << 12) -> Replay:
    """Return an empty state with ``small`` arrays."""
    counts = np.zeros(COUNTS, np.int64)
    counts[N_OLDEST] = counts[N_NEWEST] = counts[N_FREE] = NOWHERE
    counts[N_ROWS_MAX] = rows_max
    counts[N_LISTED_MAX] = listed_max
    return Replay(
        counts=counts,
        keys=np.zeros(small, np.uint64),
        images=np.zeros(small, np.uint64),
        others=np.zeros((small, 1), np.uint64),
        table_of=np.zeros(small, np.int32),
        older=np.zeros(small, np.int32),
        newer=np.zeros(small, np.int32),
        written=np.zeros(small, np.int32),
        index=np.zeros(2 * small, np.int32),
        owner_keys=np.zeros(small, np.uint64),
        owner_rows=np.zeros(small, np.uint64),
        tables=np.zeros((64, TABLE_COLUMNS), np.int64),
        below=np.zeros((0, BELOW_COLUMNS), np.int64),
        findings=np.zeros((listed_max + 1, FINDING_COLUMNS), np.int64),
        kept=np.zeros(1, np.uint64),
        losses=np.zeros((0, 2), np.uint64),
    )


def _power_of_two(least: int) -> int:
    return 1 << max(4, (least - 1).bit_length())


def with_room(replay: Replay, rows: int, keys: int) -> Replay:
    """Return the state with room for ``rows`` more."""
    counts = replay.counts
    needed = int(min(counts[N_USED] + rows, counts[N_ROWS_MAX] + 1))
    if needed > len(replay.keys):
        # Long steps: pages are only taken when they are first written.
        size = max(needed, min(16 * len(replay.keys), int(counts[N_ROWS_MAX]) + 1))
        replay = replay._replace(
            keys=lengthened(replay.keys, size),
            images=lengthened(replay.images, size),
            others=lengthened(replay.others, size),
            table_of=lengthened(replay.table_of, size),
            older=lengthened(replay.older, size),
            newer=lengthened(replay.newer, size),
            written=lengthened(replay.written, size),
        )
    # At once for all of them: what places many rows again needs several times their memory.
    slots = _power_of_two(2 * len(replay.keys))
    if slots > len(replay.index):
        replay = replay._replace(index=_rehashed_rows(replay, slots))
    if keys > replay.others.shape[1]:
        wider = np.zeros((len(replay.others), keys), np.uint64)
        wider[:, : replay.others.shape[1]] = replay.others
        replay = replay._replace(others=wider, kept=np.zeros(keys, np.uint64))
    owners = int(counts[N_OWNERS]) + rows * max(0, keys - 1)
    slots = _power_of_two(3 * owners // 2)
    if slots > len(replay.owner_keys):
        owner_keys, owner_rows = _rehashed_owners(replay, slots)
        replay = replay._replace(owner_keys=owner_keys, owner_rows=owner_rows)
    return replay


def _rehashed_rows(replay: Replay, slots: int) -> Indexes:
    live = replay.index[replay.index != 0]
    table = empty_table(slots)
    table[probed_places(replay.keys[live - 1], slots)] = live
    return table


def _rehashed_owners(replay: Replay, slots: int) -> tuple[Words, Words]:
    live = replay.owner_keys != 0
    keys, rows = replay.owner_keys[live], replay.owner_rows[live]
    owner_keys, owner_rows = np.zeros(slots, np.uint64), np.zeros(slots, np.uint64)
    places = probed_places(keys, slots)
    owner_keys[places], owner_rows[places] = keys, rows
    return owner_keys, owner_rows


def with_tables(replay: Replay, count: int) -> Replay:
    """Return the state with room for tables."""
    if count <= len(replay.tables):
        return replay
    return replay._replace(tables=lengthened(replay.tables, max(count, 2 * len(replay.tables))))
