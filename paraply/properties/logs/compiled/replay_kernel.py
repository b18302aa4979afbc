"""Full row images on keyed rows: the twin of ``row_replay``."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.replay_state import Replay
from paraply.vocabulary.kernel_cache import BORROWED

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_INSERT, _UPDATE, _DELETE = 0, 1, 2
_NONE = np.uint64(0)


@borrowing
def _slot_of_row(replay: Replay, key: np.uint64) -> int:
    mask = np.int64(len(replay.index) - 1)
    at = np.int64(key & np.uint64(mask))
    while replay.index[at] != 0 and replay.keys[replay.index[at] - 1] != key:
        at = (at + 1) & mask
    return at


@borrowing
def _close_row_gap(replay: Replay, hole: int) -> None:
    mask = np.int64(len(replay.index) - 1)
    here = hole
    while True:
        here = (here + 1) & mask
        if replay.index[here] == 0:
            break
        home = np.int64(replay.keys[replay.index[here] - 1] & np.uint64(mask))
        if ((here - home) & mask) >= ((here - hole) & mask):
            replay.index[hole] = replay.index[here]
            hole = here
    replay.index[hole] = 0


@borrowing
def _slot_of_owner(replay: Replay, key: np.uint64) -> int:
    mask = np.int64(len(replay.owner_keys) - 1)
    at = np.int64(key & np.uint64(mask))
    while replay.owner_keys[at] != _NONE and replay.owner_keys[at] != key:
        at = (at + 1) & mask
    return at


@borrowing
def _set_owner(replay: Replay, key: np.uint64, identity: np.uint64) -> None:
    at = _slot_of_owner(replay, key)
    replay.counts[R.N_OWNERS] += replay.owner_keys[at] == _NONE
    replay.owner_keys[at] = key
    replay.owner_rows[at] = identity


@borrowing
def _drop_owned(replay: Replay, row: int) -> None:
    mask = np.int64(len(replay.owner_keys) - 1)
    for index in range(replay.others.shape[1]):
        key = replay.others[row, index]
        if key == _NONE:
            continue
        replay.others[row, index] = _NONE
        hole = _slot_of_owner(replay, key)
        if replay.owner_keys[hole] == _NONE or replay.owner_rows[hole] != replay.keys[row]:
            continue
        replay.counts[R.N_OWNERS] -= 1
        here = hole
        while True:
            here = (here + 1) & mask
            if replay.owner_keys[here] == _NONE:
                break
            home = np.int64(replay.owner_keys[here] & np.uint64(mask))
            if ((here - home) & mask) >= ((here - hole) & mask):
                replay.owner_keys[hole] = replay.owner_keys[here]
                replay.owner_rows[hole] = replay.owner_rows[here]
                hole = here
        replay.owner_keys[hole] = _NONE


@borrowing
def _unlink(replay: Replay, row: int) -> None:
    older, newer = replay.older[row], replay.newer[row]
    if older >= 0:
        replay.newer[older] = newer
    else:
        replay.counts[R.N_OLDEST] = newer
    if newer >= 0:
        replay.older[newer] = older
    else:
        replay.counts[R.N_NEWEST] = older


@borrowing
def _link_newest(replay: Replay, row: int) -> None:
    newest = replay.counts[R.N_NEWEST]
    replay.older[row] = newest
    replay.newer[row] = R.NOWHERE
    if newest >= 0:
        replay.newer[newest] = row
    else:
        replay.counts[R.N_OLDEST] = row
    replay.counts[R.N_NEWEST] = row


@borrowing
def _forget_oldest(replay: Replay) -> None:
    counts = replay.counts
    row = counts[R.N_OLDEST]
    _unlink(replay, row)
    _drop_owned(replay, row)
    _close_row_gap(replay, _slot_of_row(replay, replay.keys[row]))
    replay.older[row] = counts[R.N_FREE]
    counts[R.N_FREE] = row
    counts[R.N_ROWS] -= 1
    table = replay.tables[replay.table_of[row]]
    if table[R.T_KEYS] == R.FOLLOWED:
        replay.losses[counts[R.N_LOSSES], 0] = np.uint64(counts[R.N_PUTS])
        replay.losses[counts[R.N_LOSSES], 1] = replay.keys[row]
        counts[R.N_LOSSES] += 1
    if not table[R.T_STALE]:
        table[R.T_BORN] = 0
        counts[R.N_FORGOTTEN] += 1


@borrowing
def _put(replay: Replay, identity: np.uint64, table: int, image: np.uint64, ordinal: int) -> int:
    counts = replay.counts
    slot = _slot_of_row(replay, identity)
    if replay.index[slot] != 0:
        row = np.int64(replay.index[slot] - 1)
        _drop_owned(replay, row)
        if replay.images[row] != _NONE:
            replay.tables[replay.table_of[row], R.T_ROWS] -= 1
        _unlink(replay, row)
    else:
        row = counts[R.N_FREE]
        if row >= 0:
            counts[R.N_FREE] = np.int64(replay.older[row])
        else:
            row = counts[R.N_USED]
            counts[R.N_USED] += 1
        replay.index[slot] = row + 1
        counts[R.N_ROWS] += 1
    replay.keys[row] = identity
    replay.images[row] = image
    replay.table_of[row] = table
    replay.written[row] = ordinal
    _link_newest(replay, row)
    if image != _NONE:
        replay.tables[table, R.T_ROWS] += 1
    return row


@borrowing
def _in_doubt(replay: Replay, known: int) -> bool:
    """Return whether a known row may have changed without a record."""
    return bool(replay.written[known] <= replay.tables[replay.table_of[known], R.T_DOUBTED])


@borrowing
def _may_be_own_cascade(replay: Replay, known: int, ordinal: int) -> bool:
    refers = replay.tables[replay.table_of[known], R.T_REFERS_TO_ITSELF]
    return bool(refers and replay.written[known] == ordinal)


@borrowing
def _may_be_back(replay: Replay, known: int, ordinal: int) -> bool:
    """Return whether a change may find a row in a deleted one's place."""
    if replay.written[known] == ordinal:
        return _in_doubt(replay, known)
    return bool(replay.written[known] <= replay.tables[replay.table_of[known], R.T_MOVED])


