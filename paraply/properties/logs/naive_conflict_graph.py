"""Safety by definition: one graph over every pair.

The quadratic oracle and baseline of the linear judge. It shares no code with
:mod:`paraply.properties.logs.overlap_rules` or :mod:`paraply.properties.logs.conflict_index`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import networkx as nx

from paraply.properties.logs.dependency_safety import Touches, get_touches
from paraply.properties.start_rule import must_wait
from paraply.vocabulary.log import LoggedTransaction

LOGICAL_CLOCK = "logical-clock"
COMMIT_GROUP = "commit-group"

MayOverlap = Callable[[int, int], bool]
"""Whether the second may start before the first commits."""


@dataclass(slots=True, kw_only=True)
class NaiveResult:
    """The definition's results; pairs are (earlier, later) ordinals."""

    allowed: set[tuple[int, int]] = field(default_factory=set)
    violating: set[tuple[int, int]] = field(default_factory=set)
    conflicting: set[tuple[int, int]] = field(default_factory=set)
    waiting: set[tuple[int, int]] = field(default_factory=set)
    """Those that overlap without conflict, and whose row locks may meet."""
    undecided: set[tuple[int, str]] = field(default_factory=set)
    """Later ordinals of overlaps, and the tables of which both may change a row."""
    critical_path: int = 0
    """Work on the longest row-conflict chain."""


def check_all_pairs(transactions: Sequence[LoggedTransaction], applier: str) -> NaiveResult:
    """Return overlapping pairs, conflicting pairs, and both."""
    whole = [txn for txn in transactions if txn.complete]
    overlap = _overlap_by_clock if applier == LOGICAL_CLOCK else _overlap_by_group
    may_overlap = overlap(whole)
    touches = [get_touches(txn) for txn in whole]
    result = NaiveResult()
    graph = nx.DiGraph()
    work = [1 + len(txn.rows) for txn in whole]
    for later, txn in enumerate(whole):
        graph.add_node(later)
        ours = touches[later]
        our_reads = ours.writes.keys() | ours.reads.keys()
        for earlier in range(later):
            theirs = touches[earlier]
            by_key = bool(
                theirs.writes.keys() & our_reads or theirs.reads.keys() & ours.writes.keys()
            )
            by_definition = bool(
                theirs.redefinitions & (ours.redefinitions | ours.uses)
                or theirs.uses & ours.redefinitions
            )
            pair = (whole[earlier].ordinal, txn.ordinal)
            overlaps = may_overlap(earlier, later)
            if overlaps:
                result.allowed.add(pair)
            if by_key or by_definition:
                result.conflicting.add(pair)
                if overlaps:
                    result.violating.add(pair)
            elif overlaps and _may_wait(theirs, ours):
                result.waiting.add(pair)
            if overlaps:
                unknown = (theirs.blurred & ours.met) | (ours.blurred & theirs.met)
                result.undecided |= {(txn.ordinal, table) for table in unknown}
            if by_key or txn.is_barrier or whole[earlier].is_barrier:
                graph.add_edge(earlier, later, weight=work[later])
    if whole:
        # Edge weights are the work of their end; a source node adds that of the beginning.
        graph.add_node(-1)
        for node in range(len(whole)):
            graph.add_edge(-1, node, weight=work[node])
        result.critical_path = int(nx.dag_longest_path_length(graph))
    return result


def _may_wait(earlier: Touches, later: Touches) -> bool:
    """Return whether one's row lock may meet a change of the other that commutes with it."""
    searched = (earlier.searched | later.searched) & earlier.unkeyed & later.unkeyed
    locked = earlier.locks.keys() & later.writes.keys()
    return bool(searched or locked or later.locks.keys() & earlier.writes.keys())


def _overlap_by_clock(transactions: Sequence[LoggedTransaction]) -> MayOverlap:
    runs, run, last, clock = [], 0, 0, None
    for txn in transactions:
        number, parent = txn.sequence_number, txn.last_committed
        if txn.clock != clock:
            run, last, clock = run + 1, 0, txn.clock
        if number is None or parent is None or not 0 <= parent < number or number <= last:
            # All transactions wait before and after it.
            runs.append(run + 1)
            run, last = run + 2, 0
        else:
            runs.append(run)
            last = number

    def may_overlap(earlier: int, later: int) -> bool:
        number = transactions[earlier].sequence_number
        parent = transactions[later].last_committed
        return (
            runs[earlier] == runs[later]
            and number is not None
            and parent is not None
            and not must_wait(parent, number)
        )

    return may_overlap


def _overlap_by_group(transactions: Sequence[LoggedTransaction]) -> MayOverlap:
    def may_overlap(earlier: int, later: int) -> bool:
        first = transactions[earlier]
        if first.commit_id is None:
            return False
        return all(
            (txn.commit_id, txn.clock) == (first.commit_id, first.clock) and "ddl" not in txn.flags
            for txn in transactions[earlier : later + 1]
            if txn.domain == first.domain
        ) and (transactions[later].domain == first.domain)

    return may_overlap
