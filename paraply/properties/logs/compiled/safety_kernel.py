"""The twin of ``DependencySafety`` and ``SafetyEvidence``'s counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.rule_kernel import mark_may_overlap, may_overlap, same_run
from paraply.properties.logs.compiled.state import Touches
from paraply.properties.logs.compiled.touch_kernel import find_newest

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Marks = NDArray[np.uint8]

_STAMPS = 16
"""Per transaction: for each rule a certain conflict, an uncertain and an ordered one; then for each
rule a wait, and a pair that models keep apart.
"""
_CERTAIN, _UNCERTAIN, _ORDERED, _WAIT = 0, 1, 2, 8
APART = 10

_STATEMENTS, _ROWS, _DDL = 0, 1, 2


@borrowing
def stamp_of(ordinal: int, kind: int) -> int:
    """Return what marks an earlier transaction as met by ``ordinal``."""
    return ordinal * _STAMPS + kind


@borrowing
def _add_finding(
    scalars: Ints, findings: Ints, finding_keys: Words, rule: int, earlier: int, reads: bool,
    kind: int, key: np.uint64,
) -> bool:  # fmt: skip
    at = scalars[C.S_FINDINGS]
    if at == len(findings):
        return False
    findings[at, C.F_RULE], findings[at, C.F_EARLIER] = rule, earlier
    findings[at, C.F_READS], findings[at, C.F_KIND] = reads, kind
    finding_keys[at] = key
    scalars[C.S_FINDINGS] = at + 1
    return True


@borrowing
def _meet(
    counts: Ints,
    touches: Touches,
    oldest: int,
    all_past: Ints,
    scalars: Ints,
    all_ranks: Ints,
    findings: Ints,
    finding_keys: Words,
    rule: int,
    place: Ints,
    keys: Words,
    marks: Marks,
    heads: Ints,
    reads: bool,
    listing: bool,
    stamp: int,
) -> int:
    """Count overlapping transactions; return those that had no stamp, -1 without room.

    Marks each with ``stamp``, or with the next if no shared key is certain; an overlapping head
    becomes -2 - touch.
    """
    met = 0
    ring_mask, past_mask = len(touches.keys) - 1, len(all_past) - 1
    for index in range(len(keys)):
        touch = heads[index]
        while touch >= oldest:
            owner = touches.owner[touch & ring_mask]
            ranks = all_ranks[owner & past_mask]
            if may_overlap(rule, place, ranks):
                if heads[index] >= 0:
                    heads[index] = -2 - heads[index]
                uncertain = ((marks[index] | touches.marks[touch & ring_mask]) & C.UNCERTAIN) != 0
                known = all_past[owner & past_mask, C.H_MARK] - stamp
                if known != _CERTAIN and not (uncertain and known == _UNCERTAIN):
                    all_past[owner & past_mask, C.H_MARK] = stamp + uncertain
                    counts[C.E_UNCERTAIN if uncertain else C.E_VIOLATIONS] += 1
                    if known == _UNCERTAIN:
                        counts[C.E_UNCERTAIN] -= 1
                    else:
                        met += 1
                if not listing:
                    break
                if not _add_finding(
                    scalars, findings, finding_keys, rule, owner, reads, uncertain, keys[index]
                ):
                    return -1
            elif same_run(rule, place, ranks) or rule == C.CLOCK:
                break
            distance = touches.distance[touch & ring_mask]
            if distance == 0:
                break
            touch -= distance
    return met


@borrowing
def _newest_elsewhere(touches: Touches, all_ranks: Ints, touch: int, oldest: int, lane: int) -> int:
    """Return who last touched a key in another domain, in its chain from ``touch`` back, or 0."""
    ring_mask, past_mask = len(touches.keys) - 1, len(all_ranks) - 1
    while touch >= oldest:
        owner = touches.owner[touch & ring_mask]
        if all_ranks[owner & past_mask, C.R_LANE] != lane:
            return np.int64(owner)
        distance = touches.distance[touch & ring_mask]
        if distance == 0:
            break
        touch -= distance
    return 0


@borrowing
def _settle(
    counts: Ints, touches: Touches, oldest: int, all_past: Ints, scalars: Ints, all_ranks: Ints,
    findings: Ints, finding_keys: Words, rule: int, place: Ints, keys: Words, marks: Marks,
    heads: Ints, lost: bool, stamp: int, may_hide: bool, crossing: int,
) -> int:  # fmt: skip
    """Count what is forgotten or ordered; return the first of ``crossing`` and who crosses.

    ``crossing`` is the first transaction of another domain so far, or 0; the first time, keys that
    cross are findings. ``may_hide``: the newest touch may hide another domain's. Returns -1 without
    room.
    """
    ring_mask, past_mask = len(touches.keys) - 1, len(all_past) - 1
    for index in range(len(heads)):
        head = heads[index]
        if head == -1:
            counts[C.E_FORGOTTEN] += lost
        elif head < -1:
            heads[index] = -2 - head
        elif not (marks[index] | touches.marks[head & ring_mask]) & C.UNCERTAIN:
            owner = np.int64(touches.owner[head & ring_mask])
            is_near = same_run(rule, place, all_ranks[owner & past_mask])
            outside = 0
            if may_hide:
                outside = _newest_elsewhere(touches, all_ranks, head, oldest, place[C.P_LANE])
            elif rule == C.GROUP and not is_near:
                outside = owner
            if outside > 0:
                if counts[C.E_CROSSINGS] == 0 and not _add_finding(
                    scalars, findings, finding_keys, rule, outside, False, C.CROSSING, keys[index]
                ):
                    return -1
                crossing = outside if crossing == 0 else min(crossing, outside)
            elif is_near:
                past = all_past[owner & past_mask]
                if not 0 <= past[C.H_MARK] - stamp <= _ORDERED:
                    past[C.H_MARK] = stamp + _ORDERED
                    counts[C.E_ORDERED] += 1
    return crossing


@borrowing
def judge_safety(
    evidence: Ints,
    limits: Ints,
    forgotten: Ints,
    touches: Touches,
    readers: Touches,
    all_past: Ints,
    all_ranks: Ints,
    scalars: Ints,
    findings: Ints,
    finding_keys: Words,
    rule: int,
    place: Ints,
    written: Words,
    read: Words,
    written_marks: Marks,
    read_marks: Marks,
    written_heads: Ints,
    reader_heads: Ints,
    read_heads: Ints,
    ordinal: int,
    listed: int,
    several: bool,
) -> int:
    """Judge one transaction; return listed violations, -1 without room."""
    counts = evidence[rule]
    listing = listed < limits[C.L_VIOLATIONS]
    stamp = stamp_of(ordinal, rule * 4)
    writes_old = scalars[C.S_CHAINS + 3 * C.WRITES + C.OLD]
    reads_old = scalars[C.S_CHAINS + 3 * C.READS + C.OLD]
    met = 0
    for way in range(3):
        chain = readers if way == 1 else touches
        oldest = reads_old if way == 1 else writes_old
        keys = read if way == 2 else written
        heads = read_heads if way == 2 else reader_heads if way == 1 else written_heads
        more = _meet(
            counts, chain, oldest, all_past, scalars, all_ranks, findings, finding_keys, rule,
            place, keys, read_marks if way == 2 else written_marks, heads, way > 0, listing, stamp,
        )  # fmt: skip
        if more < 0:
            return -1
        met += more
    writes_lost = mark_may_overlap(place, forgotten[C.WRITES, rule, place[C.P_LANE]])
    reads_lost = mark_may_overlap(place, forgotten[C.READS, rule, place[C.P_LANE]])
    crossing = 0
    for way in range(3):
        crossing = _settle(
            counts, readers if way == 1 else touches, reads_old if way == 1 else writes_old,
            all_past, scalars, all_ranks, findings, finding_keys, rule, place,
            read if way == 2 else written, read_marks if way == 2 else written_marks,
            read_heads if way == 2 else reader_heads if way == 1 else written_heads,
            reads_lost if way == 1 else writes_lost, stamp,
            # Readers in several domains are no conflict.
            several and rule == C.GROUP and way == 1, crossing,
        )  # fmt: skip
        if crossing < 0:
            return -1
    counts[C.E_CROSSINGS] += crossing > 0
    return listed + (met if listing else 0)


@borrowing
def count_waits(
    counts: Ints, touches: Touches, oldest: int, next_touch: int, all_past: Ints,
    all_ranks: Ints, rule: int, place: Ints, keys: Words, roles: Ints, listing: bool,
    ordinal: int,
) -> None:  # fmt: skip
    """Count overlapping transactions that hold a row lock on ``keys`` but do not conflict.

    With ``roles``, the keys are tables: of two changes of rows without a key, one must search.
    Call after ``judge_safety``, whose marks it reads.
    """
    if next_touch == oldest:
        return
    ring_mask, past_mask = len(touches.keys) - 1, len(all_past) - 1
    conflict, stamp = stamp_of(ordinal, rule * 4), stamp_of(ordinal, _WAIT + rule)
    for index in range(len(keys)):
        if len(roles) and not roles[index] & C.UNKEYED_ROWS:
            continue
        touch = find_newest(touches.newest, touches.keys, next_touch, keys[index])
        while touch >= oldest:
            owner = touches.owner[touch & ring_mask]
            ranks, past = all_ranks[owner & past_mask], all_past[owner & past_mask]
            if may_overlap(rule, place, ranks):
                waits = not len(roles) or bool(
                    (roles[index] | np.int64(touches.marks[touch & ring_mask])) & C.SEARCHED
                )
                known = past[C.H_MARK]
                if waits and not conflict <= known <= conflict + _UNCERTAIN and known != stamp:
                    past[C.H_MARK] = stamp
                    counts[C.E_WAITS] += 1
                if not listing:
                    break
            elif same_run(rule, place, ranks) or rule == C.CLOCK:
                break
            distance = touches.distance[touch & ring_mask]
            if distance == 0:
                break
            touch -= distance


@borrowing
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
