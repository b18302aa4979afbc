"""The least last_committed that a member's information permits.

A second implementation of a certifier's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from paraply.properties.group.stream import Certified, MemberStream
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.write_set import Item


def compute_last_committed_needed(
    stream: MemberStream, large: int
) -> Iterator[tuple[Certified, int]]:
    """Yield each timestamped transaction with its least last_committed.

    Transactions of ``large`` items or more are barriers: their items are not stored. A collection
    may use the number just before the next one: some servers burn a number. Excludes (0, 0).
    """
    certified = {one.event_index: one for one in stream.certified}
    writers: dict[Item, int] = {}
    # A certifier numbers from 2, so that all wait for 1; a source, from 1.
    window = 1
    is_window_pending = False
    for index, event in stream.events:
        if event.kind is EventKind.STARTED:
            writers.clear()
            window, is_window_pending = 1, False
        elif event.kind is EventKind.RELAY_ROTATED:
            writers.clear()
            window, is_window_pending = 0, False
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            is_window_pending = True
            for item in event.items:
                writers.pop(item, None)
        elif index in certified and certified[index].is_positive:
            one = certified[index]
            is_large = len(one.transaction.write_set) >= large
            if one.timestamp is None:
                if is_large:
                    continue
                for item in one.transaction.write_set:
                    writers.pop(item, None)
                continue
            if one.is_fence:
                # The first remote transaction after a start keeps its number to itself.
                is_window_pending = is_window_pending or not one.is_view_change
                continue
            number = one.timestamp.sequence_number
            if is_window_pending:
                window, is_window_pending = number - 1, False
            if one.transaction.is_barrier or is_large:
                yield one, number - 1
                window = number
            else:
                known = [writers[item] for item in one.transaction.write_set if item in writers]
                yield one, max([window, *known])
            if not is_large:
                writers.update(dict.fromkeys(one.transaction.write_set, number))
