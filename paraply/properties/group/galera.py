"""Galera's dependencies between write sets, and what their senders saw.

sequence_number is the seqno, last_committed the depends_seqno, snapshot_version the last_seen.
``starts_respect_last_committed`` checks the appliers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import galera_write_sets
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import ISOLATED, Transaction, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierWriterUncovered(Violation):
    """A write set may start before its dependency."""

    earlier: TransactionId
    later: TransactionId
    item: Item | None
    """The common row; None for all earlier write sets."""
    seqno: int
    depends_seqno: int

    def __str__(self) -> str:
        why = "is isolated" if self.item is None else f"writes {self.item}"
        return (
            f"T{self.later} {why} and has depends_seqno {self.depends_seqno}: it may start before "
            f"T{self.earlier} (seqno {self.seqno}) is done"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenWriterPassed(Violation):
    """The sender missed another member's write."""

    earlier: TransactionId
    later: TransactionId
    item: Item

    def __str__(self) -> str:
        return (
            f"T{self.later} writes {self.item} and was certified, and its sender had not seen "
            f"T{self.earlier}, which another member sent"
        )


def _write_sets(history: History) -> Iterator[tuple[int, Transaction, LogicalTimestamp]]:
    for place, one in enumerate(history.transactions, start=1):
        if one.timestamp is not None and one.snapshot_version is not None:
            yield place, one, one.timestamp


def _rows_are_written_again(history: History) -> bool:
    written: set[Item] = set()
    for _, one, _ in _write_sets(history):
        if written & one.write_set:
            return True
        written |= one.write_set
    return False


@always(
    of=galera_write_sets,
    source="Galera Certification::do_test: depends_seqno; galera-bugs#705, commit 0738cce2",
    witness=_rows_are_written_again,
)
def write_sets_depend_on_earlier_writers(history: History) -> tuple[EarlierWriterUncovered, ...]:
    """A write set's depends_seqno covers every earlier writer of its rows; an isolated one's, all.

    It may cover more: purged index entries, tables without a key, undone statements.
    """
    found: list[EarlierWriterUncovered] = []
    last_writer: dict[Item, tuple[TransactionId, int]] = {}
    last: tuple[TransactionId, int] | None = None
    for _, one, timestamp in _write_sets(history):
        depends = timestamp.last_committed
        must: list[tuple[TransactionId, int, Item | None]]
        if ISOLATED in one.flags:
            must = [] if last is None else [(*last, None)]
        else:
            items = sorted_items(one.write_set)
            must = [(*last_writer[item], item) for item in items if item in last_writer]
        found += (
            EarlierWriterUncovered(
                earlier=earlier, later=one.id, item=item, seqno=seqno, depends_seqno=depends
            )
            for earlier, seqno, item in must
            if depends < seqno
        )
        last = (one.id, timestamp.sequence_number)
        last_writer.update(dict.fromkeys(one.write_set, last))
    return tuple(found)


def _certain_items(one: Transaction) -> frozenset[Item]:
    """Rows of a table without a key are unknown."""
    if ISOLATED in one.flags:
        return frozenset()
    return one.write_set - one.keyless_tables


def _followers(history: History) -> Iterator[tuple[Transaction, int, int, Transaction, Item]]:
    """Yield each follower, its predecessor's place, and last_seen.

    Each member's last writer suffices.
    """
    writers: dict[Item, dict[str, tuple[int, Transaction]]] = {}
    for place, one, _ in _write_sets(history):
        seen = one.snapshot_version or 0
        for item in sorted_items(_certain_items(one)):
            by_origin = writers.setdefault(item, {})
            for origin, (earlier_place, earlier) in by_origin.items():
                if origin != one.origin:
                    yield earlier, earlier_place, seen, one, item
            by_origin[one.origin] = (place, one)


@always(
    of=galera_write_sets,
    source="Galera Certification: last_seen_seqno; first committer wins",
    witness=lambda history: next(_followers(history), None) is not None,
)
def senders_saw_writers_of_other_members(history: History) -> tuple[UnseenWriterPassed, ...]:
    """The sender of a certified write set had seen all earlier writes of others to its rows.

    Locks order one member's own writes.
    """
    return tuple(
        UnseenWriterPassed(earlier=earlier.id, later=later.id, item=item)
        for earlier, place, seen, later, item in _followers(history)
        if place > seen
    )


@sometimes(
    of=galera_write_sets,
    source="wsrep_slave_threads > 1; Galera Certification: depends_seqno below the seqno before",
)
def a_write_set_runs_beside_an_unseen_one(history: History) -> bool:
    """A write set passed, and may be applied, beside the one before, which its sender had not seen.

    A cluster has none of these whose senders wait for all before, which refuses whatever they had
    not seen, or which applies write sets one by one.
    """
    before: LogicalTimestamp | None = None
    for place, one, timestamp in _write_sets(history):
        is_unseen, last = (one.snapshot_version or 0) < place - 1, timestamp.last_committed
        if before is not None and is_unseen and not must_wait(last, before.sequence_number):
            return True
        before = timestamp
    return False
