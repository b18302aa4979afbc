"""GTIDs that certification gives from the members' blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from paraply.properties.group.stream import MemberStream, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberOutsideBlock(Violation):
    """An automatic GTID is not the next one of its origin's block."""

    member: str
    transaction: TransactionId
    gtid: str
    expected: int
    block_size: int

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} {self.gtid}; with blocks of {self.block_size} "
            f"its origin's next number is {self.expected}"
        )


@dataclass(slots=True)
class _Blocks:
    """The blocks of all origins, as one member reserves them.

    ``used`` are the certified numbers, ``closed`` those of them that free intervals leave out, and
    ``current`` each origin's last number and the end of its block.
    """

    size: int
    used: set[int] = field(default_factory=set)
    closed: frozenset[int] = frozenset()
    reserved_up_to: int = 0
    current: dict[str, tuple[int, int]] = field(default_factory=dict)
    given: int = 0

    def next_number(self, origin: str) -> int:
        """Return the number of the origin's next transaction."""
        if self.given % (self.size + 1) == 0:
            self.take_back()
        self.given += 1
        first, last = self.current.get(origin, (1, 0))
        while (number := _lowest_outside(self.used, first)) > last:
            first, last = self.reserve()
        self.current[origin] = (number, last)
        return number

    def take_back(self) -> None:
        """End all blocks, so that new ones fill their holes."""
        self.closed = frozenset(self.used)
        self.current.clear()
        self.reserved_up_to = 0

    def reserve(self) -> tuple[int, int]:
        """Return the next block: it ends with its size or with its free interval."""
        first = last = _lowest_outside(self.closed, self.reserved_up_to + 1)
        while last - first + 1 < self.size and last + 1 not in self.closed:
            last += 1
        self.reserved_up_to = last
        return first, last

    def on_view_change(self) -> None:
        """Start anew, as a joiner does."""
        self.take_back()
        self.given = 0


def _lowest_outside(numbers: Set[int], first: int) -> int:
    while first in numbers:
        first += 1
    return first


def _block_size(history: History) -> int:
    return int(history.header.options.get("block_size", 1))


def numbered_in_blocks(history: History) -> bool:
    """Members certify, and give each transaction a GTID, from blocks of several numbers."""
    return (
        certification(history)
        and _block_size(history) > 1
        and all(one.gtid for one in history.events if one.outcome is Outcome.POSITIVE)
    )


def _given(history: History) -> Iterator[tuple[Event, Transaction, int]]:
    """Yield automatic GTIDs of origins: the event, its transaction and the number due.

    A member is judged while it is in the group from the start: a joiner's free numbers depend on
    its donor.
    """
    for stream in member_streams(history):
        blocks = _Blocks(_block_size(history))
        for event in _first_stay(stream):
            if event.kind is EventKind.VIEW_INSTALLED:
                blocks.on_view_change()
            if event.outcome is not Outcome.POSITIVE or event.transaction is None:
                continue
            transaction = history.transaction(event.transaction)
            if _is_numbered_in_block(transaction):
                yield event, transaction, blocks.next_number(transaction.origin)
            blocks.used.add(_number_of(event))


def _number_of(event: Event) -> int:
    return int(event.gtid.rpartition(":")[2])


def _first_stay(stream: MemberStream) -> Iterator[Event]:
    """Yield a member's events until it starts again or recovers."""
    starts = 0
    for _, event in stream.events:
        starts += event.kind is EventKind.STARTED
        if starts > 1 or event.kind is EventKind.RECOVERED:
            return
        yield event


def _is_numbered_in_block(transaction: Transaction) -> bool:
    is_view_change = transaction.kind is TransactionKind.VIEW_CHANGE
    return not transaction.gtid and bool(transaction.origin) and not is_view_change


@sometimes(of=numbered_in_blocks, source="group_replication_gtid_assignment_block_size")
def an_origin_needs_a_second_block(history: History) -> bool:
    """A member gives an origin more GTIDs than one block has."""
    size, counts = _block_size(history), Counter[tuple[str, str]]()
    for event, transaction, _ in _given(history):
        counts[event.member, transaction.origin] += 1
    return any(count > size for count in counts.values())


@always(
    of=numbered_in_blocks,
    source="Certifier::get_group_next_available_gtid and reserve_gtid_block in certifier.cc; "
    "MySQL manual, group_replication_gtid_assignment_block_size",
    witness=lambda history: sum(1 for _ in _given(history)),
    is_safety=False,
)
def gtids_come_from_their_origins_block(history: History) -> list[NumberOutsideBlock]:
    """An automatic GTID is the lowest free number of its origin's block.

    Blocks are disjoint. A new block is the begin of the first free interval without one, and is at
    most as long as configured. After every block size plus one automatic GTIDs, and at every view
    change, all blocks end, so that new ones fill their holes.
    """
    return [
        NumberOutsideBlock(
            member=event.member,
            transaction=transaction.id,
            gtid=event.gtid,
            expected=expected,
            block_size=_block_size(history),
        )
        for event, transaction, expected in _given(history)
        if _number_of(event) != expected
    ]
