"""Compares a source transaction with the replica's transaction of the same name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from paraply.adapters.binlog.live_events import SentTransaction
from paraply.properties.two_logs.following import ALONE, NOT_COME
from paraply.verifying.recording import defined_names, identifying_key, names_defining
from paraply.verifying.values import plain
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind, RowChange, RowImage
from paraply.vocabulary.schema import TableSchema

_TEXT_MAX = 80

Image = tuple[object, ...]


@dataclass(slots=True)
class Comparison:
    """Compares transactions.

    ``seen`` are tables that the target's log has shown; ``filtered`` are not compared.
    """

    filtered: frozenset[str] = frozenset()
    seen: set[str] = field(default_factory=set)
    doubts: dict[str, str] = field(default_factory=dict)
    """Subjects that cannot be compared, and why."""

    def rows(self, sent: SentTransaction) -> int:
        """Return the number of rows to judge."""
        if self.filtered.isdisjoint(sent.row_tables):
            return sent.row_count
        return sum(row.table not in self.filtered for row in sent.transaction.lasting_rows)

    def note_target(self, sent: SentTransaction) -> None:
        """Note the tables of a target transaction."""
        self.seen |= sent.row_tables

    def is_new_to_target(self, sent: SentTransaction) -> bool:
        """Return whether the target never showed any of its tables; a doubt each."""
        tables = sent.row_tables - self.filtered
        if tables & self.seen:
            return False
        for table in sorted(tables):
            self._doubt_table(table)
        return True

    def _doubt_table(self, table: str) -> None:
        self.doubts.setdefault(
            table, "the target's log has no row of it: filtered on purpose (--filtered), or lost"
        )

    def defines(self, sent: SentTransaction) -> bool:
        """Return whether a statement of it defines a table that the target's log has shown."""
        if sent.kind is not LoggedKind.DDL:
            return False
        judged = names_defining(self.seen - self.filtered)
        return not judged.isdisjoint(defined_names(sent.transaction))

    def _doubt_statements(self, source: SentTransaction, target: SentTransaction) -> None:
        mine, theirs = self.defines(source), self.defines(target)
        if mine != theirs:
            self.doubts.setdefault(source.gtid, NOT_COME if mine else ALONE)

    def difference(self, source: SentTransaction, target: SentTransaction) -> str:
        """Return how the target's rows differ, or an empty text."""
        self._doubt_statements(source, target)
        if source.has_same_content(target):
            return ""
        mine, theirs = source.transaction, target.transaction
        for transaction in (mine, theirs):
            for table in sorted(transaction.undecoded_tables):
                self.doubts.setdefault(table, "some of its rows cannot be decoded")
        if _same_rows(mine.lasting_rows, theirs.lasting_rows) and _same_columns(source, target):
            return ""
        left = _by_table(mine.lasting_rows, self.filtered)
        right = _by_table(theirs.lasting_rows, self.filtered)
        for table in [*left, *(name for name in right if name not in left)]:
            if table in mine.undecoded_tables | theirs.undecoded_tables:
                continue
            if table not in right and table not in self.seen:
                self._doubt_table(table)
                continue
            how = self._table_difference(
                table, left.get(table, []), right.get(table, []), source, target
            )
            if how:
                return how
        return ""

    def _table_difference(
        self,
        table: str,
        mine: Sequence[RowChange],
        theirs: Sequence[RowChange],
        source: SentTransaction,
        target: SentTransaction,
    ) -> str:
        layouts = source.tables.get(table), target.tables.get(table)
        names, mine_at, theirs_at = _common_columns(mine, theirs, *layouts)
        key = _key(names, *layouts)
        left, right = _net(mine, mine_at, key), _net(theirs, theirs_at, key)
        for identity in [*left, *(each for each in right if each not in left)]:
            one, other = left.get(identity), right.get(identity)
            if one == other:
                continue
            row = f"{table} {_shown(identity)}"
            if one is None:
                return f"{row}: only the target changed it"
            if other is None:
                return f"{row}: the target did not change it"
            for at, what in ((1, "left"), (0, "found")):
                how = self._image_difference(row, names, one[at], other[at], what)
                if how:
                    return how
        return ""

    def _image_difference(
        self, row: str, names: Sequence[str], one: object, other: object, what: str
    ) -> str:
        if one == other:
            return ""
        if not isinstance(one, tuple) or not isinstance(other, tuple):
            shown = ["a row" if isinstance(image, tuple) else str(image) for image in (one, other)]
            return f"{row}: the source {what} {shown[0]}, the target {shown[1]}"
        for name, left, right in zip(names, one, other, strict=True):
            if left == right or {left, right} & {ABSENT, UNKNOWN}:
                continue
            if isinstance(left, str) != isinstance(right, str) and None not in (left, right):
                subject = f"{row.partition(' ')[0]}.{name}"
                self.doubts.setdefault(
                    subject, "its values are read with other types in the two logs"
                )
                continue
            return f"{row}, {name}: the source {what} {_shown(left)}, the target {_shown(right)}"
        return ""


