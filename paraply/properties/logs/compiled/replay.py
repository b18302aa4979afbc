"""The replay of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from paraply.properties.logs.cascades import reached_below
from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.batches import (
    BatchParts,
    BatchSource,
    JudgedBatch,
    digested_one,
    judged_batch,
    require_compilable,
)
from paraply.properties.logs.compiled.keyed_rows import CompiledReplayState
from paraply.properties.logs.compiled.left_replay import (
    Known,
    LeftReplay,
    LeftState,
    Place,
    Reread,
    Told,
    losses_of,
)
from paraply.properties.logs.compiled.replay_borders import CompactRows, RowsOfBoth
from paraply.properties.logs.compiled.replay_kernel import replay_rows
from paraply.properties.logs.compiled.replay_state import with_room
from paraply.properties.logs.prepared_xa import Prepared
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import RowFollower
from paraply.properties.logs.row_replay import (
    BEFORE_IMAGES_MATCH,
    INSERTED_KEYS_ARE_FREE,
    ROWS_EXIST,
    RowReplay,
)
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import ReplayFinding, ReplayResult
from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.verdict import Verdict

_PROPERTIES = {
    R.GONE: (ROWS_EXIST, "{operation} of a row that was deleted before"),
    R.NEVER: (ROWS_EXIST, "{operation} of a row that was never inserted"),
    R.DIFFERENT: (
        BEFORE_IMAGES_MATCH,
        "{operation} of a row that looked different after its last change",
    ),
    R.TAKEN: (INSERTED_KEYS_ARE_FREE, "{operation} to a key that another row holds"),
}
_TOLD_COUNTS = [
    R.N_FOUND, R.N_MISSING, R.N_UNKNOWN, R.N_DUPLICATE, R.N_CHECKED, R.N_LISTED, R.N_DROPPED,
    R.N_IN_DOUBT,
]  # fmt: skip
"""What a judged transaction leaves beside the rows."""


class _Digested(NamedTuple):
    """Prepared rows, with the definitions of their tables."""

    batch: JudgedBatch
    schemas: dict[str, TableSchema | None]


class CompiledReplay(RowReplay):
    """The readable replay with rows in arrays."""

    def __init__(self, row_keys: RowKeys, rows_max: int, findings_max: int) -> None:
        super().__init__(row_keys, rows_max, findings_max)
        self.rows = CompiledReplayState(rows_max, findings_max)
        self._state = self.rows
        self._left: LeftReplay | None = None
        self._batch: JudgedBatch | None = None
        """Rows of the transaction that is observed."""
        self._applied_at = 0
        self._found: list[ReplayFinding] = []
        """By kernels; ``_places`` has the place of each."""
        self._places: list[Place] = []
        self._left_without_key = 0

    def leave_to(self, left: LeftReplay) -> None:
        """Let another replay judge left rows."""
        self._left = left

    def observe(self, txn: LoggedTransaction, batch: JudgedBatch | None = None) -> None:
        """Apply the next transaction, whose rows ``batch`` has."""
        self._batch, self._applied_at = batch, txn.ordinal
        if self._left is not None:
            self._left.observe(txn)
        super().observe(txn)
        self._batch = None

    def _apply_rows(self, txn: LoggedTransaction) -> None:
        if self._batch is not None:
            self._apply_batch(self._batch, Told(self._applied_at, txn), txn.ordinal)
        self._lose_sight(txn)

    def _lose_sight(self, txn: LoggedTransaction) -> None:
        super()._lose_sight(txn)
        if self._left is not None:
            self._left._lose_sight(txn)

    def _lose_all(self) -> None:
        super()._lose_all()
        if self._left is not None:
            self._left._lose_all()

    def _digested(self) -> _Digested:
        assert self._batch is not None
        return _Digested(self._batch, self._schemas_of(self._batch))

    def _schemas_of(self, batch: JudgedBatch) -> dict[str, TableSchema | None]:
        names = [batch.table_names[number] for number in np.unique(batch.row_tables).tolist()]
        return {name: self._row_keys.schema_of(name) for name in names}

    def _apply_prepared(self, prepared: Prepared) -> None:
        found = prepared.digested
        assert isinstance(found, _Digested)
        if self._schemas_of(found.batch) != found.schemas:
            raise NotCompilable(f"tables change while {prepared.transaction.xa_id} is prepared")
        self._batch = found.batch
        super()._apply_prepared(prepared)

    @contextmanager
    def telling_nothing(self) -> Iterator[None]:
        """Keep of what is observed meanwhile only the rows."""
        counts, without_key = self.rows.arrays.counts, self._left_without_key
        told = counts[_TOLD_COUNTS]
        # A finding that is not listed need not be read again.
        counts[R.N_LISTED], self._left_without_key = counts[R.N_LISTED_MAX], 0
        with ExitStack() as both:
            both.enter_context(super().telling_nothing())
            if self._left is not None:
                both.enter_context(self._left.telling_nothing())
            yield
        # Statements may have replaced the arrays.
        arrays, self._left_without_key = self.rows.arrays, without_key
        arrays.counts[_TOLD_COUNTS] = told
        # Marks of judged rows were copied with their batch.
        arrays.tables[:, R.T_UNEXPLAINED] = 0

    def observe_batch(self, batch: JudgedBatch, first_ordinal: int, source: BatchSource) -> None:
        """Apply a batch's rows."""
        self._apply_batch(batch, Reread(first_ordinal, source), first_ordinal)

    def _apply_batch(self, batch: JudgedBatch, known: Known, first_ordinal: int) -> None:
        count = len(batch.row_operations)
        if not count:
            return
        operations, touching, followed = batch.row_operations, batch.row_tables, set[int]()
        if batch.left:
            assert self._left is not None
            without = sorted(self._left.prepare(batch))
            operations = operations.copy()
            operations[without] += R.NAMELESS
            touching = np.delete(touching, without)
            left = [at for part in batch.left for at in part.rows]
            followed = set(batch.row_tables[left].tolist())
        # The first row of each table is written last.
        first = np.full(len(batch.table_names), count)
        first[touching[::-1]] = np.arange(len(touching))[::-1]
        touched = np.flatnonzero(first < count)
        numbers = np.array([self.rows.known_number(name) for name in batch.table_names], np.int64)
        keys_max = 1
        for table in touched[np.argsort(first[touched])].tolist():
            keys = R.FOLLOWED if table in followed else len(batch.key_names[table])
            numbers[table] = self.rows.number_of(batch.table_names[table], keys)
            keys_max = max(keys_max, keys)
            if keys:
                self._relate(batch.table_names[table], int(numbers[table]))
        tables = self.rows.arrays.tables
        any_unknown = bool((tables[:, R.T_UNKNOWN] | (tables[:, R.T_NEXT] > 0)).any())
        cascades = self._set_below(batch, [t for t in touched.tolist() if t not in followed])
        state = self.rows.arrays = with_room(self.rows.arrays, 2 * count, keys_max)
        if self._left is not None and len(state.losses) < 2 * count:
            losses = np.zeros((4 * count, 2), np.uint64)
            state = self.rows.arrays = state._replace(losses=losses)
        doubts = np.full(count if batch.left else 0, R.UNDOUBTED)
        with np.errstate(over="ignore"):
            replay_rows(
                state, operations, numbers[batch.row_tables], batch.row_unchecked,
                batch.row_keys_start, batch.row_images, batch.row_keys,
                first_ordinal + np.repeat(
                    np.arange(len(batch.row_ends)), np.diff(batch.row_ends, prepend=0)
                ),
                doubts, any_unknown,
            )  # fmt: skip
        if self._left is not None:
            self._left.observe_left(batch, losses_of(state), doubts, known)
        if any_unknown or cascades:
            self._note_cascades({batch.table_names[t]: int(numbers[t]) for t in touched.tolist()})
        for table in np.flatnonzero(batch.census[:, 3]).tolist():
            name = batch.table_names[table]
            keyless = bool(batch.key_names[table]) or self._has_no_keys(name, None)
            (self._keyless if keyless else self._unknown_tables)[name] = None
            self._result.rows_without_key += int(batch.census[table, 3])
        for line in state.findings[: int(state.counts[R.N_FINDINGS])].tolist():
            self._tell(batch, line, known)
        self.copy_counts()

    def _set_below(self, batch: JudgedBatch, touched: list[int]) -> bool:
        """Set what the rows of tables cascade into; return whether they do."""
        rows, keys = self.rows, self._row_keys
        lines: list[tuple[int, int, int, int]] = []
        tables = rows.arrays.tables
        tables[:, [R.T_BELOW_START, R.T_BELOW_END]] = 0
        for number in touched:
            name, start = batch.table_names[number], len(lines)
            schema, places = keys.schema_of(name), batch.ties[number].references
            for child, key in keys.referencing(name):
                columns = None if schema is None else schema.columns_referenced_by(key)
                updates = (R.UPDATED,) if columns is None else places[columns]
                for deleted, times in ((True, (R.DELETED,)), (False, updates)):
                    lines += {
                        (when, below, each.deletes, each.moves): None
                        for each in reached_below(keys, child, key, deleted=deleted)
                        if (below := rows.known_number(each.table)) >= 0
                        for when in times
                    }
            at = rows.known_number(name)
            tables[at, [R.T_BELOW_START, R.T_BELOW_END]] = start, len(lines)
        below = np.array(lines, np.int64).reshape(-1, R.BELOW_COLUMNS)
        rows.arrays = rows.arrays._replace(below=below)
        return bool(lines)

    def _relate(self, name: str, number: int) -> None:
        """Set a table's foreign keys from its next row on, unless those of before still count."""
        schema, table = self._row_keys.schema_of(name), self.rows.arrays.tables[number]
        is_unknown = schema is None or not schema.foreign_keys_known
        refers = schema is not None and any(
            key.parent.lower() == name.lower() for key in schema.foreign_keys
        )
        table[R.T_REFERS_TO_ITSELF] = is_unknown or refers
        knows = self._cascades.knows(name)
        table[R.T_NEXT] = self._cascades.is_unknown(name) if knows else is_unknown

    def _note_cascades(self, touched: dict[str, int]) -> None:
        """Note the unknown foreign keys of tables, by number, and what may rest on them."""
        rows, cascades = self.rows, self._cascades
        for name, number in touched.items():
            table = rows.arrays.tables[number]
            is_settled = table[R.T_NEXT] == R.SETTLED and not cascades.knows(name)
            if is_settled and (table[R.T_UNKNOWN] or cascades.is_unknown(name)):
                cascades.relate(name, self._row_keys.schema_of(name))
        rows.set_unknown(cascades.unknown())
        self._cascaded.update(dict.fromkeys(rows.names_with(R.T_CASCADED)))
        self._unexplained.update(dict.fromkeys(rows.names_with(R.T_UNEXPLAINED)))

    def _tell(self, batch: JudgedBatch, finding: list[int], known: Known) -> None:
        row, code, key_number = finding
        index = int(np.searchsorted(batch.row_ends, row, side="right"))
        row_of_transaction = row - (int(batch.row_ends[index - 1]) if index else 0)
        applied_at, txn = known.get(index, int(batch.columns[index, -1]))
        change = txn.rows[row_of_transaction]
        image = change.whole_after if code == R.TAKEN else change.before
        assert image is not None
        keys = self._row_keys.identities_of(change.table, image)
        assert keys
        key = keys[0]
        if code == R.TAKEN:
            name = batch.key_names[int(batch.row_tables[row])][key_number]
            key = next(each for each in keys if each.index == name)
        fact, message = _PROPERTIES[code]
        self._places.append((applied_at, row_of_transaction))
        self._found.append(
            ReplayFinding(
                property=fact,
                transaction=get_reference(txn),
                table=change.table,
                key=f"{key.index}({key.shown or ', '.join(map(repr, key.values))})",
                offset=change.position.offset,
                message=message.format(operation=change.operation.value),
            )
        )

    def nothing(self) -> ReplayBorder[Any]:
        """Return the state at a log's beginning."""
        rows = CompactRows.of(CompiledReplayState(self._rows_max, 0))
        return ReplayBorder(rows=rows if self._left is None else RowsOfBoth(rows, LeftState()))

    def begin_at(self, border: ReplayBorder[Any], ordinal: int) -> None:
        """Continue from ``border`` (taken over) after ``ordinal``."""
        super().begin_at(border, ordinal)
        self._left_without_key = 0
        self.rows.set_unknown(self._cascades.unknown())
        if self._left is not None:
            left = ReplayBorder(rows=border.rows.left, cascades=border.cascades)
            self._left.begin_at(left, ordinal)

    def _rows_from(self, rows: Any, ordinal: int) -> Any:
        self._found, self._places = [], []
        compact = rows if self._left is None else rows.compact
        compact.move(ordinal)
        self.rows = compact.to_state(self._findings_max)
        return self.rows

    def _rows_left(self, ordinal: int) -> Any:
        rows = CompactRows.of(self.rows)
        rows.move(-ordinal)
        return rows if self._left is None else RowsOfBoth(rows, self._left.end_at(ordinal).rows)

    def result(self) -> ReplayResult:
        """Return counts, findings and rows per table."""
        self.copy_counts()
        return super().result()

    def verdict(self) -> Verdict | None:
        """Return the verdict, None without row changes."""
        self.copy_counts()
        return super().verdict()

    def copy_counts(self) -> None:
        """Copy the arrays' counts to the result."""
        counts, result = self.rows.arrays.counts, self._result
        result.before_images_found = int(counts[R.N_FOUND])
        result.before_images_missing = int(counts[R.N_MISSING])
        result.before_images_unknown = int(counts[R.N_UNKNOWN])
        result.duplicate_keys = int(counts[R.N_DUPLICATE])
        result.findings_dropped = int(counts[R.N_DROPPED])
        result.rows_in_doubt = int(counts[R.N_IN_DOUBT])
        self._rows_checked = int(counts[R.N_CHECKED])
        result.findings = self._found
        if self._left is not None:
            self._add_left(self._left)

    def _add_left(self, left: LeftReplay) -> None:
        result, other = self._result, left._result
        for name in ("before_images_found", "before_images_missing", "before_images_unknown",
                     "duplicate_keys", "findings_dropped", "rows_in_doubt"):  # fmt: skip
            setattr(result, name, getattr(result, name) + getattr(other, name))
        result.rows_without_key += other.rows_without_key - self._left_without_key
        self._left_without_key = other.rows_without_key
        self._rows_checked += left._rows_checked
        for tables in ("_keyless", "_unknown_tables", "_unexplained", "_cascaded"):
            getattr(self, tables).update(getattr(left, tables))
        if other.findings:
            both = zip((*self._places, *left.places), (*self._found, *other.findings), strict=True)
            found = [finding for _, finding in sorted(both, key=lambda placed: placed[0])]
            result.findings = found[: self._findings_max]
            result.findings_dropped += len(found) - len(result.findings)


class CompiledRowFollower(RowFollower):
    """Replays batches and the transactions between them."""

    def __init__(self, replay: CompiledReplay, source: BatchSource) -> None:
        super().__init__(replay)
        self._compiled_replay = replay
        self._source = source

    def observe(self, txn: LoggedTransaction, rows: BatchParts | None = None) -> None:
        """Replay the next transaction, whose ``rows`` kernels read."""
        self.transactions += 1
        require_compilable(txn, has_rows=rows is not None)
        if txn.complete:
            batch = None if rows is None else digested_one(txn, C.ROWS, rows)
            self._compiled_replay.observe(txn, batch)

    def observe_batch(self, parts: BatchParts) -> None:
        """Replay a batch's plain transactions."""
        batch = judged_batch(parts)
        self.transactions += len(batch.columns)
        self._compiled_replay.observe_batch(batch, parts.first_ordinal, self._source)
