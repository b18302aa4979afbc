"""The keyed rows of a log, in bounded memory.

A row is a 16-byte BLAKE2b fingerprint of table and key, with a CRC-32 per column (0: unknown). So
memory is independent of row width, and partial images compare. Wrong values pass with probability
2^-32; a million keys collide below 2^-80.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal
from hashlib import blake2b

from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import ABSENT, UNKNOWN

ROWS_MAX = 1_000_000
TABLES_MAX = 100_000
_UNRECORDED = b"\0\0\0\0"
_PLAIN = frozenset({type(None), int, str, bytes, float, Decimal})
"""Most values; looked up, since asking whether a value is a record is slow."""

Fingerprint = bytes


def compute_fingerprint(key: ConflictKey) -> Fingerprint:
    """Return the 16-byte fingerprint of ``key``."""
    text = repr((key.table, key.index, key.values))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def compute_columns(image: Sequence[object]) -> bytes:
    """Return four bytes per column of ``image``."""
    return b"".join(_compute_column(value) for value in image)


def _compute_column(value: object) -> bytes:
    kind = type(value)
    # A record instead of a value (a partial JSON update) contains the change only.
    if kind not in _PLAIN and (value is ABSENT or value is UNKNOWN or is_dataclass(value)):
        return _UNRECORDED
    text = f"{kind.__name__}{value!r}"
    # Zero is taken; a CRC of zero moves over by one.
    return (zlib.crc32(text.encode("utf-8", "surrogatepass")) or 1).to_bytes(4, "little")


def columns_agree(known: bytes, image: bytes) -> bool:
    """Return whether columns recorded by both agree.

    Unlogged added columns are ignored.
    """
    if known == image:
        return True
    for at in range(0, min(len(known), len(image)), 4):
        a, b = known[at : at + 4], image[at : at + 4]
        if a not in (b, _UNRECORDED) and b != _UNRECORDED:
            return False
    return True


def overlay_columns(known: bytes, image: bytes, unrecorded: Sequence[bool]) -> bytes:
    """Return ``image`` with ABSENT columns from ``known``."""
    if not any(unrecorded):
        return image
    return b"".join(
        known[4 * at : 4 * at + 4] or _UNRECORDED if skip else image[4 * at : 4 * at + 4]
        for at, skip in enumerate(unrecorded)
    )


def overlay_unrecorded(known: bytes, columns: bytes) -> bytes:
    """Return ``columns`` with unrecorded ones from ``known``."""
    if _UNRECORDED not in columns:
        return columns
    return b"".join(
        known[at : at + 4] or own if (own := columns[at : at + 4]) == _UNRECORDED else own
        for at in range(0, len(columns), 4)
    )


@dataclass(slots=True, eq=False)
class TableState:
    """A table's state; a reset replaces it."""

    name: str
    born: bool = False
    """Nothing is forgotten since empty: unwritten rows do not exist."""
    rows: int = 0
    """Rows added by the log or part."""
    doubted_at: int | None = None
    """Ordinal of the last possible unlogged cascade, or change without its key."""
    moved_at: int | None = None
    """Ordinal of the last of these that may have left a row under an identity without a record."""

    def doubt(self, at: int, *, moves: bool) -> None:
        """Note a change without a record at ordinal ``at``; a prepared one may come late."""
        self.doubted_at = at if self.doubted_at is None else max(at, self.doubted_at)
        if moves:
            self.moved_at = at if self.moved_at is None else max(at, self.moved_at)

    def take_doubts(self, left: TableState, after: int | None = None) -> None:
        """Add the doubts of another state, those past ordinal ``after`` alone if it is given."""
        for at, moves in ((left.moved_at, True), (left.doubted_at, False)):
            if at is not None and (after is None or at > after):
                self.doubt(at, moves=moves)


@dataclass(slots=True, eq=False)
class RowState:
    """A row, or a deleted one's place."""

    table: TableState
    columns: bytes | None
    """None once deleted."""
    others: dict[str, Fingerprint]
    """Further UNIQUE keys by index name."""
    written_at: int

    @property
    def in_doubt(self) -> bool:
        """Return whether it may have changed without a record."""
        doubted_at = self.table.doubted_at
        return doubted_at is not None and self.written_at <= doubted_at

    def may_be_back(self, now: int) -> bool:
        """Return whether a change at ordinal ``now`` may find a row in a deleted one's place."""
        if self.written_at == now:
            # Where cascades are logged, a row that refers to itself may be deleted by both.
            return self.in_doubt
        moved_at = self.table.moved_at
        return moved_at is not None and self.written_at <= moved_at


@dataclass(slots=True)
class Resets:
    """Resets, without order."""

    tables: set[str] = field(default_factory=set)
    """Lower-case table names."""
    schemas: set[str] = field(default_factory=set)
    everything: bool = False

    def cover(self, table: str) -> bool:
        """Return whether ``table`` (lower case) was reset."""
        return self.everything or table in self.tables or table.partition(".")[0] in self.schemas


