"""Derive committed and rolled-back apply attempts from recorded touches.

n attempts are n passes over a transaction's rows, of which the last is complete. A transaction
without a complete last pass is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from paraply.adapters.live.observed import Touch
from paraply.adapters.live.source_log import SourceLog
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import WriteSet


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSeen:
    """One touch of an attempt."""

    index: int
    """Among all touches of the member, from 1."""
    transaction: TransactionId
    attempt: int
    worker: int
    items: WriteSet
    begins: bool
    is_undone: bool
    """Whether a rollback follows this step."""


@dataclass(slots=True)
class AttemptsSeen:
    """All steps in order."""

    steps: list[AttemptSeen] = field(default_factory=list)
    last_touch: dict[TransactionId, int] = field(default_factory=dict)
    count: dict[TransactionId, int] = field(default_factory=dict)
    unmatched: list[TransactionId] = field(default_factory=list)
    """Transactions whose touches are not passes."""

    @property
    def undone(self) -> int:
        """Return the number of rolled-back attempts."""
        return sum(step.is_undone for step in self.steps)


def attempts_of(log: SourceLog, touches: Sequence[Touch]) -> AttemptsSeen:
    """Sort one member's touches into attempts."""
    touched: dict[TransactionId, list[tuple[int, Touch]]] = {}
    for index, touch in enumerate(touches, start=1):
        one = log.ids.get(touch.gtid)
        if one is not None:
            touched.setdefault(one, []).append((index, touch))
    workers: dict[int, int] = {}
    found = AttemptsSeen()
    for one, own in touched.items():
        rows = log.touched.get(one, ())
        passes = split_passes([(t.table, t.key) for _, t in own], [row[:2] for row in rows])
        if passes is None:
            found.unmatched.append(one)
            continue
        found.count[one] = len(passes)
        found.last_touch[one] = own[-1][0]
        place = 0
        for number, length in enumerate(passes, start=1):
            for step in range(length):
                index, touch = own[place]
                place += 1
                found.steps.append(
                    AttemptSeen(
                        index=index,
                        transaction=one,
                        attempt=number,
                        worker=workers.setdefault(touch.connection, len(workers) + 1),
                        items=rows[step][2],
                        begins=step == 0,
                        is_undone=step == length - 1 and number < len(passes),
                    )
                )
    found.steps.sort(key=lambda step: step.index)
    return found


def split_passes(
    touched: Sequence[tuple[str, int]], rows: Sequence[tuple[str, int]]
) -> list[int] | None:
    """Return the pass lengths over ``rows`` in ``touched``, the last one complete.

    None for any other sequence.

    >>> split_passes([("t", 1), ("t", 1), ("t", 2)], [("t", 1), ("t", 2)])
    [1, 2]
    """
    size = len(rows)
    if not size or len(touched) < size or list(touched[-size:]) != list(rows):
        return None
    lengths = []
    place, end = 0, len(touched) - size
    while place < end:
        length = 0
        while length < size and place + length < end and touched[place + length] == rows[length]:
            length += 1
        if not length:
            return None
        lengths.append(length)
        place += length
    return [*lengths, size]
