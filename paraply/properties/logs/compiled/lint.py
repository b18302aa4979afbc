"""Lint of batches: at once if nothing in a batch is worth a finding.

That is so if one origin numbers all its transactions without a hole, its timestamps are in order,
and no clock goes back. Its first transaction is checked by the readable rules, which also set
everything that the others are compared with.
"""

from __future__ import annotations

from itertools import repeat

import numpy as np

from paraply.properties.logs.compiled.batches import BatchParts, Ints
from paraply.properties.logs.log_lint import CLOCK_SKEW_S, CommitGroupLint, LogLint
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.log import LoggedTransaction

REGULAR_MIN = 16
"""Transactions of a batch that is worth the arrays."""


def lint_batch(lint: LogLint, parts: BatchParts) -> None:
    """Check a batch, whose transactions are all judged or all passed over."""
    count = len(parts.row_ends)
    # Parts of a log also watch borders.
    if (
        type(lint) is not LogLint
        or count < REGULAR_MIN
        or not _is_regular(parts, origins := parts.origins, clocks := parts.clocks)
    ):
        for txn in parts.headers():
            lint.observe(txn)
        return
    first, last = parts.headers((0, count - 1))
    lint.observe(first)
    rest = range(1, count)
    _, times, committed = clocks.T
    if not _goes_on(lint, first, parts, origins, times, committed):
        for txn in parts.headers(rest):
            lint.observe(txn)
        return
    _take_numbers(lint, int(origins[-1, -1]), first, last)
    _take_groups(lint.groups, parts, last)
    lint._time_s = max(lint._time_s, int(times.max()))
    lint._committed_at_us = max(lint._committed_at_us, int(committed.max()))


def _is_regular(parts: BatchParts, origins: Ints, clocks: Ints) -> bool:
    *named, numbers = origins.T
    if any((column != column[0]).any() for column in named) or numbers[0] < 0:
        return False
    if (np.diff(numbers) != 1).any():
        return False
    last_committed, sequence = parts.last_committed, parts.sequence_number
    if sequence[0] > 0:
        in_order = (np.diff(sequence) == 1).all() and (last_committed > 0).all()
        if not in_order or (last_committed >= sequence).any():
            return False
    elif (sequence >= 0).any():
        return False
    return bool((clocks[:, 0] == clocks[0, 0]).all())


def _goes_back(times: Ints, skew: int) -> bool:
    known = times[times > 0]
    return bool((known < np.maximum.accumulate(known) - skew).any())


def _goes_on(
    lint: LogLint, first: LoggedTransaction, parts: BatchParts, origins: Ints, times: Ints,
    committed: Ints,
) -> bool:  # fmt: skip
    """Return whether clocks, and what is known of earlier batches, stay in order."""
    gtids, clock = lint._gtids, lint._clock
    number, last_number = origins[[0, -1], -1].tolist()
    if first.gtid:
        seen = gtids._numbers[_origin(first)]
        if not seen.may_run_to(number, last_number):
            return False
        if first.domain is not None and gtids._highest_of_domain[first.domain][0] != number:
            return False
    elif gtids._named:
        return False
    if parts.sequence_number[0] > 0:
        unseen = (parts.last_committed[1:] < clock._first - 1).any()
        if clock._last != first.sequence_number or unseen:
            return False
    elif clock._stamped:
        return False
    return not (
        _goes_back(np.append(lint._time_s, times), CLOCK_SKEW_S)
        or _goes_back(np.append(lint._committed_at_us, committed), CLOCK_SKEW_S * 1_000_000)
    )


def _origin(txn: LoggedTransaction) -> str:
    return txn.gtid.rpartition(":" if txn.domain is None else "-")[0]


def _take_numbers(
    lint: LogLint, number: int, first: LoggedTransaction, last: LoggedTransaction
) -> None:
    if first.gtid:
        lint._gtids._numbers[_origin(first)].run_to(number)
        if first.domain is not None:
            lint._gtids._highest_of_domain[first.domain] = (number, last.gtid)
    if last.sequence_number is not None:
        lint._clock._last = last.sequence_number
        lint._clock._last_ref = get_reference(last)


def _take_groups(groups: CommitGroupLint, parts: BatchParts, last: LoggedTransaction) -> None:
    """Follow the commit groups of all but the first transaction."""
    count, counts = len(parts.row_ends), int(groups._findings.is_judged(last))
    is_stamped = bool(parts.sequence_number[0] > 0)
    ids = parts.last_committed if is_stamped else parts.commit_id
    begins = np.flatnonzero((ids[1:] != ids[:-1]) | (ids[1:] < 0)) + 1
    if is_stamped:
        # Only commit ids are looked up again, so that sizes are all that counts.
        ends = np.append(begins, count)
        groups._size += counts * (int(ends[0]) - 1)
        sizes = counts * np.diff(ends)
        if len(sizes):
            _count_sizes(groups, np.append(groups._size, sizes[:-1]))
            groups._group, groups._size = (parts.clock, int(ids[-1])), int(sizes[-1])
        groups._previous = get_reference(last)
        return
    sizes, named = counts * np.diff(np.append(begins, count)), ids[begins] >= 0
    told = [(parts.clock, number) for number in ids[begins][named].tolist()]
    if _comes_back(groups, told):
        for txn in parts.headers(range(1, count)):
            groups.observe(txn)
        return
    ends = np.append(begins, count) - 1
    if ends[0]:
        groups._size += counts * int(ends[0])
        groups._single = None
        groups._previous = get_reference(*parts.headers((int(ends[0]),)))
    if not len(begins):
        return
    groups._close()
    _count_sizes(groups, sizes[:-1])
    closed = named[:-1]
    for txn in parts.headers(begins[:-1][closed & (sizes[:-1] == 1)].tolist()):
        groups.single_members.note(txn)
    kept = parts.kept(ends[1:-1][closed])
    groups.note_closed(zip(told, zip(repeat(kept), range(len(kept))), strict=False))
    groups._group = told[-1] if named[-1] else None
    groups._size = int(sizes[-1])
    groups._single = last if named[-1] and sizes[-1] == 1 else None
    groups._previous = get_reference(last)


def _count_sizes(groups: CommitGroupLint, sizes: Ints) -> None:
    """Count closed groups by their judged transactions, if they have any."""
    for size, number in zip(*np.unique(sizes[sizes > 0], return_counts=True), strict=True):
        groups._sizes[int(size)] = groups._sizes.get(int(size), 0) + int(number)


def _comes_back(groups: CommitGroupLint, told: list[tuple[int, int]]) -> bool:
    """Return whether one of these groups was closed, or would be before its last member."""
    known = {groups._group, *told}
    # The other way round, all closed groups would be looked up.
    return len(known) <= len(told) or not groups._closed.keys().isdisjoint(known)
