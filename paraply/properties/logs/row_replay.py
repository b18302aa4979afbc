"""Replay of row images in log order, with checks.

In commit order, updated or deleted rows exist and match (``rows_exist``, ``before_images_match``),
and inserted keys are free (``inserted_keys_are_free``). A contradiction means lost, repeated or
reordered changes; a replica will differ or stop.

Rows older than the log are adopted as unknown. Partial images compare their columns. TRUNCATE and
CREATE TABLE empty a table. Other DDL makes it unknown; statement-based changes and incidents make
all unknown. XA rows count from XA COMMIT. Rows that misfit count as in doubt if an unlogged cascade
may explain it: it deletes and changes rows, but adds none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paraply.properties.logs.cascades import Cascades
from paraply.properties.logs.prepared_xa import Prepared, PreparedXa
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replay_state import (
    ROWS_MAX,
    ReplayState,
    Resets,
    RowState,
    TableState,
    columns_agree,
    compute_columns,
    compute_fingerprint,
    overlay_columns,
)
from paraply.properties.logs.statement_tables import StatementTables, get_statement_tables
from paraply.properties.logs.table_census import NO_SCHEMAS, Schemas, because, remedy_for_keys
from paraply.properties.logs.transaction_facts import (
    get_changed_tables,
    get_reference,
)
from paraply.vocabulary.audit_result import Reason, ReplayFinding, ReplayResult
from paraply.vocabulary.counting import counted
from paraply.vocabulary.keys import ConflictKey, RowKeys
from paraply.vocabulary.log import (
    ABSENT,
    LoggedKind,
    LoggedTransaction,
    RowChange,
    RowImage,
)
from paraply.vocabulary.verdict import Verdict

BEFORE_IMAGES_MATCH = "before_images_match"
INSERTED_KEYS_ARE_FREE = "inserted_keys_are_free"
ROWS_EXIST = "rows_exist"
FINDINGS_MAX = 1_000
SEQUENCE = "SEQUENCE"
"""A MariaDB sequence: advances replace its row."""
_TOLD = (
    "_result", "_rows_checked", "_blind", "_keyless", "_unknown_tables", "_undecoded",
    "_unexplained",
)  # fmt: skip
"""What a judged transaction leaves beside the rows."""
_UNDONE = frozenset({"rolled_back", "partly_rolled_back"})
_CHANGES_ROWS = frozenset({"ALTER", "DROP", "RENAME", "TRUNCATE", "CREATE"})


@dataclass(frozen=True, slots=True)
class IdentifiedRow:
    """The keys that name a changed row before and after, the first its identity."""

    before: tuple[ConflictKey, ...] | None
    after: tuple[ConflictKey, ...] | None
    after_image: RowImage | None
    """With what only the before image shows."""
    is_hidden: bool = False
    """Whether the image does not show its first key."""


class RowReplay:
    """Replays one log in one pass."""

    def __init__(
        self, row_keys: RowKeys, rows_max: int = ROWS_MAX, findings_max: int = FINDINGS_MAX
    ) -> None:
        self._row_keys = row_keys
        self._rows_max = rows_max
        self._state = ReplayState(rows_max)
        self._findings_max = findings_max
        self._result = ReplayResult()
        self._rows_checked = 0
        self._keyless: dict[str, None] = {}
        self._unknown_tables: dict[str, None] = {}
        self._undecoded: dict[str, None] = {}
        self._blind = 0
        self._cascades = Cascades()
        self._prepared = PreparedXa()
        self._cascaded: dict[str, None] = {}
        self._unexplained: dict[str, None] = {}
        self._txn: LoggedTransaction | None = None

    def observe(self, txn: LoggedTransaction) -> None:
        """Apply the next transaction."""
        self._txn = txn
        if txn.kind in (LoggedKind.STATEMENT, LoggedKind.INCIDENT):
            # The log lacks the changes, and triggers may change any table.
            self._blind += 1
            self._state.reset_all()
        if txn.is_ddl:
            for statement in txn.statements:
                self._apply_ddl(get_statement_tables(statement, txn.default_schema))
        if txn.xa_id and "one_phase_xa" not in txn.flags:
            self._follow_xa(txn)
        else:
            self._apply_rows(txn)

    def pass_over(self, txn: LoggedTransaction) -> None:
        """Follow the rows of an unjudged transaction, and tell nothing about them."""
        with self.telling_nothing():
            self.observe(txn)

    @contextmanager
    def telling_nothing(self) -> Iterator[None]:
        """Keep of what is observed meanwhile only the rows."""
        told = {name: getattr(self, name) for name in _TOLD}
        self._result, self._rows_checked, self._blind = ReplayResult(), 0, 0
        self._keyless, self._unknown_tables, self._undecoded, self._unexplained = {}, {}, {}, {}
        yield
        for name, value in told.items():
            setattr(self, name, value)

    def _apply_rows(self, txn: LoggedTransaction) -> None:
        for row in txn.rows:
            self._apply_row(txn, row)
        self._lose_sight(txn)

    def _lose_sight(self, txn: LoggedTransaction) -> None:
        lost = set(txn.undecoded_tables)
        for table in lost:
            self._undecoded[table] = None
        if txn.flags & _UNDONE:
            # The list includes rolled-back rows, without a mark.
            lost |= get_changed_tables(txn)
        for table in lost:
            self._state.reset(table)

    def begin_at(self, border: ReplayBorder[Any], ordinal: int) -> None:
        """Continue from ``border`` (taken over) after ``ordinal``."""
        self._state = self._rows_from(border.rows, ordinal)
        self._cascades, self._prepared = border.cascades, border.prepared
        self._prepared.move(ordinal)
        for memory in (self._state, self._cascades, self._prepared):
            memory.begin()
        self._result = ReplayResult()
        self._rows_checked = self._blind = 0
        for names in (
            self._keyless,
            self._unknown_tables,
            self._undecoded,
            self._cascaded,
            self._unexplained,
        ):
            names.clear()

    def end_at(self, ordinal: int) -> ReplayBorder[Any]:
        """Return and give up the state."""
        self._prepared.move(-ordinal)
        return ReplayBorder(
            rows=self._rows_left(ordinal), resets=self._state.resets or Resets(),
            cascades=self._cascades, prepared=self._prepared,
        )  # fmt: skip

    def nothing(self) -> ReplayBorder[Any]:
        """Return the state at a log's beginning."""
        return ReplayBorder(rows=ReplayState(self._rows_max))

    def _rows_from(self, rows: Any, ordinal: int) -> Any:
        rows.move(ordinal)
        return rows

    def _rows_left(self, ordinal: int) -> Any:
        self._state.move(-ordinal)
        return self._state

    def result(self) -> ReplayResult:
        """Return counts, findings and rows per table."""
        result = self._result
        result.rows_forgotten = self._state.forgotten
        result.tables = {t.name: t.rows for t in self._state.tables() if t.rows}
        result.final_rows = sum(result.tables.values())
        result.cascaded_tables = [name for name in sorted(self._cascaded) if name in result.tables]
        return result

    def verdict(self) -> Verdict | None:
        """Return the verdict, None without row changes."""
        result = self._result
        if result.findings or result.findings_dropped:
            return Verdict.VIOLATED
        if self.reasons():
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self._rows_checked else None

    def reasons(self, schemas: Schemas = NO_SCHEMAS) -> list[Reason]:
        """Return why the replay leaves something unknown; ``schemas`` are of changed tables."""
        found = [
            Reason(
                property=BEFORE_IMAGES_MATCH,
                reason=f"the keys of {table} are unknown{because(schemas.get(table))}, so its rows "
                "could not be followed",
                remedy=remedy_for_keys(
                    schemas.get(table), f"pass --schema with the definition of {table}"
                ),
                subject=table,
            )
            for table in sorted(self._unknown_tables)
        ]
        found.extend(
            Reason(
                property=BEFORE_IMAGES_MATCH,
                reason=f"some rows of {table} could not be decoded, so it could not be followed",
                remedy="see the file's summary for what was skipped, and report it",
                subject=table,
            )
            for table in sorted(self._undecoded)
        )
        found.extend(
            Reason(
                property=BEFORE_IMAGES_MATCH,
                reason=f"rows of {table} do not fit what the log did to them, which a foreign "
                "key's cascade may explain; its foreign keys are unknown",
                remedy=f"pass --schema with the definition of {table}",
                subject=table,
            )
            for table in sorted(self._unexplained)
        )
        if self._blind:
            found.append(
                Reason(
                    property=BEFORE_IMAGES_MATCH,
                    reason=f"{counted(self._blind, 'transaction')} of statements or incidents "
                    "changed rows that the log does not show",
                    remedy="set binlog_format=ROW at the source and audit a log written since",
                )
            )
        if not self._rows_checked and self._keyless and not found:
            found.append(
                Reason(
                    property=BEFORE_IMAGES_MATCH,
                    reason="no changed table has a PRIMARY or UNIQUE key, so no row could be "
                    "followed",
                    remedy="give the tables primary keys",
                )
            )
        return found

    def _apply_ddl(self, names: StatementTables) -> None:
        if names.verb not in _CHANGES_ROWS:
            return
        if names.cut:
            self._state.reset_all()
            self._cascades.forget(None)
            return
        for schema in names.schemas:
            self._state.reset_schema(schema)
            self._cascades.forget(None)
        if names.verb == "CREATE":
            if names.if_not_exists or not names.target or names.keeps_rows:
                return  # What already exists keeps its rows.
            self._state.reset(names.target, born=names.creates_table and not names.fills)
            self._cascades.forget(names.target)
            return
        for table in names.tables - names.only_read:
            if not names.keeps_rows:
                self._state.reset(table, born=names.verb == "TRUNCATE")
            self._cascades.forget(table)

    def _follow_xa(self, txn: LoggedTransaction) -> None:
        if txn.rows or txn.undecoded_tables:
            self._prepared.prepare(txn, self._digested())
            return
        prepared = self._prepared.end(txn.xa_id)
        if not any(text.lstrip().upper().startswith("XA COMMIT") for text in txn.statements):
            return
        if prepared is not None:
            self._apply_prepared(prepared)
        elif self._prepared.forgotten:
            self._lose_all()

    def _lose_all(self) -> None:
        self._state.reset_all()

    def _digested(self) -> Any:
        """Return what prepared rows are to be kept with."""
        return None

    def _apply_prepared(self, prepared: Prepared) -> None:
        self._txn = prepared.transaction
        self._apply_rows(prepared.transaction)

    def _apply_row(self, txn: LoggedTransaction, row: RowChange) -> None:
        self._apply_identified(txn, row, self._identified(row))

    def _identified(self, row: RowChange) -> IdentifiedRow:
        after_image = row.whole_after
        if self._hides_identity(row.table, row.before) or (
            self._hides_identity(row.table, after_image)
        ):
            return IdentifiedRow(None, None, after_image, is_hidden=True)
        before = self._keys_of(row.table, row.before)
        return IdentifiedRow(before, self._keys_of(row.table, after_image), after_image)

    def _apply_identified(
        self, txn: LoggedTransaction, row: RowChange, found: IdentifiedRow
    ) -> None:
        before, after, after_image = found.before, found.after, found.after_image
        if not (before or after):
            if found.is_hidden:
                # A minimal image leaves keys to their defaults, and MariaDB 11.8 leaves generated
                # columns out: it may be any row.
                self._state.table(row.table).doubt(txn.ordinal, moves=True)
            else:
                keyless = self._has_no_keys(row.table, before, after)
                (self._keyless if keyless else self._unknown_tables)[row.table] = None
            self._result.rows_without_key += 1
            self._doubt_children(row, after_image)
            return
        table = self._state.table(row.table)
        self._rows_checked += 1
        if not self._cascades.knows(row.table):
            self._cascades.relate(row.table, self._row_keys.schema_of(row.table))
        known = None
        if row.before is not None and before:
            known = self._take_out(txn, row, table, before[0])
        if after_image is not None and row.after is not None and after:
            self._put_in(txn, row, table, after, after_image, known)
        self._doubt_children(row, after_image)

    def _hides_identity(self, table: str, image: RowImage | None) -> bool:
        """Return whether the first key free of NULL, which names the row, is not shown."""
        if image is None or ABSENT not in image:
            return False
        schema = self._row_keys.schema_of(table)
        for key in () if schema is None else schema.unique_keys:
            values = [_at(image, part.column) for part in key.parts]
            if None not in values:
                return any(value is ABSENT for value in values)
        return False

    def _has_no_keys(self, table: str, *keys: tuple[ConflictKey, ...] | None) -> bool:
        if None not in keys:
            return True
        schema = self._row_keys.schema_of(table)
        return schema is not None and schema.keys_complete and not schema.unique_keys

    def _keys_of(self, table: str, image: RowImage | None) -> tuple[ConflictKey, ...] | None:
        return () if image is None else self._row_keys.identities_of(table, image)

    def _take_out(
        self, txn: LoggedTransaction, row: RowChange, table: TableState, key: ConflictKey
    ) -> RowState | None:
        assert row.before is not None
        identity = compute_fingerprint(key)
        known = self._state.find(table, identity)
        result = self._result
        if known is None and not table.born:
            result.before_images_unknown += 1
        elif known is None or known.columns is None:
            gone = "was deleted before" if known is not None else "was never inserted"
            in_doubt = (
                table.moved_at is not None if known is None else known.may_be_back(txn.ordinal)
            )
            message = f"{row.operation.value} of a row that {gone}"
            self._contradict(ROWS_EXIST, row, key, message, in_doubt)
        elif not columns_agree(known.columns, compute_columns(row.before)):
            message = f"{row.operation.value} of a row that looked different after its last change"
            in_doubt = known.in_doubt or self._is_own_cascade(txn, row, known)
            self._contradict(BEFORE_IMAGES_MATCH, row, key, message, in_doubt)
        else:
            result.before_images_found += 1
        self._state.put(identity, RowState(table, None, {}, txn.ordinal))
        return known

    def _is_own_cascade(self, txn: LoggedTransaction, row: RowChange, known: RowState) -> bool:
        """MySQL 9.7 logs a self-reference's cascade update before its delete, whose before-image
        precedes both.
        """
        if known.written_at != txn.ordinal:
            return False
        schema = self._row_keys.schema_of(row.table)
        return (
            schema is None
            or not schema.foreign_keys_known
            or any(key.parent.lower() == row.table.lower() for key in schema.foreign_keys)
        )

    def _put_in(
        self,
        txn: LoggedTransaction,
        row: RowChange,
        table: TableState,
        keys: tuple[ConflictKey, ...],
        image: RowImage,
        before: RowState | None,
    ) -> None:
        assert row.after is not None
        identity = compute_fingerprint(keys[0])
        others = {key.index: compute_fingerprint(key) for key in keys[1:]}
        taken = self._state.find(table, identity)
        is_replaced = keys[0].index == SEQUENCE
        if taken is not None and taken.columns is not None and not is_replaced:
            self._contradict_free(row, keys[0], taken.in_doubt)
        for key in keys[1:]:
            owner = self._state.find_owner(table, key.index, others[key.index])
            if owner is not None and owner[0] != identity:
                self._contradict_free(row, key, owner[1].in_doubt)
        columns = compute_columns(image)
        if before is not None and before.columns is not None:
            columns = overlay_columns(before.columns, columns, [v is ABSENT for v in image])
            for index, key_before in before.others.items():
                if index not in others and self._is_kept(row, index, image):
                    others[index] = key_before
        self._state.put(identity, RowState(table, columns, others, txn.ordinal))

    def _is_unrecorded(self, table: str, index: str, image: RowImage) -> bool:
        return any(_at(image, column) is ABSENT for column in self._columns_of(table, index))

    def _is_kept(self, row: RowChange, index: str, image: RowImage) -> bool:
        """An update of a part that is shown, beside one that is not, leaves the key unknown.

        So does a generated part that is not shown: MariaDB 11.8 leaves it out of any update.
        """
        assert row.before is not None
        schema = self._row_keys.schema_of(row.table)
        columns = self._columns_of(row.table, index)
        if schema is None or any(schema.columns[column].generated for column in columns):
            return False
        shown = {column for column, value in enumerate(row.before) if value is not ABSENT}
        first = {part.column for part in schema.unique_keys[0].parts}
        if not (shown.issuperset(columns) or shown.issubset(first)):
            return False
        return self._is_unrecorded(row.table, index, image) and all(
            _at(image, column) is ABSENT or _at(image, column) == _at(row.before, column)
            for column in columns
        )

    def _columns_of(self, table: str, index: str) -> list[int]:
        schema = self._row_keys.schema_of(table)
        keys = () if schema is None else schema.unique_keys
        return [part.column for key in keys if key.name == index for part in key.parts]

    def _contradict_free(self, row: RowChange, key: ConflictKey, in_doubt: bool) -> None:
        message = f"{row.operation.value} to a key that another row holds"
        if self._contradict(INSERTED_KEYS_ARE_FREE, row, key, message, in_doubt):
            self._result.duplicate_keys += 1

    def _contradict(
        self, name: str, row: RowChange, key: ConflictKey, message: str, in_doubt: bool
    ) -> bool:
        result = self._result
        if in_doubt:
            if self._cascades.is_unknown(row.table):
                self._unexplained[row.table] = None
            result.rows_in_doubt += 1
            return False
        if name != INSERTED_KEYS_ARE_FREE:
            result.before_images_missing += 1
        if len(result.findings) >= self._findings_max:
            result.findings_dropped += 1
            return True
        assert self._txn is not None
        result.findings.append(
            ReplayFinding(
                property=name,
                transaction=get_reference(self._txn),
                table=row.table,
                key=f"{key.index}({key.shown or ', '.join(map(repr, key.values))})",
                offset=row.position.offset,
                message=message,
            )
        )
        return True

    def _doubt_children(self, row: RowChange, after: RowImage | None) -> None:
        if row.before is None or row.unchecked:
            return
        assert self._txn is not None
        for reached in self._cascades.reached(row, after, self._row_keys):
            state = self._state.known_table(reached.table)
            if state is None:
                continue
            state.doubt(self._txn.ordinal, moves=reached.moves)
            if reached.deletes:
                self._cascaded[state.name] = None


def _at(image: RowImage, column: int) -> object:
    return image[column] if column < len(image) else None
