"""The rows in which transactions of a MariaDB replica write their position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.attempts import NON_TRANSACTIONAL
from paraply.properties.gtid.histories import POSITION_ITEM
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import (
    attempts_of_workers,
    position_rows,
    positions_of_replicas,
)
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

IN_A_TABLE = ("table", "single_row")
ELSEWHERE = ("binlog", "relay_log_info")
"""Prefixes of dialects: the position is in a table, or in the replica's log or a file."""
"""Flag: no rollback (MyISAM)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionElsewhere(Violation):
    """A transaction leaves its position row out, or writes one that nothing reads."""

    member: str
    transaction: TransactionId
    is_written: bool

    def __str__(self) -> str:
        done = "wrote a position row" if self.is_written else "committed without a position row"
        where = "the log or a file" if self.is_written else "a table"
        return f"{self.member}: T{self.transaction} {done}, and {where} has the position"


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionRowWrong(Violation):
    """A position row's key is not its domain's next."""

    member: str
    transaction: TransactionId
    key: tuple[int, ...]
    why: str

    def __str__(self) -> str:
        key = ", ".join(map(str, self.key))
        return f"{self.member}: T{self.transaction} wrote position row ({key}), {self.why}"


def _key_of(event: Event, outcome: Outcome = Outcome.OK) -> tuple[int, ...] | None:
    """Return the key of the position row that an event writes, or has to wait for, if any."""
    for item in event.items if event.outcome is outcome else ():
        name, *key = str(item).split()
        if name == POSITION_ITEM and all(map(str.isdigit, key)):
            return tuple(map(int, key))
    return None


def _is_reversible(one: Transaction) -> bool:
    return one.kind is not TransactionKind.DDL and NON_TRANSACTIONAL not in one.flags


def _commits(history: History) -> Iterator[tuple[Event, TransactionId, tuple[int, ...] | None]]:
    """Yield commits of what can be rolled back, and the key of their attempt's position row."""
    rows: dict[tuple[str, TransactionId], tuple[int, ...]] = {}
    for event in history.events:
        one = event.transaction
        if one is None or event.worker is None or not _is_reversible(history.transaction(one)):
            continue
        key = event.member, one
        if event.kind is EventKind.BEGUN:
            rows.pop(key, None)
        elif event.kind is EventKind.ROW_APPLIED:
            row = _key_of(event)
            if row is not None:
                rows[key] = row
        elif event.kind is EventKind.ENGINE_COMMITTED:
            yield event, one, rows.get(key)


def _counted(history: History) -> Iterator[tuple[Event, TransactionId, int, int]]:
    """Yield position rows, and the number that each has and is to have.

    A crash begins anew above the rows that have committed.
    """
    above: dict[str, int] = {}
    given: dict[str, dict[TransactionId, int]] = {}
    committed: dict[str, int] = {}
    for event in history.events:
        mine, one = given.setdefault(event.member, {}), event.transaction
        if event.kind is EventKind.RECOVERED:
            above[event.member] = committed.get(event.member, 0)
            mine.clear()
        elif event.kind is EventKind.STARTED:
            above[event.member] = above.get(event.member, 0) + len(mine)
            mine.clear()
        elif one is None or event.worker is None:
            continue
        elif event.kind is EventKind.BEGUN:
            mine.setdefault(one, above.get(event.member, 0) + len(mine) + 1)
        elif event.kind is EventKind.ROW_APPLIED and one in mine:
            row = _key_of(event)
            if row and len(row) > 1:
                yield event, one, row[-1], mine[one]
        elif event.kind is EventKind.ENGINE_COMMITTED and one in mine:
            committed[event.member] = max(mine[one], committed.get(event.member, 0))


def stated_stores(history: History) -> bool:
    """Workers of a controlled replica commit, and its dialect says where its position is."""
    is_stated = history.header.dialect.startswith((*IN_A_TABLE, *ELSEWHERE))
    return is_stated and positions_of_replicas(history) and attempts_of_workers(history)


