"""All nondeterminism of a subject goes through a ``Schedule``.

Its recorded picks, the *program*, replay the run with the same workload.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple, TypeVar, overload

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Event

T = TypeVar("T")

RECORDED_CHOICE_OUT_OF_RANGE = register(
    "P501",
    "choice {position} of the program picks option {choice} of {count}{label}",
    "replay it on the subject, dialect and options it was recorded with",
)
SUBJECT_NOT_DETERMINISTIC = register(
    "P502",
    "choice {position} offered {count} options{label}, but {expected} when it was made before",
    "let every choice of the subject go through the schedule: no clock, hash order or own chance",
)


class Schedule(ABC):
    """``choices`` has one index per real question."""

    __slots__ = ("choices",)

    def __init__(self) -> None:
        self.choices: list[int] = []

    def watch(self, events: Sequence[Event]) -> None:
        """Let choices depend on the run's events so far; most do not."""
        del events

    @abstractmethod
    def choose_index(self, count: int, label: str = "") -> int:
        """Return an index in ``[0, count)``; ``ValueError`` if empty."""

    @overload
    def choose(self, options: int, label: str = "") -> int: ...

    @overload
    def choose(self, options: Sequence[T], label: str = "") -> T: ...

    def choose(self, options: Sequence[T] | int, label: str = "") -> T | int:
        """Return an option, or a number in ``[0, options)``."""
        if isinstance(options, int):
            return self.choose_index(options, label)
        return options[self.choose_index(len(options), label)]

    def choose_seldom(self, one_in: int, options: Sequence[object], label: str) -> bool:
        """Return whether to choose among the options next: where the last index is picked."""
        del options
        return self.choose_index(one_in, label) == one_in - 1


def _refuse_empty(count: int, label: str) -> None:
    if count < 1:
        raise ValueError(f"nothing to choose from{_of(label)}")


def _of(label: str) -> str:
    return f" for {label}" if label else ""


def _out_of_range(position: int, index: int, count: int, label: str) -> ParaplyError:
    return ParaplyError(
        RECORDED_CHOICE_OUT_OF_RANGE,
        position=position + 1,
        choice=index,
        count=count,
        label=_of(label),
    )


class _Offer(NamedTuple):
    """How many options a question had, and those that an enumeration takes."""

    options: int
    indices: Sequence[int]


def _not_deterministic(position: int, count: int, offers: list[_Offer], label: str) -> ParaplyError:
    expected = offers[position].options if position < len(offers) else "some"
    return ParaplyError(
        SUBJECT_NOT_DETERMINISTIC,
        position=position + 1,
        count=count,
        expected=expected,
        label=_of(label),
    )


class SeededSchedule(Schedule):
    """Picks uniformly, reproducibly on any Python."""

    __slots__ = ("_uniform", "seed")

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        # Python guarantees only the sequence of Random.random().
        self._uniform = Random(seed).random

    def choose_index(self, count: int, label: str = "") -> int:
        """Return a random index."""
        if count < 2:
            _refuse_empty(count, label)
            return 0
        index = int(self._uniform() * count)
        self.choices.append(index)
        return index


class RecordedSchedule(Schedule):
    """Picks the recorded choices, then first options.

    Invalid choices raise ``ParaplyError`` P501 if ``strict``; else they are taken modulo the count
    and clear ``is_faithful``.
    """

    __slots__ = ("_adjusted", "_answered", "_program", "_strict")

    def __init__(self, program: Iterable[int], *, strict: bool = False) -> None:
        super().__init__()
        self._program = tuple(program)
        self._strict = strict
        self._answered = 0
        self._adjusted = False

    @property
    def program(self) -> tuple[int, ...]:
        """Return the choices."""
        return self._program

    @property
    def is_exhausted(self) -> bool:
        """Return whether the choices ran out."""
        return self._answered > len(self._program)

    @property
    def is_faithful(self) -> bool:
        """Return whether exactly the choices were used."""
        return self._answered == len(self._program) and not self._adjusted

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the recorded index, or 0 after the last."""
        if count < 2:
            _refuse_empty(count, label)
            return 0
        position = self._answered
        index = self._program[position] if position < len(self._program) else 0
        if not 0 <= index < count:
            if self._strict:
                raise _out_of_range(position, index, count, label)
            index %= count
            self._adjusted = True
        self._answered = position + 1
        self.choices.append(index)
        return index


class DrawnSchedule(Schedule):
    """Delegates to ``draw(count, label)``.

    Hypothesis: ``lambda count, label: data.draw(integers(0, count - 1))``.
    """

    __slots__ = ("_draw",)

    def __init__(self, draw: Callable[[int, str], int]) -> None:
        super().__init__()
        self._draw = draw

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the drawn index."""
        if count < 2:
            _refuse_empty(count, label)
            return 0
        index = self._draw(count, label)
        if not 0 <= index < count:
            raise ValueError(f"drew {index} of {count} options{_of(label)}")
        self.choices.append(index)
        return index