@borrowing
def _doubt(replay: Replay, number: int, deletes: int, moves: int, ordinal: int) -> None:
    """Note a change of a table without a record."""
    child = replay.tables[number]
    if not child[R.T_TOUCHED] or child[R.T_STALE]:
        return
    child[R.T_DOUBTED] = max(ordinal, child[R.T_DOUBTED])
    if moves:
        child[R.T_MOVED] = max(ordinal, child[R.T_MOVED])
    child[R.T_CASCADED] |= deletes


@borrowing
def _cascade(
    replay: Replay, table: int, operation: int, keys: Words, start: int, ordinal: int,
    any_unknown: bool,
) -> None:  # fmt: skip
    """Note what a change may cascade into; ``any_unknown``: some tables' foreign keys are."""
    if any_unknown:
        for number in range(replay.counts[R.N_TABLES]):
            # InnoDB refuses an update that cascades into the table that it updates.
            if replay.tables[number, R.T_UNKNOWN] and (number != table or operation == _DELETE):
                _doubt(replay, number, operation == _DELETE, 1, ordinal)
    for at in range(replay.tables[table, R.T_BELOW_START], replay.tables[table, R.T_BELOW_END]):
        when = replay.below[at, R.W_WHEN]
        if operation == _DELETE:
            happens = when == R.DELETED
        elif when >= 0:
            happens = keys[start + when, 0] != keys[start + when, 1]
        else:
            happens = when == R.UPDATED
        if happens:
            below = replay.below[at]
            _doubt(replay, below[R.W_TABLE], below[R.W_DELETES], below[R.W_MOVES], ordinal)


@borrowing
def _touch(replay: Replay, table: int) -> None:
    """Note a row of a table, from which on its present foreign keys count."""
    replay.tables[table, R.T_TOUCHED] = 1
    if replay.tables[table, R.T_NEXT] != R.SETTLED:
        replay.tables[table, R.T_UNKNOWN] = replay.tables[table, R.T_NEXT]
        replay.tables[table, R.T_NEXT] = R.SETTLED