@always(
    of=stated_stores,
    source="On crash-safe slave: method 1, the binary log; method 2, a table",
    witness=lambda history: sum(1 for _ in _commits(history)),
)
def positions_are_written_where_they_are_kept(history: History) -> tuple[PositionElsewhere, ...]:
    """Each transaction commits with its position row, or with none if no table has the position."""
    is_in_a_table = history.header.dialect.startswith(IN_A_TABLE)
    return tuple(
        PositionElsewhere(member=event.member, transaction=one, is_written=not is_in_a_table)
        for event, one, row in _commits(history)
        if (row is None) is is_in_a_table
    )


def _numbered(history: History) -> Iterator[tuple[Event, TransactionId, tuple[int, ...], int]]:
    """Yield commits with their position row, and the number of their domain's row before."""
    last: dict[tuple[str, int | None], int] = {}
    for event, one, row in _commits(history):
        if row:
            domain = history.transaction(one).domain
            yield event, one, row, last.get((event.member, domain), 0)
            last[event.member, domain] = row[-1] if len(row) > 1 else 0


@always(
    of=position_rows,
    source="mysql.gtid_slave_pos: PRIMARY KEY (domain_id, sub_id); the highest sub_id counts",
    witness=lambda history: sum(1 for _ in _numbered(history)),
)
def position_rows_rise_in_their_domain(history: History) -> tuple[PositionRowWrong, ...]:
    """A position row has its transaction's domain, and a greater number than the one before."""
    found = []
    for event, one, row, before in _numbered(history):
        domain = history.transaction(one).domain
        why = "" if row[0] == domain else f"and is of domain {domain}"
        if len(row) > 1 and row[1] <= before:
            why = f"not above {before}"
        if why:
            found.append(PositionRowWrong(member=event.member, transaction=one, key=row, why=why))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitsForAnotherRow(Violation):
    """A transaction waits for a position row that it does not write."""

    member: str
    transaction: TransactionId
    holder: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} and T{self.holder} write other position rows"


def _waits(history: History) -> Iterator[tuple[WaitsForAnotherRow, bool]]:
    """Yield waits for position rows, and whether the holder writes the same row."""
    written: dict[tuple[str, TransactionId], tuple[int, ...] | None] = {}
    for event in history.events_of(EventKind.BEGUN, EventKind.ROW_APPLIED):
        one, other = event.transaction, event.other
        if one is None:
            continue
        key = _key_of(event)
        if event.kind is EventKind.BEGUN or key:
            written[event.member, one] = key
        wanted = _key_of(event, Outcome.LOCK_WAIT)
        if wanted and other is not None:
            breach = WaitsForAnotherRow(member=event.member, transaction=one, holder=other)
            yield breach, written.get((event.member, other)) == wanted


def waits_for_position_rows(history: History) -> bool:
    """Transactions wait for position rows."""
    return any(True for _ in _waits(history))


@always(
    of=waits_for_position_rows,
    source="InnoDB: row locks; bad_rpl_slave_state has one row for each domain",
    witness=lambda history: sum(1 for _ in _waits(history)),
    is_safety=False,
)
def position_rows_block_only_the_same_row(history: History) -> tuple[WaitsForAnotherRow, ...]:
    """A transaction waits to write its position only while another one writes the same row."""
    return tuple(breach for breach, is_same in _waits(history) if not is_same)


def numbered_position_rows(history: History) -> bool:
    """Transactions write numbered positions into a table, and none writes its own unseen."""
    return all(map(_is_reversible, history.transactions)) and any(
        len(_key_of(event) or ()) > 1 for event in history.events_of(EventKind.ROW_APPLIED)
    )


class PositionRowSkipped(PositionRowWrong):
    """A position row leaves a number out."""

    __slots__ = ()


@always(
    of=numbered_position_rows,
    source="rpl_slave_state: next_sub_id; after a restart it goes on above the greatest row",
    witness=lambda history: sum(1 for _ in _counted(history)),
    is_safety=False,
)
def position_rows_are_counted_one_by_one(history: History) -> tuple[PositionRowSkipped, ...]:
    """Each transaction that begins takes the next number for its position row, from 1."""
    return tuple(
        PositionRowSkipped(
            member=event.member, transaction=one, key=(number,), why=f"which is not {expected}"
        )
        for event, one, number, expected in _counted(history)
        if number != expected
    )
