"""The readable replay of rows that kernels do not digest, beside the replay of the others.

Both share one bound of rows. The kernels' rows have a place for each of these, so that both forget
in one order of writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.batches import BatchSource, JudgedBatch, LeftPart
from paraply.properties.logs.replay_state import (
    Fingerprint,
    ReplayState,
    RowState,
    compute_fingerprint,
)
from paraply.properties.logs.row_replay import IdentifiedRow, RowReplay
from paraply.properties.logs.transaction_facts import get_reference
from paraply.vocabulary.audit_result import ReplayFinding
from paraply.vocabulary.keys import ConflictKey, RowKeys
from paraply.vocabulary.log import LoggedTransaction, RowChange

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Place = tuple[int, int]
"""Ordinal and row of a finding."""


class Known(Protocol):
    """Where the transactions of a batch are known from."""

    def get(self, index: int, at: int) -> tuple[int, LoggedTransaction]:
        """Return the ordinal at which a transaction's rows count, and the whole transaction."""
        ...


class Reread(NamedTuple):
    """A batch of the log."""

    first_ordinal: int
    source: BatchSource

    def get(self, index: int, at: int) -> tuple[int, LoggedTransaction]:
        """Read a transaction again."""
        ordinal = self.first_ordinal + index
        return ordinal, self.source.reread(ordinal, at)


class Told(NamedTuple):
    """One decoded transaction; rows that were prepared count later."""

    applied_at: int
    transaction: LoggedTransaction

    def get(self, index: int, at: int) -> tuple[int, LoggedTransaction]:
        """Return the transaction."""
        return self


def _digest_of(identity: Fingerprint) -> int:
    return int.from_bytes(identity[:8], "little") or 1


class LeftState(ReplayState):
    """Rows of left tables, dropped at the writes at which the kernels drop their places."""

    __slots__ = ("_identities", "losses", "puts")

    def __init__(self) -> None:
        super().__init__(rows_max=1 << 62)
        self.puts = 0
        self.losses: deque[tuple[int, int]] = deque()
        """Of the batch: the puts before, and the row."""
        self._identities: dict[int, Fingerprint] = {}

    def put(self, identity: Fingerprint, row: RowState) -> None:
        """Write a row or grave."""
        super().put(identity, row)
        self._identities[_digest_of(identity)] = identity
        self.puts += 1
        self.forget_lost()

    def reset_all(self) -> None:
        """Forget everything."""
        super().reset_all()
        self._identities.clear()

    def forget_lost(self) -> None:
        """Forget what is lost so far."""
        while self.losses and self.losses[0][0] <= self.puts:
            self._forget(self.losses.popleft()[1])

    def _forget(self, digest: int) -> None:
        # A guessed state may lack the row (``properties.logs.replay_borders``).
        identity = self._identities.pop(digest, None)
        row = None if identity is None else self._rows.pop(identity, None)
        if identity is not None and row is not None:
            self._drop_owned(identity, row)
            if self._tables.get(row.table.name.lower()) is row.table:
                row.table.born = False

    def keep(self, digests: Container[int]) -> None:
        """Forget the rows that have no place among ``digests``."""
        for digest in [each for each in self._identities if each not in digests]:
            self._forget(digest)

    def drop_stale(self) -> None:
        """Drop the rows of reset tables, whose places may go without a notice."""
        for digest, identity in [*self._identities.items()]:
            row = self._rows.get(identity)
            if row is None or self._tables.get(row.table.name.lower()) is not row.table:
                self._forget(digest)


