"""The longest chain of dependent transactions, and what it is made of.

A ring keeps, per recent transaction, which one it waited for and why. When the end of the
longest chain so far is about to age out of the ring's younger half, the chain is traced and kept
as its first and last links and a count per reason; so at least half a ring of links is always
traced, and memory stays bounded. A chain longer than that is described by its last part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vocabulary.audit_result import Blocker, PathLink, TransactionRef

RING_MAX = 100_000
LINKS_SHOWN = 100
"""Links listed at either end of the path."""
BLOCKERS_SHOWN = 20

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
    """A chain, first transaction first, as far back as the ring reached."""

    links: tuple[PathLink, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    traced: int = 0
    """Transactions the blockers were counted over."""
    whole: bool = True
    """False if the chain began before what the ring still held."""


class CriticalPath:
    """Follows the longest chain while the log is read."""

    def __init__(self, ring_max: int = RING_MAX) -> None:
        self._ring_max = ring_max
        self._ring: dict[int, _Link] = {}
        self._end = 0
        self._end_time = 0
        self._traced: TracedPath | None = None

    def observe(
        self, ref: TransactionRef, waits_for: int, cause: Cause, work: int, finish: int
    ) -> None:
        """Add a transaction that waited for ``waits_for`` (an ordinal, 0 for none)."""
        ring = self._ring
        ring[ref.ordinal] = _Link(ref, waits_for, cause, work)
        if finish > self._end_time:
            self._end, self._end_time = ref.ordinal, finish
            self._traced = None
        if len(ring) > self._ring_max:
            del ring[next(iter(ring))]
        if self._traced is None and self._end <= ref.ordinal - self._ring_max // 2:
            self._traced = self._trace()

    def trace(self) -> TracedPath:
        """Return the longest chain of the log so far."""
        return self._traced if self._traced is not None else self._trace()

    def _trace(self) -> TracedPath:
        last: list[_Link] = []
        reasons: Counter[Cause] = Counter()
        newest_first: list[_Link] = []
        ordinal = self._end
        while ordinal:
            link = self._ring.get(ordinal)
            if link is None:
                break
            newest_first.append(link)
            ordinal = link.waits_for
        whole = ordinal == 0
        newest_first.reverse()
        for link in newest_first:
            if link.waits_for:
                reasons[link.cause] += 1
        last = newest_first
        if len(last) > 2 * LINKS_SHOWN:
            last = last[:LINKS_SHOWN] + last[-LINKS_SHOWN:]
        count = len(newest_first)
        ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        return TracedPath(
            links=tuple(
                PathLink(
                    transaction=link.ref,
                    waits_for=link.waits_for,
                    because=link.cause[1],
                    work=link.work,
                )
                for link in last
            ),
            blockers=tuple(
                Blocker(kind=kind, name=name, transactions=number, share=round(number / count, 4))
                for (kind, name), number in ranked[:BLOCKERS_SHOWN]
            ),
            traced=count,
            whole=whole,
        )
