"""Consequences of the choices that a run did not take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paraply.properties.registry import Property, verdict_of
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import RecordedSchedule, Schedule
from paraply.vocabulary.verdict import Verdict

RUNS_MAX = 600
SECONDS_MAX = 20.0

System = Callable[[Schedule], History]


class ProbingSchedule(RecordedSchedule):
    """A recorded schedule that notes labels and counts."""

    __slots__ = ("questions",)

    def __init__(self, program: Sequence[int]) -> None:
        super().__init__(program)
        self.questions: list[tuple[str, int]] = []

    def choose_index(self, count: int, label: str = "") -> int:
        """Answer and note real questions."""
        index = super().choose_index(count, label)
        if count > 1:
            self.questions.append((label, count))
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One different choice, all else equal.

    Attributes:
        position: of the choice, from 0.
        option: the alternative to ``taken``.
        first: index of the first different event.
        verdict: of the property on ``history``.
        changed: number of different events.
    """

    position: int
    label: str
    taken: int
    option: int
    first: int
    history: History
    verdict: Verdict
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """The tried choices; ``is_complete`` unless there were too many."""

    choices: tuple[int, ...]
    found: tuple[Alternative, ...]
    is_complete: bool

    @property
    def nearest_passing(self) -> Alternative | None:
        """Return the least different passing one, preferably with the situation."""
        passing = [one for one in self.found if one.verdict is not Verdict.VIOLATED]
        return min(
            passing,
            key=lambda one: (one.verdict is not Verdict.HOLDS, one.changed, -one.first),
            default=None,
        )


def alternatives_of(
    system: System,
    prop: Property,
    choices: Sequence[int],
    *,
    runs_max: int = RUNS_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Alternatives:
    """Run and judge each untaken option."""
    probe = ProbingSchedule(choices)
    original = system(probe)
    made = tuple(probe.choices)
    found: list[Alternative] = []
    is_complete = True
    deadline = time.monotonic() + seconds_max
    runs = 0
    for position, (label, count) in enumerate(probe.questions):
        for option in range(count):
            if option == made[position]:
                continue
            if runs >= runs_max or time.monotonic() > deadline:
                is_complete = False
                break
            runs += 1
            program = (*made[:position], option, *made[position + 1 :])
            history = system(RecordedSchedule(program))
            first = _first_difference(original, history)
            if first is None:
                continue
            found.append(
                Alternative(
                    position=position,
                    label=label,
                    taken=made[position],
                    option=option,
                    first=first,
                    history=history,
                    verdict=_verdict(history, prop),
                    changed=_changed(original, history),
                )
            )
    return Alternatives(choices=made, found=tuple(found), is_complete=is_complete)


def _verdict(history: History, prop: Property) -> Verdict:
    return verdict_of(history, prop)


def _first_difference(one: History, other: History) -> int | None:
    for place, (before, after) in enumerate(zip(one.events, other.events, strict=False)):
        if before != after:
            return place
    if len(one.events) != len(other.events):
        return min(len(one.events), len(other.events))
    return None if one.transactions == other.transactions else 0


def _changed(one: History, other: History) -> int:
    before = [event._replace(time=one.events[0].time) for event in one.events]
    after = [event._replace(time=one.events[0].time) for event in other.events]
    common = _counts(before)
    shared = 0
    for event in after:
        if common.get(event, 0):
            common[event] -= 1
            shared += 1
    return len(before) + len(after) - 2 * shared


def _counts(events: Sequence[object]) -> dict[object, int]:
    found: dict[object, int] = {}
    for event in events:
        found[event] = found.get(event, 0) + 1
    return found
