"""A failing run becomes smaller: transactions first, then choices, races included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from types import SimpleNamespace

from paraply.conforming.shrinking import Shrinking
from paraply.vocabulary.schedule import RecordedSchedule

LENGTH, OPTIONS = 8, 5
CULPRITS = {3, 7}
FATAL = 4


@dataclass(frozen=True)
class Failure:
    choices: tuple[int, ...]
    kept: tuple[int, ...] | None = None
    share: tuple[int, int] = (1, 1)

    @property
    def size(self):
        return len(self.kept or range(LENGTH)), len(self.choices)

    def repeated(self, broken, repeats):
        return replace(self, share=(broken, repeats))


def smallest(found, *, fails_every=1, runs_max=500):
    """Shrink a system that fails if both culprits are there and one choice is fatal."""
    runs = count(1)

    def attempt(schedule, kept):
        asked = [schedule.choose_index(OPTIONS) for _ in range(LENGTH)]
        is_wrong = FATAL in asked and set(range(LENGTH) if kept is None else kept) >= CULPRITS
        if not is_wrong or next(runs) % fails_every:
            return None
        return Failure(RecordedSchedule(asked).program, kept)

    shrinking = Shrinking(
        attempt, found, others=lambda _: (), droppable=range(LENGTH), runs_max=runs_max
    )
    return shrinking.smallest()


FOUND = Failure((1, 2, 4, 4, 3, 2, 1, 4))


def test_only_what_is_needed_remains():
    small = smallest(FOUND)
    assert set(small.kept) == CULPRITS
    assert [choice for choice in small.choices if choice] == [FATAL]
    assert small.share == (3, 3)


def test_race_is_shrunk_by_its_share():
    small = smallest(FOUND, fails_every=3)
    assert set(small.kept) == CULPRITS
    broken, repeats = small.share
    assert 0 < broken < repeats == 20


def test_limit_of_runs_ends_the_work():
    assert smallest(FOUND, runs_max=0).choices == FOUND.choices


def test_each_candidate_is_tried_once_and_must_be_smaller_than_a_bound():
    tried = []

    def attempt(schedule, kept):
        tried.append(tuple(schedule.choose_index(OPTIONS) for _ in range(3)))
        return Failure(tried[-1], kept)

    shrinking = Shrinking(attempt, FOUND, others=lambda _: (), droppable=(), runs_max=9)
    same = SimpleNamespace(of=lambda program: (2, 1, 1))
    small = SimpleNamespace(of=lambda program: (1, 0, 0))
    bound = (LENGTH, 3, 3, 4)
    assert shrinking.edited((3, 1, 1), [same, same], below=bound) == (2, None)
    assert tried == [(2, 1, 1)]
    number, run = shrinking.edited((3, 1, 1), [same, small], below=bound)
    assert (number, run.choices) == (2, (1, 0, 0))
    assert shrinking.edited((3, 1, 1), [same, small])[1] is None
    again = SimpleNamespace(of=lambda program: (4, 4, 4))
    assert shrinking.edited((3, 1, 1), [again])[1].choices == (4, 4, 4)