class ExhaustiveSchedule(Schedule):
    """One run of an :class:`Exploration`."""

    __slots__ = ("_bound", "_offers", "_prefix", "_reported", "skipped_at", "was_cut")

    def __init__(self, prefix: list[int], offers: list[_Offer], bound: int | None) -> None:
        super().__init__()
        self._prefix = prefix
        self._offers = offers
        self._bound = bound
        self.skipped_at: int | None = None
        """Choices before the skip."""
        self.was_cut = False

    def choose_index(self, count: int, label: str = "") -> int:
        """Return this run's index."""
        return self.choose_among(count, range(count), label)

    def choose_among(self, count: int, indices: Sequence[int], label: str = "") -> int:
        """Return this run's index, one of some in ascending order; no run takes another."""
        if count < 2:
            _refuse_empty(count, label)
            return 0
        position = len(self.choices)
        index = self._prefix[position] if position < len(self._prefix) else indices[0]
        if not 0 <= index < count:
            raise _out_of_range(position, index, count, label)
        if position < len(self._offers):
            if self._offers[position].options != count:
                raise _not_deterministic(position, count, self._offers, label)
        elif self._bound is not None and position >= self._bound:
            self.was_cut = True
        else:
            self._offers.append(_Offer(count, indices))
        self.choices.append(index)
        return index

    def skip_subtree(self) -> None:
        """Skip this prefix, for visited states and symmetry; the caller ends its run."""
        if self.skipped_at is None:
            self.skipped_at = len(self.choices)


class Exploration:
    """Depth-first enumeration of every sequence of choices.

    >>> exploration = Exploration()
    >>> [(s.choose(2), s.choose("ab")) for s in exploration]
    [(0, 'a'), (0, 'b'), (1, 'a'), (1, 'b')]
    >>> exploration.count, exploration.is_complete
    (4, True)

    ``choices_max`` limits branching questions. Reached limits clear ``is_complete``; skipped
    subtrees do not.
    """

    def __init__(
        self,
        *,
        prefix: Sequence[int] = (),
        runs_max: int | None = None,
        choices_max: int | None = None,
    ) -> None:
        self._fixed = tuple(prefix)
        self._runs_max = runs_max
        self._choices_max = choices_max
        self.count = 0
        self.skipped = 0
        self.is_complete = False

    def __iter__(self) -> Iterator[ExhaustiveSchedule]:
        self.count = self.skipped = 0
        self.is_complete = False
        prefix = list(self._fixed)
        offers: list[_Offer] = []
        cut = False
        while self._runs_max is None or self.count < self._runs_max:
            self.count += 1
            schedule = ExhaustiveSchedule(prefix, offers, self._choices_max)
            yield schedule
            if schedule.skipped_at is None and len(schedule.choices) < len(prefix):
                raise _not_deterministic(len(schedule.choices), 0, offers, "")
            cut = cut or schedule.was_cut
            self.skipped += schedule.skipped_at is not None
            made = len(schedule.choices) if schedule.skipped_at is None else schedule.skipped_at
            prefix, offers = _successor(
                schedule.choices[: min(made, len(offers))], offers, len(self._fixed)
            )
            if not prefix:
                self.is_complete = not cut
                return


def _successor(made: list[int], offers: list[_Offer], fixed: int) -> tuple[list[int], list[_Offer]]:
    for position in range(len(made) - 1, fixed - 1, -1):
        for index in offers[position].indices:
            if index > made[position]:
                return [*made[:position], index], offers[: position + 1]
    return [], []
