"""The simulated clock of all reference appliers and sources.

Time is a whole number: ticks, or microseconds. An applier of a whole log plans its moments itself
(:class:`Clock`). A machine that offers steps runs by :func:`take_steps`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from paraply.reference_impl.recorder import STEPS_MAX, Recorder
from paraply.reference_impl.step import Step

MomentT = TypeVar("MomentT")


class Clock(Generic[MomentT]):
    """Planned moments, in order of time."""

    def __init__(self, new_moment: Callable[[], MomentT]) -> None:
        self.now = 0
        self.new_moment = new_moment
        self.agenda: dict[int, MomentT] = {}
        self.times: list[int] = []

    def at(self, time: int) -> MomentT:
        """Return a moment, not before now, and plan it."""
        moment = self.agenda.get(time)
        if moment is None:
            moment = self.agenda[time] = self.new_moment()
            heapq.heappush(self.times, time)
        return moment

    def moments(self) -> Iterator[MomentT]:
        """Advance to each planned moment; later ones may be planned meanwhile."""
        while self.times:
            self.now = heapq.heappop(self.times)
            yield self.agenda[self.now]
            del self.agenda[self.now]


def _first(steps: Sequence[Step]) -> Step:
    return steps[0]


def take_steps(
    recorder: Recorder,
    offered: Callable[[], Iterable[Step]],
    end: Callable[[Step, int], int],
    choose: Callable[[Sequence[Step]], Step] = _first,
) -> None:
    """Take a machine's steps when they end, until it offers none or repeats itself.

    A step begins when the machine first offers its label. It begins again after it was taken or
    withdrawn.

    Args:
        offered: all possible steps; of equal ends, the first ones are taken first.
        end: when a step ends that began at the given time; a past time means now.
        choose: one of the steps that end now.
    """
    clock: Clock[list[Step]] = Clock(list)
    clock.at(recorder.now)
    begun: dict[str, int] = {}
    taken = 0
    for _ in clock.moments():
        while True:
            ready = []
            steps = list(offered())
            begun = {step.label: begun.get(step.label, clock.now) for step in steps}
            for step in steps:
                time = end(step, begun[step.label])
                if time > clock.now:
                    clock.at(time)
                else:
                    ready.append(step)
            if not ready:
                break
            step = choose(ready)
            recorder.now = clock.now
            step.act()
            begun.pop(step.label, None)
            taken += 1
            if taken >= STEPS_MAX * (len(recorder.transactions) + 1):
                return
