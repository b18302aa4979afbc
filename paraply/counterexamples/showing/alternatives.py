"""The choices that a run did not take: what each would have led to, and the nearest that passes."""

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
    """A recorded schedule that keeps how many options each question had, and its label."""

    __slots__ = ("questions",)

    def __init__(self, program: Sequence[int]) -> None:
        super().__init__(program)
        self.questions: list[tuple[str, int]] = []

    def choose_index(self, count: int, label: str = "") -> int:
        """Answer as recorded, and note the question where there was a choice."""
        index = super().choose_index(count, label)
        if count > 1:
            self.questions.append((label, count))
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One choice taken otherwise, everything else as it was.

    Attributes:
        position: which choice, from 0.
        label: what was being chosen.
        taken: the option that the run took.
        option: the option taken instead.
        first: index of the first event that differs.
        history: what then happens.
        verdict: of the property on it.
        changed: how many events differ in all.
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
    """Every other choice that was tried; ``is_complete`` unless there were too many."""

    choices: tuple[int, ...]
    found: tuple[Alternative, ...]
    is_complete: bool

    @property
    def nearest_passing(self) -> Alternative | None:
        """Return the one that passes and differs least; one that reached the situation first."""
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
    """Run the system once for each option not taken, and judge each run."""
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
    """Return how many events are not in common, times left aside."""
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
