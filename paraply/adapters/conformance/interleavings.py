"""Enumerate a log's schedules, except for the order of independent steps.

Sleep sets (Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996) leave
out schedules that differ from an earlier one only in the order of adjacent independent steps. Two
steps are independent if they commute at the database and in every judge: the answers to ``begin``
and ``row`` of transactions without a common item, and such an answer beside a delivery. The order
of commits, and of a commit beside a begin or a delivery, always counts. The applier is assumed to
choose alike after either order of independent steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from paraply.adapters.conformance.adversaries import Offer, OfferKind
from paraply.adapters.conformance.source import SourceLog
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionId

T = TypeVar("T")


class _Step(NamedTuple):
    """An offer's content. Which worker asks is the applier's chance."""

    kind: OfferKind
    request: str
    members: tuple[TransactionId, ...]


@dataclass(slots=True)
class _Node:
    """A choice on the path.

    Attributes:
        left: steps still to be taken here.
        asleep: steps whose schedules others cover.
    """

    steps: frozenset[_Step]
    taken: _Step
    left: list[_Step]
    asleep: frozenset[_Step]


@dataclass(frozen=True, slots=True)
class Explored:
    """What an exploration covered.

    Attributes:
        runs: schedules, no two equal but for independent steps.
        repeated: runs that ended as another one.
        left: branches not entered, each with one schedule or more.
        is_repeatable: whether equal choices led to equal offers.
    """

    runs: int
    repeated: int
    left: int
    is_repeatable: bool

    @property
    def is_exhaustive(self) -> bool:
        """Return whether no schedule is left."""
        return self.is_repeatable and not self.left


class InterleavedSchedule(Schedule):
    """Follows and extends a path of choices."""

    __slots__ = ("_has_strayed", "_independence", "_path", "_place", "is_repetition")

    def __init__(self, path: list[_Node], independence: Independence) -> None:
        super().__init__()
        self.is_repetition = False
        """Whether only sleeping steps were left."""
        self._path = path
        self._independence = independence
        self._has_strayed = False
        self._place = 0

    @property
    def is_faithful(self) -> bool:
        """Return whether the offers of the whole path came again."""
        return not self._has_strayed and self._place == len(self._path)

    def choose(self, options: int | Sequence[T], label: str = "") -> T | int:  # type: ignore[override]
        """Return one of the offers."""
        assert not isinstance(options, int)
        index = self._index([_step(one) for one in options if isinstance(one, Offer)])
        if len(options) > 1:
            self.choices.append(index)
        return options[index]

    def choose_index(self, count: int, label: str = "") -> int:
        """Refuse: steps have content, no numbers."""
        raise NotImplementedError(label)

    def _index(self, steps: list[_Step]) -> int:
        if self.is_repetition or self._has_strayed:
            return 0
        if self._place == len(self._path):
            asleep = self._independence.asleep_after(self._path)
            awake = [one for one in steps if one not in asleep]
            if not awake:
                self.is_repetition = True
                return 0
            # What commutes with all that others may do needs no alternative.
            first = next(filter(self._independence.is_free, awake), None)
            left = [] if first is not None else awake[1:]
            self._path.append(_Node(frozenset(steps), first or awake[0], left, asleep))
        node = self._path[self._place]
        if node.steps != frozenset(steps):
            self._has_strayed = True
            return 0
        self._place += 1
        return steps.index(node.taken)


class Independence:
    """Which steps of a log commute."""

    def __init__(self, log: SourceLog) -> None:
        self._items = {
            entry.transaction.id: entry.transaction.write_set | {*entry.reads}
            for entry in log.entries
            if entry.transaction is not None
        }
        # Referential actions change rows that no item names.
        self._rows_commute = not any(one.foreign_keys for one in log.database.tables.schemas)
        users = Counter(item for items in self._items.values() for item in items)
        self._free = {
            number
            for number, items in self._items.items()
            if self._rows_commute and items and all(users[item] == 1 for item in items)
        }

    def asleep_after(self, path: Sequence[_Node]) -> frozenset[_Step]:
        """Return the steps that would only repeat an explored order."""
        if not path:
            return frozenset()
        return frozenset(one for one in path[-1].asleep if self._commute(one, path[-1].taken))

    def is_free(self, step: _Step) -> bool:
        """Return whether a step commutes with all steps of other transactions."""
        is_row = step.kind is OfferKind.ANSWER and step.request == "row"
        return is_row and self._free.issuperset(step.members)

    def _commute(self, one: _Step, other: _Step) -> bool:
        kinds = {one.kind, other.kind}
        if kinds == {OfferKind.ANSWER, OfferKind.DELIVER}:
            answer = one if one.kind is OfferKind.ANSWER else other
            return answer.request in ("begin", "row")
        requests = {one.request, other.request}
        if kinds != {OfferKind.ANSWER} or not requests <= {"begin", "row", "commit"}:
            return False
        if "begin" in requests:
            return "commit" not in requests
        return "row" in requests and self._rows_commute and not self._have_common_items(one, other)

    def _have_common_items(self, one: _Step, other: _Step) -> bool:
        return any(
            self._items[mine] & self._items[theirs]
            for mine in one.members
            for theirs in other.members
        )


class Interleavings:
    """The schedules of a log, at most ``runs_max``. Run each before you request the next."""

    def __init__(self, log: SourceLog, runs_max: int | None) -> None:
        self.explored = Explored(0, 0, 1, is_repeatable=True)
        self._independence = Independence(log)
        self._runs_max = runs_max

    def __iter__(self) -> Iterator[InterleavedSchedule]:
        """Yield each schedule once, up to one that cannot be repeated."""
        path: list[_Node] = []
        runs = repeated = 0
        while self._runs_max is None or runs + repeated < self._runs_max:
            schedule = InterleavedSchedule(path, self._independence)
            yield schedule
            repeated += schedule.is_repetition
            runs += not schedule.is_repetition
            left = sum(len(node.left) for node in path)
            self.explored = Explored(runs, repeated, left, schedule.is_faithful)
            if not (left and schedule.is_faithful):
                return
            while not path[-1].left:
                path.pop()
            node = path[-1]
            node.asleep |= {node.taken}
            node.taken = node.left.pop(0)


def _step(offer: Offer) -> _Step:
    return _Step(offer.kind, offer.request, offer.members)
