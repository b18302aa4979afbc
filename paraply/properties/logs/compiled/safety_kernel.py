"""The twin of ``DependencySafety`` and ``SafetyEvidence``'s counts."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.rule_kernel import mark_may_overlap, may_overlap, same_run
from paraply.properties.logs.compiled.state import Touches

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_STATEMENTS, _ROWS, _DDL = 0, 1, 2


@njit(cache=True)
def _add_finding(
    scalars: Ints, findings: Ints, finding_keys: Words, rule: int, earlier: int, key: np.uint64
) -> bool:
    at = scalars[C.S_FINDINGS]
    if at == len(findings):
        return False
    findings[at, 0], findings[at, 1] = rule, earlier
    finding_keys[at] = key
    scalars[C.S_FINDINGS] = at + 1
    return True


@njit(cache=True)
def _meet(
    touches: Touches,
    all_past: Ints,
    scalars: Ints,
    all_ranks: Ints,
    findings: Ints,
    finding_keys: Words,
    rule: int,
    place: Ints,
    keys: Words,
    heads: Ints,
    listing: bool,
    stamp: int,
) -> int:
    """Return overlapping transactions, -1 without room.

    Marks each with ``stamp``; an overlapping head becomes -2 - touch.
    """
    met = 0
    ring, size = len(touches.keys), len(all_past)
    for index in range(len(keys)):
        touch = heads[index]
        while touch >= scalars[C.S_TOUCH_OLD]:
            owner = touches.owner[touch % ring]
            ranks = all_ranks[owner % size]
            if may_overlap(rule, place, ranks):
                if heads[index] >= 0:
                    heads[index] = -2 - heads[index]
                if all_past[owner % size, C.H_MARK] != stamp:
                    all_past[owner % size, C.H_MARK] = stamp
                    met += 1
                if not listing:
                    break
                if not _add_finding(scalars, findings, finding_keys, rule, owner, keys[index]):
                    return -1
            elif same_run(rule, place, ranks) or rule == C.CLOCK:
                break
            distance = touches.distance[touch % ring]
            if distance == 0:
                break
            touch -= distance
    return met


@njit(cache=True)
def judge_safety(
    evidence: Ints,
    limits: Ints,
    forgotten: Ints,
    touches: Touches,
    all_past: Ints,
    all_ranks: Ints,
    scalars: Ints,
    findings: Ints,
    finding_keys: Words,
    rule: int,
    place: Ints,
    keys: Words,
    heads: Ints,
    ordinal: int,
    listed: int,
) -> int:
    """Judge one transaction; return listed violations, -1 without room."""
    counts = evidence[rule]
    listing = listed < limits[C.L_VIOLATIONS]
    lost = mark_may_overlap(place, forgotten[rule, place[C.P_LANE]])
    stamp = ordinal * 8 + rule * 2
    met = _meet(
        touches,
        all_past,
        scalars,
        all_ranks,
        findings,
        finding_keys,
        rule,
        place,
        keys,
        heads,
        listing,
        stamp,
    )
    if met < 0:
        return -1
    counts[C.E_VIOLATIONS] += met
    ring, size = len(touches.keys), len(all_past)
    for index in range(len(keys)):
        head = heads[index]
        if head == -1:
            counts[C.E_FORGOTTEN] += lost
        elif head < -1:
            heads[index] = -2 - head
        else:
            owner = touches.owner[head % ring]
            if same_run(rule, place, all_ranks[owner % size]):
                past = all_past[owner % size]
                if past[C.H_MARK] != stamp and past[C.H_MARK] != stamp + 1:
                    past[C.H_MARK] = stamp + 1
                    counts[C.E_ORDERED] += 1
            elif rule == C.GROUP:
                # Conflicts across replication domains are named: the readable judge does that.
                return -1
    return listed + (met if listing else 0)


@njit(cache=True)
def observe_barriers(evidence: Ints, barriers: Ints, rule: int, kind: int, place: Ints) -> None:
    """Count overlaps with barriers, as ``SafetyEvidence.observe_barriers``."""
    counts = evidence[rule]
    if kind == C.INCIDENT:
        counts[C.E_INCIDENTS] += 1
    if kind in (C.EMPTY, C.VIEW_CHANGE):
        return
    lane = barriers[rule, place[C.P_LANE]]
    undecidable = kind in (C.STATEMENT, C.INCIDENT)
    if mark_may_overlap(place, lane[_ROWS if undecidable else _STATEMENTS]):
        counts[C.E_STATEMENTS] += 1
    if mark_may_overlap(place, lane[_ROWS if kind == C.DDL else _DDL]):
        counts[C.E_DDL] += 1
    for what in range(3):
        if (
            what == _ROWS
            or (what == _STATEMENTS and undecidable)
            or (what == _DDL and kind == C.DDL)
        ):
            lane[what, 0], lane[what, 1], lane[what, 2] = 1, place[C.P_RUN], place[C.P_RANK]
