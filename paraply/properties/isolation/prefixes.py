"""Prefix consistency: every transaction sees a prefix of the source's log.

A known log order makes the check linear. Without it a gap looks like a stale read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from paraply.properties.isolation.breaches import PrefixImpossible, PrefixWentBack
from paraply.vocabulary.client_history import AccessKind, ClientHistory, DataType, Ending, Key

NOT_SEEN = 0
"""The place before the log; its places count from 1."""


@dataclass(slots=True)
class PrefixJudged:
    """The breaches and counts."""

    impossible: list[PrefixImpossible] = field(default_factory=list)
    went_back: list[PrefixWentBack] = field(default_factory=list)
    reads: int = 0
    """Transactions that read a logged key."""
    sessions_with_two: int = 0
    """Reads after another of their session."""


class _Shown(NamedTuple):
    place: int
    reader: int


@dataclass(slots=True)
class _Log:
    """Places of each key's writers, in log order."""

    data_type: DataType
    places: dict[Key, list[int]] = field(default_factory=dict)
    values: dict[Key, list[Any]] = field(default_factory=dict)
    """Elements of lists in log order."""
    place_after: dict[Key, dict[Any, tuple[int, int | None]]] = field(default_factory=dict)
    """A register value's place and next writer's place."""
    own_place: dict[int, int] = field(default_factory=dict)
    own_key: dict[int, Key] = field(default_factory=dict)


def judge_prefixes(history: ClientHistory) -> PrefixJudged:
    """Decide whether a log prefix explains each transaction's reads.

    Requires a log. Skips aborted and unwritten values, which are separate breaches.
    """
    assert history.log is not None
    log = _index(history)
    judged = PrefixJudged()
    transactions = history.transactions
    by_place = (0, *history.log)
    is_counter = history.data_type is DataType.COUNTER
    shown: dict[str, _Shown] = {}
    for index, transaction in enumerate(transactions):
        if transaction.ending is not Ending.COMMITTED:
            continue
        least, least_key, limit, limit_key, counted = _range(transaction.accesses, log)
        if not counted:
            continue
        judged.reads += 1
        own_place = log.own_place.get(transaction.number)
        # A counter's value before its own increment cannot have its own place.
        is_ahead = own_place is not None and own_place < least + is_counter
        if is_ahead and own_place is not None and (limit is None or own_place < limit):
            # A transaction of the log reads the log before it.
            judged.impossible.append(
                PrefixImpossible(
                    reader=transaction.name, seen=f"T{by_place[least]}", seen_key=least_key,
                    missed=transaction.name, missed_key=log.own_key[transaction.number],
                )
            )  # fmt: skip
        elif limit is not None and limit <= least:
            judged.impossible.append(
                PrefixImpossible(
                    reader=transaction.name, seen=f"T{by_place[least]}", seen_key=least_key,
                    missed=f"T{by_place[limit]}", missed_key=limit_key,
                )
            )  # fmt: skip
        if not transaction.session:
            continue
        before = shown.get(transaction.session)
        if before is None:
            shown[transaction.session] = _Shown(least, index)
            continue
        judged.sessions_with_two += 1
        if limit is not None and limit <= before.place:
            judged.went_back.append(
                PrefixWentBack(
                    session=transaction.session, earlier=transactions[before.reader].name,
                    seen=f"T{by_place[before.place]}", reader=transaction.name,
                    missed=f"T{by_place[limit]}", missed_key=limit_key,
                )
            )  # fmt: skip
        if least > before.place:
            shown[transaction.session] = _Shown(least, index)
    return judged


def _range(accesses: Sequence[Any], log: _Log) -> tuple[int, Key, int | None, Key, bool]:
    """Return the least prefix and the first too long, with keys."""
    least, limit = NOT_SEEN, None
    least_key: Key = ""
    limit_key: Key = ""
    counted = False
    own: dict[Key, tuple[Any, ...]] = {}
    for kind, key, value in accesses:
        if kind is not AccessKind.READ:
            own[key] = (*own.get(key, ()), value)
            continue
        if key not in log.places:
            continue
        if key in own:
            # Its own writes reveal nothing of the log; earlier elements do.
            if not isinstance(value, tuple):
                continue
            if log.data_type is DataType.LIST:
                value = value[: -len(own[key])]
        for begin, end in _allowed(key, value, own.get(key, ()), log):
            counted = True
            if begin > least:
                least, least_key = begin, key
            if end is not None and (limit is None or end < limit):
                limit, limit_key = end, key
    return least, least_key, limit, limit_key, counted


def _allowed(
    key: Key, value: Any, own: Sequence[Any], log: _Log
) -> Iterator[tuple[int, int | None]]:
    known = log.place_after.get(key)
    if known is not None:
        if value in known:
            yield known[value]
        return
    places, values = log.places[key], log.values[key]
    if log.data_type is DataType.SET:
        elements = set(value or ())
        foreign = [pair for pair in zip(places, values, strict=True) if pair[1] not in own]
        yield (
            max((place for place, element in foreign if element in elements), default=NOT_SEEN),
            next((place for place, element in foreign if element not in elements), None),
        )
        return
    if log.data_type is DataType.COUNTER:
        yield from _allowed_sum(value or 0, places, values)
        return
    seen = [] if value is None else list(value)
    count = len(seen)
    if seen == values[:count]:
        begin = places[count - 1] if count else NOT_SEEN
        following = bisect_right(places, begin)
        yield begin, places[following] if following < len(places) else None
        return
    # At the first difference a later element stands in another's place.
    place_of = dict(zip(values, places, strict=True))
    for element, due, place in zip(seen, values, places, strict=False):
        if element != due:
            if element in place_of:
                yield place_of[element], place
            return


def _allowed_sum(
    value: int, places: Sequence[int], sums: Sequence[int]
) -> Iterator[tuple[int, int | None]]:
    at = bisect_left(sums, value)
    if not value:
        yield NOT_SEEN, places[0]
    elif at < len(sums) and sums[at] == value:
        yield places[at], places[at + 1] if at + 1 < len(places) else None
    elif at < len(sums):
        # It shows some of a transaction's increments.
        yield places[at], places[at]


def _index(history: ClientHistory) -> _Log:
    assert history.log is not None
    log = _Log(history.data_type)
    by_number = {transaction.number: transaction for transaction in history.transactions}
    for place, number in enumerate(history.log, start=1):
        for _, key, value in by_number[number].writes:
            log.own_place[number], log.own_key[number] = place, key
            log.places.setdefault(key, []).append(place)
            log.values.setdefault(key, []).append(value)
    if history.data_type is DataType.REGISTER:
        for key, places in log.places.items():
            log.place_after[key] = _register_ranges(places, log.values[key])
    elif history.data_type is DataType.COUNTER:
        for key, places in list(log.places.items()):
            # Only the last increment of a transaction leaves a value that others may read.
            sums = dict(zip(places, accumulate(log.values[key]), strict=True))
            log.places[key], log.values[key] = [*sums], [*sums.values()]
    return log


def _register_ranges(
    places: Sequence[int], values: Sequence[Any]
) -> dict[Any, tuple[int, int | None]]:
    ranges: dict[Any, tuple[int, int | None]] = {None: (NOT_SEEN, places[0])}
    following: int | None = None
    last = None
    for place, value in zip(reversed(places), reversed(values), strict=True):
        if place != last:
            following, last = (last, place)
        ranges[value] = (place, following)
    return ranges
