"""Write-set extraction as a subject: row changes with common keys, and their items.

Chosen values differ as bytes and are equal as keys: by collation, prefix, or child and parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from paraply.reference_impl.certification.write_set_items import ItemComposer
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Option, Subject, Workload, register_subject
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.schema import Column, ForeignKey, KeyPart, TableSchema, UniqueKey
from paraply.vocabulary.transactions import RowWrite, Transaction

COLLATION = "utf8mb4_general_ci"
PREFIX_LENGTH = 2
ID = Column(name="id", type_name="int", nullable=False)
WORD = Column(name="word", type_name="varchar", collation=COLLATION, length=10)
PRIMARY = UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),))


def _table(
    name: str,
    columns: tuple[Column, ...],
    keys: tuple[UniqueKey, ...] = (),
    foreign_keys: tuple[ForeignKey, ...] = (),
) -> TableSchema:
    return TableSchema(
        name=name,
        columns=columns,
        unique_keys=(PRIMARY, *keys),
        foreign_keys=foreign_keys,
        keys_known=True,
        keys_complete=True,
    )


WORDS = _table("test.words", (ID, WORD), (UniqueKey(name="uk_word", parts=(KeyPart(column=1),)),))
PAIRS = _table(
    "test.pairs",
    (ID, WORD, Column(name="n", type_name="int")),
    (
        UniqueKey(
            name="uk_pair",
            parts=(KeyPart(column=1, prefix_length=PREFIX_LENGTH), KeyPart(column=2)),
        ),
    ),
)
CHILDREN = _table(
    "test.children",
    (ID, Column(name="word_id", type_name="int")),
    foreign_keys=(
        ForeignKey(name="fk_word", columns=(1,), parent="test.words", parent_columns=("id",)),
    ),
)
TABLES = {table.name: table for table in (WORDS, PAIRS, CHILDREN)}


class Change(NamedTuple):
    """A possible row change."""

    table: TableSchema
    before: RowImage | None
    after: RowImage | None


class WriteSetSubject(Subject):
    """One row change per transaction, with items."""

    name = "write_sets"
    meaning = "write-set extraction: which rows are taken for one"
    source = "sql/rpl_write_set_handler.cc: add_pke"
    dialects = ("xxh64",)
    options = (Option(name="foreign_keys", default=True, meaning="rows of a child table as well"),)
    schema: ClassVar[tuple[TableSchema, ...]] = tuple(TABLES.values())

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Change rows serially, as keys allow."""
        composer = ItemComposer(tables=TABLES)
        rows: dict[str, list[RowImage]] = {name: [] for name in TABLES}
        for _ in range(workload.transactions):
            changes = [
                change
                for change in possible_changes(rows)
                if options["foreign_keys"] or not change.table.foreign_keys
            ]
            change = schedule.choose(changes, "row change")
            recorder.next_step()
            name = change.table.name
            if change.before is not None:
                rows[name].remove(change.before)
            if change.after is not None:
                rows[name].append(change.after)
            transaction = recorder.add(
                Transaction(
                    id=recorder.next_id(),
                    write_set=composer.write_set(change.table, change.before, change.after),
                    rows=(
                        RowWrite(
                            table=name,
                            operation=operation_of(change),
                            before=change.before,
                            after=change.after,
                        ),
                    ),
                )
            )
            recorder.record(EventKind.FLUSHED, transaction=transaction)
        return ("r1",)


def possible_changes(rows: Mapping[str, list[RowImage]]) -> Iterator[Change]:
    """Yield valid changes; a new row has the table's next id, so tables have equal ids."""
    next_id = {name: 1 + max(map(_id_of, there), default=0) for name, there in rows.items()}
    words = {str(row[1]).casefold() for row in rows["test.words"]}
    pairs = {_pair_key(row) for row in rows["test.pairs"]}
    for word in ("c", "C", "1", None):  # "1" is also an id.
        if word is None or word.casefold() not in words:
            yield Change(WORDS, None, (next_id["test.words"], word))
    for word, n in (("abc", 1), ("abd", 1), ("abc", 2), ("abc", None), (None, 1)):
        # NULL equals nothing, so a pair with it may repeat.
        if word is None or n is None or _pair_key((0, word, n)) not in pairs:
            yield Change(PAIRS, None, (next_id["test.pairs"], word, n))
    for row in rows["test.words"]:
        yield Change(CHILDREN, None, (next_id["test.children"], row[0]))
        # An update sets a key to NULL, or from NULL to a free value.
        if row[1] is not None:
            yield Change(WORDS, row, (row[0], None))
        elif "c" not in words:
            yield Change(WORDS, row, (row[0], "c"))
    for row in rows["test.pairs"]:
        if None not in row:
            yield Change(PAIRS, row, (row[0], None, row[2]))
            yield Change(PAIRS, row, (row[0], row[1], None))
        elif _pair_key(filled := (row[0], row[1] or "abc", row[2] or 1)) not in pairs:
            yield Change(PAIRS, row, filled)
    referred = {row[1] for row in rows["test.children"]}
    for name, present in rows.items():
        for row in present:
            if name != "test.words" or row[0] not in referred:
                yield Change(TABLES[name], row, None)


def operation_of(change: Change) -> Operation:
    """Return a change's operation."""
    if change.before is None:
        return Operation.INSERT
    return Operation.DELETE if change.after is None else Operation.UPDATE


def _id_of(row: RowImage) -> int:
    number = row[0]
    assert isinstance(number, int)
    return number


def _pair_key(row: RowImage) -> tuple[str, object]:
    return str(row[1])[:PREFIX_LENGTH].casefold(), row[2]


WRITE_SETS = register_subject(WriteSetSubject())
