"""Pseudonyms for the names and values of a slice.

Values that a key compares as equal stay equal, also in another spelling ('a', 'A'); others stay
different. A pseudonym is drawn, not computed from the value: it only shows which values are equal.
NULL stays NULL, and the types keep their comparison. Prefixes of a text become words of it, so that
values that share a prefix in a key still do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, product
from random import Random

from paraply.adapters.binlog.keys.values import INCOMPARABLE, INTEGER_BITS, Folder, folder_of
from paraply.adapters.conformance.own_logs.slices import Slice
from paraply.adapters.conformance.own_logs.steps import TEXT_TYPES, Step
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.schema import Column, KeyPart, TableSchema, UniqueKey
from paraply.vocabulary.transactions import RowWrite

_LETTERS = "bfkmpvx"
"""Consonants that no collation joins with the next letter."""
_ACCENTED = str.maketrans(_LETTERS, "ḃḟḱḿṕṽẍ")
_WORD = 8
_SPACES_MAX = 64
_NUMBER_MAX = 1_000_000
_EPOCH = datetime(2000, 1, 1)
_DAYS_MAX = 20_000
_YEARS = (1900, 2155)
_AS_INT = frozenset({"bit", "enum", "set"})
_REAL = frozenset({"float", "double"})
_BLOBS = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})
_MOMENTS: dict[str, tuple[timedelta, str]] = {
    "date": (timedelta(days=1), "%Y-%m-%d"),
    "time": (timedelta(seconds=1), "%H:%M:%S"),
    "datetime": (timedelta(days=1), "%Y-%m-%d %H:%M:%S"),
    "timestamp": (timedelta(hours=1), "%Y-%m-%d %H:%M:%S"),
}


class Names:
    """Pseudonyms of tables in the order of their first use in all logs."""

    def __init__(self) -> None:
        self._schemas: dict[str, str] = {}
        self._tables: dict[str, str] = {}

    def of_table(self, name: str) -> str:
        """Return ``d1.t1`` for ``schema.table``."""
        known = self._tables.get(name)
        if known is None:
            database = name.partition(".")[0]
            schema = self._schemas.setdefault(database, f"d{len(self._schemas) + 1}")
            known = self._tables[name] = f"{schema}.t{len(self._tables) + 1}"
        return known


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a column gets pseudonyms.

    ``domain`` is what shares equal values, ``cuts`` are prefix lengths, ``folders`` compare the
    prefixes and then the whole value.
    """

    column: Column
    kind: str
    domain: tuple[object, ...]
    cuts: tuple[int, ...]
    folders: tuple[Folder, ...]


