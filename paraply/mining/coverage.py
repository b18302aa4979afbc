"""Course and features of a run.

A *feature* is a pair of consecutive actions (action, outcome, relation), an abstract state
(transactions per action) or a moment (``paraply.vocabulary.moments``). Names do not matter.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable
from functools import lru_cache

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.write_set import Item, sorted_items

_KINDS = {kind: number for number, kind in enumerate(EventKind)}
_OUTCOMES = {outcome: number for number, outcome in enumerate(Outcome, start=1)}
_TRANSACTION_KINDS = {kind: number for number, kind in enumerate(TransactionKind)}

_NO_TRANSACTION, _SAME, _CONFLICTING, _INDEPENDENT = range(4)

CROWD = 3
"""Abstract states count up to this."""


def course_of(history: History) -> int:
    """Return a 64-bit digest of writes and events, equal on every machine.

    Ignores times and texts.
    """
    members = {member: number for number, member in enumerate(history.members)}
    items: dict[Item, int] = {}
    words = array("q")
    for transaction in history.transactions:
        words.extend((-1, transaction.id, _TRANSACTION_KINDS[transaction.kind]))
        for item in sorted_items(transaction.write_set):
            words.append(items.setdefault(item, len(items)))
    for event in history.events:
        words.extend(
            (
                _KINDS[event.kind],
                event.transaction or 0,
                members[event.member],
                0 if event.outcome is None else _OUTCOMES[event.outcome],
                event.other or 0,
                event.attempt,
            )
        )
    digest = hashlib.blake2b(words.tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def features_of(history: History, moments: Iterable[str] = ()) -> set[int]:
    """Return a history's features, with its moments, as 32-bit numbers."""
    features = {_number(("moment", moment)) for moment in moments}
    standing: dict[int, int] = {}
    before: Event | None = None
    previous = (-1, 0, 0, 0)
    for event in history.events:
        action = (
            _KINDS[event.kind],
            0 if event.outcome is None else _OUTCOMES[event.outcome],
            _relation(history, before, event),
            int(before is not None and before.member == event.member),
        )
        features.add(_number(("pair", previous, action)))
        if event.transaction is not None:
            standing[event.transaction] = action[0]
            features.add(_number(_state(standing)))
        previous, before = action, event
    return features


def _relation(history: History, before: Event | None, event: Event) -> int:
    if before is None or before.transaction is None or event.transaction is None:
        return _NO_TRANSACTION
    if before.transaction == event.transaction:
        return _SAME
    one, other = history.transaction(before.transaction), history.transaction(event.transaction)
    return _CONFLICTING if one.conflicts_with(other) else _INDEPENDENT


def _state(standing: dict[int, int]) -> tuple[object, ...]:
    counts: dict[int, int] = {}
    for action in standing.values():
        counts[action] = min(CROWD, counts.get(action, 0) + 1)
    return ("state", *sorted(counts.items()))


@lru_cache(maxsize=1 << 17)
def _number(feature: tuple[object, ...]) -> int:
    digest = hashlib.blake2b(repr(feature).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")
