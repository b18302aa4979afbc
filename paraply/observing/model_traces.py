"""Follow live replicas and members by the models: each observed step must be allowed.

A model's world has few transactions, so a log is read in segments of those that a member started
and committed. Others count as done, which the models allow: a segment of a run of the specification
is such a run. Starts and engine commits are observed; row locks, the mark of finished
transactions and its advances are not, and the search tries them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter

from paraply.models.recorded import replicas
from paraply.models.recorded.following import Recorded, TooManyWorldsError, follow
from paraply.models.recorded.monitors import proved, why_broken
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp, waits_for
from paraply.vocabulary.transactions import Transaction

NAMES = {
    "commit_order": "servers_commit_as_the_model",
    "last_committed": "servers_start_as_the_model",
}
"""The property of each model."""
MEANINGS = {
    "commit_order": "Engine commits of each replica or member follow the model of commit order"
    " (theorem P07).",
    "last_committed": "Starts of each replica or member follow the model of last_committed"
    " (theorem P16).",
}
SEGMENT = 5
"""Transactions that are followed together."""
SEGMENTS_MAX = 400
"""Of a member, spread over its log."""
UNDECIDED_MAX = 3
"""Segments of a member with too many worlds, after which a model leaves its others undecided."""
_KINDS = (EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED)


@dataclass(slots=True, kw_only=True)
class Traced:
    """What one model says of a run."""

    segments: int = 0
    """Those that it followed or refused."""
    steps: int = 0
    refused: list[str] = field(default_factory=list)
    undecided: int = 0
    """Segments that fit too many worlds to be followed, or came after too many of these."""


def follow_live(history: History) -> Mapping[str, Traced]:
    """Return by model what it says of every member's segments, if their steps are recorded."""
    told = {name: Traced() for name in NAMES}
    too_many: Counter[tuple[str, str]] = Counter()
    for member in history.header.members:
        for segment in _segments(history, member):
            for name, theorem, recorded in _readings(segment):
                traced = told[name]
                if too_many[member, name] == UNDECIDED_MAX:
                    traced.undecided += 1
                    continue
                try:
                    compiled, statements = proved(theorem)
                    followed = follow(compiled, recorded, *statements)
                except TooManyWorldsError:
                    too_many[member, name] += 1
                    traced.undecided += 1
                    continue
                traced.segments += 1
                traced.steps += followed.steps
                broken = why_broken(compiled, followed)
                if broken:
                    names = ", ".join(f"T{one.id}" for one in segment.transactions)
                    traced.refused.append(f"{member}, {names}: {broken}")
    return told


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


def _readings(segment: History) -> Iterator[tuple[str, str, Recorded]]:
    if len({one.domain for one in segment.transactions}) == 1:  # Domains have orders of their own.
        order = replicas.commit_order(segment)
        commits = tuple(step for step in order.steps if step.actions != ("start",))
        # A worker's first look at the clock may come after that of the next worker.
        hidden = frozenset({"start", "lock_row"})
        yield "commit_order", "P07", replace(order, steps=commits, hidden=hidden)
    if all(one.timestamp is not None for one in segment.transactions):
        yield "last_committed", "P16", replicas.bounds_on_replica(segment)
