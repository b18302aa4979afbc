"""Builds logged transactions, adding columns that the stream omits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.log import (
    ABSENT,
    UNKNOWN,
    LoggedKind,
    LoggedTransaction,
    LogPosition,
    Operation,
    RowChange,
    RowImage,
)
from paraply.vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey

OnTable = Callable[[TableSchema], None]


class Missing(Enum):
    """Why a decoded value is absent."""

    UNCHANGED = "an unchanged TOAST value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table; ``key`` has the positions of the replica identity."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[int, ...]
    is_full: bool

    def table_schema(self) -> TableSchema:
        """Return the table; a FULL identity has no key."""
        key = () if self.is_full else self.key
        parts = tuple(KeyPart(column=at) for at in key)
        return TableSchema(
            name=self.name,
            columns=tuple(
                Column(name=name, type_name=type_name, nullable=at not in key)
                for at, (name, type_name) in enumerate(zip(self.columns, self.types, strict=True))
            ),
            unique_keys=(UniqueKey(name="PRIMARY", parts=parts),) if parts else (),
            keys_known=bool(parts),
            sources={SchemaSource.TABLE_MAP},
        )


@dataclass(slots=True)
class Assembler:
    """Collects changes, one transaction at a time."""

    file: str
    on_table: OnTable
    ordinal: int = 0
    rows: list[RowChange] = field(default_factory=list)
    truncated: list[str] = field(default_factory=list)
    start: int = 0
    _kept: dict[tuple[str, RowImage], RowImage] = field(default_factory=dict)

    def begin(self, offset: int) -> None:
        """Start a transaction."""
        self.ordinal += 1
        self.start = offset
        self.rows, self.truncated = [], []

    def truncate(self, relation: Relation) -> None:
        """Record that a table lost all rows."""
        self.truncated.append(relation.name)
        self._kept = {key: row for key, row in self._kept.items() if key[0] != relation.name}

    def change(
        self,
        relation: Relation,
        old: Sequence[object] | None,
        new: Sequence[object] | None,
        *,
        is_insert: bool,
    ) -> None:
        """Add a change; ``old`` is the old key or row."""
        before = None if is_insert else self._before(relation, old, new)
        after = None
        if new is not None:
            after = tuple(
                value if value is not Missing.UNCHANGED else _kept_value(before, at)
                for at, value in enumerate(new)
            )
        if not relation.is_full:
            for image in (before, after):
                if image is not None:
                    self._kept.pop((relation.name, _key(relation, image)), None)
            if after is not None:
                self._kept[relation.name, _key(relation, after)] = after
        self.rows.append(
            RowChange(
                table=relation.name,
                operation=Operation.INSERT if before is None
                else Operation.DELETE if after is None else Operation.UPDATE,
                before=before,
                after=after,
                position=LogPosition(file=self.file, offset=self.start),
            )
        )  # fmt: skip

    def _before(
        self, relation: Relation, old: Sequence[object] | None, new: Sequence[object] | None
    ) -> RowImage:
        if old is not None and relation.is_full:
            return tuple(old)
        known = old if old is not None else new
        assert known is not None
        key = _key(relation, tuple(known))
        kept = self._kept.get((relation.name, key))
        if kept is not None:
            return kept
        wanted = frozenset(relation.key)
        return tuple(value if at in wanted else ABSENT for at, value in enumerate(known))

    def end(
        self,
        offset: int,
        name: str,
        time_us: int | None,
        *,
        complete: bool = True,
        flags: frozenset[str] = frozenset(),
    ) -> LoggedTransaction:
        """Return the finished transaction."""
        flags |= {"ddl"} if self.truncated else set()
        kind = LoggedKind.ROWS if self.rows else LoggedKind.EMPTY
        return LoggedTransaction(
            ordinal=self.ordinal,
            kind=LoggedKind.DDL if self.truncated else kind,
            start=LogPosition(file=self.file, offset=self.start),
            end_offset=offset,
            gtid=name,
            committed_at_us=time_us,
            rows=self.rows,
            flags=flags,
            statements=tuple(f"TRUNCATE TABLE {name}" for name in self.truncated),
            complete=complete,
        )


def _key(relation: Relation, image: RowImage) -> RowImage:
    return tuple(image[at] for at in relation.key)


def _kept_value(before: RowImage | None, at: int) -> object:
    return UNKNOWN if before is None or before[at] is ABSENT else before[at]
