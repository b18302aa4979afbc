"""The replay of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.batches import (
    BatchParts,
    BatchSource,
    JudgedBatch,
    judged_batch,
)
from paraply.properties.logs.compiled.keyed_rows import CompiledReplayState
from paraply.properties.logs.compiled.replay_borders import CompactRows
from paraply.properties.logs.compiled.replay_kernel import replay_rows
from paraply.properties.logs.compiled.replay_state import with_room
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.properties.logs.replayed_part import RowFollower
from paraply.properties.logs.row_replay import (
    BEFORE_IMAGES_MATCH,
    INSERTED_KEYS_ARE_FREE,
    ROWS_EXIST,
    RowReplay,
)
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import ReplayFinding
from paraply.vocabulary.keys import RowKeys

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
    """The readable replay with rows in arrays."""

    def __init__(self, row_keys: RowKeys, rows_max: int, findings_max: int) -> None:
        super().__init__(row_keys, rows_max, findings_max)
        self.rows = CompiledReplayState(rows_max, findings_max)
        self._state = self.rows

    def observe_batch(self, batch: JudgedBatch, first_ordinal: int, source: BatchSource) -> None:
        """Apply a batch's rows."""
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
        for table in np.flatnonzero(batch.census[:, 3]).tolist():
            self._keyless[batch.table_names[table]] = None
            self._result.rows_without_key += int(batch.census[table, 3])
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
        keys = self._row_keys.identities_of(change.table, image)
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

    def nothing(self) -> ReplayBorder[Any]:
        """Return the state at a log's beginning."""
        return ReplayBorder(rows=CompactRows.of(CompiledReplayState(self._rows_max, 0)))

    def _rows_from(self, rows: Any, ordinal: int) -> Any:
        self.rows = rows.to_state(self._findings_max)
        return self.rows

    def _rows_left(self, ordinal: int) -> Any:
        return CompactRows.of(self.rows)

    def copy_counts(self) -> None:
        """Copy the arrays' counts to the result."""
        counts, result = self.rows.arrays.counts, self._result
        result.before_images_found = int(counts[R.N_FOUND])
        result.before_images_missing = int(counts[R.N_MISSING])
        result.before_images_unknown = int(counts[R.N_UNKNOWN])
        result.duplicate_keys = int(counts[R.N_DUPLICATE])
        result.findings_dropped = int(counts[R.N_DROPPED])
        self._rows_checked = int(counts[R.N_CHECKED])


class CompiledRowFollower(RowFollower):
    """Replays batches and the transactions between them."""

    def __init__(self, replay: CompiledReplay, source: BatchSource) -> None:
        super().__init__(replay)
        self._compiled_replay = replay
        self._source = source

    def observe_batch(self, parts: BatchParts) -> None:
        """Replay a batch's plain transactions."""
        batch = judged_batch(parts)
        self.transactions += len(batch.columns)
        self._compiled_replay.observe_batch(batch, parts.first_ordinal, self._source)
