"""The dependency graph of a history.

Edges have their premises. Where conflicting transactions may overlap, the edge names the broken
rule and its numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp, waits_for
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item, format_item, sorted_items

EDGES_MAX = 5_000
_ITEMS_SHOWN_MAX = 4


@dataclass(frozen=True, slots=True)
class Edge:
    """``broken`` is a sentence if nothing enforces the order."""

    earlier: TransactionId
    later: TransactionId
    kind: str
    """``conflict``, ``timestamp`` or ``session``."""
    premise: str
    broken: str = ""


def dependency_edges(history: History, named: Collection[int] = ()) -> list[Edge]:
    """Return at most ``EDGES_MAX`` edges, by later transaction.

    For transactions ``named`` in a breach, they include waits for a prefix: last_committed above
    the earlier sequence_number.
    """
    stamps = stamps_by_member(history)
    edges = list(_prefix_edges(history, stamps, named))
    for edge in _edges(history, stamps):
        edges.append(edge)
        if len(edges) == EDGES_MAX:
            break
    return edges


def stamps_by_member(
    history: History,
) -> dict[TransactionId, dict[str, LogicalTimestamp]]:
    """Return timestamps by member, the log's under ""."""
    found: dict[TransactionId, dict[str, LogicalTimestamp]] = {
        one.id: {"": one.timestamp} if one.timestamp else {} for one in history.transactions
    }
    for event in history.events_of(EventKind.CERTIFIED, EventKind.FLUSHED):
        if event.transaction is not None and event.timestamp is not None:
            found[event.transaction][event.member] = event.timestamp
    return found


def _edges(
    history: History, stamps: Mapping[TransactionId, Mapping[str, LogicalTimestamp]]
) -> Iterator[Edge]:
    writers: dict[Item, Transaction] = {}
    sessions: dict[str, TransactionId] = {}
    numbers: dict[tuple[str, int, int], TransactionId] = {}
    for later in history.transactions:
        shared: dict[TransactionId, list[Item]] = {}
        for item in sorted_items(later.write_set):
            if item in writers:
                shared.setdefault(writers[item].id, []).append(item)
            writers[item] = later
        for earlier, items in sorted(shared.items()):
            yield _conflict(history.transaction(earlier), later, items, stamps)
        for member, stamp in stamps[later.id].items():
            named = numbers.get((member, later.clock, stamp.last_committed))
            if named is not None and named not in shared:
                where = f" on {member}" if member else ""
                premise = (
                    f"T{later.id} has last_committed={stamp.last_committed}{where}, which is "
                    f"T{named}'s sequence_number"
                )
                yield Edge(named, later.id, "timestamp", premise)
            numbers[member, later.clock, stamp.sequence_number] = later.id
        if later.session:
            before = sessions.get(later.session)
            if before is not None and before not in shared:
                premise = f"session {later.session} ran T{before} and then T{later.id}"
                yield Edge(before, later.id, "session", premise)
            sessions[later.session] = later.id


def _prefix_edges(
    history: History,
    stamps: Mapping[TransactionId, Mapping[str, LogicalTimestamp]],
    named: Collection[int],
) -> Iterator[Edge]:
    chosen = [one for one in history.transactions if one.id in named]
    for place, later in enumerate(chosen):
        for earlier in chosen[:place]:
            if earlier.clock != later.clock or earlier.write_set & later.write_set:
                continue
            for member, stamp in stamps[later.id].items():
                before = stamps[earlier.id].get(member)
                if before is not None and waits_for(stamp.last_committed, before.sequence_number):
                    premise = (
                        f"T{later.id} has last_committed={stamp.last_committed}: everything up to "
                        f"it must have committed, and T{earlier.id} has sequence_number="
                        f"{before.sequence_number}"
                    )
                    yield Edge(earlier.id, later.id, "timestamp", premise)
                    break


def _conflict(
    earlier: Transaction,
    later: Transaction,
    items: list[Item],
    stamps: Mapping[TransactionId, Mapping[str, LogicalTimestamp]],
) -> Edge:
    shown = ", ".join(format_item(item) for item in items[:_ITEMS_SHOWN_MAX])
    more = len(items) - _ITEMS_SHOWN_MAX
    shown += f" and {more} more" if more > 0 else ""
    premise = f"T{earlier.id} and T{later.id} both wrote {shown}"
    broken = ""
    if earlier.clock == later.clock:
        for member, stamp in stamps[later.id].items():
            before = stamps[earlier.id].get(member)
            if before is not None and not waits_for(stamp.last_committed, before.sequence_number):
                where = f" on {member}" if member else ""
                broken = (
                    f"T{later.id} has LC={stamp.last_committed}{where}, but T{earlier.id} wrote "
                    f"{shown} and has SN={before.sequence_number}: an applier may start "
                    f"T{later.id} before T{earlier.id} has committed"
                )
                break
    return Edge(earlier.id, later.id, "conflict", premise, broken)
