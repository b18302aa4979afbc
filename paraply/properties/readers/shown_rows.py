"""Which rows a snapshot shows, and whose versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, write_sets
from paraply.properties.vocabularies import reads_of_replicas
from paraply.vocabulary.events import Event, EventKind, Observation
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item, format_item, sorted_items


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNotShown(Violation):
    """A snapshot leaves out a row that another one shows."""

    member: str
    time: int
    item: Item

    def __str__(self) -> str:
        return f"{self.member}: a snapshot at {self.time} leaves out {format_item(self.item)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOfAnother(Violation):
    """A snapshot shows a version of a row by a transaction that does not write it."""

    member: str
    item: Item
    writer: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw {format_item(self.item)} of T{self.writer}, which does "
            "not write it"
        )


def whole_snapshots(history: History) -> bool:
    """Readers of replicas in a controlled run take snapshots of all rows."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and reads_of_replicas(history)


def _snapshots(history: History) -> list[Event]:
    return [event for event in history.events_of(EventKind.READ) if event.observed]


def _present(history: History) -> frozenset[Item]:
    """Return rows of snapshots that exist from the first: read so, or not inserted first."""
    first: dict[object, bool] = {}
    for row in (row for one in history.transactions for row in one.rows):
        image = row.before or row.after
        if image:
            first.setdefault(image[0], row.before is not None)
    return frozenset(
        seen.item
        for event in _snapshots(history)
        for seen in event.observed
        if seen.writer == INITIAL_STATE or first.get(seen.item)
    )


@always(
    of=whole_snapshots,
    source="START TRANSACTION WITH CONSISTENT SNAPSHOT: a reader sees all rows of its tables",
    witness=lambda history: max(0, len(_snapshots(history)) - 1),
)
def snapshots_show_every_row(history: History) -> tuple[RowNotShown, ...]:
    """Of the rows that exist from the first, every snapshot shows a version.

    A deleted row counts as a version.
    """
    present = _present(history)
    return tuple(
        RowNotShown(member=event.member, time=int(event.time), item=item)
        for event in _snapshots(history)
        for item in sorted_items(present - {seen.item for seen in event.observed})
    )


def shown_versions(history: History) -> bool:
    """Readers observe versions of rows."""
    return any(event.observed for event in history.events_of(EventKind.READ))


def _shown(history: History) -> Iterator[tuple[Event, Observation]]:
    """Yield versions that snapshots show, whose writer has a write set."""
    for event in _snapshots(history):
        for seen in event.observed:
            if seen.writer != INITIAL_STATE and history.transaction(seen.writer).write_set:
                yield event, seen


@always(
    gaps=(write_sets,),
    of=shown_versions,
    source="snapshot isolation: a version is what its writer wrote",
    witness=lambda history: sum(1 for _ in _shown(history)),
)
def versions_are_of_their_writers(history: History) -> tuple[VersionOfAnother, ...]:
    """Each version that a reader sees is of a transaction that writes the row."""
    return tuple(
        VersionOfAnother(member=event.member, item=seen.item, writer=seen.writer)
        for event, seen in _shown(history)
        if seen.item not in history.transaction(seen.writer).write_set
    )
