"""The table, its rows with locks, and their write sets."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.certification.write_set_items import ItemComposer
from paraply.vocabulary.events import Observation
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.schema import Column, KeyPart, TableSchema, UniqueKey
from paraply.vocabulary.transactions import RowWrite, TransactionId
from paraply.vocabulary.write_set import Item, WriteSet

TABLE = TableSchema(
    name="d.t",
    columns=(
        Column(name="id", type_name="varchar", nullable=False),
        Column(name="writer", type_name="int"),
    ),
    unique_keys=(UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),)),),
    keys_known=True,
    keys_complete=True,
)
"""Each row has its key and the number of the transaction that wrote it last."""
_COMPOSER = ItemComposer()
_WRITE_SETS_KEPT = 4096


def row_write(row: Item, read: object, writer: TransactionId | None) -> RowWrite:
    """Return a change of the row that was read with this value; None inserts it.

    Without a writer it is a delete.
    """
    operation = Operation.UPDATE if writer is not None else Operation.DELETE
    return RowWrite(
        table=TABLE.name,
        operation=Operation.INSERT if read is None else operation,
        before=None if read is None else (row, read),
        after=None if writer is None else (row, int(writer)),
    )


def items_of(rows: tuple[RowWrite, ...]) -> tuple[Item, ...]:
    """Return the write set of row changes, in their order."""
    found = (_write_set(row.before, row.after) for row in rows)
    return tuple(dict.fromkeys(item for items in found for item in sorted(items, key=str)))


def item_of_row(row: Item) -> Item:
    """Return the item of a row's key."""
    (item,) = _write_set(None, (row, None))
    return item


@lru_cache(maxsize=_WRITE_SETS_KEPT)
def _write_set(before: RowImage | None, after: RowImage | None) -> WriteSet:
    return _COMPOSER.write_set(TABLE, before, after)


class Table(RowStore):
    """A member's rows; clients' locks pass to their transactions."""

    def hand_over(self, client: TransactionId, transaction: TransactionId) -> None:
        """Give a client's locks to its transaction."""
        self.holders = {
            row: transaction if holder == client else holder for row, holder in self.holders.items()
        }

    def seen(self) -> tuple[Observation, ...]:
        """Return a snapshot with the items of write sets.

        A row states its writer in its value; of a row that is absent, the version does.
        """
        return tuple(
            Observation(
                item_of_row(row),
                version.writer if version.value is None else cast("TransactionId", version.value),
            )
            for row, version in self.newest()
        )
