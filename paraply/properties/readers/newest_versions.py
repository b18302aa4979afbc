"""Snapshots are fresh: the other side of what readers may not yet see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, write_sets
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items

_LOSES_COMMITS = frozenset({EventKind.CRASHED, EventKind.RECOVERED})


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNotShown(Violation):
    """A snapshot shows an older version of a row than its server has committed."""

    member: str
    item: Item
    seen: TransactionId | None
    committed: TransactionId

    def __str__(self) -> str:
        shown = "left it out" if self.seen is None else f"showed {self.item} of T{self.seen}"
        if self.seen == INITIAL_STATE:
            shown = f"showed the first {self.item}"
        return f"{self.member}: after T{self.committed} had committed {self.item}, a reader {shown}"


def snapshots_of_controlled_runs(history: History) -> bool:
    """Readers of a controlled run take snapshots."""
    is_controlled = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_controlled and any(event.observed for event in history.events_of(EventKind.READ))


def _newer(seen: TransactionId | None, writers: list[TransactionId]) -> TransactionId | None:
    """Return who committed a newer version, in the engine's order and in the log's."""
    after = writers
    if seen in writers:
        after = writers[len(writers) - writers[::-1].index(seen) :]
    return max((one for one in after if one > (seen or INITIAL_STATE)), default=None)


def _shown(history: History) -> Iterator[list[CommitNotShown]]:
    """Yield what each snapshot lacks, if it is about rows that its server has committed.

    A crash may undo commits, so that only those after it count. Rows that no snapshot of the
    history shows are not about readers.
    """
    committed: dict[str, dict[Item, list[TransactionId]]] = {}
    reads = history.events_of(EventKind.READ)
    read_rows = {seen.item for event in reads for seen in event.observed}
    for event in history.events:
        rows = committed.setdefault(event.member, {})
        if event.kind in _LOSES_COMMITS:
            rows.clear()
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            for item in history.transaction(event.transaction).write_set & read_rows:
                rows.setdefault(item, []).append(event.transaction)
        elif event.kind is EventKind.READ and event.observed and rows:
            shown = dict(event.observed)
            yield [
                CommitNotShown(
                    member=event.member, item=item, seen=shown.get(item), committed=newer
                )
                for item in sorted_items(frozenset(rows))
                if (newer := _newer(shown.get(item), rows[item])) is not None
            ]


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    gaps=(write_sets,),
    of=snapshots_of_controlled_runs,
    source="InnoDB: a read view is opened when the statement begins; MDEV-162: visible on commit",
    witness=lambda history: sum(1 for _ in _shown(history)),
    is_safety=False,
)
def snapshots_show_the_newest_versions(history: History) -> tuple[CommitNotShown, ...]:
    """A snapshot shows of each row the newest version that its server has committed.

    Older ones are safe, but stale.
    """
    return tuple(breach for breaches in _shown(history) for breach in breaches)
