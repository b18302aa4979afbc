"""Judges a replica while both logs grow: each transaction once, unchanged and in order.

The growing twin of :mod:`paraply.properties.two_logs.identity`. Its findings depend on both logs
only, and not on how far either was read when: a judge resumed from a :class:`FollowingState`
finds the rest of what an uninterrupted one finds.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, Generic, TypeVar

from paraply.vocabulary.gtid_names import GtidNames

Content = TypeVar("Content")

NOT_COME = "its statement on a table did not come: filtered on purpose, or lost"
ALONE = "its statement on a table is in the target's log alone"
LOST_MAX = 100_000
"""Missing names kept, to recognise a late one."""


class Kind(StrEnum):
    """What was found."""

    MISSING = "missing"
    LATE = "late"
    """It came after it had counted as missing."""
    ERRANT = "errant"
    """It is not in the source's log."""
    TWICE = "twice"
    CHANGED = "changed"
    INVERTED = "inverted"
    """After a later transaction with a common row."""
    NOT_PREFIX = "not-prefix"
    """Consecutive target states that are no source state."""
    DOUBT = "doubt"
    """Something cannot be decided."""


@dataclass(slots=True, kw_only=True)
class Followed(Generic[Content]):
    """A named transaction; ``group`` promises an order (MariaDB domain)."""

    name: str
    rows: int
    """Rows to judge."""
    group: Hashable = 0
    defines: bool = False
    """Whether a statement of it may define a judged table (TRUNCATE, ALTER)."""
    weight: int = 0
    """Memory it takes, in any unit."""
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[Content]):
    """A finding with its transactions.

    ``other``: a later source transaction that came before; for a missing one, the present one,
    whose copy is ``target``.
    """

    kind: Kind
    source: Followed[Content] | None = None
    target: Followed[Content] | None = None
    other: Followed[Content] | None = None
    text: str = ""
    first: str = ""
    """First and last target transaction of a stretch."""
    last: str = ""
    commits: int = 0


@dataclass(slots=True, kw_only=True)
class Counts:
    """Transactions so far."""

    matched: int = 0
    rows_matched: int = 0
    missing: int = 0
    late: int = 0
    errant: int = 0
    errant_without_rows: int = 0
    twice: int = 0
    changed: int = 0
    inverted: int = 0
    doubts: int = 0
    filtered: int = 0
    """Absent at the target, without judged rows."""
    descents: int = 0
    """Target commits directly after a later source commit."""
    not_prefix: int = 0
    """Target states that are no source state."""


@dataclass(slots=True, kw_only=True)
class FollowingState:
    """Everything that later findings depend on; plain data."""

    low: int = 0
    """Source transactions up to this number are settled."""
    settled: GtidNames = field(default_factory=GtidNames)
    """Their names, with those from before the start."""
    above: dict[str, str] = field(default_factory=dict)
    """State of names after ``low`` that are settled, too."""
    gaps: dict[str, int] = field(default_factory=dict)
    """Overtaken names: matched transactions when they were."""
    lost: list[str] = field(default_factory=list)
    highest: int = 0
    highest_of_group: dict[Hashable, int] = field(default_factory=dict)
    previous: int = 0
    stretch: tuple[str, str, int] | None = None
    counts: Counts = field(default_factory=Counts)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        data = {name: getattr(self, name) for name in self.__slots__}
        data["settled"] = self.settled.as_json()
        data["counts"] = asdict(self.counts)
        data["highest_of_group"] = list(self.highest_of_group.items())
        return data

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> FollowingState:
        """Return the state of :meth:`as_json`."""
        stretch = data["stretch"]
        return cls(**data | {
            "settled": GtidNames.of_json(data["settled"]),
            "counts": Counts(**data["counts"]),
            "highest_of_group": dict(data["highest_of_group"]),
            "stretch": None if stretch is None else tuple(stretch),
        })  # fmt: skip


_WAITING, _CAME, _LOST, _SKIPPED = "waiting", "came", "lost", "skipped"


@dataclass(slots=True)
class _Slot(Generic[Content]):
    """A source transaction after the low-water mark."""

    entry: Followed[Content]
    state: str = _WAITING


Compare = Callable[[Content, Content], str]
"""Returns how the target's transaction differs, or an empty text."""
KeysOf = Callable[[Content], frozenset[Hashable]]