@borrowing
def _contradict(
    replay: Replay, row: int, table: int, code: int, key: int, in_doubt: bool
) -> None:  # fmt: skip
    counts = replay.counts
    if in_doubt:
        counts[R.N_IN_DOUBT] += 1
        replay.tables[table, R.T_UNEXPLAINED] |= replay.tables[table, R.T_UNKNOWN]
        return
    if code == R.TAKEN:
        counts[R.N_DUPLICATE] += 1
    else:
        counts[R.N_MISSING] += 1
    if counts[R.N_LISTED] >= counts[R.N_LISTED_MAX]:
        counts[R.N_DROPPED] += 1
        return
    counts[R.N_LISTED] += 1
    at = counts[R.N_FINDINGS]
    replay.findings[at, R.F_ROW] = row
    replay.findings[at, R.F_CODE] = code
    replay.findings[at, R.F_KEY] = key
    counts[R.N_FINDINGS] = at + 1


@borrowing
def _find(replay: Replay, table: int, identity: np.uint64) -> int:
    entry = replay.index[_slot_of_row(replay, identity)]
    if entry == 0 or replay.table_of[entry - 1] != table:
        return R.NOWHERE
    return np.int64(entry - 1)


@borrowing
def _first_key(keys: Words, start: int, count: int, side: int) -> int:
    for index in range(count):
        if keys[start + index, side] != _NONE:
            return index
    return -1


@borrowing
def _take_out(
    replay: Replay, row: int, table: int, key: np.uint64, image: np.uint64, ordinal: int
) -> None:  # fmt: skip
    counts = replay.counts
    known = _find(replay, table, key)
    if known < 0 and not replay.tables[table, R.T_BORN]:
        counts[R.N_UNKNOWN] += 1
    elif known < 0:
        # A cascade adds no row; one whose foreign key is not known may have moved one here.
        in_doubt = replay.tables[table, R.T_MOVED] != R.UNDOUBTED
        _contradict(replay, row, table, R.NEVER, 0, in_doubt)
    elif replay.images[known] == _NONE:
        _contradict(replay, row, table, R.GONE, 0, _may_be_back(replay, known, ordinal))
    elif replay.images[known] != image:
        in_doubt = _in_doubt(replay, known) or _may_be_own_cascade(replay, known, ordinal)
        _contradict(replay, row, table, R.DIFFERENT, 0, in_doubt)
    else:
        counts[R.N_FOUND] += 1
    _put(replay, key, table, _NONE, ordinal)
    if counts[R.N_ROWS] > counts[R.N_ROWS_MAX]:
        _forget_oldest(replay)


@borrowing
def _put_in(
    replay: Replay, row: int, table: int, keys: Words, start: int, count: int, first: int,
    image: np.uint64, ordinal: int,
) -> None:  # fmt: skip
    identity = keys[start + first, 1]
    taken = _find(replay, table, identity)
    if taken >= 0 and replay.images[taken] != _NONE:
        _contradict(replay, row, table, R.TAKEN, first, _in_doubt(replay, taken))
    for index in range(first + 1, count):
        key = keys[start + index, 1]
        if key <= R.LOST:
            continue
        at = _slot_of_owner(replay, key)
        if replay.owner_keys[at] == _NONE or replay.owner_rows[at] == identity:
            continue
        owner = _find(replay, table, replay.owner_rows[at])
        if owner >= 0 and replay.images[owner] != _NONE and replay.others[owner, index] == key:
            _contradict(replay, row, table, R.TAKEN, index, _in_doubt(replay, owner))
    at_row = _put(replay, identity, table, image, ordinal)
    for index in range(first + 1, count):
        key = keys[start + index, 1]
        if key != R.LOST:
            _own(replay, at_row, index, replay.kept[index] if key == R.HIDDEN else key)
    if replay.counts[R.N_ROWS] > replay.counts[R.N_ROWS_MAX]:
        _forget_oldest(replay)


@borrowing
def _keep_others(
    replay: Replay, table: int, keys: Words, start: int, count: int, first: int
) -> None:  # fmt: skip
    """Note those unique keys of a row that an update does not show, and so does not change."""
    known = R.NOWHERE
    for index in range(count):
        if keys[start + index, 1] != R.HIDDEN:
            continue
        if known < 0:
            known = _find(replay, table, keys[start + first, 0])
        is_there = known >= 0 and replay.images[known] != _NONE
        replay.kept[index] = replay.others[known, index] if is_there else _NONE


