"""Is a recorded history one that a subject can produce?

A best-first search over schedules. The first run follows the answers of a similar one, and each
ends where its record leaves the given history. The next run deviates once more from one of them: in
turn from the one whose record agreed longest, and from the one with the fewest deviations, because
a choice may show long after it was made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from heapq import heappop, heappush
from types import FunctionType
from typing import NamedTuple, TypeVar, overload

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.biased_schedules import name_of
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction
from paraply.vocabulary.write_set import Item, WriteSet

T = TypeVar("T")

TRIES_MAX = 3_000
AHEAD_MAX = 6
"""Answers of the similar run that may have no counterpart."""
NO_TIME = LogicalTime(0)


class Possible(Enum):
    """The answer; ``UNKNOWN`` after too many tries."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Answer(NamedTuple):
    """A choice of a run: the question, and the option's name."""

    label: str
    name: str


class NotedSchedule(Schedule):
    """Chooses as another schedule does, and keeps the answers."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__()
        self.answers: list[Answer] = []
        self._schedule = schedule
        self.choices = schedule.choices

    @overload
    def choose(self, options: int, label: str = "") -> int: ...

    @overload
    def choose(self, options: Sequence[T], label: str = "") -> T: ...

    def choose(self, options: Sequence[T] | int, label: str = "") -> T | int:
        """Return an option, or a number in ``[0, options)``."""
        made = len(self.choices)
        found: T | int = self._schedule.choose(options, label)
        if len(self.choices) > made:
            self.answers.append(Answer(label, _names(options)[self.choices[made]]))
        return found

    def choose_index(self, count: int, label: str = "") -> int:
        """Return an index of unnamed options."""
        return self.choose(count, label)


class _DeadEndError(Exception):
    """The run has left the given history."""


class _Names:
    """Numbers rows of a schema, and runs of a log's clock, by their first use in a history."""

    def __init__(self) -> None:
        self._rows: dict[Item, Item] = {}
        self._clocks: dict[int, int] = {}

    def numbered(self, one: Transaction) -> Transaction:
        """Return a transaction without hashes and names; it keeps the names of stated rows."""
        clock = self._clocks.setdefault(one.clock, len(self._clocks))
        if _is_hashed(one):
            return replace(one, write_set=frozenset(), clock=clock)
        if one.rows:
            return replace(one, clock=clock)
        for item in sorted(one.write_set - self._rows.keys(), key=str):
            schema, dot, _ = str(item).partition(".")
            self._rows[item] = f"{schema}.{len(self._rows)}" if dot else item
        return replace(one, write_set=self.renamed(one.write_set), clock=clock)

    def renamed(self, items: WriteSet) -> WriteSet:
        """Return items, with numbers of the rows that are known."""
        return frozenset(self._rows.get(item, item) for item in items)


class _Comparison:
    """A record beside a given history.

    ``agreed`` counts its leading events, and ``agreed_transactions`` its leading transactions, that
    are those of the given history.

    Steps without events pass unseen, so only the order of logical times counts. Of hashed items,
    and of the names of rows in their schema, only equality counts.
    """

    def __init__(self, given: History) -> None:
        self.recorder = Recorder()
        self.agreed = self.agreed_transactions = 0
        self._given = given
        self._names = _Names(), _Names()
        self._is_timed = "round_trip_us" in given.header.options

    def agrees(self) -> bool:
        """Return whether the record so far is a prefix of the given history."""
        mine, its = self._names
        made, wanted = self.recorder.transactions, self._given.transactions
        for at in range(self.agreed_transactions, min(len(made), len(wanted))):
            if mine.numbered(made[at]) != its.numbered(wanted[at]):
                break
            self.agreed_transactions += 1
        events, given = self.recorder.events, self._given.events
        for at in range(self.agreed, min(len(events), len(given))):
            if self._seen(events, at, mine) != self._seen(given, at, its):
                break
            self.agreed += 1
        return self.agreed == len(events) and self.agreed_transactions == len(made)

    def is_whole(self) -> bool:
        """Return whether the record is the given history."""
        return (
            self.agrees()
            and len(self.recorder.events) == len(self._given.events)
            and len(self.recorder.transactions) == len(self._given.transactions)
            and self.recorder.is_complete == self._given.is_complete
            and _sharing(self.recorder.transactions) == _sharing(self._given.transactions)
        )

    def _seen(self, events: Sequence[Event], at: int, names: _Names) -> tuple[Event, bool]:
        event = events[at]._replace(items=names.renamed(events[at].items))
        if self._is_timed:
            return event, True
        return event._replace(time=NO_TIME), at == 0 or events[at - 1].time == event.time


