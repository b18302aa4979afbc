"""The longest chain of dependent transactions, and its causes.

A ring keeps predecessors and reasons. Before the chain's end leaves the younger half, a trace keeps
first and last links and counts. Longer chains show their last part, at least half a ring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from paraply.vocabulary.audit_result import Blocker, PathLink, TransactionRef

RING_MAX = 100_000
LINKS_SHOWN = 100
"""Links listed at either end."""
BLOCKERS_SHOWN = 20

L = TypeVar("L")

Cause = tuple[str, str]
"""Kind (``key``, ``table``, ``ddl``, ``statement``, ``metadata``) and name."""

START: Cause = ("metadata", "nothing: it may start at once")


@dataclass(slots=True)
class _Link:
    ref: TransactionRef
    waits_for: int
    cause: Cause
    work: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPath:
    """A chain in order, within the ring."""

    links: tuple[PathLink, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    traced: int = 0
    whole: bool = True
    """False if the ring cut it."""


class CriticalPath:
    """Follows the longest chain during reading."""

    def __init__(self, ring_max: int = RING_MAX) -> None:
        self._ring_max = ring_max
        self._first = 1
        self._ring: dict[int, _Link] = {}
        self._end = 0
        self._end_time = 0
        self._traced: TracedPath | None = None

    def observe(
        self, ref: TransactionRef, waits_for: int, cause: Cause, work: int, finish: int
    ) -> None:
        """Add a transaction that waited for ``waits_for`` (0: none)."""
        ring = self._ring
        ring[ref.ordinal] = _Link(ref, waits_for, cause, work)
        if finish > self._end_time:
            self._end, self._end_time = ref.ordinal, finish
            self._traced = None
        if len(ring) > self._ring_max:
            del ring[next(iter(ring))]
        if self._traced is None and self._end <= ref.ordinal - self._ring_max // 2:
            self._traced = self._trace()

    def begin_at(self, ordinal: int) -> None:
        """Trace no further back than this transaction."""
        self._first, self._traced = ordinal, None

    def tell(self, path: TracedPath) -> None:
        """Set an externally traced chain as longest."""
        self._traced = path

    def trace(self) -> TracedPath:
        """Return the longest chain so far."""
        return self._traced if self._traced is not None else self._trace()

    def _trace(self) -> TracedPath:
        reasons: Counter[Cause] = Counter()
        newest_first: list[_Link] = []
        ordinal = self._end
        while ordinal >= self._first:
            link = self._ring.get(ordinal)
            if link is None:
                break
            newest_first.append(link)
            ordinal = link.waits_for
        whole = ordinal < self._first
        newest_first.reverse()
        for link in newest_first:
            if link.waits_for:
                reasons[link.cause] += 1
        count = len(newest_first)
        return TracedPath(
            links=tuple(
                PathLink(
                    transaction=link.ref,
                    waits_for=link.waits_for,
                    because=link.cause[1],
                    work=link.work,
                )
                for link in first_and_last(newest_first)
            ),
            blockers=ranked(reasons, count),
            traced=count,
            whole=whole,
        )


def first_and_last(links: Sequence[L]) -> Sequence[L]:
    """Return the listed links of a chain."""
    if len(links) <= 2 * LINKS_SHOWN:
        return links
    return (*links[:LINKS_SHOWN], *links[-LINKS_SHOWN:])


def ranked(reasons: Counter[Cause], traced: int) -> tuple[Blocker, ...]:
    """Return the main blockers of a chain."""
    most = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:BLOCKERS_SHOWN]
    return tuple(
        Blocker(kind=kind, name=name, transactions=number, share=round(number / traced, 4))
        for (kind, name), number in most
    )


def one_after_the_other(paths: Iterable[tuple[TracedPath, int]]) -> TracedPath:
    """Concatenate chains, each with its ordinal shift."""
    links: list[PathLink] = []
    reasons: Counter[Cause] = Counter()
    traced, whole = 0, True
    for path, shift in paths:
        links += (
            replace(
                link,
                transaction=replace(link.transaction, ordinal=link.transaction.ordinal + shift),
                waits_for=link.waits_for and link.waits_for + shift,
            )
            for link in path.links
        )
        for blocker in path.blockers:
            reasons[blocker.kind, blocker.name] += blocker.transactions
        traced += path.traced
        whole &= path.whole
    return TracedPath(
        links=tuple(first_and_last(links)),
        blockers=ranked(reasons, traced),
        traced=traced,
        whole=whole,
    )