class LeftReplay(RowReplay):
    """Replays left rows; ``places`` has the place of each finding."""

    def __init__(self, row_keys: RowKeys, findings_max: int) -> None:
        super().__init__(row_keys, findings_max=findings_max)
        self._state = self._left_state = LeftState()
        self._known: Known
        self._doubts: Ints
        self._at = 0
        self._row = 0
        self._index = 0
        self.places: list[Place] = []
        self._identified_rows: list[list[IdentifiedRow]] = []

    def _rows_from(self, rows: Any, ordinal: int) -> Any:
        self.places = []
        self._left_state = super()._rows_from(rows, ordinal)
        return self._left_state

    def _rows_left(self, ordinal: int) -> Any:
        self._left_state.drop_stale()
        return super()._rows_left(ordinal)

    @contextmanager
    def telling_nothing(self) -> Iterator[None]:
        """Keep of what is observed meanwhile only the rows."""
        kept = self.places, self._findings_max
        # A finding that is not listed need not be read again.
        self.places, self._findings_max = [], 0
        with super().telling_nothing():
            yield
        self.places, self._findings_max = kept

    def prepare(self, batch: JudgedBatch) -> set[int]:
        """Write the identities of left rows to their keys; return the rows that name no row.

        A hidden row's table counts as touched.
        """
        self._identified_rows, without = [], set()
        for part in batch.left:
            found = [self._identified(row) for row in part.transaction.rows]
            self._identified_rows.append(found)
            for at, row, identified in zip(part.rows, part.transaction.rows, found, strict=True):
                line = batch.row_keys[batch.row_keys_start[at]]
                if row.before is not None:
                    line[0] = _first_digest(identified.before)
                if row.after is not None:
                    line[1] = _first_digest(identified.after)
                if not line.any() and not identified.is_hidden:
                    without.add(at)
        return without

    def _apply_rows(self, txn: LoggedTransaction) -> None:
        """Rows come with their batch."""

    def _follow_xa(self, txn: LoggedTransaction) -> None:
        """Prepared rows come with their batch."""

    def observe_left(
        self, batch: JudgedBatch, losses: list[tuple[int, int]], doubts: Ints, known: Known
    ) -> None:
        """Apply the batch's left rows, which :meth:`prepare` identified.

        ``doubts`` has for each row the last change that may have cascaded into its table.
        """
        self._known, self._doubts = known, doubts
        state = self._left_state
        state.puts, state.losses = 0, deque(losses)
        state.forget_lost()
        for part, found in zip(batch.left, self._identified_rows, strict=True):
            self._observe_part(batch, part, found)
        self._identified_rows = []
        assert not state.losses

    def _observe_part(self, batch: JudgedBatch, part: LeftPart, found: list[IdentifiedRow]) -> None:
        txn = self._txn = part.transaction
        self._index = part.index
        first = int(batch.row_ends[part.index - 1]) if part.index else 0
        self._at = int(batch.columns[part.index, -1])
        for at, row, identified in zip(part.rows, txn.rows, found, strict=True):
            self._row = at - first
            self._take_doubt(row.table, int(self._doubts[at]))
            self._apply_identified(txn, row, identified)

    def _take_doubt(self, name: str, doubted: int) -> None:
        table = self._left_state.known_table(name)
        if table is not None and doubted != R.UNDOUBTED:
            # The kernels note foreign keys that are not known, whose cascades may move rows.
            table.doubt(doubted, moves=True)

    def _contradict(
        self, name: str, row: RowChange, key: ConflictKey, message: str, in_doubt: bool
    ) -> bool:
        findings = self._result.findings
        before = len(findings)
        told = super()._contradict(name, row, key, message, in_doubt)
        if len(findings) > before:
            applied_at, txn = self._known.get(self._index, self._at)
            findings[-1] = self._placed(findings[-1], txn)
            self.places.append((applied_at, self._row))
        return told

    def _placed(self, finding: ReplayFinding, txn: LoggedTransaction) -> ReplayFinding:
        return ReplayFinding(
            property=finding.property,
            transaction=get_reference(txn),
            table=finding.table,
            key=finding.key,
            offset=txn.rows[self._row].position.offset,
            message=finding.message,
        )


def _first_digest(keys: tuple[ConflictKey, ...] | None) -> int:
    return _digest_of(compute_fingerprint(keys[0])) if keys else 0


def losses_of(state: R.Replay) -> list[tuple[int, int]]:
    """Return what a batch made the kernels' replay forget of left rows."""
    count = int(state.counts[R.N_LOSSES])
    return [(puts, key) for puts, key in state.losses[:count].tolist()]
