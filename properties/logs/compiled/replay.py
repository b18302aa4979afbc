"""The replay of batches, and the state that the readable replay resets for other transactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from properties.logs.compiled import replay_state as R
from properties.logs.compiled.batches import BatchSource, JudgedBatch
from properties.logs.compiled.replay_kernel import replay_rows
from properties.logs.compiled.replay_state import new_replay, with_room, with_tables
from properties.logs.row_replay import (
    BEFORE_IMAGES_MATCH,
    INSERTED_KEYS_ARE_FREE,
    ROWS_EXIST,
    RowReplay,
)
from properties.logs.transaction_facts import get_reference
from vocabulary.audit_result import ReplayFinding
from vocabulary.keys import RowKeys


@dataclass(frozen=True, slots=True)
class TableRows:
    """How many rows a table has at the end, as far as the log tells."""

    name: str
    rows: int


class CompiledReplayState:
    """The part of ``ReplayState`` that statements reset, over the arrays."""

    def __init__(self, rows_max: int, listed_max: int) -> None:
        self.arrays = new_replay(rows_max, listed_max)
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    @property
    def forgotten(self) -> int:
        """Return how many rows were forgotten."""
        return int(self.arrays.counts[R.N_FORGOTTEN])

    def number_of(self, name: str, keys: int) -> int:
        """Return the number of a table as it is since its last reset, with ``keys`` keys."""
        number = self._numbers.get(name.lower())
        if number is None:
            number = self._new(name)
        self.arrays.tables[number, R.T_KEYS] = keys
        return number

    def _new(self, name: str) -> int:
        number = self._numbers[name.lower()] = len(self._names)
        self._names.append(name)
        self.arrays = with_tables(self.arrays, number + 1)
        return number

    def tables(self) -> list[TableRows]:
        """Return every table, in the order first touched."""
        return [
            TableRows(self._names[number], int(self.arrays.tables[number, R.T_ROWS]))
            for number in self._numbers.values()
        ]

    def reset(self, name: str, *, born: bool = False) -> None:
        """Forget a table: its rows are as if never seen, or known to be none if ``born``."""
        number = self._numbers.pop(name.lower(), None)
        if number is not None:
            self.arrays.tables[number, R.T_STALE] = 1
        if born:
            self.arrays.tables[self._new(name), R.T_BORN] = 1

    def reset_schema(self, schema: str) -> None:
        """Forget every table of a schema (in lower case)."""
        for name in [n for n in self._numbers if n.partition(".")[0] == schema]:
            self.reset(name)

    def reset_all(self) -> None:
        """Forget everything but the counts."""
        counts = self.arrays.counts.copy()
        rows_max, listed_max = int(counts[R.N_ROWS_MAX]), int(counts[R.N_LISTED_MAX])
        self.arrays = new_replay(rows_max, listed_max)
        for kept in range(R.N_FOUND, R.COUNTS):
            self.arrays.counts[kept] = counts[kept]
        self._numbers.clear()
        self._names.clear()


_PROPERTIES = {
    R.GONE: (ROWS_EXIST, "{operation} of a row that was deleted before"),
    R.NEVER: (ROWS_EXIST, "{operation} of a row that was never inserted"),
    R.DIFFERENT: (
        BEFORE_IMAGES_MATCH,
        "{operation} of a row that looked different after its last change",
    ),
    R.TAKEN: (INSERTED_KEYS_ARE_FREE, "{operation} to a key that another row holds"),
}


class CompiledReplay(RowReplay):
    """The readable replay with its rows in arrays; it takes batches besides transactions."""

    def __init__(self, row_keys: RowKeys, rows_max: int, findings_max: int) -> None:
        super().__init__(row_keys, rows_max, findings_max)
        self.rows = CompiledReplayState(rows_max, findings_max)
        self._state = self.rows

    def observe_batch(self, batch: JudgedBatch, first_ordinal: int, source: BatchSource) -> None:
        """Apply the rows of a batch, which have full images and known keys."""
        count = len(batch.row_operations)
        if not count:
            return
        touched, first = np.unique(batch.row_tables, return_index=True)
        numbers = np.zeros(len(batch.table_names), np.int64)
        keys_max = 1
        for table in touched[np.argsort(first)].tolist():
            keys = len(batch.key_names[table])
            numbers[table] = self.rows.number_of(batch.table_names[table], keys)
            keys_max = max(keys_max, keys)
        state = self.rows.arrays = with_room(self.rows.arrays, 2 * count, keys_max)
        with np.errstate(over="ignore"):
            replay_rows(
                state, batch.row_operations, numbers[batch.row_tables], batch.row_keys_start,
                batch.row_images, batch.row_keys, 0, count,
            )  # fmt: skip
        for line in state.findings[: int(state.counts[R.N_FINDINGS])].tolist():
            self._tell(batch, line, first_ordinal, source)
        self.copy_counts()

    def _tell(
        self, batch: JudgedBatch, finding: list[int], first_ordinal: int, source: BatchSource
    ) -> None:
        row, code, key_number = finding
        index = int(np.searchsorted(batch.row_ends, row, side="right"))
        row_of_transaction = row - (int(batch.row_ends[index - 1]) if index else 0)
        ordinal = first_ordinal + index
        txn = source.reread(ordinal, int(batch.columns[index, -1]))
        change = txn.rows[row_of_transaction]
        image = change.after if code == R.TAKEN else change.before
        assert image is not None
        keys = self._row_keys.keys_of(change.table, image)
        assert keys
        key = keys[0]
        if code == R.TAKEN:
            name = batch.key_names[int(batch.row_tables[row])][key_number]
            key = next(each for each in keys if each.index == name)
        fact, message = _PROPERTIES[code]
        self._result.findings.append(
            ReplayFinding(
                property=fact,
                transaction=get_reference(txn),
                table=change.table,
                key=f"{key.index}({key.shown or ', '.join(map(repr, key.values))})",
                offset=change.position.offset,
                message=message.format(operation=change.operation.value),
            )
        )

    def drop_counts(self) -> None:
        """Begin to count anew; the rows stay."""
        counts = self.rows.arrays.counts
        for dropped in (
            R.N_FOUND, R.N_MISSING, R.N_UNKNOWN, R.N_DUPLICATE, R.N_CHECKED, R.N_LISTED,
            R.N_DROPPED,
        ):  # fmt: skip
            counts[dropped] = 0

    def copy_counts(self) -> None:
        """Bring what the arrays counted into the result."""
        counts, result = self.rows.arrays.counts, self._result
        result.before_images_found = int(counts[R.N_FOUND])
        result.before_images_missing = int(counts[R.N_MISSING])
        result.before_images_unknown = int(counts[R.N_UNKNOWN])
        result.duplicate_keys = int(counts[R.N_DUPLICATE])
        result.findings_dropped = int(counts[R.N_DROPPED])
        self._rows_checked = int(counts[R.N_CHECKED])