@njit(cache=True)
def rows_in_order(replay: Replay) -> Ints:
    """Return rows and graves in write order."""
    order = np.zeros(replay.counts[R.N_ROWS], np.int64)
    row = replay.counts[R.N_OLDEST]
    for at in range(len(order)):
        order[at] = row
        row = np.int64(replay.newer[row])
    return order


@borrowing
def _own(replay: Replay, row: int, index: int, key: np.uint64) -> None:
    if key != _NONE:
        replay.others[row, index] = key
        _set_owner(replay, key, replay.keys[row])


@borrowing
def put_rows(
    replay: Replay, keys: Words, images: Words, others: Words, tables: Ints, written: Ints
) -> None:  # fmt: skip
    """Write rows and graves in order, unchecked."""
    for at in range(len(keys)):
        row = _put(replay, keys[at], tables[at], images[at], written[at])
        for index in range(others.shape[1]):
            _own(replay, row, index, others[at, index])
        if replay.counts[R.N_ROWS] > replay.counts[R.N_ROWS_MAX]:
            _forget_oldest(replay)


@borrowing
def _follow(replay: Replay, table: int, keys: Words, start: int, ordinal: int) -> None:
    """Give a followed row its grave and its place."""
    counts = replay.counts
    for side in range(2):
        if keys[start, side] != _NONE:
            _put(replay, keys[start, side], table, np.uint64(side), ordinal)
            counts[R.N_PUTS] += 1
            if counts[R.N_ROWS] > counts[R.N_ROWS_MAX]:
                _forget_oldest(replay)


@njit(nogil=True, **BORROWED)
def replay_rows(
    replay: Replay, operations: Ints, tables: Ints, unchecked: Ints, starts: Ints, images: Words,
    keys: Words, ordinals: Ints, doubts: Ints, any_unknown: bool,
) -> None:  # fmt: skip
    """Apply a batch's rows; the state has room.

    ``starts`` are each row's first key; ``images`` and ``keys`` are (before, after); ``ordinals``
    those of the transactions. A followed row's keys are its identities; ``doubts`` receives the
    T_DOUBTED of its table before it. ``any_unknown``: foreign keys of some table are not known.
    """
    replay.counts[R.N_FINDINGS] = replay.counts[R.N_PUTS] = replay.counts[R.N_LOSSES] = 0
    for row in range(len(operations)):
        table, start, operation = tables[row], starts[row], operations[row]
        is_nameless = operation >= R.NAMELESS
        operation -= R.NAMELESS * is_nameless
        ordinal = ordinals[row]
        cascades = operation != _INSERT and not unchecked[row]
        if is_nameless:
            if cascades:
                _cascade(replay, table, operation, keys, start, ordinal, any_unknown)
            continue
        count = replay.tables[table, R.T_KEYS]
        if count == R.FOLLOWED:
            doubts[row] = replay.tables[table, R.T_DOUBTED]
            replay.tables[table, R.T_TOUCHED] = 1
            if keys[start, 0] != _NONE or keys[start, 1] != _NONE:
                _touch(replay, table)
                _follow(replay, table, keys, start, ordinal)
            if cascades:
                _cascade(replay, table, operation, keys, start, ordinal, any_unknown)
            continue
        before, after = -1, -1
        if operation != _INSERT:
            before = _first_key(keys, start, count, 0)
        if operation != _DELETE:
            after = _first_key(keys, start, count, 1)
        if before < 0 and after < 0:
            if cascades:
                _cascade(replay, table, operation, keys, start, ordinal, any_unknown)
            continue
        replay.counts[R.N_CHECKED] += 1
        _touch(replay, table)
        if before >= 0 and after >= 0:
            _keep_others(replay, table, keys, start, count, before)
        if before >= 0:
            _take_out(replay, row, table, keys[start + before, 0], images[row, 0], ordinal)
        if after >= 0:
            _put_in(replay, row, table, keys, start, count, after, images[row, 1], ordinal)
        if cascades:
            _cascade(replay, table, operation, keys, start, ordinal, any_unknown)