def keys_of(sent: SentTransaction) -> frozenset[Hashable]:
    """Return what identifies the changed rows."""
    found: set[Hashable] = set()
    for row in sent.transaction.lasting_rows:
        schema = sent.tables.get(row.table)
        for image in (row.before, row.after):
            if image is None:
                continue
            names = _names(schema, len(image))
            at = [names.index(name) for name in _key_of(schema) if name in names]
            values = tuple(plain(image[i]) for i in at) if at else tuple(map(plain, image))
            found.add((row.table, *map(_hashable, values)))
    return frozenset(found)


def unkeyed_tables(sent: SentTransaction) -> set[str]:
    """Return changed tables whose rows no known key identifies."""
    return {table for table in sent.row_tables if not _key_of(sent.tables.get(table))}


def _hashable(value: object) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


def _same_rows(mine: Sequence[RowChange], theirs: Sequence[RowChange]) -> bool:
    return len(mine) == len(theirs) and all(
        one.table == other.table and one.after == other.after and one.before == other.before
        for one, other in zip(mine, theirs, strict=True)
    )


def _same_columns(source: SentTransaction, target: SentTransaction) -> bool:
    return all(
        table not in target.tables
        or not _named(schema)
        or not _named(target.tables[table])
        or [c.name for c in schema.columns] == [c.name for c in target.tables[table].columns]
        for table, schema in source.tables.items()
    )


def _by_table(rows: Iterable[RowChange], filtered: frozenset[str]) -> dict[str, list[RowChange]]:
    found: dict[str, list[RowChange]] = {}
    for row in rows:
        if row.table not in filtered:
            found.setdefault(row.table, []).append(row)
    return found


def _named(schema: TableSchema | None) -> bool:
    return schema is not None and bool(schema.columns) and bool(schema.columns[0].name)


def _names(schema: TableSchema | None, width: int) -> list[str]:
    if schema is not None and _named(schema) and len(schema.columns) == width:
        return [column.name.lower() for column in schema.columns]
    return [f"@{at}" for at in range(1, width + 1)]


def _width(rows: Sequence[RowChange]) -> int | None:
    for row in rows:
        image = row.after if row.after is not None else row.before
        if image is not None:
            return len(image)
    return None


def _common_columns(
    mine: Sequence[RowChange],
    theirs: Sequence[RowChange],
    source: TableSchema | None,
    target: TableSchema | None,
) -> tuple[list[str], list[int], list[int]]:
    widths = [_width(mine), _width(theirs)]
    left = _names(source, widths[0] or widths[1] or 0)
    right = _names(target, widths[1] or widths[0] or 0)
    if not set(left) & set(right):
        count = min(len(left), len(right))
        names = left if not left[0].startswith("@") else right
        return names[:count], list(range(count)), list(range(count))
    names = [name for name in left if name in right]
    return names, [left.index(name) for name in names], [right.index(name) for name in names]


def _key_of(schema: TableSchema | None) -> tuple[str, ...]:
    return () if schema is None else identifying_key(schema) or ()


def _key(names: Sequence[str], *schemas: TableSchema | None) -> list[int]:
    for schema in schemas:
        key = _key_of(schema)
        if key and all(name in names for name in key):
            return [names.index(name) for name in key]
    return []


def _net(
    rows: Sequence[RowChange], columns: Sequence[int], key: Sequence[int]
) -> dict[Hashable, tuple[object, object]]:
    """Return images before and after by key; without one, numbers of copies."""
    found: dict[Hashable, tuple[object, object]] = {}
    for row in rows:
        for image, is_after in ((row.before, False), (row.after, True)):
            if image is None:
                continue
            values = _image(image, columns)
            if not key:
                identity: Hashable = tuple(map(_hashable, values))
                _, copies = found.get(identity, (0, 0))
                assert isinstance(copies, int)
                found[identity] = (0, copies + (1 if is_after else -1))
                continue
            identity = tuple(_hashable(values[at]) for at in key)
            before, _ = found.get(identity, ("no row" if is_after else values, None))
            found[identity] = (before, values if is_after else "no row")
    if not key:
        return {identity: pair for identity, pair in found.items() if pair[1]}
    return found


def _image(image: RowImage, columns: Sequence[int]) -> Image:
    return tuple(
        value if value is ABSENT or value is UNKNOWN else plain(value)
        for value in (image[at] for at in columns)
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_shown(each) for each in value) + ")"
    text = (
        "NULL" if value is None else repr(value) if isinstance(value, str | bytes) else str(value)
    )
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
