"""A member of a group in the abstraction of ``paraply/models/recorded/whole_groups.py``."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from paraply.models.language.concrete import Value
from paraply.vocabulary.transactions import TransactionId


@dataclass(slots=True)
class MemberReading:
    """What the model says of a member so far.

    Attributes:
        view: the last one that it has installed.
        window: the least that the model allows.
        is_in: whether it is in the last view.
        is_current: whether it runs since before that view.
        is_joiner: whether it has joined since the beginning.
        is_recovering: whether it has joined and received nothing yet.
        given: how far it has positions from its donor.
        first: the first position that its view delivers to it.
        sent: transactions that were sent and not delivered, and None for a report.
        done: what its log shows as committed, across crashes.
        changed: rows that its workers have locked.
    """

    name: Value
    view: int = 0
    is_in: bool = False
    is_running: bool = True
    is_current: bool = False
    is_joiner: bool = False
    is_recovering: bool = False
    received: int = 0
    upto: int = 0
    given: int = 0
    first: int = 0
    next_number: int = 2
    window: int = 1
    done: set[TransactionId] = field(default_factory=set)
    started: set[int] = field(default_factory=set)
    changed: set[tuple[int, str]] = field(default_factory=set)
    report: Collection[TransactionId] = ()
    reported: Collection[TransactionId] = ()
    sent: deque[TransactionId | None] = field(default_factory=deque)
