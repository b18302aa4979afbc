"""Events and a member's table: twins of ``recorder`` and ``applier.row_store``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import BORROWED


@njit(**BORROWED)
def record(room: Room, kind: int, member: int, transaction: int) -> int:
    """Add an event; return its place, for the rest of its fields."""
    place = room.left[C.G_EVENTS]
    event = room.events[place]
    room.left[C.G_EVENTS] += 1
    event[:] = 0
    event[C.E_TIME], event[C.E_KIND], event[C.E_MEMBER] = room.left[C.G_NOW], kind, member
    event[C.E_TRANSACTION], event[C.E_ATTEMPT] = transaction, 1
    event[C.E_ROW] = event[C.E_LC] = event[C.E_SN] = A.NONE
    return int(place)


@njit(**BORROWED)
def row_at(one: Ints, change: int) -> int:
    """Return the row of a transaction's change."""
    return int(one[C.T_ITEMS] >> (3 * change) & 7)


@njit(**BORROWED)
def rows_of(one: Ints) -> int:
    """Return the bits of a transaction's rows."""
    rows = 0
    for change in range(one[C.T_COUNT]):
        rows |= 1 << row_at(one, change)
    return rows


@njit(**BORROWED)
def change_row(room: Room, member: int, transaction: int, change: int) -> int:
    """Lock and change a row; return the outcome."""
    row = row_at(room.log[transaction], change)
    holders = room.holders[member]
    if holders[row] != 0 and holders[row] != transaction:
        return A.LOCK_WAIT
    holders[row] = transaction
    before = room.images[transaction, change, 0]
    if room.rows[member, row, 0] != before:
        return A.DUPLICATE_KEY if before == 0 else A.MISSING_BEFORE_IMAGE
    room.applied[member, transaction] |= 1 << change
    return A.OK


@njit(**BORROWED)
def unlock(room: Room, member: int, transaction: int) -> None:
    """Free a transaction's or client's rows."""
    for row in range(A.ROWS_MAX):
        if room.holders[member, row] == transaction:
            room.holders[member, row] = 0


@njit(**BORROWED)
def commit_rows(room: Room, member: int, transaction: int) -> None:
    """Publish changes and free rows."""
    changes = room.applied[member, transaction]
    for change in range(room.log[transaction, C.T_COUNT]):
        if changes >> change & 1:
            version = room.rows[member, row_at(room.log[transaction], change)]
            version[0], version[1] = room.images[transaction, change, 1], transaction
    room.applied[member, transaction] = 0
    unlock(room, member, transaction)


@njit(**BORROWED)
def roll_back_rows(room: Room, member: int, transaction: int) -> None:
    """Undo changes and free rows."""
    room.applied[member, transaction] = 0
    unlock(room, member, transaction)


@njit(**BORROWED)
def read_rows(p: Ints, room: Room, member: int, session: int) -> None:
    """Record a snapshot of all rows."""
    seen = 0
    for row in range(p[A.P_ROWS]):
        value, writer = room.rows[member, row, 0], room.rows[member, row, 1]
        seen |= (writer if value == 0 else value) << (A.SEEN_BITS * row)
    event = room.events[record(room, C.READ, member, 0)]
    event[C.E_OTHER], event[C.E_SET] = session, seen


@njit(**BORROWED)
def take_out(numbers: Ints, count: int, number: int) -> int:
    """Remove a number from the first ``count``; return how many are left."""
    kept = 0
    for at in range(count):
        if numbers[at] != number:
            numbers[kept] = numbers[at]
            kept += 1
    return kept


@njit(**BORROWED)
def has(numbers: Ints, count: int, number: int) -> bool:
    """Return whether a number is among the first ``count``."""
    for at in range(count):  # noqa: SIM110 - kernels know no generators
        if numbers[at] == number:
            return True
    return False
