"""Enumerate a short log's schedules with few departures from the plainest."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from paraply.vocabulary.schedule import RecordedSchedule


class DepartingSchedule(RecordedSchedule):
    """Takes given choices, then first options."""

    __slots__ = ("counts", "departures")

    def __init__(self, program: Sequence[int], departures: int) -> None:
        super().__init__(program)
        self.departures = departures
        self.counts: list[int] = []

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the given index, then 0."""
        if count > 1:
            self.counts.append(count)
        return super().choose_index(count, label)


class Departures:
    """The schedules with at most ``departures`` choices other than 0.

    Run each before you request the next.
    """

    def __init__(self, departures: int) -> None:
        self._departures = departures
        self.is_complete = False

    def __iter__(self) -> Iterator[DepartingSchedule]:
        """Yield each schedule once."""
        waiting = deque([DepartingSchedule((), 0)])
        while waiting:
            schedule = waiting.popleft()
            yield schedule
            if schedule.departures == self._departures:
                continue
            given = schedule.program
            for place in range(len(given), len(schedule.counts)):
                plain = (*given, *(0 for _ in range(place - len(given))))
                waiting.extend(
                    DepartingSchedule((*plain, other), schedule.departures + 1)
                    for other in range(1, schedule.counts[place])
                )
        self.is_complete = True