class FollowingJudge(Generic[Content]):
    """Judges target commits as they come.

    ``patience``: a transaction is missing when so many others came after a later one of its group.
    """

    def __init__(
        self,
        *,
        compare: Compare[Content],
        keys_of: KeysOf[Content],
        patience: int,
        state: FollowingState | None = None,
    ) -> None:
        state = state or FollowingState()
        self.counts = state.counts
        self.settled = state.settled
        self.weight = 0
        """Of all transactions kept."""
        self.read = state.low
        """Number of the last source transaction read."""
        self._compare = compare
        self._keys_of = keys_of
        self._patience = patience
        self._low = state.low
        self._open: OrderedDict[int, _Slot[Content]] = OrderedDict()
        self._by_name: dict[str, int] = {}
        self._resumed = dict(state.above)
        self._resumed_gaps = dict(state.gaps)
        self._gaps: list[tuple[int, int]] = []
        self._holes: set[int] = set()
        self._lost: OrderedDict[str, None] = OrderedDict.fromkeys(state.lost)
        self._highest = state.highest
        self._highest_of_group = dict(state.highest_of_group)
        self._previous = state.previous
        self._stretch = state.stretch

    # Reading

    def take_source(self, entry: Followed[Content]) -> None:
        """Take the next transaction of the source's log."""
        name = entry.name
        if name in self._by_name or name in self.settled:
            return
        self.read += 1
        at = self.read
        slot = _Slot(entry, self._resumed.pop(name, _WAITING))
        self._open[at] = slot
        self._by_name[name] = at
        self.weight += entry.weight
        if slot.state != _WAITING:
            return
        if at < self._highest and entry.rows:
            self._holes.add(at)
        since = self._resumed_gaps.pop(name, None)
        if since is not None:
            heapq.heappush(self._gaps, (since, at))

    def is_ready_for(self, name: str) -> bool:
        """Return whether enough of the source was read to judge a target transaction."""
        if self.read < self._highest:
            return False
        return name in self._by_name or name in self.settled

    @property
    def is_behind_itself(self) -> bool:
        """Return whether a resumed judge has yet to read again what it had read."""
        return self.read < self._highest

    @property
    def open(self) -> int:
        """Return the number of transactions kept."""
        return len(self._open)

    @property
    def behind(self) -> int:
        """Return how many source transactions read have not come."""
        return sum(slot.state == _WAITING for slot in self._open.values())

    def waiting(self, limit: int) -> list[Followed[Content]]:
        """Return the first source transactions that have not come."""
        left = (slot.entry for slot in self._open.values() if slot.state == _WAITING)
        return list(islice(left, limit))

    def gaps(self) -> list[Followed[Content]]:
        """Return transactions that a later one of their group has overtaken."""
        return [
            self._open[at].entry
            for _, at in sorted(self._gaps)
            if at in self._open and self._open[at].state == _WAITING
        ]

    @property
    def stretch(self) -> tuple[str, str, int] | None:
        """Return first, last and number of the present states that are no source state."""
        return self._stretch

    # Judging

    def take_target(self, entry: Followed[Content]) -> Iterator[Found[Content]]:
        """Judge the next transaction of the target's log.

        A name that :meth:`is_ready_for` never accepted counts as absent from the source.
        """
        at = self._by_name.get(entry.name)
        slot = None if at is None else self._open[at]
        if slot is not None and slot.state == _WAITING:
            assert at is not None
            yield from self._match(at, slot, entry)
            return
        if slot is None and entry.name not in self.settled:
            yield from self._errant(entry)
            return
        source = None if slot is None else slot.entry
        if entry.name in self._lost:
            del self._lost[entry.name]
            self.counts.late += 1
            yield Found(kind=Kind.LATE, source=source, target=entry)
        elif slot is not None and slot.state == _SKIPPED:
            slot.state = _CAME
        elif entry.rows:
            self.counts.twice += 1
            yield Found(kind=Kind.TWICE, source=source, target=entry)

    def _errant(self, entry: Followed[Content]) -> Iterator[Found[Content]]:
        if not entry.rows:
            self.counts.errant_without_rows += 1
            if entry.defines:
                yield Found(kind=Kind.DOUBT, target=entry, text=ALONE)
            return
        self.counts.errant += 1
        yield Found(kind=Kind.ERRANT, target=entry)

    def _match(
        self, at: int, slot: _Slot[Content], target: Followed[Content]
    ) -> Iterator[Found[Content]]:
        counts, source = self.counts, slot.entry
        counts.matched += 1
        counts.rows_matched += source.rows
        slot.state = _CAME
        self._holes.discard(at)
        how = self._compare(source.content, target.content)
        if how:
            counts.changed += 1
            yield Found(kind=Kind.CHANGED, source=source, target=target, text=how)
        counts.descents += at < self._previous
        self._previous = at
        if at < self._highest:
            other = self._overtaken_by(at, source)
            if other is not None:
                counts.inverted += 1
                yield Found(kind=Kind.INVERTED, source=source, target=target, other=other)
        self._rise(at, source.group)
        if self._gaps:
            yield from self._give_up(source, target)
        if self._holes or self._stretch is not None:
            yield from self._judge_prefix(target)
        self._settle()

    def _overtaken_by(self, at: int, source: Followed[Content]) -> Followed[Content] | None:
        keys = self._keys_of(source.content)
        for place in range(at + 1, self._highest + 1):
            slot = self._open.get(place)
            if (
                slot is not None
                and slot.state == _CAME
                and not keys.isdisjoint(self._keys_of(slot.entry.content))
            ):
                return slot.entry
        return None

    def _rise(self, at: int, group: Hashable) -> None:
        """Note what the commit at ``at`` overtakes."""
        if at > self._highest:
            for place in range(max(self._highest, self._low) + 1, at):
                slot = self._open[place]
                if slot.state == _WAITING and slot.entry.rows:
                    self._holes.add(place)
            self._highest = at
        before = self._highest_of_group.get(group, 0)
        for place in range(max(before, self._low) + 1, at):
            slot = self._open[place]
            if slot.state == _WAITING and slot.entry.group == group:
                heapq.heappush(self._gaps, (self.counts.matched, place))
        self._highest_of_group[group] = max(before, at)

    def _give_up(
        self, source: Followed[Content], target: Followed[Content]
    ) -> Iterator[Found[Content]]:
        """Find what is missing for good, and judge on without it."""
        while self._gaps and self._gaps[0][0] + self._patience <= self.counts.matched:
            _, at = heapq.heappop(self._gaps)
            slot = self._open.get(at)
            if slot is None or slot.state != _WAITING:
                continue
            self._holes.discard(at)
            if not slot.entry.rows:
                slot.state = _SKIPPED
                self.counts.filtered += 1
                if slot.entry.defines:
                    yield Found(kind=Kind.DOUBT, source=slot.entry, target=target, text=NOT_COME)
                continue
            slot.state = _LOST
            self._lost[slot.entry.name] = None
            if len(self._lost) > LOST_MAX:
                self._lost.popitem(last=False)
            self.counts.missing += 1
            yield Found(kind=Kind.MISSING, source=slot.entry, target=target, other=source)

    def _judge_prefix(self, target: Followed[Content]) -> Iterator[Found[Content]]:
        if self._holes:
            self.counts.not_prefix += 1
            first, _, commits = self._stretch or (target.name, "", 0)
            self._stretch = first, target.name, commits + 1
        elif self._stretch is not None:
            first, last, commits = self._stretch
            self._stretch = None
            yield Found(kind=Kind.NOT_PREFIX, first=first, last=last, commits=commits)

    def _settle(self) -> None:
        settled = []
        for at, slot in self._open.items():
            if slot.state == _WAITING:
                break
            settled.append(at)
        for at in settled:
            entry = self._open.pop(at).entry
            del self._by_name[entry.name]
            self._low = at
            self.weight -= entry.weight
            self.settled.add(entry.name)

    def state(self) -> FollowingState:
        """Return what a later judge needs; not while :attr:`is_behind_itself`."""
        waiting_gaps = {
            self._open[at].entry.name: since
            for since, at in self._gaps
            if at in self._open and self._open[at].state == _WAITING
        }
        return FollowingState(
            low=self._low,
            settled=self.settled.copy(),
            above={
                slot.entry.name: slot.state
                for slot in self._open.values()
                if slot.state != _WAITING
            },
            gaps=waiting_gaps,
            lost=list(self._lost),
            highest=self._highest,
            highest_of_group=dict(self._highest_of_group),
            previous=self._previous,
            stretch=self._stretch,
            counts=Counts(**asdict(self.counts)),
        )
