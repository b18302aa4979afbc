"""Logged transactions from a notation as short as the thought, without any binary log.

``log("1<0 a", "2<0 b", "3<1 a/b")``: sequence_number<last_committed, then the keys written and,
after the slash, the keys only read. A key ``x`` is row ``x`` of table ``d.t``; ``u.x`` is row
``x`` of table ``d.u``; ``t#uk.x`` is value ``x`` of the unique key ``uk``; a trailing ``?`` marks
a key that rests on an assumption.
"""

from __future__ import annotations

from collections.abc import Sequence

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import (
    LoggedKind,
    LoggedTransaction,
    LogPosition,
    Operation,
    RowChange,
    RowImage,
)
from paraply.vocabulary.schema import (
    Column,
    ForeignKey,
    KeyPart,
    SchemaSource,
    TableSchema,
    UniqueKey,
)

FILE = "bin.000001"


def key(text: str) -> ConflictKey:
    """Return the key that ``text`` names."""
    table, _, value = text.rstrip("?").rpartition(".")
    table, _, index = (table or "t").partition("#")
    return ConflictKey(table=f"d.{table}", index=index or "PRIMARY", values=(value,), shown=value)


def transaction(
    ordinal: int,
    keys: str = "",
    *,
    kind: LoggedKind = LoggedKind.ROWS,
    unkeyed: Sequence[str] = (),
    rows: Sequence[RowChange] | None = None,
    **fields: object,
) -> LoggedTransaction:
    """Return a transaction that writes and reads ``keys``, one inserted row per written key."""
    written, _, read = keys.partition("/")
    names = [*written.split(), *read.split()]
    position = LogPosition(file=str(fields.pop("file", FILE)), offset=100 * ordinal)
    writes = [key(name) for name in written.split()]
    if rows is None:
        images = [(k.table, (k.index, k.values[0])) for k in writes]
        images += [(table, ()) for table in unkeyed]
        rows = [
            RowChange(
                table=table,
                operation=Operation.UPDATE,
                before=image,
                after=image,
                position=position,
            )
            for table, image in images
        ]
    values: dict[str, object] = {
        "ordinal": ordinal,
        "kind": kind,
        "start": position,
        "end_offset": 100 * ordinal + 90,
        "keys": frozenset(writes),
        "shared_keys": frozenset(map(key, read.split())),
        "uncertain_keys": frozenset(key(name) for name in names if name.endswith("?")),
        "unkeyed_tables": frozenset(unkeyed),
        "unidentified_tables": frozenset(unkeyed),
        "rows": list(rows),
        "default_schema": "d",
        **fields,
    }
    # A row that is not known may be any row of its table.
    values.setdefault("reached_tables", values["unidentified_tables"])
    return LoggedTransaction(**values)  # type: ignore[arg-type]


def stamped(ordinal: int, text: str, **fields: object) -> LoggedTransaction:
    """Return the MySQL transaction that ``"SN<LC keys"`` describes."""
    stamp, _, keys = text.partition(" ")
    sequence_number, _, last_committed = stamp.partition("<")
    return transaction(
        ordinal,
        keys,
        sequence_number=int(sequence_number),
        last_committed=int(last_committed),
        **{"gtid": f"00000000-0000-0000-0000-000000000001:{ordinal}", **fields},
    )


def log(*texts: str | LoggedTransaction) -> list[LoggedTransaction]:
    """Return a MySQL log; a transaction given as such keeps its fields."""
    return [
        stamped(ordinal, text) if isinstance(text, str) else text
        for ordinal, text in enumerate(texts, start=1)
    ]


def grouped(ordinal: int, text: str, **fields: object) -> LoggedTransaction:
    """Return the MariaDB transaction that ``"commit_id keys"`` describes, ``-`` for no id."""
    commit_id, _, keys = text.partition(" ")
    domain = fields.pop("domain", 0)
    return transaction(
        ordinal,
        keys,
        commit_id=None if commit_id == "-" else int(commit_id),
        domain=domain,
        **{"gtid": f"{domain}-1-{ordinal}", **fields},
    )


