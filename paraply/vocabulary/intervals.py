"""Immutable sets of integers as sorted, disjoint, non-adjacent closed intervals.

Merging is linear, lookup is a bisection, and equal sets are equal objects.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class IntervalSet:
    """``len()`` fails above ``sys.maxsize``; :attr:`count` does not."""

    __slots__ = ("_firsts", "_lasts")

    _firsts: tuple[int, ...]
    _lasts: tuple[int, ...]

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        """Intervals may overlap; ``ValueError`` if one is empty.

        >>> IntervalSet([(7, 9), (1, 3), (4, 5)])
        IntervalSet([(1, 5), (7, 9)])
        """
        ordered = sorted(intervals)
        for first, last in ordered:
            if last < first:
                raise ValueError(f"interval {first}-{last} ends before it starts")
        self._firsts, self._lasts = _coalesce(ordered)

    @classmethod
    def _of(cls, firsts: tuple[int, ...], lasts: tuple[int, ...]) -> IntervalSet:
        made = object.__new__(cls)
        made._firsts, made._lasts = firsts, lasts
        return made

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._firsts, self._lasts, strict=True)

    @property
    def interval_count(self) -> int:
        """Return the number of intervals."""
        return len(self._firsts)

    @property
    def count(self) -> int:
        """Return the number of integers."""
        return sum(self._lasts) - sum(self._firsts) + len(self._firsts)

    @property
    def bounds(self) -> tuple[int, int]:
        """Return least and greatest number; ``IndexError`` if empty."""
        return self._firsts[0], self._lasts[-1]

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        index = bisect_right(self._firsts, number) - 1
        return index >= 0 and number <= self._lasts[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IntervalSet):
            return NotImplemented
        return self._firsts == other._firsts and self._lasts == other._lasts

    def __hash__(self) -> int:
        return hash((self._firsts, self._lasts))

    def __or__(self, other: IntervalSet) -> IntervalSet:
        if not self or not other:
            return self or other
        return IntervalSet._of(*_coalesce(_merged(self, other)))

    def __and__(self, other: IntervalSet) -> IntervalSet:
        firsts: list[int] = []
        lasts: list[int] = []
        mine, theirs = iter(self), iter(other)
        a, b = next(mine, None), next(theirs, None)
        while a is not None and b is not None:
            first, last = max(a[0], b[0]), min(a[1], b[1])
            if first <= last:
                firsts.append(first)
                lasts.append(last)
            if a[1] <= b[1]:
                a = next(mine, None)
            else:
                b = next(theirs, None)
        return IntervalSet._of(tuple(firsts), tuple(lasts))

    def __sub__(self, other: IntervalSet) -> IntervalSet:
        firsts: list[int] = []
        lasts: list[int] = []
        theirs = iter(other)
        cut = next(theirs, None)
        for first, last in self:
            rest: int | None = first
            while cut is not None and cut[1] < first:
                cut = next(theirs, None)
            while rest is not None and cut is not None and cut[0] <= last:
                if rest < cut[0]:
                    firsts.append(rest)
                    lasts.append(cut[0] - 1)
                if cut[1] >= last:
                    rest = None
                else:
                    rest = cut[1] + 1
                    cut = next(theirs, None)
            if rest is not None:
                firsts.append(rest)
                lasts.append(last)
        return IntervalSet._of(tuple(firsts), tuple(lasts))

    def __le__(self, other: IntervalSet) -> bool:
        theirs = iter(other)
        b = next(theirs, None)
        for first, last in self:
            while b is not None and b[1] < first:
                b = next(theirs, None)
            if b is None or first < b[0] or b[1] < last:
                return False
        return True

    def isdisjoint(self, other: IntervalSet) -> bool:
        """Return whether both share nothing."""
        return not self & other

    def add(self, number: int) -> IntervalSet:
        """Return the set with ``number``.

        >>> IntervalSet([(1, 3), (5, 7)]).add(4)
        IntervalSet([(1, 7)])
        """
        firsts, lasts = self._firsts, self._lasts
        index = bisect_right(firsts, number)
        if index and number <= lasts[index - 1]:
            return self
        joins_left = index > 0 and lasts[index - 1] == number - 1
        joins_right = index < len(firsts) and firsts[index] == number + 1
        head = () if joins_left else (number,)
        tail = () if joins_right else (number,)
        left = index - 1 if joins_left else index
        right = index + 1 if joins_right else index
        return IntervalSet._of(
            firsts[:index] + head + firsts[right:], lasts[:left] + tail + lasts[index:]
        )

    def __repr__(self) -> str:
        return f"IntervalSet({list(self)!r})"


def _merged(a: IntervalSet, b: IntervalSet) -> Iterable[tuple[int, int]]:
    # Sorting two sorted runs is one linear merge, faster than heapq.merge.
    return sorted([*a, *b])


def _coalesce(ordered: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    firsts: list[int] = []
    lasts: list[int] = []
    reach: int | None = None
    for first, last in ordered:
        if reach is not None and first <= reach + 1:
            if last > reach:
                lasts[-1] = reach = last
        else:
            firsts.append(first)
            lasts.append(last)
            reach = last
    return tuple(firsts), tuple(lasts)


EMPTY_INTERVALS = IntervalSet()