class Pseudonyms:
    """Draws the pseudonyms of one slice from a seed."""

    def __init__(self, names: Names, seed: int) -> None:
        self._names = names
        self._random = Random(seed)
        self._drawn: dict[object, object] = {}
        self._used: set[object] = set()
        self._spellings: dict[object, dict[object, object]] = {}
        self._plans: dict[tuple[str, int], _Plan] = {}

    def of_slice(self, one: Slice) -> Slice:
        """Return the slice without the user's names and values."""
        now = {table.name: table for table in one.tables}
        tables = tuple(self._table(table) for table in one.tables)
        initial = tuple(
            (self._names.of_table(name), self._image(now[name], image))
            for name, image in one.initial
        )
        steps = []
        for step in one.steps:
            now.update((table.name, table) for table in step.tables)
            steps.append(self._step(step, now))
        return replace(one, tables=tables, initial=initial, steps=tuple(steps))

    def _step(self, step: Step, now: dict[str, TableSchema]) -> Step:
        rows = tuple(
            RowWrite(
                table=self._names.of_table(row.table),
                operation=row.operation,
                before=row.before and self._image(now[row.table], row.before),
                after=row.after and self._image(now[row.table], row.after),
            )
            for row in step.rows
        )
        return replace(step, rows=rows, tables=tuple(map(self._table, step.tables)))

    # Definitions

    def _table(self, table: TableSchema) -> TableSchema:
        plans = [self._plan(table, place) for place in range(len(table.columns))]
        columns = tuple(_column(place, plan) for place, plan in enumerate(plans))
        keys = tuple(
            UniqueKey(
                name=key.name if key.name == "PRIMARY" else f"k{number}",
                parts=tuple(_part(part, plans[part.column]) for part in key.parts),
            )
            for number, key in enumerate(table.unique_keys, start=1)
        )
        return TableSchema(
            name=self._names.of_table(table.name),
            columns=columns,
            unique_keys=keys,
            keys_known=True,
        )

    def _plan(self, table: TableSchema, place: int) -> _Plan:
        known = self._plans.get((table.name, place))
        column = table.columns[place]
        if known is not None and known.column is column:
            return known
        parts = [part for key in table.unique_keys for part in key.parts if part.column == place]
        cuts = tuple(sorted({part.prefix_length for part in parts if part.prefix_length}))
        kind = _kind(column)
        domain: tuple[object, ...] = (kind, column.unsigned, column.charset, column.collation)
        if kind in _AS_INT:
            domain = (table.name, place)
        if cuts:
            domain = (*domain, table.name, place)
        folders = tuple(folder_of(column, cut) for cut in (*cuts, 0))
        plan = _Plan(column, kind, domain, cuts, folders)
        self._plans[table.name, place] = plan
        return plan

    # Values

    def _image(self, table: TableSchema, image: RowImage) -> RowImage:
        return tuple(
            None if value is None else self._value(self._plan(table, place), value)
            for place, value in enumerate(image)
        )

    def _value(self, plan: _Plan, value: object) -> object:
        kind = plan.kind
        whole = (plan.domain, _folded(plan.folders[-1], value))
        if kind in INTEGER_BITS:
            return self._draw(plan.domain, whole, lambda: self._integer(plan))
        if kind in _AS_INT:
            return self._draw(plan.domain, whole, lambda: self._random.randint(1, _NUMBER_MAX))
        if kind == "year":
            return self._draw(plan.domain, whole, lambda: self._random.randint(*_YEARS))
        if kind in _REAL:
            return self._draw(
                plan.domain, whole, lambda: float(self._random.randint(1, _NUMBER_MAX))
            )
        if kind == "decimal":
            return self._draw(plan.domain, whole, lambda: str(self._random.randint(1, _NUMBER_MAX)))
        if kind in _MOMENTS:
            return self._draw(plan.domain, whole, lambda: self._moment(kind))
        text = self._words(plan, value)
        return self._spelled(plan, whole, text, value) if kind in TEXT_TYPES else text.encode()

    def _integer(self, plan: _Plan) -> int:
        bits = INTEGER_BITS[plan.kind]
        if bits == 8:
            low = 0 if plan.column.unsigned else -128
            return self._random.randint(low, low + 255)
        return self._random.randint(1, min(_NUMBER_MAX, (1 << (bits - 1)) - 1))

    def _moment(self, kind: str) -> str:
        step, form = _MOMENTS[kind]
        return (_EPOCH + self._random.randrange(_DAYS_MAX) * step).strftime(form)

    def _words(self, plan: _Plan, value: object) -> str:
        """One word for each prefix and one for the whole value."""
        words = []
        for number, fold in enumerate(plan.folders):
            domain = (plan.domain, number)
            drawn = self._draw(domain, (domain, _folded(fold, value)), self._word)
            words.append(str(drawn))
        return "".join(words)

    def _word(self) -> str:
        return "".join(self._random.choice(_LETTERS) for _ in range(_WORD))

    def _spelled(self, plan: _Plan, whole: object, text: str, value: object) -> object:
        """Another spelling of ``text`` for each spelling of an equal value."""
        spellings = self._spellings.setdefault(whole, {})
        if value not in spellings:
            fold = plan.folders[-1]
            taken = set(spellings.values())
            first = next(iter(spellings), None)
            variants = (
                one
                for one in _variants(text, first, value)
                if one not in taken and _folded(fold, one) == _folded(fold, text)
            )
            spellings[value] = next(variants, text) if spellings else text
        return spellings[value]

    def _draw(self, domain: object, key: object, draw: Callable[[], object]) -> object:
        found = self._drawn.get(key)
        if found is None:
            found = draw()
            while (domain, found) in self._used:
                found = draw()
            self._used.add((domain, found))
            self._drawn[key] = found
        return found


def _variants(text: str, first: object, value: object) -> Iterator[str]:
    """Yield other spellings of ``text``, first those that differ as ``value`` does from ``first``.

    That is by trailing spaces, by case, or by accents.
    """
    spaced = [text + " " * count for count in range(1, _SPACES_MAX)]
    cased = _mixed(text, text.upper())
    accented = _mixed(text, text.translate(_ACCENTED))
    if isinstance(first, str) and isinstance(value, str):
        if first.rstrip(" ") == value.rstrip(" "):
            yield from spaced
        elif first.lower() == value.lower():
            yield from cased
    yield from chain(accented, cased, spaced)


def _mixed(text: str, other: str) -> Iterator[str]:
    """Yield ``text`` with each choice of letters of ``other`` in its first word."""
    pairs = zip(text[:_WORD], other, strict=False)
    return ("".join(letters) + text[_WORD:] for letters in product(*pairs))


def _folded(fold: Folder, value: object) -> object:
    """Return what compares as the value does; incomparable ones by their spelling."""
    folded, _ = fold(value)
    return ("spelled", repr(value)) if folded is INCOMPARABLE else folded


def _kind(column: Column) -> str:
    """Return the type, or ``binary``, ``blob`` or ``opaque`` where bytes are compared."""
    kind = column.type_name.partition(" ")[0]
    if kind in TEXT_TYPES and column.collation == "binary":
        return "binary" if kind == "char" else "varbinary"
    known = {*INTEGER_BITS, *_AS_INT, *_REAL, *TEXT_TYPES, *_BLOBS, *_MOMENTS, "decimal", "year"}
    return kind if kind in {*known, "binary", "varbinary"} else "opaque"


def _column(place: int, plan: _Plan) -> Column:
    old, kind = plan.column, plan.kind
    length = (len(plan.cuts) + 1) * _WORD
    if kind == "opaque":
        kind = "varbinary"
    is_text = kind in TEXT_TYPES
    return Column(
        name=f"c{place + 1}",
        type_name="bigint" if kind in _AS_INT else kind,
        collation=old.collation if is_text else "",
        charset=old.charset if is_text else "",
        nullable=old.nullable,
        unsigned=old.unsigned and kind in INTEGER_BITS,
        length=length + _SPACES_MAX if kind == "varchar" else length,
    )


def _part(part: KeyPart, plan: _Plan) -> KeyPart:
    if not part.prefix_length:
        return part
    words = plan.cuts.index(part.prefix_length) + 1
    return KeyPart(column=part.column, prefix_length=words * _WORD)
