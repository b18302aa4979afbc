"""Orders of sessions and of real time."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.properties.isolation.versions import Dependency, Kind
from paraply.vocabulary.client_history import ClientHistory, Ending


def session_order(history: ClientHistory) -> Iterator[Dependency]:
    """Yield each committed transaction's session predecessor."""
    last: dict[str, int] = {}
    for index, transaction in enumerate(history.transactions):
        if transaction.session and transaction.ending is Ending.COMMITTED:
            if transaction.session in last:
                yield Dependency(last[transaction.session], index, Kind.SESSION)
            last[transaction.session] = index


def realtime_order(history: ClientHistory) -> Iterator[Dependency]:
    """Yield real-time pairs without implied ones.

    A transaction with an unknown end precedes none: it may take effect later. Keeps only maximal
    ended transactions, never more than ran at once.
    """
    moments = []
    for index, transaction in enumerate(history.transactions):
        if transaction.ending is not Ending.ABORTED:
            moments.append((transaction.invoked, False, index))
        if transaction.ending is Ending.COMMITTED:
            moments.append((transaction.completed, True, index))
    moments.sort()
    frontier: set[int] = set()
    before: dict[int, tuple[int, ...]] = {}
    for _, has_ended, index in moments:
        if not has_ended:
            before[index] = tuple(frontier)
            for earlier in sorted(frontier):
                yield Dependency(earlier, index, Kind.REALTIME)
        else:
            frontier.difference_update(before.pop(index))
            frontier.add(index)


def orders_of(history: ClientHistory, kinds: int) -> list[Dependency]:
    """Return the orders in a mask."""
    found: list[Dependency] = []
    if kinds & Kind.SESSION:
        found += session_order(history)
    if kinds & Kind.REALTIME:
        found += realtime_order(history)
    return found


def are_ordered(history: ClientHistory, kinds: int) -> bool:
    """Return whether the mask's orders have a pair."""
    if kinds & Kind.SESSION and next(session_order(history), None) is not None:
        return True
    ends = [one.completed for one in history.transactions if one.ending is Ending.COMMITTED]
    begins = [one.invoked for one in history.transactions if one.ending is not Ending.ABORTED]
    return bool(kinds & Kind.REALTIME and ends and min(ends) < max(begins))
