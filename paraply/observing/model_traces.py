"""Follow live replicas and members by the models: each observed step must be allowed.

A model's world has few transactions, so a log is read in segments of those that a member started
and committed. Others count as done, which the models allow: a segment of a run of the specification
is such a run. Starts and engine commits are observed; row locks, the mark of finished
transactions and its advances are not, and the search tries them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from operator import itemgetter

from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded import replicas
from paraply.models.recorded.following import Recorded, TooManyWorldsError, follow
from paraply.models.systems.commit_order import commit_order
from paraply.models.systems.trackers import Rules, tracker
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp, waits_for
from paraply.vocabulary.transactions import Transaction

NAME = "servers_step_as_the_models"
MEANING = (
    "Starts and commits of each replica or member are steps of the models of last_committed and of"
    " commit order."
)
SEGMENT = 5
"""Transactions that are followed together."""
SEGMENTS_MAX = 400
"""Of a member, spread over its log."""
UNDECIDED_MAX = 3
"""Segments of a member that fit too many worlds of a model, until the model is left out."""
_KINDS = (EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """What the models say of a run."""

    segments: int
    steps: int
    refused: tuple[str, ...]
    undecided: int
    """Segments that fit too many worlds to be followed."""


def follow_live(history: History) -> Traced:
    """Follow every member's segments by every model whose steps the history records."""
    segments = steps = 0
    refused: list[str] = []
    undecided: Counter[tuple[str, str]] = Counter()
    for member in history.header.members:
        for segment in _segments(history, member):
            for compiled, recorded in _readings(segment):
                of_model = (member, compiled.system.name)
                if undecided[of_model] == UNDECIDED_MAX:
                    continue
                try:
                    followed = follow(compiled, recorded)
                except TooManyWorldsError:
                    undecided[of_model] += 1
                    continue
                segments += 1
                steps += followed.steps
                if followed.refused is not None:
                    names = ", ".join(f"T{one.id}" for one in segment.transactions)
                    refused.append(
                        f"{member}: {compiled.system.name} does not allow step"
                        f" {followed.steps + 1} of {names}: {followed.refused}"
                    )
    return Traced(
        segments=segments, steps=steps, refused=tuple(refused), undecided=undecided.total()
    )


def _segments(history: History, member: str) -> Iterator[History]:
    """Yield segments of what a member started and committed."""
    events: dict[int, dict[EventKind, tuple[int, Event]]] = {}
    for place, event in enumerate(history.events):
        kind = EventKind.SCHEDULED if event.kind is EventKind.BEGUN else event.kind
        if event.member == member and event.transaction is not None and kind in _KINDS:
            # A retry starts again; the first attempt had to wait as well.
            found = events.setdefault(event.transaction, {})
            found.setdefault(kind, (place, event._replace(kind=kind)))
    whole = [one for one in history.transactions if len(events.get(one.id, ())) == len(_KINDS)]
    starts = range(0, len(whole) - SEGMENT + 1, SEGMENT)
    for start in starts[:: max(1, len(starts) // SEGMENTS_MAX)]:
        part = whole[start : start + SEGMENT]
        seen = sorted((one for each in part for one in events[each.id].values()), key=itemgetter(0))
        yield replace(
            history, transactions=_projected(part), events=tuple(event for _, event in seen)
        )


def _projected(part: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """Number the stamps anew, and keep the rows that several write: others order nothing.

    Transactions keep no stamps where one has none, or where they come from several log files.
    """
    writers = Counter(item for one in part for item in one.write_set)
    stamps = [one.timestamp for one in part if one.timestamp is not None]
    numbers = [stamp.sequence_number for stamp in stamps]
    is_stamped = len(stamps) == len(part) and all(a < b for a, b in pairwise(numbers))
    return tuple(
        replace(
            one,
            write_set=frozenset(item for item in one.write_set if writers[item] > 1),
            # All up to it had to be done: so many of the segment.
            timestamp=LogicalTimestamp.of(
                sum(waits_for(stamps[place - 1].last_committed, number) for number in numbers),
                place,
            )
            if is_stamped
            else None,
        )
        for place, one in enumerate(part, start=1)
    )


def _readings(segment: History) -> Iterator[tuple[CompiledReading, Recorded]]:
    if len({one.domain for one in segment.transactions}) == 1:  # Domains have orders of their own.
        order = replicas.commit_order(segment)
        commits = tuple(step for step in order.steps if step.actions != ("start",))
        # A worker's first look at the clock may come after that of the next worker.
        hidden = frozenset({"start", "lock_row"})
        yield _commit_order(), replace(order, steps=commits, hidden=hidden)
    if all(one.timestamp is not None for one in segment.transactions):
        yield _bounds(), replicas.bounds_on_replica(segment)


@cache
def _commit_order() -> CompiledReading:
    return CompiledReading(commit_order())


@cache
def _bounds() -> CompiledReading:
    return CompiledReading(tracker(Rules(name="last_committed", lowers_to_commit_order=False)))
