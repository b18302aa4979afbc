"""The twin of ``DependencySafety._note_undecided``: overlaps that no known key decides."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.rule_kernel import may_overlap
from paraply.properties.logs.compiled.timeline_kernel import set_time
from paraply.vocabulary.kernel_cache import BORROWED

Ints = NDArray[np.int64]

_ORDINAL, _AT = C.RANK_COLUMNS, C.RANK_COLUMNS + 1
SEEN_COLUMNS = C.RANK_COLUMNS + 2
"""Where a transaction stands (``columns.R_*``), its ordinal, 0 for none, and its B_AT."""
_ORDER, _FOLDED, _TABLE = range(3)


@borrowing
def _meet(rule: int, place: Ints, seen: Ints, found: Ints, ordinal: int) -> bool:
    """Count a pair with ``seen`` if it may overlap."""
    if not seen[_ORDINAL] or not may_overlap(rule, place, seen):
        return False
    if not found[0]:
        found[1], found[2], found[3] = seen[_ORDINAL], seen[_AT], ordinal
    found[0] += 1
    return True


@njit(nogil=True, **BORROWED)
def note_undecided(
    batch: Ints, names: Ints, roles: Ints, blurs_all: NDArray[np.bool_], placed: Ints, rules: Ints,
    places: Ints, all_blurred: Ints, all_used: Ints, starts: Ints, first_ordinal: int,
    any_rows: int, found: Ints, noted: Ints, place: Ints, mine: Ints,
) -> int:  # fmt: skip
    """Count by rule and name the transactions of a batch that may meet an earlier one.

    ``found`` receives the number, and of the first pair the earlier one's ordinal and B_AT, and the
    later one's ordinal. A table is counted once per transaction. ``places`` has each name's order,
    lower-case form and table; ``all_blurred`` and ``all_used`` have by domain and name the last
    transaction that did so; ``starts`` has by domain the first one of the open group. ``noted``,
    ``place`` and ``mine`` are scratch, zero at first. Returns how far back overlaps reach.
    """
    stamp, widest = 0, 0
    for index in range(len(batch)):
        txn, told, ordinal = batch[index], placed[index], first_ordinal + index
        lane = txn[C.B_LANE]
        blurred, used = all_blurred[lane], all_used[lane]
        if told[C.D_GROUP_ALLOWED] == 0:
            starts[lane] = ordinal
        widest = max(widest, ordinal - starts[lane], told[C.D_ALLOWED])
        start = batch[index - 1, C.B_NAME_END] if index else 0
        end = txn[C.B_NAME_END]
        for at in range(len(rules)):
            rule = rules[at]
            if rule == C.CLOCK:
                place[C.P_RUN], place[C.P_FLOOR] = told[C.D_RUN], told[C.D_FLOOR]
                allowed = told[C.D_ALLOWED]
            else:
                place[C.P_LANE], place[C.P_FLOOR] = told[C.D_LANE], told[C.D_GROUP_FLOOR]
                # Only commit ids judge commit groups.
                allowed = told[C.D_GROUP_ALLOWED] if txn[C.B_HAS_DOMAIN] else 0
            if allowed <= 0:
                continue
            stamp += 1
            met = txn[C.B_ROWS] > 0 and _meet(
                rule, place, blurred[any_rows], found[at, any_rows], ordinal
            )
            if blurs_all[index] and not met:
                _meet(rule, place, used[any_rows], found[at, any_rows], ordinal)
            for step in range(2):
                for name_at in range(start, end):
                    name, role = names[name_at], roles[name_at]
                    table = places[name, _TABLE]
                    if noted[table] == stamp or not role & (C.BLURRED if step else C.MET):
                        continue
                    seen = used[places[name, _FOLDED]] if step else blurred[name]
                    if _meet(rule, place, seen, found[at, name], ordinal):
                        noted[table] = stamp
        mine[C.R_RUN], mine[C.R_RANK] = told[C.D_RUN], told[C.D_RANK]
        mine[C.R_LANE], mine[C.R_GROUP_RANK] = told[C.D_LANE], told[C.D_GROUP_RANK]
        mine[_ORDINAL], mine[_AT] = ordinal, txn[C.B_AT]
        if txn[C.B_ROWS] > 0:
            set_time(used[any_rows], mine)
        if blurs_all[index]:
            set_time(blurred[any_rows], mine)
        for name_at in range(start, end):
            name, role = names[name_at], roles[name_at]
            if role & C.MET:
                set_time(used[places[name, _FOLDED]], mine)
            if role & C.BLURRED:
                set_time(blurred[name], mine)
    return widest
