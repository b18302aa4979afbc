"""What the kernels' judges need of left rows beside keys: named tables, and undecided overlaps.

Kernels number the tables and aspects that left rows touch, and know who waits for whom there. What
only a report of unknown keys needs, the readable judge notes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import JudgedBatch
from paraply.properties.logs.compiled.state import State, with_names
from paraply.properties.logs.conflict_index import SeenTransaction
from paraply.properties.logs.dependency_safety import DependencySafety, Touches, note_domains
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, Place
from paraply.properties.logs.scheduling_models import PARTITIONS_MAX
from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.log import ANY_ROWS, LoggedTransaction, table_of
from paraply.vocabulary.not_compilable import NotCompilable

Ints = NDArray[np.int64]


class LeftOrder:
    """Names what left rows touch, and notes undecided overlaps; call in log order."""

    def __init__(self, safety: DependencySafety, appliers: Sequence[str]) -> None:
        self._safety = safety
        self._appliers = appliers
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._has_blurred = False
        self._touches_max = 1

    def table_of(self, number: int) -> str:
        """Return the table of a name's number."""
        return table_of(self._names[number])

    def add_names(self, state: State, batch: JudgedBatch, left: Sequence[Touches]) -> State:
        """Set a batch's names and roles; return the state with room for them."""
        numbers: list[int] = []
        roles: list[int] = []
        ends = np.zeros(len(batch.columns), np.int64)
        for part, touches in zip(batch.left, left, strict=True):
            if ANY_ROWS in touches.blurred:
                raise NotCompilable("unknown foreign keys, or rows that could not be decoded")
            named = _roles_of(touches)
            for name in sorted(named, key=lambda name: (table_of(name), name)):
                numbers.append(self._number_of(name))
                roles.append(named[name])
            ends[part.index] = len(named)
        batch.columns[:, C.B_NAME_END] = np.cumsum(ends)
        batch.names, batch.roles = np.array(numbers, np.int64), np.array(roles, np.int64)
        if len(self._names) > PARTITIONS_MAX:
            raise NotCompilable("more tables than are followed")
        return with_names(state, len(self._names))

    def _number_of(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def note_undecided(
        self, batch: JudgedBatch, refs: Sequence[TransactionRef], left: Sequence[Touches],
        placed: Ints,
    ) -> None:  # fmt: skip
        """Note which overlapping transactions may conflict by keys that are not known.

        ``refs`` name the transactions with left rows, ``placed`` has ``columns.D_*`` for all.
        """
        tables = np.diff(batch.columns[:, C.B_TABLE_END], prepend=0)
        self._touches_max = max(self._touches_max, 1 + (1 + batch.uses_max) * int(tables.max()))
        for part, ref, touches in zip(batch.left, refs, left, strict=True):
            self._touches_max = max(self._touches_max, len(touches.uses), len(touches.blurred))
            self._note(part.transaction, ref, touches, placed[part.index])
        if self._has_blurred and len(np.unique(batch.columns[:, C.B_LANE])) > 1:
            raise NotCompilable("unknown keys in several domains")
        if self._has_blurred:
            self._require_remembered(placed)

    def _note(
        self, txn: LoggedTransaction, ref: TransactionRef, touches: Touches, placed: Ints
    ) -> None:
        safety, index = self._safety, self._safety.index
        self._has_blurred |= bool(touches.blurred)
        places = tuple(_place(name, txn, placed) for name in self._appliers)
        seen = SeenTransaction(ref=ref, kind=txn.kind, places=places, domain=txn.domain or 0)
        index.forget_beyond_horizon(txn.ordinal - 1)
        for rule, (name, place) in enumerate(zip(self._appliers, places, strict=True)):
            if place.allowed:
                safety._note_undecided(rule, place, seen, touches)
            if name == COMMIT_GROUP and txn.domain is not None:
                note_domains(safety.evidence[rule].domains, place.lane, touches)
        index.uses.add(seen, ((name, True) for name in touches.uses))
        index.blurred.add(seen, ((name, True) for name in touches.blurred))

    def _require_remembered(self, placed: Ints) -> None:
        """Refuse overlaps with what the readable judge may have forgotten."""
        horizon = self._safety.index.horizon
        widest = 1 + int(placed[:, [C.D_ALLOWED, C.D_GROUP_ALLOWED]].max())
        if widest >= min(horizon.transactions, horizon.keys // self._touches_max):
            raise NotCompilable("unknown keys, in overlaps longer than the horizon")


def _roles_of(touches: Touches) -> dict[str, int]:
    found: dict[str, int] = {}
    for role, names in (
        (C.MET, touches.met),
        (C.UNKEYED_ROWS, touches.unkeyed),
        (C.SEARCHED, touches.searched),
        (C.BLURRED, touches.blurred),
        (C.UNIDENTIFIED, touches.unidentified),
    ):
        for name in names - {ANY_ROWS}:
            found[name] = found.get(name, 0) | role
    return found


def _place(applier: str, txn: LoggedTransaction, placed: Ints) -> Place:
    if applier != COMMIT_GROUP:
        run, rank, floor, allowed = placed[[C.D_RUN, C.D_RANK, C.D_FLOOR, C.D_ALLOWED]].tolist()
        return Place(lane=0, run=run, rank=rank, floor=floor, allowed=allowed)
    rank, floor, allowed = placed[[C.D_GROUP_RANK, C.D_GROUP_FLOOR, C.D_GROUP_ALLOWED]].tolist()
    if txn.domain is None:
        allowed = 0  # Only commit ids judge commit groups.
    return Place(lane=txn.domain or 0, run=0, rank=rank, floor=floor, allowed=allowed)