def maria_log(*texts: str | LoggedTransaction) -> list[LoggedTransaction]:
    """Return a MariaDB log."""
    return [
        grouped(ordinal, text) if isinstance(text, str) else text
        for ordinal, text in enumerate(texts, start=1)
    ]


class NotationKeys:
    """The RowKeys of the notation: a row is the index and value of the one key it stands for."""

    def schema_of(self, table: str) -> TableSchema | None:
        return None

    def referencing(self, table: str) -> Sequence[tuple[str, ForeignKey]]:
        return ()

    def keys_of(self, table: str, image: RowImage) -> tuple[ConflictKey, ...] | None:
        if not image:
            return None
        return (ConflictKey(table=table, index=str(image[0]), values=image[1:]),)

    identities_of = keys_of


class Tables:
    """A RowKeys over fixed tables: column 0 is the primary key, ``unique`` columns are unique."""

    def __init__(self) -> None:
        self.schemas: dict[str, TableSchema] = {}

    def add(
        self,
        name: str,
        *columns: str,
        primary: Sequence[int] = (0,),
        unique: Sequence[int] = (),
        foreign: Sequence[ForeignKey] = (),
        is_told: bool = True,
    ) -> Tables:
        """Add a table and return self."""
        keys = [UniqueKey(name=f"uk{at}", parts=(KeyPart(column=at),)) for at in unique]
        if primary:
            parts = tuple(KeyPart(column=at) for at in primary)
            keys.insert(0, UniqueKey(name="PRIMARY", parts=parts))
        self.schemas[name] = TableSchema(
            name=name,
            columns=tuple(Column(name=column) for column in columns),
            unique_keys=tuple(keys),
            foreign_keys=tuple(foreign),
            keys_known=True,
            keys_complete=is_told,
            foreign_keys_known=is_told,
            sources={SchemaSource.DUMP if is_told else SchemaSource.TABLE_MAP},
        )
        return self

    def schema_of(self, table: str) -> TableSchema | None:
        return self.schemas.get(table)

    def referencing(self, table: str) -> Sequence[tuple[str, ForeignKey]]:
        return [
            (name, key)
            for name, one in self.schemas.items()
            for key in one.foreign_keys
            if key.parent == table
        ]

    def keys_of(self, table: str, image: RowImage) -> tuple[ConflictKey, ...] | None:
        schema = self.schemas.get(table)
        if schema is None:
            return None
        found = []
        for unique in schema.unique_keys:
            values = tuple(image[part.column] for part in unique.parts)
            if not any(value is None or repr(value) == "ABSENT" for value in values):
                found.append(ConflictKey(table=table, index=unique.name, values=values))
        return tuple(found)

    identities_of = keys_of


def insert(table: str, *after: object, offset: int = 0) -> RowChange:
    """Return an inserted row."""
    return _change(table, Operation.INSERT, None, after, offset)


def update(table: str, before: RowImage, after: RowImage, offset: int = 0) -> RowChange:
    """Return an updated row."""
    return _change(table, Operation.UPDATE, before, after, offset)


def delete(table: str, *before: object, offset: int = 0) -> RowChange:
    """Return a deleted row."""
    return _change(table, Operation.DELETE, before, None, offset)


def _change(table, operation, before, after, offset):
    return RowChange(
        table=table,
        operation=operation,
        before=before,
        after=after,
        position=LogPosition(file=FILE, offset=offset),
    )


def with_keys(
    tables: Tables, ordinal: int, *rows: RowChange, **fields: object
) -> LoggedTransaction:
    """Return a transaction of ``rows`` whose keys ``tables`` tells."""
    keys: set[ConflictKey] = set()
    for row in rows:
        for image in (row.before, row.after):
            if image is not None:
                keys.update(tables.keys_of(row.table, image) or ())
    txn = transaction(ordinal, rows=rows, **fields)
    txn.keys = frozenset(keys)
    return txn


def audited(transactions: Sequence[LoggedTransaction], **options: object) -> AuditResult:
    """Return the result of an audit with the keys of the notation."""
    auditor = Auditor(NotationKeys(), AuditOptions(**options))  # type: ignore[arg-type]
    for txn in transactions:
        auditor.observe(txn)
    return auditor.result()
