"""Add seqno, depends_seqno, last_seen and sender to a cluster's transactions.

Only the sender logs depends_seqno, and each member computes its own. They differ by purges of the
certification index, which replace an entry by the purge's seqno and which open transactions limit
(``Certification::purge_trxs_upto``). A cluster owes only the common part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from paraply.adapters.binlog.schema.ddl import AlterTable, CreateTable, DropTables
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.adapters.live.galera.windows import SeenInside
from paraply.vocabulary.timestamps import LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.transactions import ISOLATED, Transaction, TransactionKind
from paraply.vocabulary.write_set import Item, WriteSet


@dataclass(slots=True)
class _Owed:
    writers: dict[Item, int] = field(default_factory=dict)
    floor: int = 0
    """The last write to a table without a key: a barrier."""

    def depends_seqno(self, one: Transaction, told: int) -> int:
        """Without additions from the sender's own index."""
        if ISOLATED in one.flags or one.keyless_tables:
            return told
        writers = (self.writers.get(item, 0) for item in one.write_set)
        return min(told, max((self.floor, *writers)))

    def add(self, one: Transaction, seqno: int) -> None:
        self.writers.update(dict.fromkeys(one.write_set, seqno))
        if one.keyless_tables:
            self.floor = seqno


def with_order(transactions: Sequence[Transaction], seen: SeenInside) -> tuple[Transaction, ...]:
    """Return the transactions with their order."""
    seqnos = [seen.seqnos.get(one.gtid, 0) for one in transactions]
    # The preceding seqno replaces a missing one.
    order = list(accumulate(seqnos, max))
    owed = _Owed(floor=next(filter(None, seqnos), 1) - 1)
    told: list[Transaction] = []
    for one, seqno in zip(transactions, seqnos, strict=True):
        if seqno:
            one = _ordered(one, seqno, order, seen, owed)
            owed.add(one, seqno)
        told.append(one)
    return tuple(told)


def _ordered(
    one: Transaction, seqno: int, order: Sequence[int], seen: SeenInside, owed: _Owed
) -> Transaction:
    if one.kind is TransactionKind.DDL:
        # The keys of its tables decide its conflicts, as for rows:
        # it is no barrier to others.
        one = replace(
            one,
            kind=TransactionKind.ROWS,
            flags=one.flags | {ISOLATED},
            write_set=tables_of(one.statement),
        )
    if seqno not in seen.sent:
        return one
    sender, sent = seen.sent[seqno]
    return replace(
        one,
        origin=sender,
        timestamp=LogicalTimestamp.as_recorded(owed.depends_seqno(one, sent.depends), seqno),
        # Earlier rounds count as seen: they are in no history.
        snapshot_version=SnapshotVersion(bisect_right(order, sent.last_seen)),
    )


def tables_of(statement: str) -> WriteSet:
    """Return a schema change's tables, or the statement itself without any.

    >>> sorted(tables_of("DROP TABLE `live0`.`a`, live0.b"))
    ['live0.a', 'live0.b']
    """
    match parse_statement(statement):
        case CreateTable(table=name) | AlterTable(table=name):
            return frozenset({name.within("")})
        case DropTables(tables=names):
            return frozenset(name.within("") for name in names)
    return frozenset({statement})