@dataclass(slots=True)
class ReplayState:
    """All rows; past ``rows_max`` the least recently written go."""

    rows_max: int = ROWS_MAX
    forgotten: int = 0
    resets: Resets | None = None
    """Noted only between borders, since resets accumulate."""
    _rows: dict[Fingerprint, RowState] = field(default_factory=dict)
    _owners: dict[Fingerprint, Fingerprint] = field(default_factory=dict)
    _tables: dict[str, TableState] = field(default_factory=dict)

    def table(self, name: str) -> TableState:
        """Return a table's state, new if unknown."""
        folded = name.lower()
        state = self._tables.get(folded)
        if state is None:
            if len(self._tables) >= TABLES_MAX:
                self.reset(next(iter(self._tables)))
            state = self._tables[folded] = TableState(name)
        return state

    def known_table(self, name: str) -> TableState | None:
        """Return the state of a touched table."""
        return self._tables.get(name.lower())

    def tables(self) -> list[TableState]:
        """Return tables in order of first touch."""
        return list(self._tables.values())

    def find(self, table: TableState, identity: Fingerprint) -> RowState | None:
        """Return the row or grave, if touched."""
        row = self._rows.get(identity)
        return row if row is not None and row.table is table else None

    def find_owner(
        self, table: TableState, index: str, key: Fingerprint
    ) -> tuple[Fingerprint, RowState] | None:
        """Return a further UNIQUE key's live row."""
        identity = self._owners.get(key)
        if identity is None:
            return None
        row = self.find(table, identity)
        if row is None or row.columns is None or row.others.get(index) != key:
            return None
        return identity, row

    def put(self, identity: Fingerprint, row: RowState) -> None:
        """Write a row or grave within the bound."""
        before = self._rows.pop(identity, None)
        if before is not None:
            self._drop_owned(identity, before)
            if before.columns is not None:
                before.table.rows -= 1
        self._rows[identity] = row
        if row.columns is not None:
            row.table.rows += 1
            for key in row.others.values():
                self._owners[key] = identity
        if len(self._rows) > self.rows_max:
            self._forget_oldest()

    def reset(self, name: str, *, born: bool = False) -> None:
        """Forget a table's rows; ``born`` is empty."""
        self._tables.pop(name.lower(), None)
        if self.resets is not None:
            self.resets.tables.add(name.lower())
        if born:
            self.table(name).born = True

    def reset_schema(self, schema: str) -> None:
        """Forget every table of a lower-case schema."""
        if self.resets is not None:
            self.resets.schemas.add(schema)
        for name in [n for n in self._tables if n.partition(".")[0] == schema]:
            del self._tables[name]

    def reset_all(self) -> None:
        """Forget everything."""
        if self.resets is not None:
            self.resets.everything = True
        self._rows.clear()
        self._owners.clear()
        self._tables.clear()

    def begin(self) -> None:
        """Start noting resets, losses and rows."""
        self.forgotten, self.resets = 0, Resets()
        for table in self._tables.values():
            table.rows = 0

    def move(self, by: int) -> None:
        """Add ``by`` to the ordinals."""
        for row in self._rows.values():
            row.written_at += by
        for table in self._tables.values():
            if table.doubted_at is not None:
                table.doubted_at += by
            if table.moved_at is not None:
                table.moved_at += by

    def go_on(self, later: ReplayState, resets: Resets, transactions: int) -> None:
        """Estimate the state after a part that left ``later`` from nothing.

        Correct for full images without crossing cascades.
        """
        self.move(-transactions)
        if resets.everything:
            self.reset_all()
        for schema in resets.schemas:
            self.reset_schema(schema)
        for name in resets.tables:
            self.reset(name)
        for left in later.tables():
            table = self.table(left.name)
            if resets.cover(left.name.lower()):
                table.born = left.born
            table.take_doubts(left)
        gone = TableState("")
        for identity, row in later._rows.items():
            is_gone = later._tables.get(row.table.name.lower()) is not row.table
            table = gone if is_gone else self.table(row.table.name)
            columns, others = row.columns, row.others
            known = self.find(table, identity)
            if known is not None and columns is not None and known.columns is not None:
                columns = overlay_unrecorded(known.columns, columns)
                if columns != row.columns:
                    others = {**known.others, **others}
            self.put(identity, RowState(table, columns, others, row.written_at))

    def take_doubts(self, followed: ReplayState, transactions: int) -> None:
        """Add doubts of another start."""
        for left in followed.tables():
            table = self.known_table(left.name)
            if table is not None:
                table.take_doubts(left, after=-transactions)

    def describe(self, digest: blake2b) -> None:
        """Feed all replay-relevant state into ``digest``."""
        for name, table in sorted(self._tables.items()):
            digest.update(repr((name, table.born, table.doubted_at, table.moved_at)).encode())
        for identity, row in self._rows.items():
            name = row.table.name.lower()
            what = (identity, row.columns, sorted(row.others.items()), row.written_at)
            digest.update(repr((self._tables.get(name) is row.table and name, what)).encode())
        digest.update(repr(sorted(self._owners.items())).encode())

    def _forget_oldest(self) -> None:
        identity = next(iter(self._rows))
        row = self._rows.pop(identity)
        self._drop_owned(identity, row)
        if self._tables.get(row.table.name.lower()) is not row.table:
            return  # Its table was reset; the row was stale already.
        row.table.born = False
        self.forgotten += 1

    def _drop_owned(self, identity: Fingerprint, row: RowState) -> None:
        for key in row.others.values():
            if self._owners.get(key) == identity:
                del self._owners[key]