def _is_hashed(transaction: Transaction) -> bool:
    return bool(transaction.write_set) and all(isinstance(x, int) for x in transaction.write_set)


def _sharing(transactions: Sequence[Transaction]) -> list[list[int]]:
    """Return which transactions share each hashed item."""
    owners: dict[Item, list[int]] = defaultdict(list)
    for one in transactions:
        for item in one.write_set if _is_hashed(one) else ():
            owners[item].append(one.id)
    return sorted(owners.values())


class _GuidedSchedule(Schedule):
    """Follows a prefix, then the similar run, then first options, while the record agrees."""

    def __init__(
        self, prefix: Sequence[int], hint: Sequence[Answer], agrees: Callable[[], bool]
    ) -> None:
        super().__init__()
        self.counts: list[int] = []
        self._prefix = prefix
        self._hint = hint
        self._agrees = agrees
        self._followed = 0

    @overload
    def choose(self, options: int, label: str = "") -> int: ...

    @overload
    def choose(self, options: Sequence[T], label: str = "") -> T: ...

    def choose(self, options: Sequence[T] | int, label: str = "") -> T | int:
        """Return the next option to try."""
        names = _names(options)
        if len(names) < 2:
            if not names:
                raise ValueError(f"nothing to choose from for {label}")
            index = 0
        else:
            index = self._next(names, label)
        return index if isinstance(options, int) else options[index]

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the next index to try."""
        return self.choose(count, label)

    def _next(self, names: Sequence[str], label: str) -> int:
        if not self._agrees():
            raise _DeadEndError
        at = len(self.choices)
        index = self._preferred(names, label)
        if at < len(self._prefix):
            index = _nth(index, self._prefix[at])
        self.counts.append(len(names))
        self.choices.append(index)
        return index

    def _preferred(self, names: Sequence[str], label: str) -> int:
        """Return the similar run's next answer that is offered, or 0."""
        for place in range(self._followed, min(self._followed + AHEAD_MAX, len(self._hint))):
            answer = self._hint[place]
            if answer.label == label and answer.name in names:
                self._followed = place + 1
                return names.index(answer.name)
        return 0


def _names(options: Sequence[object] | int) -> list[str]:
    if isinstance(options, int):
        return [str(at) for at in range(options)]
    return [_name_of_act(one) or name_of(one, at) for at, one in enumerate(options)]


def _name_of_act(option: object) -> str:
    """Return the place of a function without a label, and what it is bound to."""
    function = getattr(option, "__func__", option)
    if not isinstance(function, FunctionType):
        return ""
    return f"{function.__qualname__} {function.__code__.co_firstlineno} {function.__defaults__}"


def _nth(preferred: int, number: int) -> int:
    """Return the option of a number, where number 0 is the preferred one."""
    if number == 0:
        return preferred
    return number - 1 if number <= preferred else number


def is_possible(
    subject: Subject,
    workload: Workload,
    history: History,
    hint: Sequence[Answer] = (),
    *,
    tries_max: int = TRIES_MAX,
) -> Possible:
    """Search for a schedule with this history, but for steps without events.

    ``hint`` are answers to try first.
    """
    dialect, options = subject.dialect_of(workload), subject.options_of(workload)
    queues: tuple[_Queue, _Queue] = [], []
    numbers: list[int] | None = []
    for tried in range(tries_max):
        if numbers is None:
            return Possible.NO
        comparison = _Comparison(history)
        schedule = _GuidedSchedule(numbers, hint, comparison.agrees)
        try:
            subject.simulate(schedule, workload, dialect, options, comparison.recorder)
            if comparison.is_whole():
                return Possible.YES
        except _DeadEndError:
            pass
        others = _deviating(numbers, schedule.counts)
        missing = -comparison.agreed - comparison.agreed_transactions
        deviations = sum(map(bool, numbers))
        heappush(queues[0], (missing, deviations, tried, others))
        heappush(queues[1], (deviations, missing, tried, others))
        numbers = _next_in(queues[tried % 2])
    return Possible.UNKNOWN


_Queue = list[tuple[int, int, int, Iterator[list[int]]]]
"""Order, a number that decides ties, and deviations that are left to try."""


def _deviating(numbers: list[int], counts: list[int]) -> Iterator[list[int]]:
    """Yield runs that deviate once after those numbers, the latest choice first."""
    for at in range(len(counts) - 1, len(numbers) - 1, -1):
        for number in range(1, counts[at]):
            yield [*numbers, *[0] * (at - len(numbers)), number]


def _next_in(queue: _Queue) -> list[int] | None:
    """Return the first deviation, or None where none is left."""
    while queue:
        numbers = next(queue[0][-1], None)
        if numbers is not None:
            return numbers
        heappop(queue)
    return None
